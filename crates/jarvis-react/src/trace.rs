//! A record of each round for whoever tunes prompts: what was asked, what the model wrote, what was made of it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

/// One round as it was. It holds the document and the model's words: keep it off unless it is wanted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trace {
    /// The run.
    pub run_id: String,
    /// The round, from 1.
    pub step: u32,
    /// The messages that were sent: `role` and `content`.
    pub prompt: Vec<Value>,
    /// What the model wrote.
    pub output: String,
    /// What was made of it: `thought`, `actions`, `answer`.
    pub parsed: Value,
    /// What the tools gave, or what the model was told instead.
    pub observation: Option<String>,
    /// How long the model took, in milliseconds.
    pub model_ms: u64,
    /// How long the tools took, in milliseconds.
    pub tools_ms: u64,
}

/// Takes traces. It must not block for long.
pub type Tracer = Arc<dyn Fn(&Trace) + Send + Sync>;
