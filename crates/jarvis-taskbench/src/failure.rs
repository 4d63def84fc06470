//! The kinds of failures that runs with a model count: one word for each, in every file and message.

use jarvis_chat::ChatError;
use serde::Serialize;

use crate::words::words;

words! {
    #[derive(Serialize)]
    pub enum FailureKind {
        /// The endpoint limits the rate of calls (429), and repeats did not help.
        RateLimit,
        /// Another HTTP status than success.
        HttpStatus,
        Timeout,
        Transport,
        /// The endpoint's answer holds no text of a reply.
        BadReply,
        /// The reply holds no JSON that could be used.
        ContentFormat,
        /// The reply's JSON is not of the wanted shape.
        Schema,
        ReplayMiss,
        Recording,
        /// The call cannot be made as configured.
        Config,
        Planner,
        /// The tool graph has no such part.
        NotReachable,
    }
}

impl FailureKind {
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
