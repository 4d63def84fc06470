//! One call of a chat model, always reported, and made once: the reply is kept before anything follows from it, and a run that
//! goes on takes it from its record.

use std::time::Instant;

use futures::StreamExt as _;
use jarvis_chat::{ChatError, ChatModel, ChatReply, ChatRequest, TokenUsage, ToolUse, request_sha256};
use jarvis_events::{Events, NotWritten, RecordedCall};
use jarvis_plan::{EventKind, Level, TaskId, Tokens};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracing::{Instrument as _, Span, field};

use crate::content;

/// Makes a call within a span `model_call` and reports it as an event, also when it fails or its future is dropped. With `piece`,
/// the reply is streamed.
#[allow(clippy::disallowed_methods, reason = "every call of a chat model is made here")]
pub(crate) async fn call(
    model: &dyn ChatModel,
    events: &Events,
    request: &ChatRequest,
    piece: Option<&mut (dyn FnMut(&str) + Send)>,
) -> Result<ChatReply, ChatError> {
    let stage = request.stage.as_str();
    let key = if events.is_kept() || events.goes_on() { request_sha256(request) } else { String::new() };
    if let Some(reply) = events.take_reply(&key).and_then(again) {
        return Ok(reply);
    }
    events.going().map_err(stopped)?;
    events.begin_call().map_err(ChatError::Budget)?;
    let asked = model.model_name(stage);
    let provider = model.provider(stage, &asked);
    let span = tracing::debug_span!(
        "model_call",
        stage,
        model = asked,
        provider,
        task_id = request.labels.task,
        max_tokens = request.max_tokens,
        answered_by = field::Empty,
        prompt_tokens = field::Empty,
        cached_tokens = field::Empty,
        completion_tokens = field::Empty,
        finish_reason = field::Empty,
        error = field::Empty,
    );
    span.in_scope(|| content::sent(request));
    let report = Report::begin(events, request, asked, provider, span.clone(), key);
    let mut partial = ChatReply::default();
    let done = match piece {
        Some(piece) => collect(model, request, piece, &mut partial).instrument(span).await,
        None => model.complete(request).instrument(span).await,
    };
    let tokens = match &done {
        Ok(reply) => counted(model, request, reply),
        // What broke off is paid for, too.
        Err(_) if !partial.text.is_empty() => counted(model, request, &partial),
        Err(_) => Tokens::default(),
    };
    if let Ok(reply) = &done {
        report.span.in_scope(|| content::replied(reply));
    }
    let stood_in = done.as_ref().ok().and_then(|reply| reply.model.clone()).filter(|model| *model != report.model);
    let asked = report.model.clone();
    report.end(&done, tokens, |name| model.provider(stage, name));
    if let Some(model) = stood_in {
        events.note(Level::Warning, format!("`{model}` answered for `{asked}`, which could not (stage `{stage}`)"));
    }
    if done.is_ok() {
        events.written().await.map_err(stopped)?;
    }
    done
}

fn stopped(why: NotWritten) -> ChatError {
    ChatError::Stopped(why.to_string())
}

/// A reply in full, where its event does not tell all of it.
#[derive(Serialize, Deserialize)]
struct Whole {
    text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tool_uses: Vec<ToolUse>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    finish_reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

impl Whole {
    /// What of a reply is told as `told` must be kept beside it.
    fn beside(told: &str, reply: &ChatReply) -> Option<Value> {
        let ChatReply { text, tool_uses, finish_reason, usage: _, model } = reply;
        let is_told = text == told && tool_uses.is_empty() && model.is_none();
        let whole = || {
            let (text, tool_uses) = (text.clone(), tool_uses.clone());
            Whole { text, tool_uses, finish_reason: finish_reason.clone(), model: model.clone() }
        };
        let is_plain = is_told && matches!(finish_reason.as_str(), "" | USUAL);
        (!is_plain).then(|| serde_json::to_value(whole()).expect("it has only string keys"))
    }
}

/// Why models usually stop.
const USUAL: &str = "stop";

/// The reply of a call that was made before; `None` where it cannot be read any more.
fn again(RecordedCall { mut event, .. }: RecordedCall) -> Option<ChatReply> {
    let number = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or(0);
    let usage = TokenUsage {
        prompt: number("prompt_tokens"),
        cached: number("cached_tokens"),
        completion: number("completion_tokens"),
    };
    let whole = event.get_mut("whole").map(|whole| serde_json::from_value::<Whole>(whole.take())).transpose().ok()?;
    let told = || event.get("reply").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Whole { text, tool_uses, finish_reason, model } = whole.unwrap_or_else(|| Whole {
        text: told(),
        tool_uses: Vec::new(),
        finish_reason: USUAL.to_owned(),
        model: None,
    });
    Some(ChatReply { text, tool_uses, finish_reason, usage, model })
}

/// The tokens of a call; counted here where the endpoint tells none.
fn counted(model: &dyn ChatModel, request: &ChatRequest, reply: &ChatReply) -> Tokens {
    let TokenUsage { prompt, cached, completion } = reply.usage;
    if prompt > 0 || completion > 0 {
        return Tokens { prompt, cached, completion, estimated: false };
    }
    let count = |text: &str| model.count_tokens(&request.stage, text) as u64;
    let prompt = request.messages.iter().map(|message| count(&message.joined_text())).sum();
    let called: u64 = reply.tool_uses.iter().map(|call| count(&call.arguments)).sum();
    Tokens { prompt, cached: 0, completion: count(&reply.text) + called, estimated: true }
}

#[allow(clippy::disallowed_methods, reason = "every call of a chat model is made here")]
async fn collect(
    model: &dyn ChatModel,
    request: &ChatRequest,
    piece: &mut (dyn FnMut(&str) + Send),
    reply: &mut ChatReply,
) -> Result<ChatReply, ChatError> {
    let mut chunks = model.stream(request).await?;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        if !chunk.text.is_empty() {
            piece(&chunk.text);
        }
        chunk.add_to(reply);
    }
    Ok(std::mem::take(reply))
}

