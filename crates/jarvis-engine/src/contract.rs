//! What the engine needs from the floors above: someone who chooses and someone who performs.

use std::sync::Arc;

use async_trait::async_trait;
use indexmap::IndexMap;
use jarvis_plan::{Candidate, Inference, Request, Selection, Task, TaskError};
use tokio_util::sync::CancellationToken;

use crate::Events;

/// One try of one model at one task, its arguments resolved.
#[derive(Debug, Clone)]
pub struct Job {
    /// The request that the plan is for.
    pub request: Arc<Request>,
    /// The task as planned.
    pub task: Arc<Task>,
    /// The arguments, references replaced by what they stand for. Media are display paths, URLs or data URLs.
    pub args: IndexMap<String, String>,
    /// Who is to perform it; its `effective_task` is the task type to perform.
    pub candidate: Candidate,
    /// Where the worker reports model calls and notes.
    pub events: Events,
    /// Fires when the try should end. Dropping the worker's future ends it too; work on other threads must watch this.
    pub cancel: CancellationToken,
}

impl Job {
    /// An argument that is there and not blank.
    pub fn arg(&self, name: &str) -> Option<&str> {
        self.args.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }
}

/// Performs tasks. It may be called many times at once.
#[async_trait]
pub trait Worker: Send + Sync {
    /// Performs one task once. No retry inside: the engine moves on to the next candidate.
    async fn perform(&self, job: &Job) -> Result<Inference, TaskError>;
}

/// Chooses who performs a task, from the request and the task alone: its inputs need not exist yet.
#[async_trait]
pub trait Selector: Send + Sync {
    /// Chooses for one task.
    async fn select(&self, task: &Task, events: &Events) -> Result<Selection, TaskError>;
}
