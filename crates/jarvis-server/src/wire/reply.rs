//! What callers get: answers, uploads, runs, models and the state of the server.

use jarvis_engine::Account;
use jarvis_hugginggpt::RunDocument;
use jarvis_plan::{Approval, Budget, RunId};
use jarvis_store::{RunRecord, RunSummary};
use serde::Serialize;
use serde_json::{Number, Value};
use utoipa::ToSchema;

use crate::parts::{Check, Kept, Reach};
use crate::wire::ask::Attachment;
use crate::wire::decisions::DecisionsReply;
use crate::wire::document::{self, TaskResult};
use crate::wire::event::Event;
use crate::wire::plan::Task;
use crate::wire::run as twins;
use crate::wire::schema::JsonSchema;

/// An answer in the shape of the original's HTTP API, with the run beside it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AnswerReply {
    pub(crate) message: String,
    #[schema(value_type = document::RunDocument)]
    pub(crate) run: RunDocument,
}

/// An answer, or what was decided where that was asked for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum AnswerOrDecisions {
    Answer(Box<AnswerReply>),
    /// The plan and the choices; nothing was carried out.
    #[schema(value_type = DecisionsReply)]
    Decisions(Value),
}

/// The reply to a request that is conversation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConversationReply {
    pub(crate) message: String,
}

/// The plan as a list of tasks, or a message where the request was conversation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum TasksReply {
    #[schema(value_type = Vec<Task>)]
    Tasks(Value),
    /// The reply instead.
    Message(ConversationReply),
}

/// The results by task id, or a message where the request was conversation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ResultsReply {
    #[schema(value_type = BTreeMap<String, TaskResult>)]
    Results(Value),
    /// The reply instead.
    Message(ConversationReply),
}

/// Files that were taken in. The first one's fields stand at the top too.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UploadReply {
    /// Every file, in the order they came.
    pub(crate) files: Vec<Uploaded>,
    /// The first file.
    #[serde(flatten)]
    pub(crate) first: Uploaded,
}

/// A file that was taken in.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct Uploaded {
    /// How a request names it.
    #[serde(flatten)]
    pub(crate) attachment: Attachment,
    /// Its size in bytes.
    pub(crate) bytes: u64,
}

/// A run in a line.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunLine {
    run_id: String,
    /// What was asked.
    request: String,
    /// `queued`, `running`, `waiting` for leave to change something, `done`, `failed`, `cancelled`, or `interrupted` when it was cut off.
    status: &'static str,
    /// When it began, in milliseconds since the Unix epoch.
    started_at_ms: u64,
    /// How long it took, or has taken, in milliseconds.
    ms: u64,
    /// How many tasks it has.
    tasks: u32,
    /// How many of them succeeded.
    ok: u32,
    /// How many of them ended otherwise.
    failed: u32,
    /// Whose it is, where there are several users.
    #[serde(skip_serializing_if = "String::is_empty")]
    user: String,
    /// Whether it was cut off and can go on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    resumable: bool,
}

impl RunLine {
    pub(crate) fn of(summary: RunSummary, queued: bool) -> RunLine {
        RunLine {
            run_id: summary.run_id.0,
            request: crate::runs::short(&summary.request),
            status: if queued { "queued" } else { summary.status.as_str() },
            started_at_ms: summary.started_at_ms,
            ms: summary.ms,
            tasks: summary.tasks,
            ok: summary.ok,
            failed: summary.failed,
            user: summary.user,
            resumable: summary.resumable,
        }
    }

    /// Its place in the list: when it began, in milliseconds since the Unix epoch, and its id.
    pub(crate) fn place(&self) -> (u64, &str) {
        (self.started_at_ms, &self.run_id)
    }
}

/// A page of runs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunsReply {
    /// Newest first.
    pub(crate) runs: Vec<RunLine>,
    /// Where the next page begins (`before`), where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// A run that was removed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RemovedReply {
    pub(crate) run_id: String,
    /// Always true; a run that cannot be removed is an error.
    pub(crate) deleted: bool,
    /// How many files went with it.
    pub(crate) media: usize,
}

