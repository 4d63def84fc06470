//! Why a run of inference cannot start or go on. What goes wrong with one request is a record, not one of these.

use std::io;
use std::path::PathBuf;

use jarvis_prompt::template::TemplateError;
use jarvis_store::files::FileError;

use crate::DataError;

/// Why a run cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum InferError {
    /// A file of the domain cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Resource dependencies with tools that have no typed resources.
    #[error("resource dependencies need typed tools, but {reason}")]
    Untyped {
        /// What the domain has instead.
        reason: String,
    },
    /// Examples are wanted, and none are known for the domain.
    #[error("no examples are known for the domain `{domain}`")]
    NoDemos {
        /// The domain.
        domain: String,
    },
    /// More examples are wanted than there are ids.
    #[error("{wanted} examples are wanted, but there are {known} ids of examples")]
    FewDemos {
        /// How many are wanted.
        wanted: usize,
        /// How many ids there are.
        known: usize,
    },
    /// Examples that the gold file lacks.
    #[error("{} has no sample {ids} to show as an example", .path.display())]
    MissingDemos {
        /// Which, joined by commas.
        ids: String,
        /// The gold file.
        path: PathBuf,
    },
    /// There is nothing to ask.
    #[error("{} holds no request{reason}", .path.display())]
    NoRequests {
        /// The file of requests.
        path: PathBuf,
        /// Why, beginning with a blank or a colon.
        reason: String,
    },
    /// Another process writes the same predictions.
    #[error("another run writes {} now", .path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// An output cannot be read or written.
    #[error("cannot read or write {}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A prompt cannot be made.
    #[error("a prompt of the benchmark cannot be made")]
    Prompt(#[from] TemplateError),
    /// Work on another thread was lost.
    #[error("planning stopped before it had an answer")]
    Stopped,
}

impl InferError {
    /// What to try, where something can be tried.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            InferError::Data(error) => Some(error.hint()),
            InferError::Untyped { .. } => Some("use --dependency-type temporal"),
            InferError::NoDemos { .. } => Some("name samples of data.json with --demo-ids a,b,c"),
            InferError::FewDemos { .. } => Some("name more samples with --demo-ids, or ask for fewer with --use-demos"),
            InferError::MissingDemos { .. } => {
                Some("name samples of data.json with --demo-ids a,b,c, or ask for fewer with --use-demos")
            }
            InferError::NoRequests { .. } => {
                Some("a line a request is wanted, {\"id\": …, \"user_request\": …}, and ids as they stand there")
            }
            InferError::Locked { .. } => Some("wait for it, or write elsewhere with --prediction-dir DIR"),
            InferError::Write { .. } => Some("check the folder's permissions and the room on the disk"),
            InferError::Prompt(_) | InferError::Stopped => None,
        }
    }

    /// True when the command was used wrongly, false when the work failed.
    pub fn is_usage(&self) -> bool {
        match self {
            InferError::Data(_)
            | InferError::Untyped { .. }
            | InferError::NoDemos { .. }
            | InferError::FewDemos { .. }
            | InferError::MissingDemos { .. }
            | InferError::NoRequests { .. } => true,
            InferError::Locked { .. } | InferError::Write { .. } | InferError::Prompt(_) | InferError::Stopped => false,
        }
    }

    pub(super) fn write(path: &std::path::Path, source: io::Error) -> InferError {
        InferError::Write { path: path.to_owned(), source }
    }
}

impl From<FileError> for InferError {
    fn from(error: FileError) -> InferError {
        match error {
            FileError::Locked { path } => InferError::Locked { path },
            FileError::Write { path, source } => InferError::Write { path, source },
        }
    }
}
