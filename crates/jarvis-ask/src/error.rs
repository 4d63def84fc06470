//! Why a question has no answer.

use jarvis_chat::ChatError;
use jarvis_prompt::template::TemplateError;

use crate::fit::TooLong;

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AskError {
    /// The prompt cannot be rendered from its template.
    #[error("cannot make the prompt of stage `{stage}`: {source}")]
    Prompt {
        /// The stage's label.
        stage: &'static str,
        /// What is wrong with the template or its context.
        source: TemplateError,
    },
    /// The prompt does not fit the model's context.
    #[error("{source}")]
    TooLong {
        /// The stage's label.
        stage: &'static str,
        /// By how much.
        source: TooLong,
    },
    /// A call failed.
    #[error("the model call of stage `{stage}` failed: {source}")]
    Model {
        /// The stage's label.
        stage: &'static str,
        /// The model's error.
        source: ChatError,
    },
    /// No reply could be read.
    #[error("no usable reply from stage `{stage}` in {attempts} attempts: {reason}")]
    Unreadable {
        /// The stage's label.
        stage: &'static str,
        /// How often the model was asked.
        attempts: u32,
        /// What is wrong with the last reply.
        reason: String,
        /// The last reply.
        reply: String,
    },
}

impl AskError {
    /// The stage's label.
    pub fn stage(&self) -> &'static str {
        match self {
            AskError::Prompt { stage, .. }
            | AskError::TooLong { stage, .. }
            | AskError::Model { stage, .. }
            | AskError::Unreadable { stage, .. } => stage,
        }
    }

    /// Whether a recording lacks the call. A replayed run ends here instead of falling back, since from here on it would
    /// differ from the recorded run.
    pub fn is_replay_miss(&self) -> bool {
        matches!(self, AskError::Model { source: ChatError::ReplayMiss { .. }, .. })
    }
}

/// A prompt that does not fit counts as a wrong `context_tokens`, and a reply that cannot be read as a bad one.
impl From<AskError> for ChatError {
    fn from(error: AskError) -> ChatError {
        match error {
            AskError::Prompt { .. } => ChatError::Config(error.to_string()),
            AskError::TooLong { source, .. } => source.into(),
            AskError::Model { source, .. } => source,
            AskError::Unreadable { reason, reply, .. } => ChatError::BadReply { reason, body: reply },
        }
    }
}
