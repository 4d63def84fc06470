//! Recordings of chat calls: JSON Lines, written by [`Recorder`] and answered from by [`Replay`].

mod record;
mod replay;

pub use record::Recorder;
pub use replay::Replay;

use jarvis_plan::Role;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::model::{ChatRequest, Part, ToolUse};

/// One line of a recording. People write `stage`, `contains`, `reply` and `sticky`; the rest is kept by `--record`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Line {
    stage: String,
    /// Texts that must all occur in the call's message texts.
    #[serde(default)]
    contains: Vec<String>,
    reply: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_uses: Vec<ToolUse>,
    #[serde(default)]
    sticky: bool,
    /// The hash of the recorded request, see [`request_sha256`].
    #[serde(skip_serializing_if = "Option::is_none")]
    request_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finish_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<LineUsage>,
    /// What the callers knew of the model when they made the request; without it the same run asks differently.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<LineModel>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct LineUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LineModel {
    name: String,
    context_tokens: usize,
    #[serde(default)]
    can_see: bool,
}

/// The SHA-256, in lower-case hexadecimal, of everything that is asked: stage, messages, settings and schema as compact
/// JSON with its keys in a fixed order. The timeout is no part of it.
pub fn request_sha256(request: &ChatRequest) -> String {
    let ChatRequest {
        stage,
        messages,
        temperature,
        top_p,
        presence_penalty,
        frequency_penalty,
        stop,
        max_tokens,
        logit_bias,
        schema,
        tools,
        must_call,
        timeout: _,
        labels: _,
    } = request;
    let role = |role: Role| match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let part = |part: &Part| match part {
        Part::Text(text) => json!({"text": text}),
        Part::Image(url) => json!({"image": url}),
        Part::ToolUse(call) => json!({"tool": call.name, "arguments": call.arguments}),
        Part::ToolResult { text, .. } => json!({"result": text}),
    };
    let messages: Vec<Value> = messages
        .iter()
        .map(|message| json!([role(message.role), message.parts.iter().map(part).collect::<Vec<Value>>()]))
        .collect();
    let schema = schema.as_ref().map(|schema| json!([schema.name, schema.schema]));
    let mut whole = json!({
        "stage": stage,
        "messages": messages,
        "temperature": temperature,
        "top_p": top_p,
        "presence_penalty": presence_penalty,
        "frequency_penalty": frequency_penalty,
        "stop": stop,
        "max_tokens": max_tokens,
        "logit_bias": logit_bias,
        "schema": schema,
    });
    // Added only where there are any, so that recordings made without tools keep their hashes.
    if let (Value::Object(fields), false) = (&mut whole, tools.is_empty()) {
        let tools: Vec<Value> = tools.iter().map(|tool| json!([tool.name, tool.description, tool.schema])).collect();
        fields.insert("tools".into(), tools.into());
        if let Some(must_call) = must_call {
            fields.insert("must_call".into(), json!(must_call));
        }
    }
    let digest = Sha256::digest(whole.to_string().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
