//! What is said in a call of a chat model, for whoever exports traces and asked for their content: never part of a log.

use jarvis_chat::{ChatReply, ChatRequest, Part, ToolUse};
use jarvis_net::trace::CONTENT;
use serde_json::{Value, json};

/// Whether anybody wants it.
fn is_wanted() -> bool {
    tracing::enabled!(target: CONTENT, tracing::Level::TRACE)
}

/// Tells the messages of a request, in the shape of the conventions for generative AI.
pub(crate) fn sent(request: &ChatRequest) {
    if !is_wanted() {
        return;
    }
    let part = |part: &Part| match part {
        Part::Text(text) => json!({"type": "text", "content": text}),
        Part::ToolUse(call) => tool_call(call),
        Part::ToolResult { id, text } => json!({"type": "tool_call_response", "id": id, "response": text}),
        // A picture in base64 is larger than all else of a trace.
        Part::Image(_) => json!({"type": "blob", "modality": "image"}),
    };
    let messages = request
        .messages
        .iter()
        .map(|message| json!({"role": message.role, "parts": message.parts.iter().map(part).collect::<Vec<_>>()}));
    let messages = Value::Array(messages.collect()).to_string();
    tracing::trace!(target: CONTENT, messages);
}

fn tool_call(call: &ToolUse) -> Value {
    json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments})
}

/// Tells a reply.
pub(crate) fn replied(reply: &ChatReply) {
    if !is_wanted() {
        return;
    }
    let text = Some(&reply.text).filter(|text| !text.is_empty()).map(|text| json!({"type": "text", "content": text}));
    let parts: Vec<Value> = text.into_iter().chain(reply.tool_uses.iter().map(tool_call)).collect();
    let reply = json!([{"role": "assistant", "parts": parts, "finish_reason": reply.finish_reason}]).to_string();
    tracing::trace!(target: CONTENT, reply);
}
