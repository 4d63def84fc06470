//! Why a run ended without an answer.

use std::time::{Duration, Instant};

use jarvis_ask::AskError;
use jarvis_chat::ChatError;
use jarvis_events::NotWritten;
use jarvis_plan::{ErrorCode, EventKind, INTERRUPTED, TaskError};

/// Why a run ended without an answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// A model call failed, and nothing can be done without it.
    #[error("the model call of stage `{stage}` failed")]
    Model {
        /// The stage.
        stage: &'static str,
        /// Why.
        source: ChatError,
    },
    /// No reply of a stage can be used, and nothing can be done without one.
    #[error("no reply of stage `{stage}` can be used: {reason}")]
    Unreadable {
        /// The stage.
        stage: &'static str,
        /// What is wrong with the last reply.
        reason: String,
    },
    /// The planner failed.
    #[error("cannot plan: {0}")]
    Planner(String),
    /// A prompt cannot be made from its template, or does not fit the model.
    #[error("cannot make the prompt of stage `{stage}`: {reason}")]
    Prompt {
        /// The stage.
        stage: &'static str,
        /// Why.
        reason: String,
    },
    /// The run's deadline passed before there was a plan, or an answer where a plan grows with it.
    #[error("the run had no result within {} s", .after.as_secs())]
    Timeout {
        /// The time allowed for the run.
        after: Duration,
        /// What to try, by the setting that allowed no more.
        hint: &'static str,
    },
    /// The run was cancelled before there was a plan or an answer.
    #[error("the run was cancelled")]
    Cancelled,
    /// The pipeline cannot work on such a request.
    #[error("{0}")]
    InvalidRequest(String),
    /// The run went through, and found no answer.
    #[error("{0}")]
    NoAnswer(String),
    /// The pipeline works with a chat model only, and none is configured.
    #[error("the pipeline `{pipeline}` needs a chat model, and none is configured")]
    NoModel {
        /// The pipeline's name.
        pipeline: String,
    },
    /// The run cannot go on here: its steps cannot be kept, or it is not what it was.
    #[error("the run stopped: {0}")]
    Stopped(NotWritten),
    /// Another program carries the run out, and has no answer.
    #[error("{}", .0.message)]
    Elsewhere(TaskError),
    /// jarvis itself failed, which is a defect.
    #[error("{0}")]
    Internal(String),
}

impl RunError {
    /// The deadline that the limits set to every run has passed.
    pub fn timeout(after: Duration) -> RunError {
        RunError::Timeout { after, hint: "raise `limits.run_timeout_s`, or use a faster model" }
    }

    /// The last event of a run that began at `began` and ended with this error.
    pub fn event(&self, began: Instant) -> EventKind {
        let mut message = self.to_string();
        if let RunError::Model { source, .. } = self {
            message.push_str(&format!(": {source}"));
        }
        EventKind::Error {
            code: self.code().into(),
            message,
            hint: self.hint().map(str::to_owned),
            ms: began.elapsed().as_millis() as u64,
        }
    }

    /// The error as that of a task, for whoever carries out the stages of a run one by one.
    pub fn as_task_error(&self) -> TaskError {
        let code = match self {
            RunError::Model { source, .. } => source.code(),
            RunError::Unreadable { .. } => ErrorCode::BadReply,
            RunError::Timeout { .. } => ErrorCode::Timeout,
            RunError::Cancelled => ErrorCode::Cancelled,
            RunError::InvalidRequest(_) => ErrorCode::InvalidInput,
            RunError::NoAnswer(_) => ErrorCode::NoOutput,
            RunError::NoModel { .. } => ErrorCode::NotConfigured,
            RunError::Elsewhere(error) => return error.clone(),
            RunError::Planner(_) | RunError::Prompt { .. } | RunError::Stopped(_) | RunError::Internal(_) => {
                ErrorCode::Internal
            }
        };
        let mut message = self.to_string();
        if let RunError::Model { source, .. } = self {
            message.push_str(&format!(": {source}"));
        }
        TaskError { code, message, hint: self.hint().map(str::to_owned) }
    }

    /// A stable word.
    pub fn code(&self) -> &'static str {
        match self {
            RunError::Model { source, .. } => source.code().as_str(),
            RunError::Unreadable { .. } => ErrorCode::BadReply.as_str(),
            RunError::Planner(_) => "planner",
            RunError::Prompt { .. } => "prompt",
            RunError::Timeout { .. } => INTERRUPTED,
            RunError::Cancelled => ErrorCode::Cancelled.as_str(),
            RunError::InvalidRequest(_) => ErrorCode::InvalidInput.as_str(),
            RunError::NoAnswer(_) => "no_answer",
            RunError::NoModel { .. } => ErrorCode::NotConfigured.as_str(),
            RunError::Stopped(_) => INTERRUPTED,
            RunError::Elsewhere(error) => error.code.as_str(),
            RunError::Internal(_) => ErrorCode::Internal.as_str(),
        }
    }

    /// What to try, when there is something.
    pub fn hint(&self) -> Option<&str> {
        match self {
            RunError::Model { source, .. } => source.hint(),
            RunError::Timeout { hint, .. } => Some(hint),
            RunError::Elsewhere(error) => error.hint.as_deref(),
            RunError::NoModel { .. } => Some("configure a chat model (`llm.model`)"),
            RunError::Stopped(NotWritten::Lost(_)) => {
                Some("make room for the journal; what is done is kept, and the run can be resumed")
            }
            RunError::Stopped(NotWritten::Diverged(_)) => {
                Some("try it anew as a run that takes over what was done: see `runs retry`")
            }
            RunError::Stopped(NotWritten::TakenOver) => Some("follow it where it goes on"),
            RunError::Stopped(NotWritten::Unknown(_)) => {
                Some("look what became of it, and resume the run at a terminal or a server, where you can say so")
            }
            RunError::Unreadable { .. }
            | RunError::Planner(_)
            | RunError::Prompt { .. }
            | RunError::InvalidRequest(_)
            | RunError::NoAnswer(_)
            | RunError::Cancelled
            | RunError::Internal(_) => None,
        }
    }

    /// Whether the same request may succeed later without any change.
    pub fn is_retryable(&self) -> bool {
        match self {
            RunError::Model { source, .. } => matches!(
                source.code(),
                ErrorCode::Unavailable
                    | ErrorCode::Timeout
                    | ErrorCode::RateLimited
                    | ErrorCode::Upstream
                    | ErrorCode::BadReply
            ),
            RunError::Elsewhere(error) => matches!(error.code, ErrorCode::Unavailable | ErrorCode::Timeout),
            RunError::Timeout { .. } | RunError::Unreadable { .. } | RunError::Stopped(NotWritten::Lost(_)) => true,
            RunError::Planner(_)
            | RunError::Prompt { .. }
            | RunError::InvalidRequest(_)
            | RunError::NoAnswer(_)
            | RunError::Cancelled
            | RunError::NoModel { .. }
            | RunError::Stopped(NotWritten::TakenOver | NotWritten::Diverged(_) | NotWritten::Unknown(_))
            | RunError::Internal(_) => false,
        }
    }
}

impl From<AskError> for RunError {
    fn from(error: AskError) -> RunError {
        let stage = error.stage();
        match error {
            AskError::Prompt { source, .. } => RunError::Prompt { stage, reason: source.to_string() },
            AskError::Unreadable { reason, .. } => RunError::Unreadable { stage, reason },
            AskError::TooLong { .. } | AskError::Model { .. } => RunError::Model { stage, source: error.into() },
        }
    }
}
