//! Schemas of what a run is made of: the request, how tasks end, the answer and the usage.
#![allow(dead_code, reason = "only their schemas are used")]

use std::collections::BTreeMap;

use utoipa::ToSchema;

use super::ask::{BudgetAsk, ResourceKind, Speaker};
use super::plan::{Candidate, Selection};
use super::schema::{AnyJson, JsonSchema};

/// What a person asked: text, attachments, earlier turns.
#[derive(ToSchema)]
pub(crate) struct Request {
    /// The text, with attached files by their paths.
    text: String,
    /// Files and addresses given beside the text.
    attachments: Vec<Resource>,
    /// Earlier turns, oldest first.
    history: Vec<Turn>,
    /// Texts that the turn before made.
    #[schema(required = false)]
    results: Vec<String>,
    /// The most that the run may take.
    #[schema(required = false)]
    budget: BudgetAsk,
    /// Whether its plan is neither made by experience nor kept as such.
    #[schema(required = false)]
    without_experience: bool,
    /// Tools that the caller performs.
    #[schema(required = false)]
    tools: Vec<CallersTool>,
    /// Calls of these tools and what they gave, said after the text.
    #[schema(required = false)]
    after: Vec<Turn>,
    /// The form that the reply is to have.
    #[schema(required = false)]
    form: ReplyForm,
    /// Place among other requests of the client.
    #[schema(required = false)]
    thread: Thread,
}

/// A text, image, audio, video or data.
#[derive(ToSchema)]
pub(crate) struct Resource {
    kind: ResourceKind,
    source: ResourceSource,
    /// What the person called it, when that differs from where it is.
    #[schema(required = false)]
    name: String,
}

/// Where a resource is.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum ResourceSource {
    /// The text itself.
    Inline(String),
    /// A file of the server, such as `/images/ab12.png`.
    Public(String),
    /// A web address.
    Url(String),
}

/// One message of a conversation.
#[derive(ToSchema)]
pub(crate) struct Turn {
    role: Speaker,
    /// What was said.
    content: String,
    /// Tools of the caller that were called.
    #[schema(required = false)]
    calls: Vec<ToolCall>,
}

/// A tool that the caller performs.
#[derive(ToSchema)]
pub(crate) struct CallersTool {
    /// Unique among those of the request.
    name: String,
    /// What it does.
    #[schema(required = false)]
    description: String,
    /// The JSON Schema of its arguments.
    schema: JsonSchema,
}

/// A call of a tool of the caller's.
#[derive(ToSchema)]
pub(crate) struct ToolCall {
    /// The tool.
    name: String,
    /// Its arguments: JSON, as text.
    arguments: String,
    /// What the caller says that it gave; absent while it is open.
    #[schema(required = false)]
    result: String,
}

/// The form that a reply is to have.
#[derive(ToSchema)]
pub(crate) struct ReplyForm {
    /// The JSON Schema that it follows, behind its name.
    #[schema(required = false, min_items = 2, max_items = 2)]
    schema: Vec<AnyJson>,
    /// Texts before which it ends.
    #[schema(required = false)]
    stop: Vec<String>,
    #[schema(required = false)]
    must_call: MustCall,
    /// 0 to 2.
    #[schema(required = false)]
    temperature: f64,
    /// 0 to 1.
    #[schema(required = false)]
    top_p: f64,
    /// −2 to 2.
    #[schema(required = false)]
    presence_penalty: f64,
    /// −2 to 2.
    #[schema(required = false)]
    frequency_penalty: f64,
    /// The most tokens to write.
    #[schema(required = false)]
    max_tokens: u32,
}

/// Which tool a reply must call.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum MustCall {
    /// Any of those that are offered.
    Any,
    /// The one of this name.
    Named(String),
}

/// Place of a request among others of a client, in the client's words.
#[derive(ToSchema)]
pub(crate) struct Thread {
    /// The conversation that it belongs to.
    #[schema(required = false)]
    id: String,
    /// The message that it is.
    #[schema(required = false)]
    message: String,
}

/// A call that waits for approval.
#[derive(ToSchema)]
pub(crate) struct Approval {
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

/// What a tool does to the world.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Effect {
    /// Nothing.
    Reads,
    /// It adds or changes something.
    Writes,
    /// It removes something, or what it does cannot be undone.
    Destroys,
}

