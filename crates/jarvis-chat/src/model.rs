//! The contract of a chat model: what is asked, what comes back, and what can go wrong.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt as _};
use jarvis_plan::{ErrorCode, MustCall, Role, Spent, TaskError, Turn};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Text(String),
    /// A picture, as an `https:` or `data:` URL.
    Image(String),
    /// A call of a tool that the assistant made; stands in a message of the assistant.
    ToolUse(ToolUse),
    /// What a tool gave; stands alone in its message, after the assistant's message with the call.
    ToolResult {
        id: String,
        text: String,
    },
}

/// A call of a tool, as a model with native tool calling makes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The endpoint's id of the call.
    pub id: String,
    pub name: String,
    /// The arguments as the model wrote them: JSON, if the model did well.
    pub arguments: String,
}

/// A tool that a call of a chat model offers.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOffer {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    pub description: String,
    pub schema: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub role: Role,
    /// What is said; usually one text.
    pub parts: Vec<Part>,
}

impl Message {
    pub fn text(role: Role, text: impl Into<String>) -> Message {
        Message { role, parts: vec![Part::Text(text.into())] }
    }

    /// The messages of turns: a message for each, with the calls that were made in it, and one for each result of these. A call without
    /// a result gets a word that says so, since endpoints refuse one that is left open.
    pub fn of_turns(turns: &[Turn]) -> Vec<Message> {
        let (mut messages, mut number) = (Vec::with_capacity(turns.len()), 0);
        for turn in turns {
            let text =
                Some(Part::Text(turn.content.clone())).filter(|_| !turn.content.is_empty() || turn.calls.is_empty());
            let mut said = Message { role: turn.role, parts: text.into_iter().collect() };
            let mut results = Vec::with_capacity(turn.calls.len());
            for call in &turn.calls {
                number += 1;
                let id = format!("call_{number}");
                let used = ToolUse { id: id.clone(), name: call.name.clone(), arguments: call.arguments.clone() };
                said.parts.push(Part::ToolUse(used));
                let text = call.result.clone().unwrap_or_else(|| "(it gave no result)".to_owned());
                results.push(Message { role: Role::User, parts: vec![Part::ToolResult { id, text }] });
            }
            messages.push(said);
            messages.extend(results);
        }
        messages
    }

    /// The texts of the message, what tools were called with and gave among them, joined by newlines; pictures are left out.
    pub fn joined_text(&self) -> String {
        let texts: Vec<&str> = self
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) | Part::ToolResult { text, .. } => Some(text.as_str()),
                Part::ToolUse(call) => Some(call.arguments.as_str()),
                Part::Image(_) => None,
            })
            .collect();
        texts.join("\n")
    }
}

impl From<Turn> for Message {
    fn from(turn: Turn) -> Message {
        Message::text(turn.role, turn.content)
    }
}

/// A JSON Schema that the reply should follow, for endpoints with structured output.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplySchema {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// The schema. Its root is an object, as strict endpoints demand.
    pub schema: Arc<Value>,
}

/// One call of a chat model. `None` leaves a setting to the endpoint.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatRequest {
    /// The stage label, sent as the header `x-jarvis-stage`.
    pub stage: String,
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// 0 to 2.
    pub temperature: Option<f32>,
    /// 0 to 1.
    pub top_p: Option<f32>,
    /// −2 to 2.
    pub presence_penalty: Option<f32>,
    /// −2 to 2.
    pub frequency_penalty: Option<f32>,
    pub stop: Vec<String>,
    pub max_tokens: Option<u32>,
    /// Token id to bias, −100 to 100; fractions are allowed. Dropped, and the call repeated once, if the endpoint refuses it.
    pub logit_bias: BTreeMap<u32, f32>,
    /// The reply's schema. Dropped, and the call repeated once, if the endpoint refuses it.
    pub schema: Option<ReplySchema>,
    /// Tools that the model may call instead of answering, by the endpoint's own tool calling.
    pub tools: Vec<ToolOffer>,
    /// Which of them the model must call; it may answer instead unless this is set.
    pub must_call: Option<MustCall>,
    /// Overrides the client's timeout for this call: the time for one attempt, see `OpenAiConfig::timeout`.
    pub timeout: Option<Duration>,
    /// Which of several calls of one stage this is. No part of what is asked.
    pub labels: CallLabels,
}

/// Which of several calls of one stage a call is, for traces and scripted endpoints. Sent as the headers `x-jarvis-task` and
/// `x-jarvis-attempt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallLabels {
    pub task: Option<i64>,
    /// The attempt at a usable reply, from 1.
    pub attempt: Option<u32>,
    /// What prompt logs call it, where that is not the stage. Not sent.
    pub name: Option<&'static str>,
}

