//! The one stream of events of a run, and the usage that follows from it.
//!
//! Everything that reports on a run (journal, terminal, HTTP, gRPC) reads this stream. Token usage is summed from its
//! [`EventKind::ModelCall`] events, so a call that emits none would not be counted.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use jarvis_plan::{Event, EventKind, Level, RunId, Usage};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The writing end of a run's event stream. Clones write to the same stream; sending never blocks, and events are
/// dropped once nobody reads.
#[derive(Debug, Clone)]
pub struct Events {
    run_id: RunId,
    shared: Arc<Mutex<Shared>>,
}

/// A stream that nobody reads, see [`Events::unread`].
impl Default for Events {
    fn default() -> Events {
        Events::unread()
    }
}

#[derive(Debug)]
struct Shared {
    seq: u64,
    /// Whether the last event of the run was sent.
    ended: bool,
    usage: Usage,
    sender: UnboundedSender<Event>,
}

impl Events {
    /// A stream for one run, and its reading end.
    pub fn channel(run_id: RunId) -> (Events, UnboundedReceiver<Event>) {
        Events::resumed(run_id, 0, Usage::default())
    }

    /// A stream that goes on where another ended: its next number, and the usage so far.
    pub fn resumed(run_id: RunId, seq: u64, usage: Usage) -> (Events, UnboundedReceiver<Event>) {
        let (sender, receiver) = unbounded_channel();
        let shared = Shared { seq, ended: false, usage, sender };
        (Events { run_id, shared: Arc::new(Mutex::new(shared)) }, receiver)
    }

    /// A stream that nobody reads, for work outside a run. Its usage is counted all the same.
    pub fn unread() -> Events {
        Events::channel(RunId(String::new())).0
    }

    /// The run that the events are of.
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// Adds an event, and tells it to the log. Number, time and place in the stream are fixed together, so the stream is in
    /// order. What comes after the run's end, such as from a call that nobody waits for any more, is counted and not sent.
    pub fn emit(&self, kind: EventKind) {
        log(&kind);
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let EventKind::ModelCall { stage, prompt_tokens, completion_tokens, .. } = &kind {
            shared.usage.add_call(stage, *prompt_tokens, *completion_tokens);
        }
        if shared.ended && !self.run_id.0.is_empty() {
            return;
        }
        shared.ended = kind.is_end();
        let at_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let event = Event { run_id: self.run_id.clone(), seq: shared.seq, at_ms, kind };
        shared.seq += 1;
        // A run goes on without readers, such as after an HTTP client has disconnected.
        let _ = shared.sender.send(event);
    }

    /// Adds a note.
    pub fn note(&self, level: Level, message: impl Into<String>) {
        self.emit(EventKind::Note { level, message: message.into() });
    }

    /// Calls and tokens so far.
    pub fn usage(&self) -> Usage {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).usage.clone()
    }
}

/// The story of a run at the level `debug`. Pieces of the answer are no part of it; model calls are logged where they are made.
fn log(kind: &EventKind) {
    match kind {
        EventKind::Token { .. } | EventKind::ModelCall { .. } => {}
        EventKind::RunStarted { planner, model, .. } => tracing::debug!(planner, model, "run started"),
        EventKind::Plan { plan } => tracing::debug!(tasks = plan.tasks().len(), notes = plan.notes().len(), "planned"),
        EventKind::ModelChosen { selection } => {
            tracing::debug!(id = %selection.task, model = selection.chosen.id, reason = selection.reason, "model chosen");
        }
        EventKind::TaskStarted { id, task, model } => tracing::debug!(%id, task, model, "task started"),
        EventKind::TaskAttempt { id, attempt } => {
            let error = attempt.error.as_ref().map(|error| error.message.as_str());
            tracing::debug!(%id, model = attempt.candidate.id, error, "attempt failed");
        }
        EventKind::TaskFinished { outcome } => {
            let (status, ms) = (outcome.status.as_str(), outcome.ms);
            tracing::debug!(id = %outcome.id, task = outcome.task, status, ms, "task finished");
        }
        EventKind::Action { step, tool, .. } => tracing::debug!(step, tool, "action"),
        EventKind::Note { message, .. } => tracing::debug!("{message}"),
        EventKind::Done { ok, ms, .. } => tracing::debug!(ok, ms, "run ended"),
        EventKind::Error { code, message, ms, .. } => tracing::debug!(code, error = message, ms, "run failed"),
        EventKind::Queued { .. }
        | EventKind::Mapped { .. }
        | EventKind::ApprovalNeeded { .. }
        | EventKind::ApprovalGiven { .. }
        | EventKind::ExecutionConfig { .. }
        | EventKind::Thought { .. }
        | EventKind::Observation { .. }
        | EventKind::Answer { .. } => tracing::debug!("{}", kind.name()),
    }
}
