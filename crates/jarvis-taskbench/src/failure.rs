//! The kinds of failures that runs with a model count: one word for each, in every file and message.

use std::fmt;

use jarvis_chat::ChatError;
use serde::{Serialize, Serializer};

/// Why a request has no prediction, or a sample was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// The endpoint limits the rate of calls (429), and repeats did not help.
    RateLimit,
    /// Another HTTP status than success.
    HttpStatus,
    /// No reply in time.
    Timeout,
    /// The endpoint cannot be reached.
    Transport,
    /// The endpoint's answer holds no text of a reply.
    BadReply,
    /// The reply holds no JSON that could be used.
    ContentFormat,
    /// The reply's JSON is not of the wanted shape.
    Schema,
    /// The recording has no line for the call.
    ReplayMiss,
    /// The recording cannot be written.
    Recording,
    /// The call cannot be made as configured.
    Config,
    /// The offline planner broke down.
    Planner,
    /// The tool graph has no such part.
    NotReachable,
}

impl FailureKind {
    pub fn as_str(self) -> &'static str {
        match self {
            FailureKind::RateLimit => "RateLimit",
            FailureKind::HttpStatus => "HttpStatus",
            FailureKind::Timeout => "Timeout",
            FailureKind::Transport => "Transport",
            FailureKind::BadReply => "BadReply",
            FailureKind::ContentFormat => "ContentFormat",
            FailureKind::Schema => "Schema",
            FailureKind::ReplayMiss => "ReplayMiss",
            FailureKind::Recording => "Recording",
            FailureKind::Config => "Config",
            FailureKind::Planner => "Planner",
            FailureKind::NotReachable => "NotReachable",
        }
    }

    /// The kind of a call that failed.
    pub(crate) fn of(error: &ChatError) -> FailureKind {
        match error {
            ChatError::RateLimited { .. } => FailureKind::RateLimit,
            ChatError::Unauthorized { .. } | ChatError::Api { .. } => FailureKind::HttpStatus,
            ChatError::Timeout { .. } => FailureKind::Timeout,
            ChatError::Unreachable { .. } => FailureKind::Transport,
            ChatError::BadReply { .. } => FailureKind::BadReply,
            ChatError::ReplayMiss { .. } => FailureKind::ReplayMiss,
            ChatError::Recording { .. } => FailureKind::Recording,
            ChatError::Config(_) => FailureKind::Config,
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for FailureKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