/// How a task ended, with everything that led there.
#[derive(ToSchema)]
pub(crate) struct Outcome {
    /// The task.
    id: u32,
    /// Its task type, as planned.
    task: String,
    status: TaskStatus,
    /// Arguments after resolution; as planned where resolution was not reached.
    args: BTreeMap<String, AnyJson>,
    /// The choice, when it was reached.
    #[schema(required = true)]
    selection: Option<Selection>,
    /// The tries, in order.
    attempts: Vec<Attempt>,
    /// Output of a task that succeeded, in the shape of its model or tool; else null.
    inference: AnyJson,
    /// Why it did not succeed.
    #[schema(required = true)]
    error: Option<TaskError>,
    /// What was odd on the way.
    #[schema(required = false)]
    notes: Vec<String>,
    /// Whether tasks that were planned later did what it was for.
    #[schema(required = false)]
    made_up_for: bool,
    /// Milliseconds from dispatch to end.
    ms: u64,
}

/// How a task ended, in a word.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub(crate) enum TaskStatus {
    /// It gave a result.
    Succeeded,
    /// It has an error.
    Failed,
    /// It needs the output of a task that did not succeed.
    Skipped,
    /// The run ended first.
    Cancelled,
}

/// One try of one model at a task.
#[derive(ToSchema)]
pub(crate) struct Attempt {
    candidate: Candidate,
    /// Why it failed; null for the try that succeeded.
    #[schema(required = true)]
    error: Option<TaskError>,
    /// Duration in milliseconds.
    ms: u64,
}

/// Why a task did not succeed.
#[derive(ToSchema)]
pub(crate) struct TaskError {
    /// A stable word, such as `timeout`.
    code: String,
    /// What happened and why.
    message: String,
    /// What to try, where something can be tried.
    #[schema(required = false)]
    hint: String,
}

/// What is said back: text, the files that were made, and what each came from.
#[derive(ToSchema)]
pub(crate) struct Answer {
    /// The text.
    text: String,
    /// The files, in the order of the tasks.
    resources: Vec<AnswerResource>,
    /// What a reader should know about the text.
    #[schema(required = false)]
    notes: Vec<String>,
    /// Calls that the caller makes before there is more to say.
    #[schema(required = false)]
    calls: Vec<ToolCall>,
}

/// A file in an answer, and the task it came from.
#[derive(ToSchema)]
pub(crate) struct AnswerResource {
    kind: ResourceKind,
    /// Path at this server.
    url: String,
    /// The task that made it.
    from: u32,
    /// A name for people, such as `photo-edges.png`.
    name: String,
    /// The file on the disk of the machine, where it was put somewhere.
    #[schema(required = false)]
    path: String,
}

/// Model calls and tokens, in all and by stage.
#[derive(ToSchema)]
pub(crate) struct Usage {
    /// Calls made, by stage.
    calls: BTreeMap<String, u32>,
    /// Tokens sent.
    prompt_tokens: u64,
    /// Tokens received.
    completion_tokens: u64,
    /// The same by stage.
    by_stage: BTreeMap<String, StageUsage>,
    /// Cost of the calls whose models have a price; null where none has.
    #[schema(required = true)]
    cost: Option<Money>,
    /// Models that were called and have no price.
    #[schema(required = false)]
    unpriced: Vec<String>,
}

/// Calls and tokens of one stage.
#[derive(ToSchema)]
pub(crate) struct StageUsage {
    /// Calls made.
    calls: u32,
    /// Tokens sent.
    prompt_tokens: u64,
    /// Sent tokens that the endpoint had cached.
    #[schema(required = false)]
    cached_tokens: u64,
    /// Tokens received.
    completion_tokens: u64,
    /// Whether tokens of a call were counted here because its endpoint told none.
    #[schema(required = false)]
    estimated: bool,
    /// Cost in the currency of the usage.
    #[schema(required = false)]
    cost: f64,
}

/// An amount of money.
#[derive(ToSchema)]
pub(crate) struct Money {
    amount: f64,
    /// Such as `USD`.
    currency: String,
}

/// A bound of the budget that is used up.
#[derive(ToSchema)]
pub(crate) struct Spent {
    /// `time`, `tokens`, `calls` or `cost`; with ` a day` of all runs of a user together.
    bound: String,
    /// The most that was allowed, with its unit.
    most: String,
    /// What was used when something more was to start.
    used: String,
}
