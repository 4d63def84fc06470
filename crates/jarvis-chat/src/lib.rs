//! Chat models behind one trait: OpenAI-compatible endpoints, recordings, token budgets. Embeddings of texts behind another.
//!
//! Knows messages and tokens, not tasks: prompts are made elsewhere.
#![allow(missing_docs)]

pub mod budget;
mod config;
mod embeddings;
mod endpoint;
mod model;
mod openai;
mod recording;
mod redact;
mod retry;
mod sse;
mod tokens;
mod transport;
mod wire;

pub use config::{Azure, OpenAiConfig, Protocol};
pub use embeddings::{EmbedError, Embedder, OpenAiEmbeddings};
pub use jarvis_net::Secret;
pub use jarvis_net::retry::Retries;
pub use model::{
    CallLabels, ChatChunk, ChatError, ChatModel, ChatReply, ChatRequest, Message, Part, ReplySchema, TokenUsage,
    ToolOffer, ToolUse,
};
pub use openai::OpenAi;
pub use recording::{Recorder, Replay, request_sha256};
pub use tokens::Tokens;
pub use transport::{ATTEMPT_HEADER, STAGE_HEADER, TASK_HEADER};
