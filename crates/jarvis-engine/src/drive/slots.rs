//! The pieces of work that run beside the driver, as tokio tasks of their own.

use std::any::Any;
use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_plan::{Candidate, Effect, ErrorCode, Selection, TaskError, TaskId};
use serde_json::Value;
use tokio::task::{Id as SlotId, JoinError};
use tokio::time::Instant;
use tracing::{Instrument, field};

use super::Driver;
use crate::{Again, Job};

/// What one spawned piece of work gives.
pub(super) enum Done {
    Selected(Result<Selection, TaskError>),
    Performed(Result<Value, TaskError>),
    Admitted(Result<IndexMap<String, Value>, TaskError>),
    AdmittedAgain(Result<Again, TaskError>),
}

/// What a task is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Busy {
    /// The choice of who performs it.
    Choosing,
    /// Waiting for leave to change the world.
    Waiting,
    /// Being performed.
    Performing,
    /// Being performed by who will probably be chosen, while the choice is still being made.
    Guessing,
}

/// One spawned piece of work.
pub(super) struct Slot {
    pub(super) task: TaskId,
    pub(super) busy: Busy,
    pub(super) since: Instant,
    /// What the work was given, which holds the arguments of the task meanwhile; choosing has none.
    pub(super) job: Option<Arc<Job>>,
}

/// One piece of work that has ended, or was given up.
pub(super) struct Ended {
    pub(super) task: TaskId,
    pub(super) busy: Busy,
    pub(super) since: Instant,
    /// Whose work it was; choosing has none.
    pub(super) candidate: Option<Candidate>,
}

