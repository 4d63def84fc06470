//! Events: one stream per run, read alike by every front end, the log and the store.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Answer, Approval, Attempt, Money, Outcome, Plan, Request, RunId, Selection, Spent, Task, TaskId, Usage};

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// The run.
    pub run_id: RunId,
    /// Its place in the run's stream, from 0 without gaps. A piece of the answer has the place of the event before it.
    pub seq: u64,
    /// Which of the pieces of the answer behind that event it is, from 1; 0 for every other event.
    #[serde(skip_serializing_if = "is_none")]
    pub piece: u32,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The code of [`EventKind::Error`] when a run was cut off, and the name of such a run everywhere.
pub const INTERRUPTED: &str = "interrupted";

/// The setting of a run that names what else carries it out, such as `Restate`; see [`EventKind::RunStarted`]. Whoever does not use that
/// leaves the run to it.
pub const ENGINE: &str = "engine";

/// How much a note matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Good to know.
    Info,
    /// Probably not what was wanted.
    Warning,
}

/// What happened. The tag is the event's name on every wire.
///
/// An event is read back from another program but for the two that hold tasks of a plan, which is checked anew and not read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantNames)]
#[serde(tag = "event", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    /// The run waits until another has ended.
    Queued {
        /// How many runs wait before it.
        ahead: u64,
    },
    /// The run began.
    RunStarted {
        /// What was asked.
        request: Request,
        /// `offline`, `llm`, or `plan` where a plan was given.
        planner: String,
        /// The chat model's name, or `offline`.
        model: String,
        /// The pipeline that carries it out, or the command that it is.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pipeline: String,
        /// Where it was asked for: `server` or `command line`. A server goes on with the runs of servers by itself.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        door: String,
        /// The user it is carried out for, where a server has several.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        user: String,
        /// What must be the same for it to go on in another process, such as the hash of the prompts.
        #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
        settings: IndexMap<String, String>,
        /// The plan as it was given, where one was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        given: Option<Box<Value>>,
    },
    /// The run goes on in another process, or is another try at an earlier one.
    Resumed {
        /// The run whose steps it takes over, where that is another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<RunId>,
        /// The task from which on they are done anew, where one was named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_task: Option<TaskId>,
        /// How many steps have their result from before: model calls, choices, tasks and approvals.
        steps: u64,
        /// How long it had run before, in milliseconds.
        ran_ms: u64,
    },
    /// A model call ended.
    ModelCall {
        /// Its stage.
        stage: String,
        /// The task it was for, when it was for one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// The model that answered, or the one that was asked.
        model: String,
        /// Who serves it, as OpenTelemetry names providers: `openai`, `ollama`, `jarvis` for a local model; else the host.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        provider: String,
        /// The model that was asked and could not, where another answered for it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        instead_of: String,
        /// Tokens sent.
        prompt_tokens: u64,
        /// Those of them that the endpoint had kept from calls before.
        #[serde(default, skip_serializing_if = "is_zero")]
        cached_tokens: u64,
        /// Tokens received.
        completion_tokens: u64,
        /// Whether the tokens were counted here because the endpoint told none.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        estimated: bool,
        /// What it cost, where the model has a price.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<Money>,
        /// How long it took, in milliseconds.
        ms: u64,
        /// The reply, or the error's text.
        reply: String,
        /// Whether it succeeded.
        ok: bool,
        /// Whether it was given up before its end, as when its run was cancelled.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        given_up: bool,
        /// What was asked, as a hash of the stage and the whole request.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        key: String,
        /// The reply in full, where `reply` is not all of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole: Option<Value>,
        /// Whether an earlier run made the call, whose tokens it counts.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        taken_over: bool,
    },
    /// The plan stands.
    #[serde(skip_deserializing)]
    Plan {
        /// The plan, with its notes.
        plan: Plan,
    },
    /// The plan has more tasks: it is still being written, or was planned on after a look at what came of it.
    #[serde(skip_deserializing)]
    PlanGrew {
        /// How often it was looked at before; 0 while the first plan is being written.
        round: u32,
        /// Why it was planned on: `written`, `failures`, `more`, `always` or `answer`.
        why: String,
        /// The new tasks.
        tasks: Vec<Task>,
        /// What was mended, is odd, or was left out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
    },
    /// A bound of the budget is used up: nothing new starts from here on.
    Budget {
        /// Which, with what was allowed and used.
        #[serde(flatten)]
        spent: Spent,
    },
    /// A task name that nothing knows was taken to mean a known one.
    Mapped {
        /// The task.
        task: TaskId,
        /// The name as planned.
        from: String,
        /// The name it was taken to mean.
        to: String,
    },
    /// A model was chosen for a task.
    ModelChosen {
        /// The choice.
        selection: Selection,
        /// Which weights it has, where it is a model of this machine: their revision, or their hash.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        weights: Option<String>,
    },
    /// The decisions stand: which model is to perform which task, in which order. Nothing was executed.
    ExecutionConfig {
        /// The document's inner object: `user_request`, `total_tasks`, `tasks`, `dag`, `execution_order`.
        value: Value,
    },
    /// A task would change something, and waits until somebody allows it.
    ApprovalNeeded {
        /// What would be called.
        #[serde(flatten)]
        approval: Approval,
    },
    /// Somebody decided about a task that waited, or nobody could.
    ApprovalGiven {
        /// The task.
        id: TaskId,
        /// The tool.
        tool: String,
        /// Whether it may be called, or was answered.
        approved: bool,
        /// The answer, where the planner asked something.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        /// The arguments that were given in the place of the planned ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<IndexMap<String, Value>>,
        /// Whether the tool may be called by this run from now on without asking.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        always: bool,
        /// Whether somebody said that a call of which that was not known has been made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        done: bool,
    },
    /// A task's inputs are there and its worker starts.
    TaskStarted {
        /// The task.
        id: TaskId,
        /// Its task type.
        task: String,
        /// The model that starts.
        model: String,
    },
    /// A model failed at a task; the next candidate, if there is one, follows.
    TaskAttempt {
        /// The task.
        id: TaskId,
        /// The failed try.
        attempt: Attempt,
    },
    /// A task ended.
    TaskFinished {
        /// How.
        outcome: Box<Outcome>,
    },
    /// What an agent thought in a round, before it acts or answers.
    Thought {
        /// The round, from 1.
        step: u32,
        /// The thought; never empty.
        text: String,
    },
    /// What an agent calls in a round. The task that comes of it, if it is a call that can be made, joins the plan.
    Action {
        /// The round, from 1.
        step: u32,
        /// The tool, as the agent named it.
        tool: String,
        /// What it is called with: JSON, or what the agent wrote instead.
        input: String,
    },
    /// What came back to the agent.
    Observation {
        /// The round, from 1.
        step: u32,
        /// In words.
        text: String,
        /// The display paths of pictures that were made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<String>,
    },
    /// A piece of the answer, while it is being written.
    Token {
        /// The piece.
        text: String,
    },
    /// The answer stands.
    Answer {
        /// The answer.
        answer: Answer,
    },
    /// Something worth saying that is none of the above.
    Note {
        /// How much it matters.
        level: Level,
        /// What.
        message: String,
    },
    /// The run ended with an answer.
    Done {
        /// Whether at least one task succeeded, or it was plain conversation.
        ok: bool,
        /// Whether it was cancelled.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cancelled: bool,
        /// Calls and tokens.
        usage: Usage,
        /// How long the run took, in milliseconds.
        ms: u64,
    },
    /// The run ended without an answer.
    Error {
        /// A stable word.
        code: String,
        /// What happened.
        message: String,
        /// What to try, where something can be tried.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
        /// How long the run took, in milliseconds.
        ms: u64,
    },
}

fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

fn is_none(piece: &u32) -> bool {
    *piece == 0
}

impl EventKind {
    /// The start of a run of a pipeline that plans with the chat model of this name, or offline.
    pub fn run_started(pipeline: &str, request: Request, model: Option<String>) -> EventKind {
        let planner = if model.is_some() { "llm" } else { "offline" };
        let model = model.unwrap_or_else(|| "offline".to_owned());
        let (planner, pipeline) = (planner.to_owned(), pipeline.to_owned());
        EventKind::RunStarted {
            request,
            planner,
            model,
            pipeline,
            door: String::new(),
            user: String::new(),
            settings: IndexMap::new(),
            given: None,
        }
    }

    /// Whether it is kept: pieces of the answer are not, since the whole answer follows, and neither is the wait for a place.
    pub fn is_kept(&self) -> bool {
        !self.is_piece() && !matches!(self, EventKind::Queued { .. })
    }

    /// Whether it is a piece of the answer.
    pub fn is_piece(&self) -> bool {
        matches!(self, EventKind::Token { .. })
    }

    /// Whether a run ends with it.
    pub fn is_end(&self) -> bool {
        matches!(self, EventKind::Done { .. } | EventKind::Error { .. })
    }

    /// The event's name, as in its tag.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

impl Event {
    /// The event as the record keeps it.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }
}
