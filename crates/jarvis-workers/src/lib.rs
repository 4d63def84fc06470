//! Ways to perform a task: native models, Hugging Face, model servers, chat and media endpoints.
//!
//! A worker performs what it is told to; which worker that is was decided before.

pub mod chat;
pub mod draw;
pub mod huggingface;
pub mod native;
pub mod sniff;

mod http;
mod inputs;
mod picture;
mod policy;
mod results;
#[cfg(test)]
mod testkit;
mod text;

pub use chat::{ChatWorker, TaskPrompt, call_model, chat_task_error, stream_model};
pub use huggingface::{HuggingFace, HuggingFaceConfig};
pub use inputs::{InputLimits, Inputs};
pub use policy::{Reach, UrlPolicy};
pub use text::Secret;
