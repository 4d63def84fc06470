//! A streamed reply: the events of a run as pieces of the OpenAI protocol.

use std::collections::VecDeque;

use axum::response::sse::Event;
use futures::{Stream, StreamExt};
use jarvis_hugginggpt::{Run, RunError};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::error::ApiError;
use crate::routes::openai::{Links, tokens};
use crate::runs::{Ended, Frame};
use crate::wire::openai::{Chunk, ChunkChoice, Delta, Tokens};

#[derive(Debug)]
pub(super) struct Head {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) created: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Want {
    pub(super) usage: bool,
    pub(super) progress: bool,
}

/// The pieces of a run's reply, to the closing `[DONE]`.
pub(super) fn of(
    frames: impl Stream<Item = Frame> + Send + 'static,
    end: oneshot::Receiver<Ended<Result<Run, RunError>>>,
    head: Head,
    want: Want,
    links: Links,
) -> impl Stream<Item = Event> + Send {
    let writer = Writer { head, want, links, sent: String::new() };
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
    end: Option<oneshot::Receiver<Ended<Result<Run, RunError>>>>,
    writer: Writer,
    ready: VecDeque<Event>,
}

struct Writer {
    head: Head,
    want: Want,
    links: Links,
    /// The answer as far as it was sent.
    sent: String,
}

impl Writer {
    fn frame(&mut self, frame: &Frame) -> Option<Event> {
        if frame.name == "token" {
            let event: Value = serde_json::from_str(&frame.data).ok()?;
            let text = event.get("text")?.as_str()?;
            self.sent.push_str(text);
            return Some(self.delta(Delta { content: Some(text), ..Delta::default() }));
        }
        if !self.want.progress {
            return None;
        }
        let event: Value = serde_json::from_str(&frame.data).ok()?;
        let line = progress(&frame.name, &event)?;
        Some(self.delta(Delta { reasoning_content: Some(&line), ..Delta::default() }))
    }

    /// What of the answer has not been sent, the end, the usage, and the closing word.
    fn last(&self, ended: Option<Ended<Result<Run, RunError>>>) -> Vec<Event> {
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
        let text = run.answer.text.trim();
        let mut rest = String::new();
        match text.strip_prefix(self.sent.trim()) {
            Some(more) => rest.push_str(more),
            // It broke off and was written anew.
            None => {
                rest.push_str("\n\n");
                rest.push_str(text);
            }
        }
        if self.sent.is_empty() {
            rest = self.links.answer(text, &run.answer.resources);
        } else {
            // The text was sent as it was written; whole addresses follow.
            run.answer.resources.iter().for_each(|resource| rest.push_str(&self.links.link(resource)));
        }
        let mut events = Vec::new();
        if !rest.is_empty() {
            events.push(self.delta(Delta { content: Some(&rest), ..Delta::default() }));
        }
        events.push(self.piece(vec![choice(Delta::default(), Some("stop"))], None));
        if self.want.usage {
            events.push(self.piece(Vec::new(), Some(usage)));
        }
        events.push(Event::default().data("[DONE]"));
        events
    }

    fn delta(&self, delta: Delta<'_>) -> Event {
        self.piece(vec![choice(delta, None)], None)
    }

    fn piece(&self, choices: Vec<ChunkChoice<'_>>, usage: Option<Tokens>) -> Event {
        json(&chunk(&self.head, choices, self.want.usage.then_some(usage)))
    }
}

fn choice<'a>(delta: Delta<'a>, finish_reason: Option<&'static str>) -> ChunkChoice<'a> {
    ChunkChoice { index: 0, delta, finish_reason, logprobs: () }
}

fn json(value: &impl serde::Serialize) -> Event {
    Event::default().data(serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
}

/// One line for an event that a person may want to see while waiting.
pub(crate) fn progress(name: &str, event: &Value) -> Option<String> {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |pointer: &str| event.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    // People count from 1.
    let task = |pointer: &str| number(pointer).saturating_add(1);
    Some(match name {
        "queued" => "Waiting for a slot.\n".into(),
        "plan" => {
            let tasks = event.pointer("/plan/tasks").and_then(Value::as_array)?;
            let name = |(at, task): (usize, &Value)| Some(format!("{}. {}", at + 1, task.get("task")?.as_str()?));
            let names: Vec<String> = tasks.iter().enumerate().filter_map(name).collect();
            format!("Plan: {}.\n", names.join(", "))
        }
        "plan_grew" => {
            let name = |task: &Value| {
                Some(format!("{}. {}", task.get("id")?.as_u64()?.saturating_add(1), task.get("task")?.as_str()?))
            };
            let names: Vec<String> = event.get("tasks")?.as_array()?.iter().filter_map(name).collect();
            let first = event.get("round").is_some_and(|round| *round == 0);
            format!("{}: {}.\n", if first { "Being planned" } else { "Planned on" }, names.join(", "))
        }
        "budget" => format!("The budget is used up: {} of {}.\n", text("/used"), text("/most")),
        "task_started" => format!("Task {} ({}) runs on {}.\n", task("/id"), text("/task"), text("/model")),
        "task_finished" => {
            let status = text("/outcome/status");
            format!("Task {} {status} after {} ms.\n", task("/outcome/id"), number("/outcome/ms"))
        }
        "note" => format!("{}.\n", text("/message")),
        _ => return None,
    })
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