impl ChatRequest {
    /// A call at temperature 0, as the stages that must be exact make it.
    pub fn exact(stage: impl Into<String>, messages: Vec<Message>) -> ChatRequest {
        ChatRequest { stage: stage.into(), messages, temperature: Some(0.0), ..ChatRequest::default() }
    }
}

/// Tokens of one call as the endpoint reported them; 0 where it did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenUsage {
    pub prompt: u64,
    /// Those of the prompt that the endpoint had kept from calls before.
    pub cached: u64,
    pub completion: u64,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatReply {
    /// The text, as the model wrote it; may be empty when tools are called.
    pub text: String,
    /// The tools that the model calls, of those that were offered.
    pub tool_uses: Vec<ToolUse>,
    /// Why the model stopped, in the endpoint's own word; empty when it gave none.
    pub finish_reason: String,
    pub usage: TokenUsage,
    /// The model that answered, where that is not the one that was asked.
    pub model: Option<String>,
}

impl ChatReply {
    /// The reply word by word, as an endpoint would stream it.
    pub(crate) fn into_stream(self) -> ChatStream {
        let words = self.text.split_inclusive(char::is_whitespace);
        let mut chunks: Vec<_> =
            words.map(|text| Ok(ChatChunk { text: text.to_owned(), ..ChatChunk::default() })).collect();
        chunks.push(Ok(ChatChunk { text: String::new(), ..ChatChunk::last(self) }));
        stream::iter(chunks).boxed()
    }
}

/// A piece of a streamed reply. The last one carries the finish reason and the usage, when the endpoint gives them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatChunk {
    /// New text; may be empty.
    pub text: String,
    /// Why the model stopped, once it has.
    pub finish_reason: Option<String>,
    /// Tokens of the whole call, once known.
    pub usage: Option<TokenUsage>,
    /// The tools that the model calls; all of them come with the last piece.
    pub tool_uses: Vec<ToolUse>,
    /// The model that answers, where that is not the one that was asked.
    pub model: Option<String>,
}

impl ChatChunk {
    /// A whole reply as one piece, which is the last.
    pub fn last(reply: ChatReply) -> ChatChunk {
        let ChatReply { text, tool_uses, finish_reason, usage, model } = reply;
        let finish_reason = (!finish_reason.is_empty()).then_some(finish_reason);
        ChatChunk { text, finish_reason, usage: Some(usage), tool_uses, model }
    }

    /// Adds this piece to what came before.
    pub fn add_to(self, reply: &mut ChatReply) {
        reply.text.push_str(&self.text);
        if let Some(reason) = self.finish_reason {
            reply.finish_reason = reason;
        }
        reply.usage = self.usage.unwrap_or(reply.usage);
        reply.tool_uses.extend(self.tool_uses);
        reply.model = self.model.or(reply.model.take());
    }
}

/// A reply as it is written, piece by piece.
pub type ChatStream = BoxStream<'static, Result<ChatChunk, ChatError>>;

/// Something that answers chat calls.
#[async_trait]
pub trait ChatModel: Send + Sync {
    fn model_name(&self, stage: &str) -> String;

    /// The context size in tokens of the model used for this stage.
    fn context_tokens(&self, stage: &str) -> usize;

    /// Tokens of a text for the model used for this stage; an estimate where its tokenizer is unknown.
    fn count_tokens(&self, stage: &str, text: &str) -> usize;

    /// The highlight ids of a text (the set of its token ids), or nothing when the tokenizer is not known to match the
    /// endpoint's, so that no wrong token is favoured.
    fn token_ids(&self, stage: &str, text: &str) -> Vec<u32>;

    /// Who serves a model of this stage: the one that is asked, or one that answered in its place. As [`crate::provider`] names them; empty
    /// where nobody does, as for a recording.
    fn provider(&self, stage: &str, model: &str) -> String;

    /// Whether the model used for this stage takes pictures.
    fn can_see(&self, _stage: &str) -> bool {
        false
    }

    /// Makes one call and waits for the whole reply. Dropping the future aborts the call.
    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError>;

    /// Makes one call and yields the reply as it is written. Dropping the stream aborts the call.
    async fn stream(&self, request: &ChatRequest) -> Result<ChatStream, ChatError>;
}

/// What a model that wraps another says of itself: the same as the other. For the crates of jarvis.
#[doc(hidden)]
#[macro_export]
macro_rules! model_facts_of {
    ($self:ident => $inner:expr) => {
        fn model_name(&$self, stage: &str) -> String {
            $inner.model_name(stage)
        }

        fn context_tokens(&$self, stage: &str) -> usize {
            $inner.context_tokens(stage)
        }

        fn count_tokens(&$self, stage: &str, text: &str) -> usize {
            $inner.count_tokens(stage, text)
        }

        fn token_ids(&$self, stage: &str, text: &str) -> Vec<u32> {
            $inner.token_ids(stage, text)
        }

        fn can_see(&$self, stage: &str) -> bool {
            $inner.can_see(stage)
        }
    };
}

