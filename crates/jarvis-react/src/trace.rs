//! A record of each round for whoever tunes prompts: what was asked, what the model wrote, what was made of it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

/// One round as it was. It holds the document and the model's words: keep it off unless it is wanted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trace {
    pub run_id: String,
    pub step: u32,
    pub prompt: Vec<Value>,
    pub output: String,
    pub parsed: Value,
    /// What the tools gave, or what the model was told instead.
    pub observation: Option<String>,
    pub model_ms: u64,
    pub tools_ms: u64,
}

/// Takes traces. It must not block for long.
pub type Tracer = Arc<dyn Fn(&Trace) + Send + Sync>;
