//! The clock of a run: what is past its time, and the time that does not count, while somebody is asked for leave.

use std::cmp::Reverse;
use std::time::Duration;

use jarvis_plan::{Effect, ErrorCode, EventKind, Status, TaskError, TaskId};
use tokio::time::Instant;

use super::node::call;
use super::{Busy, Driver, Ended};

impl Driver<'_> {
    /// Stops the clock of the run while somebody is asked.
    pub(super) fn hold(&mut self, now: Instant) {
        if self.waiting == 0 {
            self.held_since = now;
        }
        self.waiting += 1;
    }

    /// Lets the clock of the run go on when nobody is asked any more.
    pub(super) fn go_on(&mut self, now: Instant) {
        self.waiting -= 1;
        if self.waiting == 0 {
            self.engine.events.excuse(now.saturating_duration_since(self.held_since));
        }
    }

    /// The earliest moment at which a deadline passes.
    pub(super) fn earliest_deadline(&mut self) -> Instant {
        while let Some(Reverse((at, id))) = self.deadlines.peek().copied() {
            if self.nodes.get(&id).is_some_and(|node| node.deadline == Some(at)) {
                return at.min(self.run_deadline());
            }
            self.deadlines.pop();
        }
        self.run_deadline()
    }

    /// When the run must end; far away while somebody is asked.
    pub(super) fn run_deadline(&self) -> Instant {
        match self.waiting {
            // Time in which anybody of the run was asked does not count.
            0 => self.run_deadline + self.engine.events.excused().saturating_sub(self.excused_before),
            _ => after(Duration::MAX),
        }
    }

    /// Ends what is past its deadline.
    pub(super) fn expire(&mut self, now: Instant) {
        while let Some(Reverse((at, id))) = self.deadlines.peek().copied()
            && at <= now
        {
            self.deadlines.pop();
            let Some(node) = self.nodes.get_mut(&id).filter(|node| node.deadline == Some(at)) else { continue };
            node.deadline = None;
            let until = node.until;
            let slot = self.abort(id);
            let whole = seconds(self.limits.task_timeout);
            let late = |message: String| TaskError::new(ErrorCode::Timeout, message);
            match (until, &slot) {
                (None, _) => self.selected(id, Err(late(format!("the choice of a model did not end within {whole}")))),
                (Some(until), Some(slot)) if now < until => {
                    let share = seconds(at.saturating_duration_since(slot.since));
                    let error = late(format!("the try did not end within {share}, its share of the task's {whole}"));
                    self.cut_attempt(id, Some(slot), &error);
                    // What changes the world has one try, which has all of the time.
                    self.try_next(id);
                }
                (Some(_), slot) => {
                    let error = late(format!("the task did not end within {whole}"));
                    let error = self.cut(id, slot.as_ref(), error);
                    self.conclude(id, Status::Failed, Err(error));
                }
            }
        }
    }

    /// Ends the try of a task from outside, and returns the error with what is not known then.
    pub(super) fn cut(&mut self, id: TaskId, slot: Option<&Ended>, error: TaskError) -> TaskError {
        let called = slot.is_some_and(|slot| slot.busy == Busy::Performing);
        let error = if called { self.perhaps_done(id, error) } else { error };
        self.cut_attempt(id, slot, &error);
        error
    }

    /// The error of a task whose call may have arrived. Where it changes something, an equal call is not made any more.
    pub(super) fn perhaps_done(&mut self, id: TaskId, mut error: TaskError) -> TaskError {
        let Some(node) = self.nodes.get(&id).filter(|node| node.effect != Effect::Reads) else { return error };
        if let Some(resolved) = &node.resolved {
            self.unsure.insert(call(&node.task.task, &resolved.args));
        }
        error.message.push_str("; what it was to change may have been changed");
        error
    }

    /// Records the try that was going on when a task was ended from outside.
    fn cut_attempt(&mut self, id: TaskId, slot: Option<&Ended>, error: &TaskError) {
        if let Some(Ended { busy: Busy::Performing, candidate: Some(candidate), since, .. }) = slot
            && let Some(node) = self.nodes.get_mut(&id)
        {
            let attempt = node.attempt(candidate.clone(), *since, Some(error.clone())).clone();
            self.engine.events.emit(EventKind::TaskAttempt { id, attempt });
        }
    }
}

/// A moment that far away; for durations beyond the clock's reach, one that never comes.
pub(super) fn after(wait: Duration) -> Instant {
    later(Instant::now(), wait)
}

/// The same, counted from `now`.
pub(super) fn later(now: Instant, wait: Duration) -> Instant {
    const NEVER: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);
    now + wait.min(NEVER)
}

/// A duration in words.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}
