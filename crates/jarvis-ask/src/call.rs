//! One call of a chat model, always reported.

use std::time::Instant;

use futures::StreamExt as _;
use jarvis_chat::{ChatError, ChatModel, ChatReply, ChatRequest, TokenUsage};
use jarvis_events::Events;
use jarvis_plan::{EventKind, Level, TaskId, Tokens};
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
    events.begin_call().map_err(ChatError::Budget)?;
    let asked = model.model_name(stage);
    let span = tracing::debug_span!("ask", stage, model = asked, task = request.labels.task);
    let report = Report::begin(events, request, asked, span.clone());
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
    let stood_in = done.as_ref().ok().and_then(|reply| reply.model.clone()).filter(|model| *model != report.model);
    let asked = report.model.clone();
    report.end(&done, tokens);
    if let Some(model) = stood_in {
        events.note(Level::Warning, format!("`{model}` answered for `{asked}`, which could not (stage `{stage}`)"));
    }
    done
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
    started: Instant,
    span: Span,
    ended: bool,
}

impl<'a> Report<'a> {
    fn begin(events: &'a Events, request: &'a ChatRequest, model: String, span: Span) -> Report<'a> {
        let task = request.labels.task.and_then(|task| u32::try_from(task).ok()).map(TaskId);
        Report { events, stage: &request.stage, task, model, started: Instant::now(), span, ended: false }
    }

    fn end(mut self, done: &Result<ChatReply, ChatError>, tokens: Tokens) {
        match done {
            Ok(reply) => {
                let calls = reply.tool_uses.iter().map(|call| format!("{} {}", call.name, call.arguments));
                let text = std::iter::once(reply.text.trim().to_owned()).chain(calls).collect::<Vec<_>>().join("\n");
                if let Some(model) = &reply.model {
                    self.model.clone_from(model);
                }
                self.emit(tokens, text.trim().to_owned(), true);
            }
            Err(error) => self.emit(tokens, error.to_string(), false),
        }
    }

    fn emit(&mut self, Tokens { prompt, cached, completion, estimated }: Tokens, reply: String, ok: bool) {
        self.ended = true;
        let ms = self.started.elapsed().as_millis() as u64;
        self.span.in_scope(|| tracing::debug!(ms, prompt_tokens = prompt, completion_tokens = completion, ok, "asked"));
        self.events.emit(EventKind::ModelCall {
            stage: self.stage.to_owned(),
            task: self.task,
            model: std::mem::take(&mut self.model),
            prompt_tokens: prompt,
            cached_tokens: cached,
            completion_tokens: completion,
            estimated,
            cost: None,
            ms,
            reply,
            ok,
        });
    }
}

impl Drop for Report<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.emit(Tokens::default(), "the call was given up before its end".to_owned(), false);
        }
    }
}
