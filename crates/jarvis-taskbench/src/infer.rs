//! Inference: a chat model or the offline planner predicts a plan for each request of a domain, in the original's format.
//!
//! [`Job`] holds the requests, [`Outputs`] the files, and [`Job::run`] continues where an earlier run stopped, several
//! requests at a time, and writes one prediction or one error for each. Scoring is in [`crate::evaluate`]; transient
//! failures of a call are retried by the chat client.

pub(crate) mod ask;
mod demos;
mod error;
pub(crate) mod job;
mod log;
mod offline;
mod options;
mod outputs;
mod prompt;
mod reply;
mod shape;

use std::sync::Arc;

use jarvis_chat::ChatModel;
use jarvis_planner::Basis;

pub use crate::data::Traces;
pub use ask::{Failed, PLAN_STAGE, REFORMAT_STAGE};
pub use demos::{Demo, demos, demos_of_folder, demos_shown, known_demos};
pub use error::InferError;
pub use job::Job;
pub use offline::OfflinePlans;
pub use options::{InferOptions, Links, Sampling, prediction_dir};
pub use outputs::Outputs;
pub use prompt::Prompts;
pub use reply::{NoPlan, ReadPlan, read_plan};
pub use shape::{check_plan, reply_schema};

/// The name under which a run counts predictions whose reply was not plain JSON and was mended.
pub const MENDED: &str = "mended";
/// The same for predictions that took a second call.
pub const REFORMATTED: &str = "reformatted";

/// Who plans.
#[derive(Clone)]
pub enum PlanBy {
    /// A chat model: stage `plan`, and `reformat` for the second call.
    Model(Arc<dyn ChatModel>),
    /// The offline planner, on this basis.
    Offline(Basis),
}

impl PlanBy {
    /// The offline planner with what is compiled in.
    pub fn offline() -> PlanBy {
        PlanBy::Offline(Basis::default())
    }
}