#[async_trait]
impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    model_facts_of!(self => (**self));

    fn provider(&self, stage: &str, model: &str) -> String {
        (**self).provider(stage, model)
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        (**self).complete(request).await
    }

    async fn stream(&self, request: &ChatRequest) -> Result<ChatStream, ChatError> {
        (**self).stream(request).await
    }
}

/// What can go wrong in a chat call. No variant ever holds a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChatError {
    Unreachable {
        /// The address, without credentials and query.
        url: String,
        reason: String,
    },
    Timeout {
        after: Duration,
    },
    /// The endpoint refused the credentials (401, 403).
    Unauthorized {
        message: String,
    },
    /// The endpoint asks for fewer calls (429), and retries did not help.
    RateLimited {
        message: String,
    },
    /// The endpoint answered with an error status, or with an `error` body whatever the status.
    Api {
        status: u16,
        message: String,
    },
    /// The endpoint answered with something that is not a chat reply: HTML, no choices, a cut stream.
    BadReply {
        reason: String,
        /// The start of the reply.
        body: String,
    },
    ReplayMiss {
        stage: String,
        /// The start of the prompt.
        prompt: String,
    },
    Recording {
        path: String,
        reason: String,
    },
    Config(String),
    /// The call was not made: the budget of the run is used up.
    Budget(Spent),
    /// The run cannot go on: its steps cannot be kept.
    Stopped(String),
}

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message("chat endpoint", "a chat reply"))
    }
}

impl ChatError {
    /// The message, for an endpoint of this name whose answers ought to be `reply`.
    pub(crate) fn message(&self, endpoint: &str, reply: &str) -> String {
        match self {
            ChatError::Unreachable { url, reason } => format!("cannot reach the {endpoint} at {url}: {reason}"),
            ChatError::Timeout { after } => format!("the {endpoint} did not answer within {} s", after.as_secs_f32()),
            ChatError::Unauthorized { message } => format!("the {endpoint} refused the credentials: {message}"),
            ChatError::RateLimited { message } => format!("the {endpoint} limits the rate of calls: {message}"),
            ChatError::BadReply { reason, .. } => format!("the {endpoint}'s answer is not {reply}: {reason}"),
            ChatError::ReplayMiss { stage, prompt } => {
                format!("ReplayMiss: no unused line of the recording fits stage `{stage}`; the prompt starts: {prompt}")
            }
            ChatError::Recording { path, reason } => format!("the recording {path}: {reason}"),
            ChatError::Api { message, .. } | ChatError::Config(message) => message.clone(),
            ChatError::Budget(spent) => spent.to_string(),
            ChatError::Stopped(why) => format!("the run cannot go on: {why}"),
        }
    }

    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ChatError::Unreachable { .. } => Some("check the base URL and whether the server runs"),
            ChatError::Timeout { .. } => Some("raise the timeout, or use a faster model"),
            ChatError::Unauthorized { .. } => Some("check the API key and that it fits the base URL"),
            ChatError::RateLimited { .. } => Some("wait, or use another key or model"),
            ChatError::Api { status: 404, .. } => Some("check the model's name and the base URL"),
            ChatError::BadReply { .. } => Some("check that the base URL is that of an OpenAI-compatible endpoint"),
            ChatError::ReplayMiss { .. } => Some("record the run again, or add a line for this call"),
            ChatError::Budget(_) => Some("allow more with --max-time, --max-tokens, --max-calls or --max-cost"),
            ChatError::Api { .. } | ChatError::Recording { .. } | ChatError::Config(_) | ChatError::Stopped(_) => None,
        }
    }

    pub fn code(&self) -> ErrorCode {
        match self {
            ChatError::Unreachable { .. } => ErrorCode::Unavailable,
            ChatError::Timeout { .. } => ErrorCode::Timeout,
            ChatError::Unauthorized { .. } => ErrorCode::Unauthorized,
            ChatError::RateLimited { .. } => ErrorCode::RateLimited,
            ChatError::Api { .. } => ErrorCode::Upstream,
            ChatError::BadReply { .. } => ErrorCode::BadReply,
            ChatError::ReplayMiss { .. } => ErrorCode::NotFound,
            ChatError::Recording { .. } => ErrorCode::Internal,
            ChatError::Config(_) => ErrorCode::NotConfigured,
            ChatError::Budget(_) => ErrorCode::Budget,
            ChatError::Stopped(_) => ErrorCode::Internal,
        }
    }
}

impl From<ChatError> for TaskError {
    fn from(error: ChatError) -> TaskError {
        TaskError { hint: error.hint().map(str::to_owned), ..TaskError::new(error.code(), error.to_string()) }
    }
}
