//! What a pipeline gives the engine: who performs a task, and, where it has something to say about it, who is chosen and
//! what its arguments stand for.

use std::sync::Arc;

use async_trait::async_trait;
use indexmap::IndexMap;
use jarvis_plan::{Candidate, Effect, ErrorCode, Request, Selection, Task, TaskError, text_of};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::Events;

/// One try of one candidate at one task, its arguments resolved.
#[derive(Debug, Clone)]
pub struct Job {
    /// The request that the plan is for.
    pub request: Arc<Request>,
    /// The task as planned.
    pub task: Arc<Task>,
    /// The arguments, references replaced by what they stand for.
    pub args: IndexMap<String, Value>,
    /// Who is to perform it; its `effective_task` is the task type to perform.
    pub candidate: Candidate,
    /// Where the worker reports model calls and notes.
    pub events: Events,
    /// Fires when the try should end. Dropping the worker's future ends it too; work on other threads must watch this.
    pub cancel: CancellationToken,
    /// Which call of the task it is, from 1, where the task makes several; 0 where it is the only one.
    pub part: u32,
}

impl Job {
    /// The tool or task type to perform.
    pub fn name(&self) -> &str {
        &self.candidate.effective_task
    }

    /// The key of the call, which is the same whenever it is made again: a tool that knows it makes no change twice. `None` outside
    /// of a run.
    pub fn key(&self) -> Option<String> {
        let run = Some(&self.events.run_id().0).filter(|run| !run.is_empty())?;
        let task = self.task.id;
        Some(if self.part == 0 { format!("{run}/{task}") } else { format!("{run}/{task}/{}", self.part) })
    }

    /// A text argument that is there and not blank.
    pub fn arg(&self, name: &str) -> Option<&str> {
        self.args.get(name).and_then(Value::as_str).filter(|value| !value.trim().is_empty())
    }

    /// The arguments as one JSON object.
    pub fn object(&self) -> Value {
        self.args.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The arguments as texts: strings as they are, anything else as JSON.
    pub fn texts(&self) -> IndexMap<String, String> {
        self.args.iter().map(|(name, value)| (name.clone(), text_of(value).into_owned())).collect()
    }
}

/// Performs tasks. It may be called many times at once. Async functions and closures from [`Job`] to a result are workers.
#[async_trait]
pub trait Worker: Send + Sync {
    /// Performs one task once. No retry inside: the engine moves on to the next candidate.
    async fn perform(&self, job: &Job) -> Result<Value, TaskError>;
}

#[async_trait]
impl<F, R> Worker for F
where
    F: Fn(Job) -> R + Send + Sync,
    R: Future<Output = Result<Value, TaskError>> + Send,
{
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        self(job.clone()).await
    }
}

/// Says which tasks change the world, and lets them. The engine holds such a task back until every task planned before it has
/// succeeded, asks the gate once, and never performs it a second time where the first may have arrived.
///
/// In a plan that grows, what is added later is planned with the outcomes of what was there in sight: a task waits for those
/// that were added with it. An equal call of a task that failed and may have arrived is not made in any of them.
#[async_trait]
pub trait Gate: Send + Sync {
    /// What performing the task does, whoever performs it.
    fn effect(&self, task: &Task) -> Effect;

    /// Lets the job of a task that changes the world go on, with its arguments or with others. It may take as long as a person
    /// takes: the clock of the run stands still meanwhile.
    ///
    /// # Errors
    /// Why the task must not be performed.
    async fn admit(&self, job: &Job) -> Result<IndexMap<String, Value>, TaskError>;

    /// Decides about the job of a task that changes the world, was begun before its run was cut off, and may have done it.
    ///
    /// # Errors
    /// Why it must not be performed again.
    async fn admit_again(&self, job: &Job) -> Result<Again, TaskError> {
        let message =
            format!("`{}` was called before the run was cut off, and may have changed something", job.candidate.id);
        Err(TaskError::new(ErrorCode::NotApproved, message))
    }
}

/// What becomes of a call that may have arrived.
#[derive(Debug, Clone, PartialEq)]
pub enum Again {
    /// It is made again, with these arguments.
    Make(IndexMap<String, Value>),
    /// It was made, and this is its output, as far as that is known.
    Made(Value),
}

/// The gate of tools that only read.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenGate;

#[async_trait]
impl Gate for OpenGate {
    fn effect(&self, _: &Task) -> Effect {
        Effect::Reads
    }

    async fn admit(&self, job: &Job) -> Result<IndexMap<String, Value>, TaskError> {
        Ok(job.args.clone())
    }
}

/// Takes a guess of who will be chosen.
pub type Tell<'a> = &'a (dyn Fn(Candidate) + Send + Sync);

/// Chooses who performs a task, from the request and the task alone: its inputs need not exist yet.
#[async_trait]
pub trait Selector: Send + Sync {
    /// Chooses for one task. Where that takes a while, it may tell `guess` who will probably be chosen; an engine that
    /// [speculates](crate::Engine::speculating) then starts with them.
    async fn select(&self, task: &Task, events: &Events, guess: Tell<'_>) -> Result<Selection, TaskError>;
}
