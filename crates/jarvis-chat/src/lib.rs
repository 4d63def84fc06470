//! Chat models behind one trait: OpenAI-compatible endpoints, recordings, a scripted model. Embeddings of texts behind another.
//!
//! Knows messages and tokens, not tasks: prompts are made elsewhere.
#![allow(clippy::disallowed_methods, reason = "this crate defines the calls, and wraps and tests them")]

mod config;
mod discover;
mod embeddings;
mod endpoint;
mod fallback;
mod family;
mod model;
mod openai;
pub mod provider;
mod recording;
mod redact;
mod retry;
mod scripted;
mod sse;
mod tokens;
mod transport;
mod wire;

pub use config::{Azure, OpenAiConfig, Protocol};
pub use discover::{Discovery, LOCAL_SERVERS, ModelServer, NoServer, ServedModel, ServerKind};
pub use embeddings::{EmbedError, Embedder, OpenAiEmbeddings};
pub use fallback::Fallback;
pub use jarvis_net::Secret;
pub use jarvis_net::retry::Retries;
pub use model::{
    CallLabels, ChatChunk, ChatError, ChatModel, ChatReply, ChatRequest, ChatStream, Message, Part, ReplySchema,
    TokenUsage, ToolOffer, ToolUse,
};
pub use openai::{Fact, OpenAi, Origin};
pub use recording::{Recorder, Replay, request_sha256};
pub use scripted::Scripted;
pub use tokens::Tokens;
pub use transport::{ATTEMPT_HEADER, STAGE_HEADER, TASK_HEADER};
