//! Why instructions could not be written.

use std::path::PathBuf;

use jarvis_ask::AskError;
use jarvis_catalogue::openapi::ApiError;
use jarvis_chat::ChatError;
use jarvis_prompt::template::TemplateError;
use jarvis_store::files::FileError;

/// Why there are no instructions.
#[derive(Debug, thiserror::Error)]
pub enum InstructError {
    /// A document cannot be read.
    #[error("{}", .path.display())]
    Document {
        path: PathBuf,
        #[source]
        source: ApiError,
    },
    /// A document is none that is known.
    #[error("{}: {reason}", .path.display())]
    Shape { path: PathBuf, reason: String },
    /// The chat model cannot be asked.
    #[error("stage `{stage}`: the chat model gave no reply")]
    Chat {
        stage: String,
        #[source]
        source: ChatError,
    },
    /// A built-in prompt is broken.
    #[error(transparent)]
    Prompt(#[from] TemplateError),
    /// What was done could not be kept.
    #[error(transparent)]
    File(#[from] FileError),
    /// It was stopped; what was done is kept.
    #[error("stopped before everything was written")]
    Stopped,
    /// The instructions cannot be written down.
    #[error("the instructions cannot be written: {0}")]
    Write(String),
}

impl From<AskError> for InstructError {
    fn from(error: AskError) -> InstructError {
        match error {
            AskError::Prompt { source, .. } => source.into(),
            error => InstructError::Chat { stage: error.stage().to_owned(), source: error.into() },
        }
    }
}