/// Runs that were removed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RemovedRunsReply {
    /// How many.
    pub(crate) deleted: u64,
    /// How many files went with them.
    pub(crate) media: usize,
}

/// A run with everything that happened in it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunReply {
    /// The run in a line.
    #[serde(flatten)]
    pub(crate) run: RunLine,
    /// The calls that wait for leave: `POST /runs/{id}/approvals/{task}` answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<twins::Approval>)]
    pub(crate) waiting: Vec<Approval>,
    /// Its events in order, without the pieces of the answer.
    #[schema(value_type = Vec<Event>)]
    pub(crate) events: Vec<Value>,
}

impl RunReply {
    pub(crate) fn of(record: RunRecord) -> RunReply {
        RunReply { run: RunLine::of(record.summary, false), waiting: Vec::new(), events: record.events }
    }
}

/// A run that waits until somebody allows what it would do.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WaitingReply {
    pub(crate) run_id: String,
    /// Always `waiting`.
    pub(crate) status: &'static str,
    /// The calls that wait: `POST /runs/{id}/approvals/{task}` answers.
    #[schema(value_type = Vec<twins::Approval>)]
    pub(crate) waiting: Vec<Approval>,
}

/// A run that goes on by itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StartedReply {
    pub(crate) run_id: String,
    /// `queued` while it waits for a slot, else `running`.
    pub(crate) status: &'static str,
    /// Where it is followed.
    #[schema(example = "/runs/01a2…/events")]
    pub(crate) events: String,
}

impl StartedReply {
    pub(crate) fn of(run: &RunId, is_queued: bool) -> StartedReply {
        let status = if is_queued { "queued" } else { "running" };
        StartedReply { run_id: run.0.clone(), status, events: format!("/runs/{run}/events") }
    }
}

/// A run that was not waited for: it waits until somebody allows what it would do, or was detached.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) enum GoingOnReply {
    Waiting(WaitingReply),
    Started(StartedReply),
}

/// What came of a request: its answer, that the run waits for leave, or that it was started.
#[derive(Debug)]
pub(crate) enum Answered {
    Done(Box<AnswerReply>),
    Waiting(WaitingReply),
    Started(StartedReply),
}

impl axum::response::IntoResponse for Answered {
    fn into_response(self) -> axum::response::Response {
        match self {
            Answered::Done(reply) => axum::Json(reply).into_response(),
            Answered::Waiting(reply) => (axum::http::StatusCode::ACCEPTED, axum::Json(reply)).into_response(),
            Answered::Started(reply) => (axum::http::StatusCode::ACCEPTED, axum::Json(reply)).into_response(),
        }
    }
}

/// The decision was taken.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApprovalReply {
    pub(crate) run_id: String,
    pub(crate) task: u32,
    /// Whether the call is made.
    pub(crate) approved: bool,
}

/// Whether the plan of a run is one to plan by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Rating {
    /// Later requests are planned by it.
    Good,
    /// No later request is.
    Bad,
}

/// The run is rated.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RatingReply {
    pub(crate) run_id: String,
    pub(crate) rating: Rating,
}

/// Result of asking to cancel a run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CancelReply {
    pub(crate) run_id: String,
    /// Always true; a run that cannot be cancelled is an error.
    pub(crate) cancelled: bool,
}

/// A run that goes on, or that tries another anew.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ResumeReply {
    pub(crate) run_id: String,
    /// The run that it tries anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
}

