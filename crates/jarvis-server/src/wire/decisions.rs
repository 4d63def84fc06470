//! Schemas of decisions: the plan and the chosen models, nothing executed, in the forms of the forks.
#![allow(dead_code, reason = "only their schemas are used")]

use std::collections::BTreeMap;

use utoipa::ToSchema;

use super::document::ChosenModel;
use super::plan::{ExecutionConfig, Task};
use super::run::Usage;

/// What was decided, in the form that was asked for.
#[derive(ToSchema)]
#[serde(untagged)]
pub(crate) enum DecisionReply {
    Config(ConfigDecision),
    Pipeline(PipelineDecision),
}

/// The planned tasks and the chosen models.
#[derive(ToSchema)]
pub(crate) struct DecisionsReply {
    decisions: Decisions,
    /// The results by task id, none of them executed.
    raw_results: BTreeMap<String, DecidedResult>,
}

/// A decision with its plan to execute.
#[derive(ToSchema)]
pub(crate) struct ConfigDecision {
    decisions: Decisions,
    /// The results by task id, none of them executed; absent where no task was planned.
    #[schema(required = false)]
    raw_results: BTreeMap<String, DecidedResult>,
    /// The plan to execute as text, or that no task was planned.
    message: String,
    execution_config: ExecutionConfig,
    /// Id of the plan, for `/plans/{id}`.
    plan_id: String,
    /// Where it was saved.
    #[schema(required = false)]
    execution_config_file: String,
    /// Where the prompts were written down.
    #[schema(required = false)]
    prompt_logs_directory: String,
    /// The plan in words.
    #[schema(required = false)]
    description: String,
    /// How many model calls it took.
    llm_calls: u32,
    usage: Usage,
    /// Duration in milliseconds.
    timing_ms: u64,
    /// What a reader should know about it.
    #[schema(required = false)]
    warnings: Vec<String>,
}

/// What was decided for each task.
#[derive(ToSchema)]
pub(crate) struct Decisions {
    /// The request.
    input: String,
    planned_tasks: Vec<Task>,
    /// The choices by task id.
    model_selections: BTreeMap<String, ModelSelection>,
    summary: DecisionSummary,
}

/// The model chosen for a task.
#[derive(ToSchema)]
pub(crate) struct ModelSelection {
    task: Task,
    #[schema(required = true)]
    selected_model: Option<String>,
    /// Where that runs.
    #[schema(required = true)]
    hosted_on: Option<String>,
    /// Why that model, or why there is none.
    reason: String,
    status: DecisionStatus,
    /// Among how many models the choice was made.
    #[schema(required = true)]
    available_candidates: Option<u32>,
}

/// Whether a model was chosen for a task.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub(crate) enum DecisionStatus {
    SelectedNotExecuted,
    Unavailable,
}

/// How many tasks have a model.
#[derive(ToSchema)]
pub(crate) struct DecisionSummary {
    total_tasks: u32,
    tasks_with_selections: u32,
    tasks_unavailable: u32,
}

/// The result of a task that was not executed.
#[derive(ToSchema)]
pub(crate) struct DecidedResult {
    task: Task,
    #[schema(rename = "choose model result")]
    choose_model_result: ChosenModel,
    #[schema(required = false)]
    selected_model_id: String,
    /// Where the model runs.
    #[schema(required = false)]
    hosted_on: String,
    status: DecisionStatus,
    /// Among how many models the choice was made.
    #[schema(required = false)]
    available_candidates_count: u32,
}

/// A decision in the form of a vision pipeline.
#[derive(ToSchema)]
pub(crate) struct PipelineDecision {
    /// The tasks from `source` to `pipeline-end`.
    tasks: Vec<PipelineTask>,
    execution_config: ExecutionConfig,
    /// Id of the plan, for `/plans/{id}`.
    plan_id: String,
    /// Where it was saved.
    #[schema(required = false)]
    execution_config_file: String,
    /// Where the prompts were written down.
    #[schema(required = false)]
    prompt_logs_directory: String,
    /// Task types that were taken to mean others.
    #[schema(required = false)]
    mapped: Vec<MappedType>,
    /// What a reader should know about it.
    #[schema(required = false)]
    warnings: Vec<String>,
    /// How many model calls it took.
    llm_calls: u32,
    usage: Usage,
    /// Duration in milliseconds.
    timing_ms: u64,
}

/// A task type that was taken to mean another.
#[derive(ToSchema)]
pub(crate) struct MappedType {
    /// As planned.
    from: String,
    to: String,
}

/// A task of a vision pipeline, linked to those before and after it by name.
#[derive(ToSchema)]
pub(crate) struct PipelineTask {
    /// The task type.
    id: String,
    /// The chosen model, or `none`.
    model_id: String,
    /// What comes in, in words; `none` alone for nothing.
    inputs_from_upstreams: Vec<String>,
    /// The tasks before it.
    upstreams: Vec<String>,
    /// What goes out, in words.
    outputs_for_downstreams: Vec<String>,
    /// The tasks after it.
    downstreams: Vec<String>,
    /// Why that model.
    #[schema(rename = "model-chosen-reason")]
    model_chosen_reason: String,
    /// Why each task after it follows, by its id.
    #[schema(rename = "sample-reasoning")]
    sample_reasoning: BTreeMap<String, String>,
}

/// A task of a vision pipeline as it was planned, without a model.
#[derive(ToSchema)]
pub(crate) struct PlannedPipelineTask {
    /// The task type.
    id: String,
    /// What comes in, in words; `none` alone for nothing.
    inputs_from_upstreams: Vec<String>,
    /// The tasks before it.
    upstreams: Vec<String>,
    /// What goes out, in words.
    outputs_for_downstreams: Vec<String>,
    /// The tasks after it.
    downstreams: Vec<String>,
    /// Why each task after it follows, by its id.
    #[schema(rename = "sample-reasoning")]
    sample_reasoning: BTreeMap<String, String>,
}

/// What was planned for an example, beside what would be right.
#[derive(ToSchema)]
pub(crate) struct TrialReply {
    test_info: TrialInfo,
    test_scenario: TrialScenario,
    /// What was planned.
    generated_tasks: Vec<PlannedPipelineTask>,
    /// What would be right.
    ground_truth_tasks: Vec<PlannedPipelineTask>,
    /// What a reader should know about it.
    #[schema(required = false)]
    warnings: Vec<String>,
    /// Where the prompts were written down.
    #[schema(required = false)]
    prompt_logs_directory: String,
}

/// Which example was tried, with which others shown.
#[derive(ToSchema)]
pub(crate) struct TrialInfo {
    /// Name of the category.
    test_category: String,
    test_category_index: u32,
    test_example_index: u32,
    test_example_id: String,
    /// The categories that examples were taken from.
    few_shot_categories: Vec<TrialCategory>,
    num_few_shot_examples: u32,
}

/// A category of examples.
#[derive(ToSchema)]
pub(crate) struct TrialCategory {
    index: u32,
    name: String,
}

/// What was to be planned.
#[derive(ToSchema)]
pub(crate) struct TrialScenario {
    /// What is seen.
    objects_seen: Vec<String>,
    description: String,
}
