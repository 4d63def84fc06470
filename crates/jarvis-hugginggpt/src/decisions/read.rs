//! Reads a saved or edited plan back, checks it wholly, and says everything that is wrong with it.

use jarvis_plan::{Limits as PlanLimits, Plan, Selection, Vocabulary};
use serde_json::Value;

use crate::source::Sources;

/// A plan that may be executed: checked, with a model pinned to every task.
#[derive(Debug, Clone, PartialEq)]
pub struct Executable {
    /// The request it was made for, when the file says.
    pub request: Option<String>,
    /// The plan; its ids are dense.
    pub plan: Plan,
    /// The pinned models by plan id; `None` leaves the choice to be made.
    pub pins: Vec<Option<Selection>>,
    /// The ids as the file wrote them, by plan id.
    pub ids: Vec<String>,
}

/// One thing that is wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFault {
    /// The task, as the file calls it; `None` for the plan as a whole.
    pub task: Option<String>,
    /// The field.
    pub field: String,
    /// What is wrong.
    pub message: String,
}

/// Why a plan is not executed: everything that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the plan cannot be executed")]
pub struct PlanFileError {
    /// What is wrong, in the order of the file; never empty.
    pub faults: Vec<PlanFault>,
}

/// Reads a plan: `{"execution_config": …}`, its inner object, a whole reply of the decision API, or a task list.
///
/// # Errors
/// Names every fault, with the task and the field.
pub fn read_plan(
    _value: &Value,
    _vocabulary: &Vocabulary,
    _sources: &Sources,
    _limits: PlanLimits,
) -> Result<Executable, PlanFileError> {
    Err(PlanFileError { faults: Vec::new() })
}
