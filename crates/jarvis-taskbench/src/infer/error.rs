//! Why a run of inference cannot start or go on. What goes wrong with one request is a record, not one of these.

use std::path::PathBuf;

use jarvis_prompt::template::TemplateError;
use jarvis_store::files::FileError;

use crate::DataError;

#[derive(Debug, thiserror::Error)]
pub enum InferError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("resource dependencies need typed tools, but {reason}")]
    Untyped { reason: String },
    #[error("no examples are known for the domain `{domain}`")]
    NoDemos { domain: String },
    #[error("{wanted} examples were asked for, but only {known} ids are known")]
    FewDemos { wanted: usize, known: usize },
    #[error("{} has no sample {ids} to show as an example", .path.display())]
    MissingDemos {
        /// Joined by commas.
        ids: String,
        path: PathBuf,
    },
    #[error("{} holds no request{reason}", .path.display())]
    NoRequests {
        path: PathBuf,
        /// Begins with a blank or a colon.
        reason: String,
    },
    #[error("a prompt of the benchmark cannot be made")]
    Prompt(#[from] TemplateError),
    #[error("planning stopped before it had an answer")]
    Stopped,
}

impl InferError {
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            InferError::Data(DataError::Locked { .. }) => {
                Some("wait until it ends, or write elsewhere with --prediction-dir DIR")
            }
            InferError::Data(error) => Some(error.hint()),
            InferError::Untyped { .. } => Some("use --dependency-type temporal"),
            InferError::NoDemos { .. } => Some("name samples of data.json with --demo-ids a,b,c"),
            InferError::FewDemos { .. } => Some("name more samples with --demo-ids, or ask for fewer with --use-demos"),
            InferError::MissingDemos { .. } => {
                Some("name samples of data.json with --demo-ids a,b,c, or ask for fewer with --use-demos")
            }
            InferError::NoRequests { .. } => {
                Some("each line is one request, {\"id\": …, \"user_request\": …}; ids match exactly")
            }
            InferError::Prompt(_) | InferError::Stopped => None,
        }
    }

    /// True when the command was used wrongly, false when the work failed.
    pub fn is_usage(&self) -> bool {
        match self {
            InferError::Data(error) => error.is_usage(),
            InferError::Prompt(_) | InferError::Stopped => false,
            InferError::Untyped { .. }
            | InferError::NoDemos { .. }
            | InferError::FewDemos { .. }
            | InferError::MissingDemos { .. }
            | InferError::NoRequests { .. } => true,
        }
    }
}

impl From<FileError> for InferError {
    fn from(error: FileError) -> InferError {
        InferError::Data(error.into())
    }
}