/// Reports a call when it ends, or when it is dropped before: it was made all the same, and perhaps paid for.
struct Report<'a> {
    events: &'a Events,
    stage: &'a str,
    task: Option<TaskId>,
    /// The model that is asked.
    model: String,
    /// Who serves it.
    provider: String,
    /// The model that was asked, where another answered.
    instead_of: String,
    started: Instant,
    span: Span,
    key: String,
    ended: bool,
    given_up: bool,
}

impl<'a> Report<'a> {
    fn begin(
        events: &'a Events,
        request: &'a ChatRequest,
        model: String,
        provider: String,
        span: Span,
        key: String,
    ) -> Report<'a> {
        let task = request.labels.task.and_then(|task| u32::try_from(task).ok()).map(TaskId);
        Report {
            events,
            stage: &request.stage,
            task,
            model,
            provider,
            instead_of: String::new(),
            started: Instant::now(),
            span,
            key,
            ended: false,
            given_up: false,
        }
    }

    fn end(mut self, done: &Result<ChatReply, ChatError>, tokens: Tokens, provider: impl Fn(&str) -> String) {
        match done {
            Ok(reply) => {
                let calls = reply.tool_uses.iter().map(|call| format!("{} {}", call.name, call.arguments));
                let text = std::iter::once(reply.text.trim().to_owned()).chain(calls).collect::<Vec<_>>().join("\n");
                if let Some(model) = reply.model.as_ref().filter(|model| **model != self.model) {
                    self.instead_of = std::mem::replace(&mut self.model, model.clone());
                    self.provider = provider(model);
                }
                self.span.record("answered_by", &self.model).record("finish_reason", &reply.finish_reason);
                let told = text.trim();
                let whole = if self.key.is_empty() { None } else { Whole::beside(told, reply) };
                self.emit(tokens, told.to_owned(), true, whole);
            }
            Err(error) => {
                self.span.record("error", error.code().as_str());
                self.emit(tokens, error.to_string(), false, None);
            }
        }
    }

    fn emit(
        &mut self,
        Tokens { prompt, cached, completion, estimated }: Tokens,
        reply: String,
        ok: bool,
        whole: Option<Value>,
    ) {
        self.ended = true;
        let ms = self.started.elapsed().as_millis() as u64;
        self.span.record("prompt_tokens", prompt).record("completion_tokens", completion);
        self.span.record("cached_tokens", (cached > 0).then_some(cached));
        self.span.in_scope(|| tracing::debug!(ms, prompt_tokens = prompt, completion_tokens = completion, ok, "asked"));
        self.events.emit(EventKind::ModelCall {
            stage: self.stage.to_owned(),
            task: self.task,
            model: std::mem::take(&mut self.model),
            provider: std::mem::take(&mut self.provider),
            instead_of: std::mem::take(&mut self.instead_of),
            prompt_tokens: prompt,
            cached_tokens: cached,
            completion_tokens: completion,
            estimated,
            cost: None,
            ms,
            reply,
            ok,
            given_up: self.given_up,
            key: std::mem::take(&mut self.key),
            whole,
            taken_over: false,
        });
    }
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.given_up = true;
            self.span.record("error", "cancelled");
            self.emit(Tokens::default(), "the call was given up before its end".to_owned(), false, None);
        }
    }
}
