//! Why a task failed, in a form that people, models and programs can each use.

use serde::{Deserialize, Serialize};

/// What went wrong, as a stable word.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ErrorCode {
    /// The task type is unknown, or nothing can serve it as configured.
    UnsupportedTask,
    /// The task type is known, but no model for it is available now.
    NoModel,
    /// A required argument is missing or empty.
    MissingArgument,
    /// A dependency finished without the kind of output that is needed.
    NoOutput,
    /// The plan itself makes the task impossible (see [`crate::Fault`]).
    BadPlan,
    /// An input is not what it must be: not an image, not a sound, not text.
    InvalidInput,
    /// An input does not exist.
    NotFound,
    /// The path or URL policy refuses an input.
    Forbidden,
    /// An input or a result is larger than the limit.
    TooLarge,
    /// The worker understood the request and cannot do it, whichever way it is asked.
    CannotDo,
    /// A program or service this needs is not installed or not configured.
    NotConfigured,
    /// The other side refused the credentials.
    Unauthorized,
    /// The other side asks for fewer calls.
    RateLimited,
    /// The other side cannot be reached or is down.
    Unavailable,
    /// The other side answered with an error of its own.
    Upstream,
    /// The other side's answer cannot be understood.
    BadReply,
    /// It would change something, and nobody allowed it.
    NotApproved,
    /// It is for the caller to do, and was handed back.
    HandedBack,
    /// The budget of the run is used up.
    Budget,
    /// The deadline of the task or of the run passed.
    Timeout,
    /// The run was cancelled.
    Cancelled,
    /// The worker panicked.
    Panic,
    /// Something in jarvis itself went wrong, such as a full disk.
    Internal,
}

impl ErrorCode {
    /// True when another model for the same task might succeed where this one failed.
    pub fn next_candidate_may_help(self) -> bool {
        match self {
            ErrorCode::NoModel
            | ErrorCode::CannotDo
            | ErrorCode::NotConfigured
            | ErrorCode::Unauthorized
            | ErrorCode::RateLimited
            | ErrorCode::Unavailable
            | ErrorCode::Upstream
            | ErrorCode::BadReply
            | ErrorCode::Timeout
            | ErrorCode::Panic => true,
            ErrorCode::UnsupportedTask
            | ErrorCode::MissingArgument
            | ErrorCode::NoOutput
            | ErrorCode::BadPlan
            | ErrorCode::InvalidInput
            | ErrorCode::NotFound
            | ErrorCode::Forbidden
            | ErrorCode::TooLarge
            | ErrorCode::NotApproved
            | ErrorCode::HandedBack
            | ErrorCode::Budget
            | ErrorCode::Cancelled
            | ErrorCode::Internal => false,
        }
    }

    /// Whether a worker that fails so has asked nobody to do anything.
    pub fn is_before_any_call(self) -> bool {
        match self {
            ErrorCode::UnsupportedTask
            | ErrorCode::NoModel
            | ErrorCode::MissingArgument
            | ErrorCode::NoOutput
            | ErrorCode::BadPlan
            | ErrorCode::InvalidInput
            | ErrorCode::NotFound
            | ErrorCode::Forbidden
            | ErrorCode::CannotDo
            | ErrorCode::NotConfigured
            | ErrorCode::NotApproved
            | ErrorCode::HandedBack
            | ErrorCode::Budget => true,
            ErrorCode::TooLarge
            | ErrorCode::Unauthorized
            | ErrorCode::RateLimited
            | ErrorCode::Unavailable
            | ErrorCode::Upstream
            | ErrorCode::BadReply
            | ErrorCode::Timeout
            | ErrorCode::Cancelled
            | ErrorCode::Panic
            | ErrorCode::Internal => false,
        }
    }

    /// Whether a call that failed so may have been carried out all the same, its answer lost or useless.
    pub fn may_have_arrived(self) -> bool {
        !self.is_before_any_call() && !matches!(self, ErrorCode::Unauthorized | ErrorCode::RateLimited)
    }

    /// The word in its serialised form.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Why a task failed: a code for programs, a message for people, and what to try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct TaskError {
    /// What went wrong, as a stable word.
    pub code: ErrorCode,
    /// What happened and why, as one sentence without a full stop. Never holds a secret.
    pub message: String,
    /// What to try, when there is something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl TaskError {
    /// An error without advice.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> TaskError {
        TaskError { code, message: message.into(), hint: None }
    }

    /// Adds what to try.
    pub fn hint(mut self, hint: impl Into<String>) -> TaskError {
        self.hint = Some(hint.into());
        self
    }
}
