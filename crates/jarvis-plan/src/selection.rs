//! Selections: who performs a task, decided before its inputs exist.

use serde::{Deserialize, Serialize};

use crate::TaskId;

/// A model that could perform a task, on one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The model's id, such as `facebook/detr-resnet-50` or `native/canny`.
    pub id: String,
    /// Where it runs, a word of the pipeline's: `native`, `huggingface`.
    pub host: String,
    /// The task it performs: the planned one, or what stands in for it (`canny-control` for a
    /// `canny-text-to-image` without text).
    pub effective_task: String,
}

impl Candidate {
    /// The tool that the task names, performing the task itself.
    pub fn tool(task: &str) -> Candidate {
        Candidate { id: task.to_owned(), host: "tool".to_owned(), effective_task: task.to_owned() }
    }
}

/// For one task: the chosen model, the reason, and the ranked fallbacks. The engine makes no choices of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The task.
    pub task: TaskId,
    /// The choice.
    pub chosen: Candidate,
    /// What to try when it fails, best first.
    #[serde(default)]
    pub fallbacks: Vec<Candidate>,
    /// Why.
    pub reason: String,
    /// What was odd about the choice: an id that had to be guessed, a reply that had to be mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
