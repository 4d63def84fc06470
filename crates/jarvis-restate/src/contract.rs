//! What travels between client, workflow and workers, as JSON. It is in journals for days: from the first release on, fields are added,
//! never changed; `contract/journalled.json` has one of each.

use std::collections::BTreeSet;
use std::time::Duration;

use indexmap::IndexMap;
use jarvis_engine::planned_fault;
use jarvis_plan::{
    Answer, Candidate, Effect, ErrorCode, Note, Plan, Request, RunId, Selection, Task, TaskError, TaskId, text_of,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A run to start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInput {
    /// What is asked.
    pub request: Request,
    /// The checked plan, where it was made before; otherwise [`crate::Stages::plan`] makes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Planned>,
    /// How much at once, how long, how often.
    #[serde(default)]
    pub limits: RunLimits,
    /// The pipeline that carries it out, for [`jarvis_plan::EventKind::RunStarted`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pipeline: String,
    /// The chat model's name; none where it works offline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When it was started, in milliseconds since the Unix epoch.
    #[serde(default)]
    pub started_at_ms: u64,
    /// Those of the plan's capabilities that some worker serves. [`crate::Client::start`] fills it in; where it is missing, the
    /// workflow asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<BTreeSet<String>>,
}

impl RunInput {
    /// A request that the stages plan.
    pub fn new(request: Request) -> RunInput {
        RunInput {
            request,
            plan: None,
            limits: RunLimits::default(),
            pipeline: String::new(),
            model: None,
            started_at_ms: crate::clock::now_ms(),
            served: None,
        }
    }

    /// The same with a plan.
    #[must_use]
    pub fn with_plan(self, plan: Planned) -> RunInput {
        RunInput { plan: Some(plan), ..self }
    }
}

/// How much at once, how long, how often. Journalled with the run, so that a server with another configuration goes on with it as
/// it was started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunLimits {
    /// The most tasks that are performed at once.
    pub concurrency: usize,
    /// How many further candidates are tried when the chosen one fails.
    pub max_fallbacks: usize,
    /// The longest that one try of a task may take once its worker has a free slot.
    pub task_timeout_ms: u64,
    /// The longest that the whole run may take, waiting for approval included; none by default.
    pub run_timeout_ms: Option<u64>,
    /// The most often that a plan may grow.
    pub rounds: u32,
}

impl Default for RunLimits {
    fn default() -> RunLimits {
        RunLimits { concurrency: 64, max_fallbacks: 2, task_timeout_ms: 180_000, run_timeout_ms: None, rounds: 8 }
    }
}

impl RunLimits {
    /// The time of the whole run.
    pub(crate) fn run_timeout(&self) -> Option<Duration> {
        self.run_timeout_ms.map(Duration::from_millis)
    }
}

/// A checked plan, or what a plan grows by, with who performs each task.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Planned {
    /// The tasks, in the planner's order.
    pub tasks: Vec<PlannedTask>,
    /// What was mended, is odd or was left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "jarvis_plan::kept::notes")]
    pub notes: Vec<Note>,
    /// Whether the plan is a first part only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

impl Planned {
    /// The tasks of a plan, each performed by the tool that it names and only reading.
    pub fn by_tool(plan: &Plan) -> Planned {
        Planned::with(plan, |task| PlannedTask::new(task, Effect::Reads, None))
    }

    /// The tasks of a plan, each with its effect and its selection.
    pub fn with(plan: &Plan, planned: impl FnMut(&Task) -> PlannedTask) -> Planned {
        Planned {
            tasks: plan.tasks().iter().map(planned).collect(),
            notes: plan.notes().to_vec(),
            more: plan.may_grow(),
        }
    }

    /// The plan that these tasks make after others.
    ///
    /// # Errors
    /// When they do not go on where those end.
    pub(crate) fn after(&self, before: &Plan) -> Result<Plan, TaskError> {
        let tasks = self.tasks.iter().map(|planned| planned.task.clone());
        let tasks = before.tasks().iter().cloned().chain(tasks).collect();
        let notes = before.notes().iter().chain(&self.notes).cloned().collect();
        Plan::restored(tasks, notes, self.more)
            .map_err(|error| TaskError::new(ErrorCode::BadPlan, format!("the run cannot go on with its plan: {error}")))
    }

    /// The capabilities that its candidates need, in ascending order.
    pub fn capabilities(&self) -> BTreeSet<String> {
        let runs = self.tasks.iter().filter(|task| task.fault.is_none());
        runs.flat_map(PlannedTask::candidates).map(|candidate| candidate.effective_task).collect()
    }
}

