//! The events of a run inside its workflow: numbered from 0, and handed out in pages. A page is a durable promise that is named
//! after the number of its first event: one for whatever happens between two waits of the workflow.

use bytes::Bytes;
use jarvis_plan::{EventKind, Money, RunId, Tokens, Usage};
use restate_sdk::endpoint::ContextInternal;
use serde_json::{Map, Value};

use crate::step::value_of;

/// The most events of a page.
pub(crate) const PAGE: u64 = 32;

/// The bytes from which a page is full.
const FULL: usize = 1 << 20;

/// The promise of the page that begins with an event.
pub(crate) fn promise_of(first: u64) -> String {
    format!("events-{first}")
}

/// Events that only the workflow tells.
const OWN: [&str; 6] = ["run_started", "plan", "plan_grew", "answer", "done", "error"];

/// Numbers events and hands them out. Its clock is the latest time that a journalled step brought, so that a replay gives the same
/// events.
pub(crate) struct Log<'c> {
    ctx: &'c ContextInternal,
    run: &'c RunId,
    started_at_ms: u64,
    at_ms: u64,
    seq: u64,
    usage: Usage,
    /// Events of the page that is being filled, each as JSON.
    page: Vec<String>,
    bytes: usize,
}

impl<'c> Log<'c> {
    pub(crate) fn new(ctx: &'c ContextInternal, run: &'c RunId, started_at_ms: u64) -> Log<'c> {
        Log {
            ctx,
            run,
            started_at_ms,
            at_ms: started_at_ms,
            seq: 0,
            usage: Usage::default(),
            page: Vec::new(),
            bytes: 0,
        }
    }

    /// Sets when the run started.
    pub(crate) fn starts(&mut self, at_ms: u64) {
        (self.started_at_ms, self.at_ms) = (at_ms, at_ms);
    }

    pub(crate) fn started_at_ms(&self) -> u64 {
        self.started_at_ms
    }

    /// How many events there are.
    pub(crate) fn len(&self) -> u64 {
        self.seq
    }

    pub(crate) fn usage(&self) -> Usage {
        self.usage.clone()
    }

    /// How long the run has taken, in milliseconds.
    pub(crate) fn ms(&self) -> u64 {
        self.at_ms.saturating_sub(self.started_at_ms)
    }

    pub(crate) fn emit(&mut self, kind: &EventKind) {
        self.write(value_of(kind));
    }

    /// Takes the events of a step that ended at a time. Of a model call, its usage counts. That the run begins and ends is the
    /// workflow's to tell: followers stop at the first end.
    pub(crate) fn take(&mut self, at_ms: u64, events: Vec<Value>) {
        self.at_ms = self.at_ms.max(at_ms);
        let is_own = |event: &Value| event.get("event").and_then(Value::as_str).is_some_and(|name| OWN.contains(&name));
        for event in events.into_iter().filter(|event| !is_own(event)) {
            self.count(&event);
            self.write(event);
        }
    }

    pub(crate) fn write(&mut self, kind: Value) {
        let mut event = Map::new();
        event.insert("run_id".to_owned(), Value::from(self.run.0.as_str()));
        event.insert("seq".to_owned(), Value::from(self.seq));
        event.insert("at_ms".to_owned(), Value::from(self.at_ms));
        if let Value::Object(kind) = kind {
            event.extend(kind);
        }
        let text = Value::Object(event).to_string();
        self.seq += 1;
        self.bytes += text.len();
        self.page.push(text);
        if self.bytes >= FULL || self.page.len() as u64 >= PAGE {
            self.flush();
        }
    }

    /// Hands out what there is. Called before each wait: what has happened is told while the next thing is waited for.
    pub(crate) fn flush(&mut self) {
        if self.page.is_empty() {
            return;
        }
        let first = self.seq - self.page.len() as u64;
        let page = format!("[{}]", self.page.join(","));
        self.ctx.resolve_promise(&promise_of(first), Bytes::from(page));
        self.page.clear();
        self.bytes = 0;
    }

    fn count(&mut self, event: &Value) {
        if event.get("event").and_then(Value::as_str) != Some("model_call") {
            return;
        }
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
        let number = |name: &str| event.get(name).and_then(Value::as_u64).unwrap_or_default();
        let tokens = Tokens {
            prompt: number("prompt_tokens"),
            cached: number("cached_tokens"),
            completion: number("completion_tokens"),
            estimated: event.get("estimated").and_then(Value::as_bool).unwrap_or_default(),
        };
        let cost = event.get("cost").and_then(|cost| serde_json::from_value::<Money>(cost.clone()).ok());
        self.usage.add_call(text("stage"), text("model"), tokens, cost);
    }
}
