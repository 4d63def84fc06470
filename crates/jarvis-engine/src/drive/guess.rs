//! Tasks that start before the choice of who performs them is made: by who will probably be chosen. Only those that read.

use std::cmp::Reverse;

use jarvis_plan::{Candidate, Effect, EventKind, TaskError, TaskId};
use serde_json::Value;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::clock::after;
use super::node::{Choice, candidates, tries_left};
use super::{Busy, Driver};

/// What is known of who will probably be chosen.
#[derive(Default)]
pub(super) struct Guess {
    /// Who it is, until the task has started with them.
    candidate: Option<Candidate>,
    pub(super) slot: Option<AbortHandle>,
    /// What they gave, before the choice was made. Boxed, because few tasks are guessed at and each would carry its size.
    ended: Option<Box<Guessed>>,
}

/// A guess that has ended: who it was, since when, and what they gave.
struct Guessed {
    candidate: Candidate,
    since: Instant,
    result: Result<Value, TaskError>,
}

impl Driver<'_> {
    /// Hears who will probably be chosen for a task.
    pub(super) fn guess(&mut self, id: TaskId, candidate: Candidate) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        if node.effect == Effect::Reads && matches!(node.choice, Choice::Pending) && !node.done {
            node.guess.candidate = Some(candidate);
            self.start_guess(id);
        }
    }

    /// Starts a task whose inputs are there with who will probably be chosen, where there is room.
    pub(super) fn start_guess(&mut self, id: TaskId) {
        if self.performing >= self.limits.concurrency || self.engine.events.spent().is_some() {
            return;
        }
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let (Some(candidate), Some(resolved)) = (node.guess.candidate.take(), &mut node.resolved) else {
            return;
        };
        let args = std::mem::take(&mut resolved.args);
        let job = self.engine.job(&node.task, args, candidate, self.stop.child_token());
        self.perform(id, Busy::Guessing, Instant::now(), job);
    }

    /// Keeps what a guess gave until the choice is made.
    pub(super) fn guess_ended(
        &mut self,
        id: TaskId,
        candidate: Candidate,
        since: Instant,
        result: Result<Value, TaskError>,
    ) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.guess.ended = Some(Box::new(Guessed { candidate, since, result }));
        }
    }

    /// Goes on with what was begun where it was the choice, and ends it where it was not; true when it was.
    pub(super) fn take_guess(&mut self, id: TaskId) -> bool {
        let Some(node) = self.nodes.get_mut(&id) else { return false };
        let running = node.guess.slot.as_ref().and_then(|handle| self.slots.get(&handle.id()));
        let begun = match (running, &node.guess.ended) {
            (Some(slot), _) => slot.job.as_ref().map(|job| (job.candidate.clone(), slot.since)),
            (None, Some(ended)) => Some((ended.candidate.clone(), ended.since)),
            (None, None) => None,
        };
        let Some((candidate, since)) = begun else { return false };
        let chosen = match &node.choice {
            Choice::Made(selection) if selection.chosen == candidate => selection,
            Choice::Made(_) | Choice::Pending | Choice::Unneeded | Choice::Failed(_) => {
                self.drop_guess(id);
                return false;
            }
        };
        node.candidates = candidates(chosen, self.limits.max_fallbacks);
        node.candidates.pop_front();
        node.started = Some(since);
        // The time counts from the choice, and is shared among those who may be tried.
        let (now, until) = (Instant::now(), after(self.limits.task_timeout));
        let deadline = now + until.saturating_duration_since(now) / tries_left(&node.candidates);
        (node.until, node.deadline) = (Some(until), Some(deadline));
        self.deadlines.push(Reverse((deadline, id)));
        let (task, model) = (node.task.task.clone(), candidate.id.clone());
        self.engine.events.emit(EventKind::TaskStarted { id, task, model });
        let Some(node) = self.nodes.get_mut(&id) else { return true };
        if let Some(Guessed { candidate, since, result }) = node.guess.ended.take().map(|ended| *ended) {
            self.performed(id, candidate, since, result);
        } else if let Some(handle) = node.guess.slot.take() {
            if let Some(slot) = self.slots.get_mut(&handle.id()) {
                slot.busy = Busy::Performing;
            }
            node.slot = Some(handle);
        }
        true
    }

    /// Ends what was begun with who was not chosen.
    pub(super) fn drop_guess(&mut self, id: TaskId) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        (node.guess.candidate, node.guess.ended) = (None, None);
        if let Some(handle) = node.guess.slot.take() {
            handle.abort();
            self.free(handle.id());
        }
    }
}
