//! One call of a chat model, always reported.

use std::time::Instant;

use futures::StreamExt as _;
use jarvis_chat::{ChatError, ChatModel, ChatReply, ChatRequest, TokenUsage};
use jarvis_events::Events;
use jarvis_plan::{EventKind, TaskId};
use tracing::{Instrument as _, Span};

/// Makes a call within a span `ask` and reports it as an event, also when it fails or its future is dropped. With `piece`,
/// the reply is streamed.
#[allow(clippy::disallowed_methods, reason = "every call of a chat model is made here")]
pub(crate) async fn call(
    model: &dyn ChatModel,
    events: &Events,
    request: &ChatRequest,
    piece: Option<&mut (dyn FnMut(&str) + Send)>,
) -> Result<ChatReply, ChatError> {
    let stage = request.stage.as_str();
    let span = tracing::debug_span!("ask", stage, model = model.model_name(stage), task = request.labels.task);
    let report = Report::begin(events, request, span.clone());
    let done = match piece {
        Some(piece) => collect(model, request, piece).instrument(span).await,
        None => model.complete(request).instrument(span).await,
    };
    report.end(&done);
    done
}

#[allow(clippy::disallowed_methods, reason = "every call of a chat model is made here")]
async fn collect(
    model: &dyn ChatModel,
    request: &ChatRequest,
    piece: &mut (dyn FnMut(&str) + Send),
) -> Result<ChatReply, ChatError> {
    let mut reply = ChatReply::default();
    let mut chunks = model.stream(request).await?;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk?;
        if !chunk.text.is_empty() {
            piece(&chunk.text);
            reply.text.push_str(&chunk.text);
        }
        if let Some(reason) = chunk.finish_reason {
            reply.finish_reason = reason;
        }
        if let Some(usage) = chunk.usage {
            reply.usage = usage;
        }
    }
    Ok(reply)
}

/// Reports a call when it ends, or when it is dropped before: it was made all the same, and perhaps paid for.
struct Report<'a> {
    events: &'a Events,
    stage: &'a str,
    task: Option<TaskId>,
    started: Instant,
    span: Span,
    ended: bool,
}

impl<'a> Report<'a> {
    fn begin(events: &'a Events, request: &'a ChatRequest, span: Span) -> Report<'a> {
        let task = request.labels.task.and_then(|task| u32::try_from(task).ok()).map(TaskId);
        Report { events, stage: &request.stage, task, started: Instant::now(), span, ended: false }
    }

    fn end(mut self, done: &Result<ChatReply, ChatError>) {
        match done {
            Ok(reply) => {
                let calls = reply.tool_uses.iter().map(|call| format!("{} {}", call.name, call.arguments));
                let text = std::iter::once(reply.text.trim().to_owned()).chain(calls).collect::<Vec<_>>().join("\n");
                self.emit(reply.usage, text.trim().to_owned(), true);
            }
            Err(error) => self.emit(TokenUsage::default(), error.to_string(), false),
        }
    }

    fn emit(&mut self, TokenUsage { prompt, completion }: TokenUsage, reply: String, ok: bool) {
        self.ended = true;
        let ms = self.started.elapsed().as_millis() as u64;
        self.span.in_scope(|| tracing::debug!(ms, prompt_tokens = prompt, completion_tokens = completion, ok, "asked"));
        self.events.emit(EventKind::ModelCall {
            stage: self.stage.to_owned(),
            task: self.task,
            prompt_tokens: prompt,
            completion_tokens: completion,
            ms,
            reply,
            ok,
        });
    }
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.emit(TokenUsage::default(), "the call was given up before its end".to_owned(), false);
        }
    }
}
