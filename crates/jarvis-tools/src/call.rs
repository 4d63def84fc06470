//! Calls of tools by name and arguments: one contract, several transports.
//!
//! A tool offers APIs; a call names both. What comes back is text that a model may read, or a typed failure. Nothing here
//! chooses a tool.

use async_trait::async_trait;
use indexmap::IndexMap;
use jarvis_prompt::literal::Literal;

/// One call of an API of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCall {
    /// The shelf that the tool stands on, where a source has shelves (a RapidAPI category); else empty.
    pub category: String,
    /// The tool.
    pub tool: String,
    /// The API of the tool: a function's name, an endpoint such as `GET /movie/{movie_id}`.
    pub api: String,
    /// The arguments, by name.
    pub arguments: IndexMap<String, Literal>,
}

/// Something that carries out calls. It may be called many times at once.
#[async_trait]
pub trait ToolCaller: Send + Sync {
    /// Carries out one call. What comes back is text, never longer than the source's own limit, and never a binary body
    /// or an HTML page.
    ///
    /// # Errors
    /// When the call failed; the message says why, in words that a model may read, and holds no key.
    async fn call(&self, call: &ToolCall) -> Result<String, CallError>;
}

/// A call that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// Of what kind.
    pub kind: CallFault,
    /// What happened, in words that a model may read.
    pub message: String,
}

/// The kinds of failed calls, after the observation codes of ToolBench (`spec/easytool.md` §9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallFault {
    /// 1: there is no such tool or API.
    NoSuchApi,
    /// 2: the arguments are not what the API takes.
    BadInput,
    /// 5: no answer came in time.
    Timeout,
    /// 6: the API does not work.
    NotWorking,
    /// 7: the service does not let us in.
    Unauthorized,
    /// 8: the account has no subscription for the API.
    Unsubscribed,
    /// 9: the service takes no more calls, now or this month.
    TooManyRequests,
    /// 10: too many calls within a minute.
    RateLimit,
    /// 11: the answer tells of an error.
    Message,
    /// 12: the answer did not come through, or is none.
    Transport,
}

impl CallFault {
    /// ToolBench's observation code.
    pub fn code(self) -> u8 {
        match self {
            CallFault::NoSuchApi => 1,
            CallFault::BadInput => 2,
            CallFault::Timeout => 5,
            CallFault::NotWorking => 6,
            CallFault::Unauthorized => 7,
            CallFault::Unsubscribed => 8,
            CallFault::TooManyRequests => 9,
            CallFault::RateLimit => 10,
            CallFault::Message => 11,
            CallFault::Transport => 12,
        }
    }

    /// Whether the same call may succeed a little later.
    pub fn is_passing(self) -> bool {
        match self {
            CallFault::Timeout | CallFault::TooManyRequests | CallFault::RateLimit | CallFault::Transport => true,
            CallFault::NoSuchApi
            | CallFault::BadInput
            | CallFault::NotWorking
            | CallFault::Unauthorized
            | CallFault::Unsubscribed
            | CallFault::Message => false,
        }
    }
}

impl CallError {
    /// A failure of a kind.
    pub fn new(kind: CallFault, message: impl Into<String>) -> CallError {
        CallError { kind, message: message.into() }
    }
}
