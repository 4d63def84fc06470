//! What a pipeline brings: planning, looking at what came of the plan, answering.

use async_trait::async_trait;
use jarvis_engine::Events;
use jarvis_plan::{Answer, Approval, Outcome, Plan, Request, RunId, TaskError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::contract::{Decision, Planned, Verdict};

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
    async fn plan(&self, request: &Request, cx: &StageContext) -> Result<Begun, TaskError>;

    /// Looks at what came of the plan, and plans on where that is needed.
    ///
    /// # Errors
    /// Why it cannot be looked at; the run then ends without an answer.
    async fn look(&self, _: &Progress, _: &StageContext) -> Result<Looked, TaskError> {
        Ok(Looked::default())
    }

    /// Answers the request with what the tasks gave.
    ///
    /// # Errors
    /// Why there is no answer.
    async fn answer(&self, progress: &Progress, cx: &StageContext) -> Result<Concluded, TaskError>;
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
    /// The plan so far.
    pub plan: Plan,
    /// How its tasks ended, in ascending id.
    pub outcomes: Vec<Outcome>,
    /// How often the plan has grown.
    pub round: u32,
    /// What the look before wanted to be remembered; null before the first.
    pub memory: Value,
    /// What somebody said to the question of the look before, where it asked one.
    pub told: Option<Decision>,
}

/// What follows from a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    /// The plan.
    pub planned: Planned,
    /// The end, where none of the plan is to be performed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Concluded>,
}

impl From<Planned> for Begun {
    /// A plan to be performed.
    fn from(planned: Planned) -> Begun {
        Begun { planned, ended: None }
    }
}

/// What follows from a look.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Looked {
    /// What is to be done.
    pub next: Next,
    /// What the next look and the answer are to know, see [`Progress::memory`].
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub memory: Value,
}

/// What a look wants.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// The answer.
    #[default]
    Answer,
    /// More tasks, and then another look.
    Grow(Growth),
    /// To ask the person this, and then another look.
    Ask(Approval),
}

/// What a plan grows by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Why: `failures`, `more`, `always` or `answer`.
    pub why: String,
    /// The new tasks; their ids go on from those of the plan.
    pub planned: Planned,
}

/// The end of a run that has an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Concluded {
    /// The answer.
    pub answer: Answer,
    /// What came of the request.
    #[serde(flatten)]
    pub verdict: Verdict,
}
