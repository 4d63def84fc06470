//! Outcomes: how each task ended.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Candidate, ErrorCode, Selection, TaskError, TaskId};

/// How a task ended.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Status {
    /// It gave a result.
    Succeeded,
    /// It was tried, or could not be tried, and has an error.
    Failed,
    /// It was not tried because its arguments need the output of a task that did not succeed.
    Skipped,
    /// The run ended first.
    Cancelled,
}

impl Status {
    /// The word in its serialised form.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One try of one model at a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The model tried.
    pub candidate: Candidate,
    /// Why it failed; `None` for the try that succeeded.
    pub error: Option<TaskError>,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

/// How a task ended, with everything that led there. Each task of a plan has exactly one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The task.
    pub id: TaskId,
    /// Its task type, as planned.
    pub task: String,
    /// How it ended.
    pub status: Status,
    /// The arguments after resolution; as planned where resolution was not reached.
    pub args: IndexMap<String, Value>,
    /// Who was chosen, when the choice was reached.
    pub selection: Option<Selection>,
    /// The tries, in order.
    pub attempts: Vec<Attempt>,
    /// The output of a task that succeeded, in whatever shape its worker gives.
    #[serde(rename = "inference")]
    pub output: Option<Value>,
    /// Why it did not succeed.
    pub error: Option<TaskError>,
    /// What was odd on the way, such as an argument taken from a dependency's own input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether it did not succeed and what it was for was done by tasks that were planned after it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made_up_for: bool,
    /// From dispatch to end, in milliseconds.
    pub ms: u64,
}

impl Outcome {
    /// True when the task gave a result.
    pub fn succeeded(&self) -> bool {
        self.status == Status::Succeeded
    }

    /// The model that gave the result; for a failed task, the one chosen first.
    pub fn performer(&self) -> Option<&Candidate> {
        self.attempts
            .iter()
            .find(|attempt| attempt.error.is_none())
            .map(|attempt| &attempt.candidate)
            .or_else(|| self.selection.as_ref().map(|selection| &selection.chosen))
    }

    /// Why it did not succeed. Where several models failed for reasons of their own, all of them, in the order of the tries; of
    /// those that left it to the next because it is not their kind of work, the last.
    pub fn failure(&self) -> Option<String> {
        let last = self.error.as_ref()?;
        let tries = self.attempts.iter().filter_map(|attempt| Some((&attempt.candidate, attempt.error.as_ref()?)));
        let mut told: Vec<(&Candidate, &str)> = Vec::new();
        let last_cannot = last.code == ErrorCode::CannotDo;
        for (candidate, error) in tries {
            if last_cannot && error.code == ErrorCode::CannotDo && error.message != last.message {
                continue;
            }
            if told.iter().all(|(_, message)| *message != error.message) {
                told.push((candidate, &error.message));
            }
        }
        match told.as_slice() {
            [] | [_] => Some(last.message.clone()),
            several => {
                let each = several.iter().map(|(candidate, message)| format!("`{}`: {message}", candidate.id));
                Some(each.collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// The model that was chosen and could not do it, why, and the one that did it in its place.
    pub fn stand_in(&self) -> Option<(&Candidate, &TaskError, &Candidate)> {
        let chosen = &self.selection.as_ref()?.chosen;
        let failed = self.attempts.iter().find(|attempt| attempt.candidate == *chosen)?.error.as_ref()?;
        let did = self.attempts.iter().find(|attempt| attempt.error.is_none())?;
        Some((chosen, failed, &did.candidate))
    }
}
