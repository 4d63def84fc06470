//! Reads a model's reply tolerantly, then checks it.

use jarvis_prompt::reader::{Want, read_json};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    #[error("the reply cannot be read: {0}")]
    Unreadable(String),
    #[error("the reply lacks {0}")]
    Lacks(&'static str),
}

/// The object of a reply, its keys and lists in the reply's order.
///
/// # Errors
/// When there is none, it breaks off, or it has no `invoking_graph` with a list of `nodes`, each with an `id`, and a list
/// of `links`.
pub fn read_reply(reply: &str) -> Result<Value, ReplyError> {
    let read = read_json(reply, Want::Object).map_err(|error| ReplyError::Unreadable(error.fault.to_string()))?;
    if let Some(mend) = read.mended.iter().find(|mend| mend.is_lossy()) {
        return Err(ReplyError::Unreadable(mend.to_string()));
    }
    let graph = read.value.get("invoking_graph").ok_or(ReplyError::Lacks("`invoking_graph`"))?;
    let nodes = graph.get("nodes").and_then(Value::as_array).ok_or(ReplyError::Lacks("a list under `nodes`"))?;
    if nodes.iter().any(|node| node.get("id").and_then(Value::as_str).is_none()) {
        return Err(ReplyError::Lacks("the `id` of a node"));
    }
    graph.get("links").and_then(Value::as_array).ok_or(ReplyError::Lacks("a list under `links`"))?;
    Ok(read.value)
}
