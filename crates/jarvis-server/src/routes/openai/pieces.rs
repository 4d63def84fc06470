//! Replies of chat completions: whole, and as pieces made of the events of a run.

mod progress;
mod stop;

use std::collections::VecDeque;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};
use jarvis_plan::Answer;
use serde_json::Value;
use tokio::sync::oneshot;

pub(crate) use self::progress::progress;
pub(super) use self::stop::Stopping;
use super::calls;
use super::text::Text;
use crate::error::ApiError;
use crate::request::RunResult;
use crate::routes::openai::links::Links;
use crate::routes::openai::tokens;
use crate::runs::{Ended, Frame};
use crate::sse;
use crate::state::Server;
use crate::wire::openai::{
    AssistantMessage, CallDelta, ChatCompletion, ChatCompletionRequest, Choice, Chunk, ChunkChoice, Delta, Tokens,
};

#[derive(Debug)]
pub(super) struct Head {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) created: u64,
}

impl Head {
    /// The head of the reply of a run, or of what has an id like one.
    pub(super) fn of(id: &str, model: String) -> Head {
        let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Head { id: format!("chatcmpl-{id}"), model, created }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Want {
    pub(super) usage: bool,
    pub(super) progress: bool,
    /// Texts before which the reply ends.
    pub(super) stop: Vec<String>,
}

/// The whole reply of a run.
pub(super) fn whole(
    head: Head,
    run_id: &str,
    answer: &Answer,
    stop: &[String],
    usage: Tokens,
    links: &Links,
) -> ChatCompletion {
    let tool_calls = calls::made(run_id, answer, links);
    let content = Stopping::cut(stop, &Text::whole(links, answer));
    let finish_reason = if tool_calls.is_empty() { "stop" } else { "tool_calls" };
    let content = Some(content).filter(|content| tool_calls.is_empty() || !content.is_empty());
    reply(head, AssistantMessage { role: "assistant", content, tool_calls, refusal: () }, finish_reason, usage)
}

/// A whole reply.
pub(super) fn reply(
    head: Head,
    message: AssistantMessage,
    finish_reason: &'static str,
    usage: Tokens,
) -> ChatCompletion {
    let choices = vec![Choice { index: 0, message, finish_reason, logprobs: () }];
    ChatCompletion { id: head.id, object: "chat.completion", created: head.created, model: head.model, choices, usage }
}

/// A reply that is known at once, whole or in pieces as it is asked for.
pub(super) fn fixed(server: &Server, body: &ChatCompletionRequest, head: Head, said: String) -> Response {
    if body.stream != Some(true) {
        let message = AssistantMessage { role: "assistant", content: Some(said), tool_calls: Vec::new(), refusal: () };
        return Json(reply(head, message, "stop", Tokens::default())).into_response();
    }
    let usage = body.stream_options.as_ref().is_some_and(|options| options.include_usage == Some(true));
    let mut events = vec![text(&head, &said, usage)];
    events.extend(end(&head, "stop", usage.then(Tokens::default)));
    sse::open(futures::stream::iter(events), (), server)
}

/// The pieces of a run's reply, to the closing `[DONE]`.
pub(super) fn of(
    frames: impl Stream<Item = Frame> + Send + 'static,
    end: oneshot::Receiver<Ended<RunResult>>,
    head: Head,
    want: Want,
    links: Links,
) -> impl Stream<Item = Event> + Send {
    let stopping = Stopping::new(&want.stop);
    let writer = Writer { head, want, text: Text::new(links.clone()), links, stopping };
    let first = writer.delta(Delta { role: Some("assistant"), content: Some(""), ..Delta::default() });
    let state = State { frames: Box::pin(frames.fuse()), end: Some(end), writer, ready: VecDeque::from([first]) };
    futures::stream::unfold(state, |mut state| async move {
        loop {
            if let Some(event) = state.ready.pop_front() {
                return Some((event, state));
            }
            match state.frames.next().await {
                Some(frame) => state.ready.extend(state.writer.frame(&frame)),
                None => {
                    let ended = state.end.take()?.await.ok();
                    state.ready.extend(state.writer.last(ended));
                }
            }
        }
    })
}

struct State {
    frames: std::pin::Pin<Box<dyn Stream<Item = Frame> + Send>>,
    end: Option<oneshot::Receiver<Ended<RunResult>>>,
    writer: Writer,
    ready: VecDeque<Event>,
}

struct Writer {
    head: Head,
    want: Want,
    links: Links,
    text: Text,
    stopping: Stopping,
}

/// The text of a piece of an answer.
pub(super) fn token(frame: &Frame) -> Option<String> {
    let event: Value = serde_json::from_str(&frame.data).ok().filter(|_| frame.name == "token")?;
    Some(event.get("text")?.as_str()?.to_owned())
}

impl Writer {
    fn frame(&mut self, frame: &Frame) -> Option<Event> {
        if let Some(text) = token(frame) {
            let text = self.stopping.push(&self.text.push(&text));
            return (!text.is_empty()).then(|| self.delta(Delta { content: Some(&text), ..Delta::default() }));
        }
        if !self.want.progress {
            return None;
        }
        let event: Value = serde_json::from_str(&frame.data).ok()?;
        let line = progress(&frame.name, &event)?;
        Some(self.delta(Delta { reasoning_content: Some(&line), ..Delta::default() }))
    }

    /// What of the answer has not been sent, the calls, the end, the usage, and the closing word.
    fn last(&mut self, ended: Option<Ended<RunResult>>) -> Vec<Event> {
        let broke_off = || ApiError::internal("the run broke off", &"its task ended without a result");
        let (result, usage) = match ended {
            Some(ended) => {
                let result = ended.result.map_err(ApiError::from).and_then(|run| run.map_err(ApiError::from));
                (result, tokens(&ended.usage))
            }
            None => (Err(broke_off()), Tokens::default()),
        };
        let run = match result {
            Ok(run) => run,
            Err(error) => return vec![json(&error.body())],
        };
        let mut rest = self.stopping.push(&self.text.end(&run.answer));
        rest.push_str(&self.stopping.end());
        let mut events = Vec::new();
        if !rest.is_empty() {
            events.push(self.delta(Delta { content: Some(&rest), ..Delta::default() }));
        }
        let run_id = self.head.id.trim_start_matches("chatcmpl-");
        let made = calls::made(run_id, &run.answer, &self.links);
        let made: Vec<CallDelta> =
            made.into_iter().enumerate().map(|(index, call)| CallDelta { index, call }).collect();
        let reason = if made.is_empty() { "stop" } else { "tool_calls" };
        events.extend(made.chunks(1).map(|tool_calls| self.delta(Delta { tool_calls, ..Delta::default() })));
        events.extend(end(&self.head, reason, self.want.usage.then_some(usage)));
        events
    }

    fn delta(&self, delta: Delta<'_>) -> Event {
        json(&chunk(&self.head, vec![choice(delta, None)], self.want.usage.then_some(None)))
    }
}

fn choice<'a>(delta: Delta<'a>, finish_reason: Option<&'static str>) -> ChunkChoice<'a> {
    ChunkChoice { index: 0, delta, finish_reason, logprobs: () }
}

fn json(value: &impl serde::Serialize) -> Event {
    Event::default().data(serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
}

/// A piece of text of a reply that no run makes.
pub(super) fn text(head: &Head, text: &str, with_usage: bool) -> Event {
    let delta = Delta { role: Some("assistant"), content: Some(text), ..Delta::default() };
    json(&chunk(head, vec![choice(delta, None)], with_usage.then_some(None)))
}

/// The end of such a reply, the usage where it is wanted, and the closing word.
pub(super) fn end(head: &Head, finish_reason: &'static str, usage: Option<Tokens>) -> Vec<Event> {
    let last = chunk(head, vec![choice(Delta::default(), Some(finish_reason))], usage.map(|_| None));
    let mut events = vec![json(&last)];
    events.extend(usage.map(|usage| json(&chunk(head, Vec::new(), Some(Some(usage))))));
    events.push(Event::default().data("[DONE]"));
    events
}

/// The end of a reply that failed in the middle.
pub(super) fn failure(error: &ApiError) -> Vec<Event> {
    vec![json(&error.body())]
}

fn chunk<'a>(head: &'a Head, choices: Vec<ChunkChoice<'a>>, usage: Option<Option<Tokens>>) -> Chunk<'a> {
    Chunk { id: &head.id, object: "chat.completion.chunk", created: head.created, model: &head.model, choices, usage }
}
