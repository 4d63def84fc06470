//! Schemas of plans: as runs tell them, as decisions write them down for execution, and as callers bring them back.
#![allow(dead_code, reason = "only their schemas are used")]

use std::collections::BTreeMap;

use utoipa::ToSchema;

use super::schema::AnyJson;

/// A checked task graph.
#[derive(ToSchema)]
pub(crate) struct Plan {
    tasks: Vec<Task>,
    /// What was mended, is odd, or was left out.
    notes: Vec<String>,
    /// Those of the notes that say what was left out of the request.
    #[schema(required = false)]
    left_out: Vec<String>,
    /// Whether it is a first part, to be planned on; only where it is.
    #[schema(required = false)]
    more: bool,
}

/// One node of a plan.
#[derive(ToSchema)]
pub(crate) struct Task {
    /// The tool or task type.
    task: String,
    /// Its id, from 0 without gaps.
    id: u32,
    /// Ids of the tasks that it waits for; `[-1]` where it waits for none.
    dep: Vec<i64>,
    /// Arguments by name: JSON in which `<GENERATED>-k` stands for the output of task k.
    args: BTreeMap<String, AnyJson>,
    /// Id, as drafted, of the task that this is a copy of.
    #[schema(required = false)]
    unfolded_from: i64,
    /// Why it cannot run, if it cannot.
    #[schema(required = false)]
    faults: Vec<Fault>,
    /// The name before it was taken to mean a known one; only in decisions.
    #[schema(required = false)]
    mapped_from: String,
}

/// Why a task of a plan cannot run.
#[derive(ToSchema)]
pub(crate) struct Fault {
    /// A stable word, such as `missing_argument`.
    kind: String,
    /// What is wrong, and what would be right.
    message: String,
}

/// A model that could perform a task, on one host.
#[derive(ToSchema)]
pub(crate) struct Candidate {
    /// The model, such as `native/canny`.
    id: String,
    /// Where it runs, such as `native` or `huggingface`.
    host: String,
    /// The task that it performs: the planned one, or one that stands in for it.
    effective_task: String,
}

/// The model chosen for a task, and the ranked fallbacks.
#[derive(ToSchema)]
pub(crate) struct Selection {
    /// The task.
    task: u32,
    chosen: Candidate,
    /// What to try when it fails, best first.
    fallbacks: Vec<Candidate>,
    /// Why it was chosen.
    reason: String,
    /// What was odd about the choice.
    #[schema(required = false)]
    notes: Vec<String>,
}

/// A saved plan: which model is to perform which task, in which order.
#[derive(ToSchema)]
pub(crate) struct SavedPlan {
    execution_config: ExecutionConfig,
}

/// A plan to execute: which model is to perform which task, in which order.
#[derive(ToSchema)]
pub(crate) struct ExecutionConfig {
    /// The request that it was made for.
    user_request: String,
    /// How many tasks it has.
    total_tasks: u32,
    tasks: Vec<ExecutionTask>,
    dag: TaskGraph,
    /// The levels in order; tasks of one level may run at once.
    execution_order: Vec<ExecutionLevel>,
    /// Whether it is a first part, to be planned on; only where it is.
    #[schema(required = false)]
    more: bool,
    /// What a reader should know about it.
    #[schema(required = false)]
    warnings: Vec<String>,
}

/// The id of a task in a plan to execute: a number, or a name in the pipeline form.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum TaskKey {
    Number(u32),
    Name(String),
}

/// A task of a plan to execute.
#[derive(ToSchema)]
pub(crate) struct ExecutionTask {
    task_id: TaskKey,
    task_type: String,
    /// The model that is to perform it; `N/A` or `none` where there is none.
    model_id: String,
    /// Why that model, or why there is none.
    model_reason: String,
    /// Arguments by name.
    args: BTreeMap<String, AnyJson>,
    /// The tasks that it waits for.
    dependencies: Vec<TaskKey>,
    /// Its level, from 0; null where it is on a cycle.
    #[schema(required = true)]
    execution_level: Option<u32>,
    /// Where the model runs; not in the pipeline form.
    hosted_on: Option<String>,
    /// Models to try when it fails, best first; not in the pipeline form.
    #[schema(required = false)]
    alternatives: Vec<HostedModel>,
    /// The task that stands in for it.
    #[schema(required = false)]
    effective_task: String,
    /// The name before it was taken to mean a known one.
    #[schema(required = false)]
    mapped_from: String,
    /// Id, as drafted, of the task that this is a copy of.
    #[schema(required = false)]
    unfolded_from: i64,
    /// Its links; only in the pipeline form.
    #[schema(required = false)]
    pipeline: PipelineLinks,
}

/// A model and where it runs.
#[derive(ToSchema)]
pub(crate) struct HostedModel {
    id: String,
    hosted_on: String,
}

/// Links of a task in the pipeline form.
#[derive(ToSchema)]
pub(crate) struct PipelineLinks {
    /// What comes in, in words.
    inputs_from_upstreams: Vec<String>,
    /// What goes out, in words.
    outputs_for_downstreams: Vec<String>,
    /// The tasks after it.
    downstreams: Vec<String>,
    /// Why each task after it follows, by its id.
    #[schema(rename = "sample-reasoning")]
    sample_reasoning: BTreeMap<String, String>,
}

/// A plan as a graph.
#[derive(ToSchema)]
pub(crate) struct TaskGraph {
    nodes: Vec<TaskKey>,
    edges: Vec<TaskEdge>,
}

/// That a task waits for another.
#[derive(ToSchema)]
pub(crate) struct TaskEdge {
    /// The one that is waited for.
    from: TaskKey,
    to: TaskKey,
}

/// Tasks that may run at once.
#[derive(ToSchema)]
pub(crate) struct ExecutionLevel {
    /// From 0.
    level: u32,
    /// Whether it has several tasks.
    parallel: bool,
    tasks: Vec<TaskKey>,
}

/// A plan that a caller brings, as it was saved or edited. Members that are not listed are ignored; levels, edges and order are worked out
/// anew.
#[derive(ToSchema)]
pub(crate) struct GivenPlan {
    /// The request that it was made for.
    user_request: Option<String>,
    tasks: Vec<GivenTask>,
    /// Whether it is to be planned on when its results are known.
    more: Option<bool>,
}

/// A task of a plan that a caller brings. Members that are not listed are ignored.
#[derive(ToSchema)]
pub(crate) struct GivenTask {
    /// Its id; its place in the list unless given.
    task_id: Option<TaskKey>,
    #[schema(example = "text-classification")]
    task_type: String,
    /// The model that is to perform it; the choice is left open unless given.
    model_id: Option<String>,
    /// Where that model runs.
    hosted_on: Option<String>,
    /// Why that model.
    model_reason: Option<String>,
    /// Arguments by name.
    args: Option<BTreeMap<String, AnyJson>>,
    /// The tasks that it waits for; one that is not there is dropped.
    dependencies: Option<Vec<TaskKey>>,
    /// Models to try when it fails, best first.
    alternatives: Option<Vec<HostedModel>>,
}
