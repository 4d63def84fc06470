//! What a pipeline brings: planning, looking at what came of the plan, answering.

use async_trait::async_trait;
use jarvis_engine::Events;
use jarvis_plan::{Answer, Outcome, Request, RunId, TaskError};
use tokio_util::sync::CancellationToken;

use crate::contract::{Planned, PlannedTask};

/// The stages of a pipeline before and after its tasks. Each call is one durable step of the workflow: its result is journalled, and
/// a stage whose server was killed is called again, on whichever server goes on with the run. A stage therefore takes what it
/// needs from its arguments, and keeps nothing between calls. A failure with [`jarvis_plan::ErrorCode::RateLimited`] or
/// [`jarvis_plan::ErrorCode::Unavailable`] is tried three times in all.
#[async_trait]
pub trait Stages: Send + Sync {
    /// Plans a request, and chooses who performs each task.
    ///
    /// # Errors
    /// Why there is no plan; the run then ends without an answer.
    async fn plan(&self, request: &Request, cx: &StageContext) -> Result<Planned, TaskError>;

    /// Looks at what came of the plan, and plans on where that is needed.
    ///
    /// # Errors
    /// Why it cannot be looked at; the run then ends without an answer.
    async fn look(&self, _: &Progress, _: &StageContext) -> Result<Option<Growth>, TaskError> {
        Ok(None)
    }

    /// Answers the request with what the tasks gave.
    ///
    /// # Errors
    /// Why there is no answer.
    async fn answer(&self, progress: &Progress, cx: &StageContext) -> Result<Answer, TaskError>;
}

/// Where a stage runs.
#[derive(Debug, Clone)]
pub struct StageContext {
    /// The run.
    pub run: RunId,
    /// Where it reports model calls and notes. They reach followers when the stage ends.
    pub events: Events,
    /// Fires when the server stops or the run is killed.
    pub cancel: CancellationToken,
}

/// What a plan and its outcomes have come to.
#[derive(Debug, Clone)]
pub struct Progress {
    /// What is asked.
    pub request: Request,
    /// The tasks so far, in the planner's order.
    pub tasks: Vec<PlannedTask>,
    /// How each of them ended, in ascending id.
    pub outcomes: Vec<Outcome>,
    /// How often the plan has grown.
    pub round: u32,
}

/// What a plan grows by.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Growth {
    /// Why: `failures`, `more`, `always` or `answer`.
    pub why: String,
    /// The new tasks; their ids go on from those of the plan.
    pub planned: Planned,
}
