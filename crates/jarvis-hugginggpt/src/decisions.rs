//! Decisions: the stages stopped before execution. A request goes in, a plan with a model for each task comes out;
//! nothing is executed, and no file of the request is opened.
//!
//! Sources: PantheraXpoint/JARVIS `hugginggpt/server/decision_api.py` and `server/sensys/decision_api.py` (the reply's
//! fields and their names are theirs). [`Decisions::decide`] decides, [`Decision`] is written down by [`Decision::reply`]
//! and [`Decision::execution_config`], [`PlanStore`] keeps what was written, [`read_plan`] reads it back, edited or not,
//! and [`HuggingGpt::run_plan`] executes it.

mod decide;
mod decision;
mod describe;
mod error;
pub mod evaluate;
pub mod examples;
mod execute;
mod mapping;
pub mod pipeline;
mod prompt_log;
mod read;
mod reply;
pub mod service;
mod store;
pub mod trial;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::pipeline::HuggingGpt;
use crate::source::ModelSource;

pub use decision::{Decision, Mapped, TaskChoice};
pub use error::DecisionError;
pub use evaluate::Evaluation;
pub use examples::{Examples, Scenario};
pub use pipeline::decide::PipelineDecision;
pub use prompt_log::PromptLog;
pub use read::{Executable, PlanFault, PlanFileError, read_plan};
pub use reply::{Levels, levels};
pub use service::{Service, ServiceConfig, ServiceSource};
pub use store::{PlanStore, StoreError};
pub use trial::{Trial, TrialError};

/// Decides. Cheap to share: everything in it is shared already.
#[derive(Clone)]
pub struct Decisions {
    /// The chat model, the planner, the prompts and the settings of the stages.
    pub pipeline: Arc<HuggingGpt>,
    pub settings: DecisionSettings,
    pub source: Arc<dyn ModelSource>,
    /// Where plans are saved; `None` saves none.
    pub plans: Option<Arc<PlanStore>>,
    /// The folder in which the prompts of each request are written down; `None` writes none.
    pub prompt_logs: Option<PathBuf>,
}

/// Settings of decisions. `docs/configuration.md` explains the keys that set them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionSettings {
    /// Ask the chat model which known task an unknown task name means.
    pub semantic_mapping: bool,
    /// Let every `image` argument that refers to another task take the request's original picture. `None` leaves it to
    /// the source: a service's tasks all look at the original picture, those of a catalogue file make pictures.
    pub replace_generated_images: Option<bool>,
    /// Describe the plan in words, at the cost of one more call.
    pub describe: bool,
    /// The most choices made at once; 0 counts as 1.
    pub concurrency: usize,
    /// The most models of a task that are looked at.
    pub max_models: usize,
    /// Ask for a reason even where there is one model only.
    pub explain_single: bool,
    /// The tasks that the chat model serves itself.
    pub llm_served_tasks: Vec<String>,
    pub method: Method,
    pub timeout: Duration,
}

impl Default for DecisionSettings {
    fn default() -> DecisionSettings {
        DecisionSettings {
            semantic_mapping: true,
            replace_generated_images: None,
            describe: false,
            concurrency: 8,
            max_models: 50,
            explain_single: false,
            llm_served_tasks: jarvis_catalogue::task_types()
                .iter()
                .filter(|task| task.is_chat_served())
                .map(|task| task.name.to_owned())
                .collect(),
            method: Method::Separate,
            timeout: Duration::from_secs(180),
        }
    }
}

impl DecisionSettings {
    /// True for a task that the chat model serves itself.
    pub fn is_llm_served(&self, task: &str) -> bool {
        self.llm_served_tasks.iter().any(|served| served == task)
    }
}

/// How the pipeline form asks the chat model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// One call for the plan and one for each choice.
    #[default]
    Separate,
    /// One call for the plan and all choices.
    #[serde(alias = "paper2")]
    Unified,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// `decisions`, `raw_results` and the execution plan.
    #[default]
    Config,
    /// The pipeline form: `{"tasks":[…]}` with the fields of a vision pipeline.
    Pipeline,
}

#[cfg(test)]
mod tests;
