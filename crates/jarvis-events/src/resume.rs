//! Going on with a run: waiting until its steps are kept, and taking from its record those that were done.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use jarvis_plan::{Effect, EventKind, Outcome, RunId, Selection, Task, TaskId};

use crate::{Events, Journal, Leave, NotWritten, Past, RecordedCall, Shared};

impl Events {
    /// Keeps the events from now on. Only the first journal of a stream counts.
    pub fn kept_in(&self, journal: Arc<dyn Journal>) {
        let _ = self.0.journal.set(journal);
    }

    /// Whether the events are kept, so that results must be waited for: see [`Events::written`].
    pub fn is_kept(&self) -> bool {
        self.0.journal.get().is_some()
    }

    /// Waits until everything that was told so far is kept. Nothing that follows from a result starts, or is shown, before.
    ///
    /// # Errors
    /// When it cannot be kept; the run must end then, and so says every later call.
    pub async fn written(&self) -> Result<(), NotWritten> {
        self.going()?;
        let Some(journal) = self.0.journal.get() else { return Ok(()) };
        journal.written(&self.0.run_id).await.inspect_err(|why| self.stop(why.clone()))
    }

    /// Whether the run may go on here.
    ///
    /// # Errors
    /// Why not.
    pub fn going(&self) -> Result<(), NotWritten> {
        if !self.is_kept() && !self.goes_on() {
            return Ok(());
        }
        self.shared().stopped.clone().map_or(Ok(()), Err)
    }

    /// Says that the run cannot go on here. Nothing more of it is kept.
    pub fn stop(&self, why: NotWritten) {
        self.shared().stopped.get_or_insert(why);
    }

    /// Adds something that must be the same for the run to go on in another process. It counts for a run that has not begun.
    pub fn needs(&self, name: &str, value: &str) {
        let mut shared = self.shared();
        Arc::make_mut(&mut shared.settings).insert(name.to_owned(), value.to_owned());
    }

    /// Whether a run that goes on said at its beginning that it needs this.
    pub fn began_with(&self, name: &str, value: &str) -> bool {
        self.shared().past.began().is_some_and(|began| began.settings.get(name).is_some_and(|said| said == value))
    }

    /// The moment from which the time of the run counts: what it ran before, in other processes, included.
    pub fn began(&self) -> Instant {
        self.shared().since
    }

    /// How many events are on record that tell what the run did: not that it began or goes on, nor notes and that a budget is used up,
    /// which this side adds too where another one carries it out.
    pub fn shown(&self) -> u64 {
        self.shared().past.shown()
    }

    /// Whether the run goes on from a record.
    pub fn goes_on(&self) -> bool {
        self.0.goes_on.load(Ordering::Acquire)
    }

    /// The run whose steps this one may take: itself, or the one that it tries anew. What both find in their surroundings must be the
    /// same for that.
    pub fn first_run(&self) -> RunId {
        let shared = self.shared();
        let first = shared.past.took_over().or(shared.past.from()).map(|(run, _)| run.clone());
        first.unwrap_or_else(|| self.0.run_id.clone())
    }

    /// Takes the reply to a call with this key from the record. It is told only where another run made the call.
    pub fn take_reply(&self, key: &str) -> Option<RecordedCall> {
        let call = self.record(|past| past.take_reply(key))?;
        self.tell_copied(call.copied, || call.taken_over(key));
        Some(call)
    }

    /// Takes from the record how a task ended. It is told only where another run did it.
    pub fn take_outcome(&self, task: &Task) -> Option<Outcome> {
        let (outcome, copied) = self.record(|past| past.take_outcome(task))?;
        self.tell_copied(copied, || EventKind::TaskFinished { outcome: Box::new(outcome.clone()) });
        Some(outcome)
    }

    /// Takes from the record who was chosen for a task. It is told only where another run chose.
    pub fn take_selection(&self, task: &Task) -> Option<Selection> {
        let (selection, copied) = self.record(|past| past.take_selection(task))?;
        self.tell_copied(copied, || EventKind::ModelChosen { selection: selection.clone(), weights: None });
        Some(selection)
    }

    /// Takes from the record what somebody said about calling a tool for a task, or about such a call that may have arrived.
    pub fn take_leave(&self, task: TaskId, tool: &str, unknown: bool) -> Option<Leave> {
        self.record(|past| past.take_leave(task, tool, unknown))
    }

    /// Whether a call that changes something was begun for a task and may have arrived, for all that is on record. It is said once.
    pub fn take_begun(&self, task: TaskId, effect: Effect) -> bool {
        self.record(|past| past.take_begun(task, effect).then_some(())).is_some()
    }

    /// Tells what another run did as done by this one.
    fn tell_copied(&self, copied: bool, kind: impl FnOnce() -> EventKind) {
        if copied {
            self.send(&mut self.shared(), kind());
        }
    }

    /// Whether the run takes over what another run did: its calls have keys of their own.
    pub fn takes_over(&self) -> bool {
        self.goes_on() && (self.shared().past.from().is_some() || self.shared().past.took_over().is_some())
    }

    fn record<T>(&self, take: impl FnOnce(&mut Past) -> Option<T>) -> Option<T> {
        if !self.goes_on() {
            return None;
        }
        take(&mut self.shared().past)
    }

    /// Whether the run told this before it was cut off.
    pub(crate) fn was_told(&self, shared: &mut Shared, kind: &EventKind) -> bool {
        if !kind.is_kept() {
            return false;
        }
        match serde_json::to_value(kind).map_err(|error| error.to_string()).and_then(|kind| shared.past.was_told(&kind))
        {
            Ok(was_told) => was_told,
            Err(why) => {
                shared.stopped.get_or_insert(NotWritten::Diverged(why));
                false
            }
        }
    }

    /// Tells that the run goes on, with how much of it is done.
    pub(crate) fn tell_resumed(&self, shared: &mut Shared) {
        let (from, from_task) = match shared.past.from() {
            Some((run, task)) => (Some(run.clone()), *task),
            None => (None, None),
        };
        let (steps, ran_ms) = (shared.past.steps(), shared.past.ran().as_millis() as u64);
        self.send(shared, EventKind::Resumed { from, from_task, steps, ran_ms });
    }
}
