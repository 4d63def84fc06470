//! What can go wrong with a local model.

use serde::{Deserialize, Serialize};

/// Why a local model cannot be loaded or did not do its work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum ExpertError {
    /// A file that the model needs is not there.
    #[error("the model `{model}` lacks the file {file}")]
    MissingFile { model: String, file: String },
    /// A file is cut, of another shape than it says, or not of its format.
    #[error("{file} of the model `{model}` cannot be used: {reason}")]
    BadFile { model: String, file: String, reason: String },
    /// jarvis has no processing for this kind of model, or the engine lacks one of its operators.
    #[error("the model `{model}` cannot be run here: {reason}")]
    Unsupported { model: String, reason: String },
    /// It does not fit into the memory that local models may take.
    #[error("the model `{model}` needs {needed} MB of memory, and local models may take {allowed} MB")]
    TooLarge { model: String, needed: u64, allowed: u64 },
    /// The input is not one that the model takes.
    #[error("{0}")]
    BadInput(String),
    /// The engine failed in the middle of its work.
    #[error("the model `{model}` failed: {reason}")]
    Failed { model: String, reason: String },
    /// The time of the call was over.
    #[error("the model did not end in its time")]
    Timeout,
    /// Nobody waits for it any more.
    #[error("the call was cancelled")]
    Cancelled,
}

impl ExpertError {
    /// What may help.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ExpertError::MissingFile { .. } | ExpertError::BadFile { .. } => {
                Some("`jarvis models verify` says which files changed; pull or import it again")
            }
            ExpertError::TooLarge { .. } => Some("raise `local.max_memory_mb`, or use a smaller model"),
            ExpertError::Timeout => Some("use a smaller model, or a higher limit"),
            ExpertError::Unsupported { .. }
            | ExpertError::BadInput(_)
            | ExpertError::Failed { .. }
            | ExpertError::Cancelled => None,
        }
    }
}