impl Driver<'_> {
    /// Gives a job to the worker.
    pub(super) fn perform(&mut self, id: TaskId, busy: Busy, now: Instant, job: Arc<Job>) {
        let (worker, given) = (Arc::clone(&self.engine.worker), Arc::clone(&job));
        self.performing += 1;
        // That a change was begun is kept before it is: whoever goes on with the run must know.
        let changes = self.keeps && self.nodes.get(&id).is_some_and(|node| node.effect != Effect::Reads);
        let work = async move {
            if changes && let Err(why) = given.events.written().await {
                return Done::Performed(Err(TaskError::new(ErrorCode::Internal, format!("it was not called: {why}"))));
            }
            Done::Performed(worker.perform(&given).await)
        };
        self.spawn(id, busy, now, Some(job), work);
    }

    pub(super) fn spawn(
        &mut self,
        task: TaskId,
        busy: Busy,
        now: Instant,
        job: Option<Arc<Job>>,
        work: impl Future<Output = Done> + Send + 'static,
    ) {
        let candidate = job.as_ref().map(|job| &job.candidate);
        let (model, host) = (candidate.map(|candidate| &*candidate.id), candidate.map(|candidate| &*candidate.host));
        let name = match &job {
            Some(job) => Some(job.name()),
            None => self.nodes.get(&task).map(|node| node.task.task.as_str()),
        };
        let span = match busy {
            Busy::Performing => {
                tracing::debug_span!("task", task_id = %task, task = name, model, host, error = field::Empty)
            }
            Busy::Guessing => {
                tracing::debug_span!("guess", task_id = %task, task = name, model, host, error = field::Empty)
            }
            Busy::Choosing => tracing::debug_span!("choose", task_id = %task, task = name),
            Busy::Waiting => tracing::debug_span!("approve", task_id = %task, task = name),
        };
        let own = span.clone();
        let work = async move {
            let done = work.await;
            if let Done::Performed(Err(error)) = &done {
                own.record("error", error.code.as_str());
            }
            done
        };
        // Most runs are not traced; an empty span need not be entered at each poll.
        let span = if span.is_disabled() { tracing::Span::current() } else { span };
        let handle = if span.is_none() { self.work.spawn(work) } else { self.work.spawn(work.instrument(span)) };
        let slot = handle.id();
        if let Some(node) = self.nodes.get_mut(&task) {
            match busy {
                Busy::Guessing => node.guess.slot = Some(handle),
                Busy::Choosing | Busy::Waiting | Busy::Performing => node.slot = Some(handle),
            }
        }
        self.slots.insert(slot, Slot { task, busy, since: now, job });
    }

    /// Frees a slot; `None` when its work had been given up before. The task has its arguments back then, and work that goes
    /// on elsewhere is told to stop.
    pub(super) fn free(&mut self, slot: SlotId) -> Option<Ended> {
        let Slot { task, busy, since, job } = self.slots.remove(&slot)?;
        match busy {
            Busy::Performing | Busy::Guessing => self.performing -= 1,
            Busy::Choosing => self.selecting -= 1,
            Busy::Waiting => self.go_on(Instant::now()),
        }
        let job = job.map(|job| {
            job.cancel.cancel();
            // Only work that was cut short still holds it.
            Arc::unwrap_or_clone(job)
        });
        let (args, candidate) = job.map(|job| (job.args, job.candidate)).unzip();
        if let Some(node) = self.nodes.get_mut(&task) {
            match busy {
                Busy::Guessing => node.guess.slot = None,
                Busy::Choosing | Busy::Waiting | Busy::Performing => node.slot = None,
            }
            if let (Some(resolved), Some(args)) = (&mut node.resolved, args) {
                resolved.args = args;
            }
        }
        Some(Ended { task, busy, since, candidate })
    }

    /// Gives up what a task is busy with, if anything.
    pub(super) fn abort(&mut self, id: TaskId) -> Option<Ended> {
        let handle = self.nodes.get_mut(&id)?.slot.take()?;
        handle.abort();
        self.free(handle.id())
    }

    /// Takes in all work that has ended.
    pub(super) fn hear(&mut self) {
        while let Some(joined) = self.work.try_join_next_with_id() {
            self.joined(joined);
        }
    }

    pub(super) fn joined(&mut self, joined: Result<(SlotId, Done), JoinError>) {
        let (slot, done) = match joined {
            Ok((slot, done)) => (slot, Ok(done)),
            Err(error) => (error.id(), Err(error)),
        };
        let Some(Ended { task, busy, since, candidate }) = self.free(slot) else { return };
        match (busy, candidate, done) {
            (Busy::Choosing, _, Ok(Done::Selected(chosen))) => self.selected(task, chosen),
            (Busy::Choosing, _, Err(error)) => self.selected(task, Err(broken(error, "choice of a model"))),
            (Busy::Waiting, _, Ok(Done::Admitted(admitted))) => self.admitted(task, admitted),
            (Busy::Waiting, Some(candidate), Ok(Done::AdmittedAgain(decided))) => {
                self.admitted_again(task, candidate, since, decided);
            }
            (Busy::Waiting, _, Err(error)) => self.admitted(task, Err(broken(error, "approval"))),
            (Busy::Performing, Some(candidate), Ok(Done::Performed(result))) => {
                self.performed(task, candidate, since, result);
            }
            (Busy::Performing, Some(candidate), Err(error)) => {
                self.performed(task, candidate, since, Err(broken(error, "worker")));
            }
            (Busy::Guessing, Some(candidate), Ok(Done::Performed(result))) => {
                self.guess_ended(task, candidate, since, result);
            }
            (Busy::Guessing, Some(candidate), Err(error)) => {
                self.guess_ended(task, candidate, since, Err(broken(error, "worker")));
            }
            // A slot gives what it was made for, and a job has its candidate.
            (Busy::Performing | Busy::Guessing, None, _)
            | (Busy::Choosing | Busy::Waiting | Busy::Performing | Busy::Guessing, _, Ok(_)) => {}
        }
    }
}

/// What became of work that gave no result.
fn broken(error: JoinError, what: &str) -> TaskError {
    match error.try_into_panic() {
        Ok(panic) => {
            let said = said(&*panic);
            tracing::error!(said, "the {what} panicked");
            TaskError::new(ErrorCode::Panic, format!("the {what} panicked: {said}"))
        }
        Err(_) => TaskError::new(ErrorCode::Internal, format!("the {what} was stopped before it ended")),
    }
}

/// The message of a panic, cut to a length that fits an answer.
fn said(panic: &(dyn Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    said.unwrap_or("it said nothing").chars().take(300).collect()
}
