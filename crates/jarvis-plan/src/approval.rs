//! Calls that wait for leave.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Effect, TaskId};

/// A call that would change something, as somebody is asked about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// The task.
    pub task: TaskId,
    /// The tool that would be called.
    pub tool: String,
    /// What that does to the world.
    pub effect: Effect,
    /// The arguments of the call; of several, for each element of a list, a list of them under [`crate::EACH`].
    pub arguments: IndexMap<String, Value>,
    /// Whether it is about the calls for all elements of a list.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub each: bool,
    /// Whether the call was begun before its run was cut off, and may have arrived.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
    /// Where each argument came from, in words: `the request`, `task 1`, `attached file`, `the plan`.
    pub sources: IndexMap<String, String>,
    /// Where the run waits for the answer. None where whoever is asked answers at once.
    #[serde(flatten)]
    pub place: Option<Place>,
}

/// Where a run waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The path of the server where it is given.
    pub answer: String,
    /// Whether the run goes on when its process ends while it waits.
    pub resumes: bool,
}
