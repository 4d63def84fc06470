//! A response as server-sent events, made of the events of its run, in the order that clients of the protocol act upon.

use std::collections::VecDeque;

use axum::response::sse::Event;
use futures::{Stream, StreamExt};
use jarvis_plan::{Answer, RunId};
use serde_json::{Value, json};

use super::super::links::Links;
use super::super::pieces::token;
use super::super::text::Text;
use super::Kept;
use super::object::{Told, calls_of, message, message_id, text_part, with_output};
use crate::runs::Frame;
use crate::wire::responses::{OutputItem, ResponseError};

/// The events of the response of a run, those after a number where one is named.
pub(super) fn of(
    frames: impl Stream<Item = Frame> + Send + 'static,
    run: RunId,
    kept: Kept,
    links: Links,
    after: Option<u64>,
) -> impl Stream<Item = Event> + Send {
    let text = Text::new(links.clone());
    let mut writer =
        Writer { run, kept, links, text, sent: String::new(), begun: false, answer: None, number: 0, ended: false };
    let ready = VecDeque::from(writer.first());
    let state = (Box::pin(frames.fuse()), writer, ready);
    let numbered = futures::stream::unfold(state, |(mut frames, mut writer, mut ready)| async move {
        loop {
            if let Some(event) = ready.pop_front() {
                return Some((event, (frames, writer, ready)));
            }
            if writer.ended {
                return None;
            }
            match frames.next().await {
                Some(frame) => ready.extend(writer.frame(&frame)),
                None => ready.extend(writer.broken()),
            }
        }
    });
    numbered.filter_map(move |(number, event)| {
        std::future::ready(after.is_none_or(|after| number > after).then_some(event))
    })
}

/// An event with its number.
type Numbered = (u64, Event);

struct Writer {
    run: RunId,
    kept: Kept,
    links: Links,
    text: Text,
    /// The text as it was sent.
    sent: String,
    /// Whether the message was begun.
    begun: bool,
    answer: Option<Answer>,
    number: u64,
    ended: bool,
}

impl Writer {
    fn event(&mut self, kind: &str, mut fields: Value) -> Numbered {
        let number = self.number;
        self.number += 1;
        if let Value::Object(fields) = &mut fields {
            fields.insert("type".to_owned(), kind.into());
            fields.insert("sequence_number".to_owned(), number.into());
        }
        (number, Event::default().event(kind).data(fields.to_string()))
    }

    fn response(&mut self, kind: &str, told: &Told, output: Vec<OutputItem>) -> Numbered {
        let object = with_output(&self.run, &self.kept, told, output);
        self.event(kind, json!({ "response": object }))
    }

    fn first(&mut self) -> [Numbered; 2] {
        ["response.created", "response.in_progress"].map(|kind| self.response(kind, &Told::Going, Vec::new()))
    }

    fn frame(&mut self, frame: &Frame) -> Vec<Numbered> {
        match &*frame.name {
            "token" => {
                let text = token(frame).map(|text| self.text.push(&text)).unwrap_or_default();
                self.delta(text)
            }
            "answer" => {
                let event: Value = serde_json::from_str(&frame.data).unwrap_or_default();
                self.answer = event.get("answer").and_then(|answer| serde_json::from_value(answer.clone()).ok());
                Vec::new()
            }
            "done" | "error" => {
                let event: Value = serde_json::from_str(&frame.data).unwrap_or_default();
                let answer = self.answer.take().unwrap_or_default();
                self.end(Told::end(&event, answer))
            }
            _ => Vec::new(),
        }
    }

    /// More of the text, with the beginning of its message before the first.
    fn delta(&mut self, text: String) -> Vec<Numbered> {
        if text.is_empty() {
            return Vec::new();
        }
        let id = message_id(&self.run);
        let mut events = Vec::new();
        if !self.begun {
            self.begun = true;
            let item = message(&self.run, None);
            events.push(self.event("response.output_item.added", json!({"output_index": 0, "item": item})));
            let part = text_part(String::new());
            let fields = json!({"item_id": id, "output_index": 0, "content_index": 0, "part": part});
            events.push(self.event("response.content_part.added", fields));
        }
        self.sent.push_str(&text);
        let fields = json!({"item_id": id, "output_index": 0, "content_index": 0, "delta": text, "logprobs": []});
        events.push(self.event("response.output_text.delta", fields));
        events
    }

    /// What ends the response.
    fn end(&mut self, told: Told) -> Vec<Numbered> {
        self.ended = true;
        let (answer, kind) = match &told {
            Told::Answered { answer, cancelled: false, .. } => (answer.clone(), "response.completed"),
            // The protocol has no event for a response that was cancelled; its status says so.
            Told::Answered { answer, .. } => (answer.clone(), "response.incomplete"),
            Told::Queued | Told::Going | Told::Failed { .. } => {
                return vec![self.response("response.failed", &told, Vec::new())];
            }
        };
        let rest = self.text.end(&answer);
        let only_calls = rest.is_empty() && self.sent.is_empty() && !answer.calls.is_empty();
        let mut events = self.delta(rest);
        let mut output = Vec::new();
        if !only_calls {
            if !self.begun {
                let item = message(&self.run, None);
                events.push(self.event("response.output_item.added", json!({"output_index": 0, "item": item})));
                let fields = json!({"item_id": message_id(&self.run), "output_index": 0, "content_index": 0,
                    "part": text_part(String::new())});
                events.push(self.event("response.content_part.added", fields));
            }
            let (id, text) = (message_id(&self.run), self.sent.clone());
            let place = json!({"item_id": id, "output_index": 0, "content_index": 0});
            let with = |more: Value| merged(&place, more);
            events.push(self.event("response.output_text.done", with(json!({"text": text, "logprobs": []}))));
            events.push(self.event("response.content_part.done", with(json!({"part": text_part(text.clone())}))));
            let item = message(&self.run, Some(text));
            events.push(self.event("response.output_item.done", json!({"output_index": 0, "item": item})));
            output.push(item);
        }
        for call in calls_of(&self.run, &answer, Some(&self.links)) {
            let index = output.len();
            events.extend(self.call(index, &call));
            output.push(call);
        }
        events.push(self.response(kind, &told, output));
        events
    }

    fn call(&mut self, index: usize, call: &OutputItem) -> Vec<Numbered> {
        let OutputItem::FunctionCall { id, call_id, name, arguments, .. } = call else { return Vec::new() };
        let begun = OutputItem::FunctionCall {
            id: id.clone(),
            call_id: call_id.clone(),
            name: name.clone(),
            arguments: String::new(),
            status: "in_progress",
        };
        let place = json!({"item_id": id, "output_index": index});
        vec![
            self.event("response.output_item.added", json!({"output_index": index, "item": begun})),
            self.event("response.function_call_arguments.delta", merged(&place, json!({"delta": arguments}))),
            self.event(
                "response.function_call_arguments.done",
                merged(&place, json!({"name": name, "arguments": arguments})),
            ),
            self.event("response.output_item.done", json!({"output_index": index, "item": call})),
        ]
    }

    /// The run was told no further: its server stops.
    fn broken(&mut self) -> Vec<Numbered> {
        let message = "the server stopped before the response was whole; ask for it again".to_owned();
        let error = ResponseError { code: "server_error".to_owned(), message };
        self.end(Told::Failed { error, cancelled: false, at: crate::runs::now_ms() / 1000 })
    }
}

/// The fields of both.
fn merged(one: &Value, mut other: Value) -> Value {
    if let (Value::Object(one), Value::Object(other)) = (one, &mut other) {
        other.extend(one.clone());
    }
    other
}
