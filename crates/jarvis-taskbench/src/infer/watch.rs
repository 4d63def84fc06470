//! What a run tells while it goes on and when it ends.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jarvis_chat::TokenUsage;
use serde::Serialize;

use super::Failed;
use crate::FailureKind;

/// Sees a run. Called from the task that runs it: it must not block.
pub trait Watch: Send + Sync {
    /// The run begins.
    fn begun(&self, _begun: &Begun) {}
    /// A request has ended.
    fn answered(&self, _progress: &Progress<'_>) {}
}

/// Sees nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Watch for Quiet {}

/// What a run is about to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    /// Requests that will be asked.
    pub pending: usize,
    /// Requests that have a prediction already.
    pub already: usize,
    /// What is odd about the domain's files or the outputs.
    pub notes: Vec<String>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Requests with a new prediction.
    pub completed: usize,
    /// Requests that failed.
    pub failed: usize,
    /// Requests that this run asks.
    pub of: usize,
    /// Tokens so far.
    pub usage: TokenUsage,
    /// The failure of the request that has just ended, if it failed.
    pub failure: Option<&'a Failed>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// `resource` or `temporal`.
    pub dependency_type: &'static str,
    /// The predictions file.
    pub predictions: PathBuf,
    /// The file of errors, when there are some, of this run or of earlier ones.
    pub errors: Option<PathBuf>,
    /// Requests chosen: unique ids, without those of the examples.
    pub requests: usize,
    /// Those that had a prediction before.
    pub already: usize,
    /// Those that got one.
    pub completed: usize,
    /// Those that failed.
    pub failed: usize,
    /// Those that were not asked to the end, because the run was stopped.
    pub left: usize,
    /// Whether the run was stopped.
    pub interrupted: bool,
    /// Whether it stopped by itself, since nobody was there to answer the first requests.
    pub gave_up: bool,
    /// How often each kind of failure happened.
    pub failures: BTreeMap<FailureKind, usize>,
    /// Predictions whose reply was not plain JSON and was mended.
    pub mended: usize,
    /// Predictions that took a second call.
    pub reformatted: usize,
    /// Ids of the examples shown.
    pub demos: Vec<String>,
    /// Calls of the model; repeats for passing troubles count as one.
    pub calls: usize,
    /// Tokens sent, as the endpoint reported them.
    pub prompt_tokens: u64,
    /// Tokens received.
    pub completion_tokens: u64,
    /// How long the run took, in seconds.
    pub seconds: f64,
}

impl Summary {
    /// True when every chosen request has a prediction.
    pub fn is_complete(&self) -> bool {
        self.failed == 0 && self.left == 0
    }
}
