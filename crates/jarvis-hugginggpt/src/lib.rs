//! The four stages of HuggingGPT: plan, choose, execute, answer.
//!
//! Source: Shen et al., "HuggingGPT: Solving AI Tasks with ChatGPT and its Friends in Hugging Face", and microsoft/JARVIS
//! `hugginggpt/`. The stages follow the paper's order: [`plan`], [`choose`], the engine, [`answer`]. Without a chat
//! model each stage has a stand-in that needs none.

mod answer;
mod attached;
mod cache;
mod callers;
mod choose;
mod conversation;
mod course;
pub mod decisions;
mod document;
mod each;
mod experience;
mod fit;
mod fold;
mod going_on;
mod grow;
mod json;
mod live;
mod logs;
mod paths;
mod pipeline;
mod plan;
mod planning;
pub mod prompts;
mod resolve;
pub mod results;
mod settings;
mod source;
mod stages;
mod steps;
mod stops;
mod tables;
mod template;
mod untrusted;

pub use cache::ToolCache;
pub use conversation::{Conversation, PictureAddress};
pub use document::{About, RunDocument};
pub use experience::{AttachedFile, Counted, Entry, EntryError, PlanMemory, Remembered, Use};
pub use going_on::GoingOn;
pub use grow::Rounds;
pub use jarvis_pipeline::{Run, RunError};
pub use json::JsonFileError;
pub use logs::{LogLine, RequestLogs};
pub use pipeline::{HuggingGpt, NAME, Planned, template_answer};
pub use settings::{ExperienceUse, Look, Settings};
pub use source::{
    CHAT_MODEL_ID, Candidates, FileSource, Found, LocalCandidates, LocalHint, ModelSource, NativeCheck, Records,
    Sources, Tasks,
};
pub use steps::{Begun, Looked, SoFar};
