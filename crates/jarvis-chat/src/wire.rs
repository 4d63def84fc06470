//! The JSON of the chat and completion protocols: bodies as they are sent, replies as lenient types that real servers fit.

use std::collections::BTreeSet;

use jarvis_net::text::cut;
use jarvis_plan::{MustCall, Role};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Number, Value, json};

use crate::model::{ChatError, ChatReply, ChatRequest, Message, Part, ReplySchema, TokenUsage, ToolOffer, ToolUse};

/// The longest chat reply that is read, in bytes.
pub(crate) const MAX_REPLY: u64 = 16 << 20;

/// Fields that some endpoints or models refuse and that a call can do without. `max_tokens` is not left out but sent
/// under its newer name, `max_completion_tokens`.
const REFUSABLE: [&str; 9] = [
    "logit_bias",
    "response_format",
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "stop",
    "stream_options",
    "max_tokens",
];

pub(crate) type Refused = BTreeSet<&'static str>;

/// The fields of a chat call but for the schema of its reply, which is large and stays where it is.
pub(crate) fn chat_body(request: &ChatRequest, model: &str, stream: bool) -> Map<String, Value> {
    let messages: Vec<Value> = request.messages.iter().map(message).collect();
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("messages".into(), messages.into());
    add_settings(&mut body, request, stream);
    if !request.tools.is_empty() {
        let tool = |tool: &ToolOffer| {
            let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
            json!({"type": "function", "function": function})
        };
        body.insert("tools".into(), request.tools.iter().map(tool).collect::<Vec<Value>>().into());
        match &request.must_call {
            None => {}
            Some(MustCall::Any) => drop(body.insert("tool_choice".into(), "required".into())),
            Some(MustCall::Named(name)) => {
                drop(body.insert("tool_choice".into(), json!({"type": "function", "function": {"name": name}})));
            }
        }
    }
    body
}

/// A body as it is sent: fields without those that the endpoint refuses, and those that the configuration adds or puts in their
/// place.
pub(crate) struct Body<'a> {
    pub(crate) fields: &'a Map<String, Value>,
    pub(crate) schema: Option<&'a ReplySchema>,
    pub(crate) refused: &'a Refused,
    pub(crate) extra: &'a Map<String, Value>,
}

const FORMAT: &str = "response_format";

impl Body<'_> {
    /// Whether a field of the call is sent.
    pub(crate) fn has(&self, name: &str) -> bool {
        !self.refused.contains(name) && (self.fields.contains_key(name) || (name == FORMAT && self.schema.is_some()))
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Format<'a> {
            r#type: &'static str,
            json_schema: Schema<'a>,
        }
        #[derive(Serialize)]
        struct Schema<'a> {
            name: &'a str,
            schema: &'a Value,
            strict: bool,
        }
        let mut body = serializer.serialize_map(None)?;
        for (name, value) in self.fields {
            let name = match (self.refused.contains(name.as_str()), name.as_str()) {
                (true, "max_tokens") => "max_completion_tokens",
                (true, _) => continue,
                (false, name) => name,
            };
            if !self.extra.contains_key(name) {
                body.serialize_entry(name, value)?;
            }
        }
        if let Some(schema) = self.schema.filter(|_| self.has(FORMAT) && !self.extra.contains_key(FORMAT)) {
            let json_schema = Schema { name: &schema.name, schema: &schema.schema, strict: true };
            body.serialize_entry(FORMAT, &Format { r#type: "json_schema", json_schema })?;
        }
        for (name, value) in self.extra {
            body.serialize_entry(name, value)?;
        }
        body.end()
    }
}

/// The body of a legacy completion call. `max_tokens` is the room that the prompt leaves, unless the request says it.
pub(crate) fn completion_body(
    request: &ChatRequest,
    model: &str,
    stream: bool,
    prompt: String,
    max_tokens: usize,
) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("prompt".into(), prompt.into());
    add_settings(&mut body, request, stream);
    if request.stop.is_empty() {
        body.insert("stop".into(), json!(["<im_end>"]));
    }
    if request.max_tokens.is_none() {
        body.insert("max_tokens".into(), max_tokens.into());
    }
    body
}

