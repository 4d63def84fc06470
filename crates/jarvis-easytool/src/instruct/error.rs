//! Why instructions could not be written.

use std::path::PathBuf;

use jarvis_ask::AskError;
use jarvis_catalogue::openapi::ApiError;
use jarvis_chat::ChatError;
use jarvis_store::files::FileError;

#[derive(Debug, thiserror::Error)]
pub enum InstructError {
    #[error("{}", .path.display())]
    Document {
        path: PathBuf,
        #[source]
        source: ApiError,
    },
    #[error("{}: {reason}", .path.display())]
    Shape { path: PathBuf, reason: String },
    #[error("stage `{stage}`: the chat model gave no reply")]
    Chat {
        stage: &'static str,
        #[source]
        source: ChatError,
    },
    #[error(transparent)]
    File(#[from] FileError),
    #[error("stopped before everything was written")]
    Stopped,
}

impl From<AskError> for InstructError {
    fn from(error: AskError) -> InstructError {
        InstructError::Chat { stage: error.stage(), source: error.into() }
    }
}