/// How the server is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HealthReply {
    /// `healthy`, or `degraded` when something that the pipeline needs does not work; at `/ready` also `stopping`.
    pub(crate) status: &'static str,
    pub(crate) version: &'static str,
    /// `offline` or `llm`.
    pub(crate) planner: &'static str,
    /// The chat model's name, or `offline`.
    pub(crate) model: String,
    /// How many task types a plan may use.
    pub(crate) tasks_loaded: usize,
    /// Whether a token is needed.
    pub(crate) auth: bool,
    /// Who asks, where there are several users and this is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    /// What whoever asks may do: `run`, `approve`, `admin`.
    pub(crate) may: Vec<&'static str>,
    /// What the runs of whoever asks took of their budget of this day (UTC), where they have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) today: Option<Today>,
    /// The pipelines that work as configured, the default first.
    pub(crate) pipelines: Vec<&'static str>,
    /// The chat models that a request may name (`model`), the default first; `offline` stands for the offline planner.
    pub(crate) chat_models: Vec<String>,
    /// Runs that go on or wait, of those that whoever asks may see.
    pub(crate) runs_live: usize,
    pub(crate) checks: Vec<Check>,
    /// Where each kind of work may send what it is given, as configured. What is not listed stays on this machine.
    pub(crate) reach: Vec<Reach>,
    pub(crate) kept: Kept,
    /// What is wrong with the tools, for callers that are logged in.
    pub(crate) warnings: Vec<String>,
}

/// What the runs of a user took of their budget of this day (UTC): each thing that it bounds.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Today {
    /// Model calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) calls: Option<Taken>,
    /// Tokens sent and received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<Taken>,
    /// In the currency of the server's prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<Taken>,
    /// Seconds until the day ends.
    pub(crate) ends_in_s: u64,
}

/// What was taken of something that is bounded.
#[derive(Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct Taken {
    /// `null` where it is not known, as what a call of a model without a price cost.
    #[schema(value_type = Option<f64>)]
    pub(crate) used: Option<Number>,
    #[schema(value_type = f64)]
    pub(crate) most: Number,
}

impl Today {
    /// What was taken at this time, in milliseconds since the Unix epoch; `None` where nothing is bounded.
    pub(crate) fn of(account: &Account, at_ms: u64) -> Option<Today> {
        let Budget { max_calls, max_tokens, max_cost, max_time_s: _ } =
            Some(account.a_day()).filter(|_| account.is_bounded())?;
        let used = account.today(at_ms);
        let taken = |used: u64, most: u64| Taken { used: Some(used.into()), most: most.into() };
        let cost = Some((used.cost * 1e6).round() / 1e6).filter(|_| !used.unpriced);
        Some(Today {
            calls: max_calls.map(|most| taken(used.calls, most.into())),
            tokens: max_tokens.map(|most| taken(used.tokens, most)),
            cost: max_cost.and_then(Number::from_f64).map(|most| Taken { used: cost.and_then(Number::from_f64), most }),
            ends_in_s: used.seconds_left(at_ms),
        })
    }
}

/// The models and task types that the server knows.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelsReply {
    /// The models, by task.
    pub(crate) models: Vec<ModelLine>,
    /// The task types that something can serve as configured.
    pub(crate) tasks: Vec<TaskLine>,
}

/// A model.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ModelLine {
    pub(crate) id: String,
    /// The task type it serves.
    pub(crate) task: String,
    /// Where it runs.
    pub(crate) host: &'static str,
    /// Whether something is configured that can call it.
    pub(crate) configured: bool,
    /// How many like it at the Hub.
    pub(crate) likes: u64,
    /// The beginning of its description.
    pub(crate) description: String,
}

/// What a task type takes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ParamLine {
    pub(crate) name: String,
    /// The kind of resource.
    pub(crate) kind: &'static str,
    pub(crate) required: bool,
    /// Its JSON Schema, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = JsonSchema, required = false)]
    pub(crate) schema: Option<Value>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) description: String,
}

/// A task type.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TaskLine {
    pub(crate) name: String,
    /// What it does.
    pub(crate) description: String,
    /// The names of its arguments.
    pub(crate) args: Vec<String>,
    /// What it takes, in order.
    pub(crate) params: Vec<ParamLine>,
    /// The kinds of resources it takes.
    pub(crate) inputs: Vec<&'static str>,
    /// The kinds of resources it gives.
    pub(crate) outputs: Vec<&'static str>,
}
