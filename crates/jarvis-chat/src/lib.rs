//! Chat models behind one trait: OpenAI-compatible endpoints, recordings, token budgets.
//!
//! Knows messages and tokens, not tasks: prompts are made elsewhere.

pub mod budget;
mod config;
mod endpoint;
mod model;
mod openai;
mod recording;
mod retry;
mod sse;
mod tokens;
mod wire;

pub use config::{Azure, OpenAiConfig, Protocol, Retries};
pub use model::{
    CallLabels, ChatChunk, ChatError, ChatModel, ChatReply, ChatRequest, Message, Part, ReplySchema, TokenUsage,
};
pub use openai::{ATTEMPT_HEADER, OpenAi, STAGE_HEADER, TASK_HEADER};
pub use recording::{Recorder, Replay, request_sha256};
/// A key: never shown by `Debug`, wiped when dropped.
pub use secrecy::SecretString;
pub use tokens::Tokens;
