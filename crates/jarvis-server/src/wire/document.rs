//! The schema of [`jarvis_hugginggpt::RunDocument`], the whole run as one document, and of results by task id.
#![allow(dead_code, reason = "only their schemas are used")]

use std::collections::BTreeMap;

use utoipa::ToSchema;

use super::ask::ResourceKind;
use super::plan::Task;
use super::run::{Spent, TaskError, TaskStatus, Usage};
use super::schema::AnyJson;

/// A whole run: plan, outcomes, results, answer and usage.
#[derive(ToSchema)]
pub(crate) struct RunDocument {
    run_id: String,
    /// What was asked.
    request: String,
    /// `offline`, `llm`, or `plan` where a plan was given.
    planner: String,
    /// Name of the chat model, or `offline`.
    model: String,
    language: Language,
    /// Whether the request was carried out.
    ok: bool,
    /// Why it is not ok, as a stable word.
    #[schema(required = false)]
    reason: String,
    /// What was asked for and not done, a sentence each.
    #[schema(required = false)]
    not_done: Vec<String>,
    /// How often results were looked at and planned on.
    #[schema(required = false)]
    rounds: u32,
    /// What the planner asks the person; the answer is the next turn of the conversation.
    #[schema(required = false)]
    waiting: Question,
    /// The bound of the budget that is used up.
    #[schema(required = false)]
    budget: Spent,
    plan: RunPlan,
    /// One for each task that ended.
    outcomes: Vec<RunOutcome>,
    /// The results by task id.
    results: BTreeMap<String, TaskResult>,
    answer: RunAnswer,
    usage: Usage,
    /// Duration in milliseconds.
    ms: u64,
}

/// The language of a request.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Language {
    /// English, or any other that is not listed.
    En,
    /// Russian.
    Ru,
    /// Chinese.
    Zh,
}

/// A question of the planner's to the person.
#[derive(ToSchema)]
pub(crate) struct Question {
    /// The task that it would be.
    task: u32,
    /// The tool that asks.
    tool: String,
    arguments: QuestionArguments,
}

/// What is asked.
#[derive(ToSchema)]
pub(crate) struct QuestionArguments {
    question: String,
}

/// The plan of a run.
#[derive(ToSchema)]
pub(crate) struct RunPlan {
    tasks: Vec<Task>,
    /// What was mended, is odd, or was left out.
    notes: Vec<String>,
    /// Whether it is a first part, to be planned on; only where it is.
    #[schema(required = false)]
    more: bool,
}

/// How a task ended, in short.
#[derive(ToSchema)]
pub(crate) struct RunOutcome {
    /// The task.
    id: u32,
    /// Its task type, as planned.
    task: String,
    status: TaskStatus,
    /// The model that gave the result, or was chosen first.
    #[schema(required = true)]
    model: Option<String>,
    /// Where that runs.
    #[schema(required = true)]
    host: Option<String>,
    /// Why that model.
    #[schema(required = true)]
    reason: Option<String>,
    /// What it made.
    outputs: Vec<RunOutput>,
    /// Why it did not succeed.
    #[schema(required = true)]
    error: Option<TaskError>,
    /// Milliseconds from dispatch to end.
    ms: u64,
    /// The task that stood in for the planned one.
    #[schema(required = false)]
    effective_task: String,
    /// Whether tasks that were planned later did what it was for.
    #[schema(required = false)]
    made_up_for: bool,
    /// What was odd on the way.
    #[schema(required = false)]
    notes: Vec<String>,
}

/// One thing that a task made.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum RunOutput {
    File(FileOutput),
    Text(TextOutput),
    Value(ValueOutput),
}

/// A file that a task made.
#[derive(ToSchema)]
pub(crate) struct FileOutput {
    kind: ResourceKind,
    /// The file on the disk of the machine; null over the network.
    #[schema(required = true)]
    path: Option<String>,
    /// Path at this server.
    url: String,
}

/// A text that a task made.
#[derive(ToSchema)]
pub(crate) struct TextOutput {
    kind: ResourceKind,
    text: String,
}

/// Data that a task made.
#[derive(ToSchema)]
pub(crate) struct ValueOutput {
    kind: ResourceKind,
    value: AnyJson,
}

/// The answer of a run.
#[derive(ToSchema)]
pub(crate) struct RunAnswer {
    /// The text.
    text: String,
    /// The files, in the order of the tasks.
    resources: Vec<RunFile>,
    /// What a reader should know about the text.
    #[schema(required = false)]
    notes: Vec<String>,
}

/// A file in an answer, and the task it came from.
#[derive(ToSchema)]
pub(crate) struct RunFile {
    kind: ResourceKind,
    /// A name for people, such as `photo-edges.png`.
    name: String,
    /// The file on the disk of the machine; null over the network.
    #[schema(required = true)]
    path: Option<String>,
    /// Path at this server.
    url: String,
    /// The task that made it.
    from: u32,
}

/// The result of a task in the shape of the original.
#[derive(ToSchema)]
pub(crate) struct TaskResult {
    /// The task with its arguments after resolution.
    task: Task,
    /// Output of the model or tool, or an object with its `error`.
    #[schema(rename = "inference result")]
    inference_result: AnyJson,
    #[schema(rename = "choose model result")]
    choose_model_result: ModelChoice,
    /// The task that stood in for the planned one.
    #[schema(required = false)]
    effective_task: String,
    /// The tries, where there were several.
    #[schema(required = false)]
    attempts: Vec<ResultAttempt>,
    /// What was odd on the way.
    #[schema(required = false)]
    notes: Vec<String>,
}

/// The model that gave a result; an empty text where none was chosen.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum ModelChoice {
    Chosen(ChosenModel),
    None(String),
}

/// A model and why it was chosen.
#[derive(ToSchema)]
pub(crate) struct ChosenModel {
    id: String,
    reason: String,
    /// Where it runs; only in decisions.
    #[schema(required = false)]
    hosted_on: String,
}

/// One try of one model.
#[derive(ToSchema)]
pub(crate) struct ResultAttempt {
    /// The model.
    id: String,
    /// Where it runs.
    host: String,
    /// Why it failed; null for the try that succeeded.
    #[schema(required = true)]
    error: Option<String>,
}