/// A task of a plan, with everything that is decided before it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedTask {
    /// The task.
    #[serde(with = "jarvis_plan::kept::task")]
    pub task: Task,
    /// Why it cannot run, if the plan says so. It then fails without being tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<TaskError>,
    /// What performing it does to the world.
    pub effect: Effect,
    /// Who performs it; without one, the tool that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// Whether a task that changes something may do so without being asked about.
    #[serde(default)]
    pub allowed: bool,
}

impl PlannedTask {
    /// A task of a checked plan.
    pub fn new(task: &Task, effect: Effect, selection: Option<Selection>) -> PlannedTask {
        let fault = planned_fault(task).map(|fault| fault.error);
        PlannedTask { task: task.clone(), fault, effect, selection, allowed: false }
    }

    /// Whom to try, best first.
    pub(crate) fn candidates(&self) -> Vec<Candidate> {
        match &self.selection {
            Some(selection) => std::iter::once(&selection.chosen).chain(&selection.fallbacks).cloned().collect(),
            None => vec![Candidate::tool(&self.task.task)],
        }
    }
}

/// One try at a task, as a worker gets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskCall {
    pub(crate) run: RunId,
    pub(crate) request: Request,
    #[serde(with = "jarvis_plan::kept::task")]
    pub(crate) task: Task,
    pub(crate) args: IndexMap<String, Value>,
    pub(crate) candidate: Candidate,
    pub(crate) effect: Effect,
    pub(crate) timeout_ms: u64,
    /// When the run must have ended, in milliseconds since the Unix epoch. What still waits for a slot then is not begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until_ms: Option<u64>,
}

/// How one try ended. Failures are values, so that the workflow can try the next candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) result: Tried,
    /// What was reported while it was performed, without run, number and time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) events: Vec<Value>,
    pub(crate) ms: u64,
    /// When it ended, by the worker's clock.
    pub(crate) at_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tried {
    Output(Value),
    Failed(TaskError),
    /// A call that changes something began, and its worker was gone before it told how it ended.
    Unknown,
}

/// The answer to a task that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// It may change what it changes, with its arguments or with others. To a question of the planner, the `answer` is among the
    /// arguments.
    Approve {
        /// Arguments to call it with instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<IndexMap<String, Value>>,
        /// Whether this run may call the tool from now on without asking.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        always: bool,
    },
    /// It must not.
    Refuse {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// Whether it was done is unknown: it was not, and is to be tried again.
    Retry,
    /// Whether it was done is unknown: it was, with this result.
    Done {
        /// Its output.
        #[serde(default)]
        output: Value,
    },
    /// Whether it was done is unknown: the run is to go on without it.
    Skip,
}

impl Decision {
    /// What a person answered to a question of the planner.
    pub fn answer(&self) -> Option<String> {
        let Decision::Approve { args, .. } = self else { return None };
        let answer = args.as_ref()?.get("answer").map(text_of)?;
        Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty())
    }
}

/// What a task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Question {
    /// Whether it may change something.
    Approval,
    /// Whether it did.
    Arrived,
    /// What the planner asks.
    Person,
}

impl Question {
    /// Whether a decision answers it.
    pub(crate) fn is_answered_by(self, decision: &Decision) -> bool {
        match decision {
            Decision::Approve { .. } if self == Question::Person => decision.answer().is_some(),
            Decision::Refuse { .. } if self == Question::Person => true,
            Decision::Approve { .. } | Decision::Refuse { .. } => self == Question::Approval,
            Decision::Retry | Decision::Done { .. } | Decision::Skip => self == Question::Arrived,
        }
    }
}

/// A decision about a task, as `approve` takes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decided {
    pub(crate) task: TaskId,
    #[serde(flatten)]
    pub(crate) decision: Decision,
    /// The number of the event that asked; any question about the task where it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<u64>,
}

/// What came of a request, beside its answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether the request was carried out.
    #[serde(default)]
    pub ok: bool,
    /// What was asked for and was not done, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_done: Vec<String>,
    /// What the planner asks the person, where nobody answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Whether it was answered as conversation, without tasks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub conversation: bool,
    /// The tasks that failed and were made up for by later ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub made_up_for: Vec<TaskId>,
    /// What is known of the plan at the end, beside its own notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "jarvis_plan::kept::notes")]
    pub notes: Vec<Note>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunEnd {
    /// How.
    pub status: RunStatus,
    /// The answer, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TaskError>,
    /// What came of the request.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The tasks that succeeded.
    pub succeeded: usize,
    /// The tasks of the plan.
    pub tasks: usize,
    /// The events, which are numbered from 0.
    pub events: u64,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// With an answer; tasks may have failed.
    Answered,
    /// Without one.
    #[default]
    Failed,
    /// It was cancelled.
    Cancelled,
}

/// A page of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Page {
    pub(crate) events: Vec<Value>,
}

#[cfg(test)]
mod tests;