/// The prompt of a legacy completion: the first system text as it is, each further message between tags, and the
/// beginning of the reply.
pub(crate) fn completion_prompt(messages: &[Message]) -> String {
    let mut prompt = String::new();
    for (at, message) in messages.iter().enumerate() {
        let text = message.joined_text();
        let role = match message.role {
            Role::System if at == 0 => {
                prompt.push_str(&text);
                continue;
            }
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        prompt.push_str(&format!("<im_start>{role}\n{text}<im_end>\n"));
    }
    prompt.push_str("<im_start>assistant");
    prompt
}

/// Which of the fields sent an endpoint's refusal (400, 422) is about: those it names; otherwise the bias and the reply's
/// format, which are the likeliest.
pub(crate) fn refused_by(answer: &str, has: impl Fn(&str) -> bool) -> Refused {
    let parsed: Value = serde_json::from_str(answer).unwrap_or(Value::Null);
    let param = parsed.pointer("/error/param").and_then(Value::as_str).unwrap_or_default();
    let message = error_message(&parsed).unwrap_or_default();
    let sent = || REFUSABLE.into_iter().filter(|&name| has(name));
    let named: Refused = sent()
        .filter(|&name| match name {
            "logit_bias" => answer.contains(name),
            "response_format" => answer.contains(name) || answer.contains("json_schema"),
            name => {
                let quoted = ['\'', '"', '`'].iter().any(|q| message.contains(&format!("{q}{name}{q}")));
                param == name || quoted
            }
        })
        .collect();
    if named.is_empty() {
        sent().filter(|&name| matches!(name, "logit_bias" | "response_format")).collect()
    } else {
        named
    }
}

/// A message as the protocol has it: what a tool gave is a message of the role `tool`, calls of tools stand beside the
/// content.
fn message(message: &Message) -> Value {
    let (mut content, mut calls): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut pictures = false;
    for part in &message.parts {
        match part {
            Part::Text(text) => content.push(json!({"type": "text", "text": text})),
            Part::Image(url) => {
                pictures = true;
                content.push(json!({"type": "image_url", "image_url": {"url": url}}));
            }
            Part::ToolUse(call) => {
                let function = json!({"name": call.name, "arguments": call.arguments});
                calls.push(json!({"id": call.id, "type": "function", "function": function}));
            }
            Part::ToolResult { id, text } => return json!({"role": "tool", "tool_call_id": id, "content": text}),
        }
    }
    let texts = || content.iter().filter_map(|part| part.get("text")?.as_str()).collect::<Vec<&str>>().join("\n");
    let content: Value = if pictures { content.into() } else { texts().into() };
    if calls.is_empty() {
        return json!({"role": message.role, "content": content});
    }
    json!({"role": message.role, "content": content, "tool_calls": calls})
}

fn add_settings(body: &mut Map<String, Value>, request: &ChatRequest, stream: bool) {
    let numbers = [
        ("temperature", request.temperature),
        ("top_p", request.top_p),
        ("presence_penalty", request.presence_penalty),
        ("frequency_penalty", request.frequency_penalty),
    ];
    for (name, value) in numbers {
        if let Some(value) = value {
            body.insert(name.into(), number(value));
        }
    }
    if !request.stop.is_empty() {
        body.insert("stop".into(), json!(request.stop));
    }
    if let Some(max) = request.max_tokens {
        body.insert("max_tokens".into(), max.into());
    }
    if !request.logit_bias.is_empty() {
        let bias: Map<String, Value> =
            request.logit_bias.iter().map(|(id, bias)| (id.to_string(), number(*bias))).collect();
        body.insert("logit_bias".into(), bias.into());
    }
    if stream {
        body.insert("stream".into(), true.into());
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
}

/// A number as it was written: 0.1 stays 0.1, not 0.10000000149. Whole numbers have no point, as some servers want them.
pub(crate) fn number(value: f32) -> Value {
    let text = value.to_string();
    if let Ok(whole) = text.parse::<i64>() {
        return whole.into();
    }
    text.parse::<f64>().ok().and_then(Number::from_f64).map_or(Value::Null, Value::Number)
}

/// A reply or one piece of a streamed one, of either protocol.
#[derive(Debug, Deserialize)]
pub(crate) struct Reply {
    choices: Option<Vec<Choice>>,
    usage: Option<Usage>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    message: Option<Said>,
    delta: Option<Said>,
    text: Option<String>,
    finish_reason: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Said {
    content: Option<Content>,
    refusal: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
}

#[derive(Debug, Deserialize)]
struct ToolCall {
    index: Option<usize>,
    id: Option<String>,
    function: Option<Function>,
}

#[derive(Debug, Deserialize)]
struct Function {
    name: Option<String>,
    /// A text of JSON; some servers send the JSON itself.
    arguments: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Debug, Deserialize)]
struct ContentPart {
    text: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct PromptDetails {
    cached_tokens: Option<u64>,
}

impl Reply {
    /// Reads a reply; an `error` in it is an API error, whatever the status was.
    pub(crate) fn read(text: &str, status: u16) -> Result<Reply, ChatError> {
        let bad = |reason: String| ChatError::BadReply { reason, body: start(text, 300) };
        let value: Value = serde_json::from_str(text).map_err(|error| bad(format!("it is not JSON: {error}")))?;
        if let Some(message) = error_message(&value) {
            return Err(ChatError::Api { status, message });
        }
        serde_json::from_value(value).map_err(|error| bad(format!("it has another shape: {error}")))
    }

    pub(crate) fn has_choices(&self) -> bool {
        self.choices.as_ref().is_some_and(|choices| !choices.is_empty())
    }

    pub(crate) fn text(&self) -> Option<String> {
        let choice = self.choices.as_ref()?.first()?;
        let said = choice.message.as_ref().or(choice.delta.as_ref());
        let content = said.and_then(|said| match &said.content {
            Some(Content::Text(text)) => Some(text.clone()),
            Some(Content::Parts(parts)) => Some(parts.iter().filter_map(|part| part.text.as_deref()).collect()),
            None => None,
        });
        content.or_else(|| choice.text.clone()).or_else(|| said.and_then(|said| said.refusal.clone()))
    }

    /// The tools that the first choice calls. A call without an id gets one by its place.
    pub(crate) fn tool_uses(&self) -> Vec<ToolUse> {
        let said = self.choices.as_ref().and_then(|choices| choices.first()?.message.as_ref());
        let calls = said.and_then(|said| said.tool_calls.as_deref()).unwrap_or_default();
        let used = |(at, call): (usize, &ToolCall)| {
            let function = call.function.as_ref()?;
            let arguments = match &function.arguments {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Null) | None => String::new(),
                Some(other) => other.to_string(),
            };
            let id = call.id.clone().filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{at}"));
            Some(ToolUse { id, name: function.name.clone()?, arguments })
        };
        calls.iter().enumerate().filter_map(used).collect()
    }

    pub(crate) fn finish_reason(&self) -> Option<String> {
        match self.choices.as_ref()?.first()?.finish_reason.as_ref()? {
            Value::Null => None,
            Value::String(reason) => Some(reason.clone()),
            other => Some(other.to_string()),
        }
    }

    pub(crate) fn usage(&self) -> Option<TokenUsage> {
        let usage = self.usage?;
        let (prompt, completion) = (usage.prompt_tokens.unwrap_or(0), usage.completion_tokens.unwrap_or(0));
        let cached = usage.prompt_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0);
        Some(TokenUsage { prompt, cached, completion })
    }

    /// The whole reply of a call that is not streamed. `text` is what was read.
    pub(crate) fn whole(&self, text: &str) -> Result<ChatReply, ChatError> {
        let bad = |reason: String| ChatError::BadReply { reason, body: start(text, 300) };
        if !self.has_choices() {
            return Err(bad("it holds no choices".to_owned()));
        }
        let finish_reason = self.finish_reason().unwrap_or_default();
        let tool_uses = self.tool_uses();
        let text = match self.text() {
            Some(text) => text,
            None if !tool_uses.is_empty() => String::new(),
            None => return Err(bad(format!("its first choice holds no text (finish reason `{finish_reason}`)"))),
        };
        let usage = self.usage().unwrap_or_default();
        Ok(ChatReply { text, tool_uses, finish_reason, usage, model: None })
    }
}

/// Calls of tools in a streamed reply: each comes in pieces that say which call they are of.
#[derive(Debug, Default)]
pub(crate) struct CallPieces(Vec<ToolUse>);

/// The most calls that one streamed reply may make.
const MOST_CALLS: usize = 256;

impl CallPieces {
    /// Takes in the pieces of one event.
    pub(crate) fn take(&mut self, reply: &Reply) {
        let said = reply.choices.as_ref().and_then(|choices| choices.first()?.delta.as_ref());
        for piece in said.and_then(|said| said.tool_calls.as_deref()).unwrap_or_default() {
            let function = piece.function.as_ref();
            let name = function.and_then(|function| function.name.as_deref()).unwrap_or_default();
            // Some servers number no calls, and send each in one piece.
            let at = piece.index.unwrap_or(if name.is_empty() { self.0.len().saturating_sub(1) } else { self.0.len() });
            if at >= MOST_CALLS {
                continue;
            }
            while self.0.len() <= at {
                let id = format!("call_{}", self.0.len());
                self.0.push(ToolUse { id, name: String::new(), arguments: String::new() });
            }
            let call = self.0.get_mut(at).expect("there are as many by now");
            if let Some(id) = piece.id.as_ref().filter(|id| !id.is_empty()) {
                call.id.clone_from(id);
            }
            call.name.push_str(name);
            match function.and_then(|function| function.arguments.as_ref()) {
                Some(Value::String(text)) => call.arguments.push_str(text),
                Some(Value::Null) | None => {}
                Some(other) => call.arguments.push_str(&other.to_string()),
            }
        }
    }

    /// The calls, once the reply has ended.
    pub(crate) fn whole(self) -> Vec<ToolUse> {
        self.0.into_iter().filter(|call| !call.name.is_empty()).collect()
    }
}

/// The endpoint's message where a body reports an error: `{"error": {"message"}}`, `{"error": "…"}`, `{"detail": …}`,
/// `{"object": "error", "message"}`. A null `error` is none.
pub(crate) fn error_message(body: &Value) -> Option<String> {
    let said = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => match value.get("message").and_then(Value::as_str) {
            Some(message) => message.to_owned(),
            None => start(&value.to_string(), 500),
        },
    };
    if let Some(error) = body.get("error").filter(|error| !error.is_null()) {
        return Some(said(error));
    }
    if body.get("choices").is_some() {
        return None;
    }
    if let Some(detail) = body.get("detail").filter(|detail| !detail.is_null()) {
        return Some(said(detail));
    }
    body.get("message").and_then(Value::as_str).map(str::to_owned)
}

/// The first `limit` characters of a text, with `…` where it was cut.
pub(crate) fn start(text: &str, limit: usize) -> String {
    cut(text.trim(), limit, "…")
}

#[cfg(test)]
mod tests;
