//! The schema of [`jarvis_plan::Event`]: what happens in a run, as streams tell it and the journal keeps it.

use std::collections::BTreeMap;

use utoipa::ToSchema;

use super::plan::{ExecutionConfig, Plan, Selection, Task};
use super::run::{Answer, Attempt, Effect, Money, Outcome, Request, Usage};
use super::schema::{AnyJson, tagged};

tagged! {
    /// One thing that happened in a run. The field `event` says which.
    Event by "event" [] {
        /// The run.
        run_id: String,
        /// Place in the run's stream, from 0 without gaps; a `token` has the place of the event before it.
        seq: u64,
        /// Milliseconds since the Unix epoch.
        at_ms: u64,
    }

    /// The run waits until another has ended.
    "queued" QueuedEvent {
        /// How many runs wait before it.
        ahead: u64,
    }

    /// The run began.
    "run_started" RunStartedEvent {
        request: Request,
        /// `offline`, `llm`, or `plan` where a plan was given.
        planner: String,
        /// Name of the chat model, or `offline`.
        model: String,
        /// The pipeline that carries it out, or the command that it is.
        #[schema(required = false)]
        pipeline: String,
        /// Where it was asked for: `server` or `command line`.
        #[schema(required = false)]
        door: String,
        /// The user it is carried out for, where a server has several.
        #[schema(required = false)]
        user: String,
        /// What must be the same for it to go on in another process, by name.
        #[schema(required = false)]
        settings: BTreeMap<String, String>,
        /// The plan as it was given, where one was.
        #[schema(required = false)]
        given: AnyJson,
    }

    /// The run goes on in another process, or is another try at an earlier one.
    "resumed" ResumedEvent {
        /// The run whose steps it takes over, where that is another one.
        #[schema(required = false)]
        from: String,
        /// The task from which on they are done anew, where one was named.
        #[schema(required = false)]
        from_task: u32,
        /// How many steps have their result from before.
        steps: u64,
        /// How long it had run before, in milliseconds.
        ran_ms: u64,
    }

    /// A model call ended.
    "model_call" ModelCallEvent {
        /// Kind of the call, such as `parse_task`.
        stage: String,
        /// The task it was for, when it was for one.
        #[schema(required = false)]
        task: u32,
        /// The model that answered, or the one that was asked.
        model: String,
        /// Who serves it, as OpenTelemetry names providers; else the host.
        #[schema(required = false)]
        provider: String,
        /// The model that was asked and could not, where another answered for it.
        #[schema(required = false)]
        instead_of: String,
        /// Tokens sent.
        prompt_tokens: u64,
        /// Sent tokens that the endpoint had cached.
        #[schema(required = false)]
        cached_tokens: u64,
        /// Tokens received.
        completion_tokens: u64,
        /// Whether the tokens were counted here because the endpoint told none.
        #[schema(required = false)]
        estimated: bool,
        /// Its cost, where the model has a price.
        #[schema(required = false)]
        cost: Money,
        /// Duration in milliseconds.
        ms: u64,
        /// The reply, or the text of the error.
        reply: String,
        /// Whether it succeeded.
        ok: bool,
        /// Whether it was given up before its end.
        #[schema(required = false)]
        given_up: bool,
        /// Hash of the stage and the whole request.
        #[schema(required = false)]
        key: String,
        /// The whole reply, where `reply` is not all of it.
        #[schema(required = false)]
        whole: AnyJson,
        /// Whether an earlier run made the call.
        #[schema(required = false)]
        taken_over: bool,
    }

    /// The plan stands.
    "plan" PlanEvent {
        plan: Plan,
    }

    /// The plan has more tasks: it is still being written, or was planned on.
    "plan_grew" PlanGrewEvent {
        /// How often results were looked at before; 0 while the first plan is being written.
        round: u32,
        /// Why it was planned on: `written`, `failures`, `more`, `always` or `answer`.
        why: String,
        /// The new tasks.
        tasks: Vec<Task>,
        /// What was mended, is odd, or was left out.
        #[schema(required = false)]
        notes: Vec<String>,
    }

    /// A bound of the budget is used up: nothing new starts from here on.
    "budget" BudgetEvent {
        /// `time`, `tokens`, `calls` or `cost`; with ` a day` of all runs of a user together.
        bound: String,
        /// The most that was allowed, with its unit.
        most: String,
        /// What was used when something more was to start.
        used: String,
    }

    /// An unknown task name was taken to mean a known one.
    "mapped" MappedEvent {
        /// The task.
        task: u32,
        /// The name as planned.
        from: String,
        /// The name it was taken to mean.
        to: String,
    }

    /// A model was chosen for a task.
    "model_chosen" ModelChosenEvent {
        selection: Selection,
        /// Revision or hash of its weights, where it is a model of this machine.
        #[schema(required = false)]
        weights: String,
    }

    /// The decisions stand; nothing was executed.
    "execution_config" ExecutionConfigEvent {
        value: ExecutionConfig,
    }

    /// A task would change something, and waits for approval.
    "approval_needed" ApprovalNeededEvent {
        /// The task.
        task: u32,
        /// The tool that would be called.
        tool: String,
        /// What that does to the world.
        effect: Effect,
        /// Arguments of the call; with `each`, the arguments of all calls under `each`.
        arguments: BTreeMap<String, AnyJson>,
        /// Whether it is about the calls for all elements of a list.
        #[schema(required = false)]
        each: bool,
        /// Whether the call was begun before its run was cut off, and may have arrived.
        #[schema(required = false)]
        unknown: bool,
        /// Where each argument came from, in words.
        sources: BTreeMap<String, String>,
        /// Path of the server where the answer is given.
        #[schema(required = false)]
        answer: String,
        /// Whether the run goes on when its process ends while it waits.
        #[schema(required = false)]
        resumes: bool,
    }

    /// Somebody decided about a task that waited, or nobody could.
    "approval_given" ApprovalGivenEvent {
        /// The task.
        id: u32,
        /// The tool.
        tool: String,
        /// Whether it may be called, or was answered.
        approved: bool,
        /// The answer, where the planner asked something.
        #[schema(required = false)]
        answer: String,
        /// Arguments that were given in the place of the planned ones.
        #[schema(required = false)]
        arguments: BTreeMap<String, AnyJson>,
        /// Whether the run may call the tool from now on without asking.
        #[schema(required = false)]
        always: bool,
        /// Whether somebody said that the call has been made already.
        #[schema(required = false)]
        done: bool,
    }

    /// A task's inputs are there and its worker starts.
    "task_started" TaskStartedEvent {
        /// The task.
        id: u32,
        /// Its task type.
        task: String,
        /// The model that starts.
        model: String,
    }

    /// A model failed at a task; the next candidate, if there is one, follows.
    "task_attempt" TaskAttemptEvent {
        /// The task.
        id: u32,
        attempt: Attempt,
    }

    /// A task ended.
    "task_finished" TaskFinishedEvent {
        outcome: Outcome,
    }

    /// What an agent thought in a round, before it acts or answers.
    "thought" ThoughtEvent {
        /// The round, from 1.
        step: u32,
        /// The thought.
        text: String,
    }

    /// What an agent calls in a round.
    "action" ActionEvent {
        /// The round, from 1.
        step: u32,
        /// The tool, as the agent named it.
        tool: String,
        /// JSON, or what the agent wrote instead.
        input: String,
    }

    /// What came back to the agent.
    "observation" ObservationEvent {
        /// The round, from 1.
        step: u32,
        /// The result in words.
        text: String,
        /// Paths of pictures that were made.
        #[schema(required = false)]
        images: Vec<String>,
    }

    /// A piece of the answer, while it is being written. The journal keeps none.
    "token" TokenEvent {
        /// Place among the pieces behind the event `seq`, from 1.
        piece: u32,
        /// The piece.
        text: String,
    }

    /// The answer stands.
    "answer" AnswerEvent {
        answer: Answer,
    }

    /// Something worth saying that is none of the above.
    "note" NoteEvent {
        level: NoteLevel,
        /// What it says.
        message: String,
    }

    /// The run ended with an answer.
    "done" DoneEvent {
        /// Whether at least one task succeeded, or it was plain conversation.
        ok: bool,
        /// Whether it was cancelled.
        #[schema(required = false)]
        cancelled: bool,
        usage: Usage,
        /// Duration of the run in milliseconds.
        ms: u64,
    }

    /// The run ended without an answer.
    "error" ErrorEvent {
        /// A stable word.
        code: String,
        /// What happened.
        message: String,
        /// What to try, where something can be tried.
        #[schema(required = false)]
        hint: String,
        /// Duration of the run in milliseconds.
        ms: u64,
    }
}

/// How much a note matters.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[allow(dead_code, reason = "only its schema is used")]
pub(crate) enum NoteLevel {
    /// Good to know.
    Info,
    /// Probably not what was wanted.
    Warning,
}
