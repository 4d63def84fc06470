//! Keys of planning, and of decisions: plans with a model for each task, without execution.

use std::path::PathBuf;

use jarvis_hugginggpt::decisions::{Format, Method};
use jarvis_hugginggpt::{ExperienceUse, Look};
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct PlanningConfig {
    /// Ask once more when the planner's reply cannot be read or has faults, quoting what is wrong.
    pub(crate) reask: bool,
    /// Who plans when no plan of the chat model can run: `offline`, or `none`.
    pub(crate) last_resort: LastResort,
    /// Start tasks while the chat model still writes the plan: each as soon as it is written whole, but for those that change
    /// something, which wait for the rest.
    pub(crate) stream: bool,
    /// When the chat model looks at what came of a plan and plans on: `never`, `failures` (a task failed, or the plan said that
    /// it was a first part), `always`. Also `--replan`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) replan: Look,
    /// How often a plan is planned on, at most.
    pub(crate) max_rounds: u32,
    /// The most tasks of a plan.
    pub(crate) max_tasks: usize,
    /// The most calls of a task that runs once for each element of a list.
    pub(crate) max_each: usize,
    /// Tokens left free for the model's reply.
    pub(crate) reserve_tokens: usize,
    /// What becomes of the plans of finished runs: `off`, `keep` them, `use` them to plan new requests, or `reuse` them without a model
    /// where a request differs from an earlier one in its values alone. Also `--no-experience`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) experience: ExperienceUse,
    /// How many of them a chat model is shown, in the place of built-in demonstrations.
    pub(crate) experience_demos: usize,
    /// A file with the offline planner's weights, as `jarvis planner fit` writes it. Also `--planner-weights`. Default: those built in.
    pub(crate) weights: Option<PathBuf>,
    /// A sentence model by which the offline planner compares requests, tools and plans from before in meaning: `local/NAME`, `local:DIR`,
    /// or the name of one at the endpoint of `llm`, which is then sent them. Also `--planner-embedder`. Default: none; words are compared.
    pub(crate) embedder: Option<String>,
}

impl Default for PlanningConfig {
    fn default() -> PlanningConfig {
        PlanningConfig {
            reask: true,
            last_resort: LastResort::Offline,
            stream: true,
            replan: Look::default(),
            max_rounds: 4,
            max_tasks: 32,
            max_each: 32,
            reserve_tokens: 800,
            experience: ExperienceUse::default(),
            experience_demos: 3,
            weights: None,
            embedder: None,
        }
    }
}

/// How a model is chosen for a task.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct ChooseConfig {
    /// Start tasks that only read with the model that is ranked best while the chat model chooses, and keep what it gives when it
    /// was the choice. Saves the wait for the choice where the ranking is right; costs a call of a model where it is not.
    pub(crate) speculate: bool,
}

/// Who plans when no plan of the chat model can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum LastResort {
    Offline,
    None,
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct DecisionsConfig {
    /// Base URL of a model catalogue service to decide with. Without one the catalogue of this machine is used.
    pub(crate) model_api_base_url: Option<String>,
    /// The environment variable that holds the service's key. Unset: no key is sent.
    pub(crate) model_api_key_env: Option<String>,
    /// Seconds for which the service's answers are cached.
    pub(crate) cache_ttl_s: u64,
    /// A file of example pipelines. Default: the service's.
    pub(crate) examples: Option<PathBuf>,
    /// A file with the numbers of the categories in `decisions.examples`. Default: numbered in order.
    pub(crate) example_categories: Option<PathBuf>,
    /// Keep each plan that was decided.
    pub(crate) save_plan: bool,
    /// Where plans are kept. Default: `DATA/execution_configs`.
    pub(crate) plan_dir: Option<PathBuf>,
    /// How many plans are kept; 0 keeps all.
    pub(crate) plan_keep: usize,
    /// Write down every prompt of a decision, in a folder for each request. Prompts hold what people wrote.
    pub(crate) save_prompts: bool,
    /// Where prompts are written down. Default: `DATA/prompt_logs`.
    pub(crate) prompt_log_dir: Option<PathBuf>,
    /// Ask the chat model which known task an unknown task name means.
    pub(crate) semantic_mapping: bool,
    /// Replace every picture that a task would make by the original picture. Default: with a service.
    pub(crate) replace_generated_images: Option<bool>,
    /// Describe the plan in words, for one more call.
    pub(crate) describe: bool,
    /// Models chosen at the same time.
    pub(crate) concurrency: usize,
    /// Seconds for a decision.
    pub(crate) timeout_s: u64,
    /// Errors of decisions over HTTP as the original gave them: status 500 and a plain string.
    pub(crate) compat_errors: bool,
    /// How the pipeline form asks: `separate`, or `unified` for one call.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) method: Method,
    /// How decisions over HTTP are written unless the request names a form: `config`, `pipeline`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) format: Format,
    /// Ask for a reason even where there is only one model.
    pub(crate) explain_single: bool,
    /// The tasks that the chat model serves itself. Default: the usual five.
    pub(crate) llm_served_tasks: Option<Vec<String>>,
}

impl Default for DecisionsConfig {
    fn default() -> DecisionsConfig {
        DecisionsConfig {
            model_api_base_url: None,
            model_api_key_env: None,
            cache_ttl_s: 300,
            examples: None,
            example_categories: None,
            save_plan: true,
            plan_dir: None,
            plan_keep: 1_000,
            save_prompts: false,
            prompt_log_dir: None,
            semantic_mapping: true,
            replace_generated_images: None,
            describe: false,
            concurrency: 8,
            timeout_s: 180,
            compat_errors: false,
            method: Method::Separate,
            format: Format::Config,
            explain_single: false,
            llm_served_tasks: None,
        }
    }
}
