//! Chat models behind one trait: OpenAI-compatible endpoints, recordings, token budgets.
//!
//! Knows messages and tokens, not tasks: prompts are made elsewhere.

mod model;

pub use model::{ChatChunk, ChatError, ChatModel, ChatReply, ChatRequest, Message, Part, ReplySchema, TokenUsage};
