//! What a gRPC status means for a call.

use std::error::Error;

use tonic::{Code, Status};

use crate::{CallError, CallFault};
use jarvis_net::text::shorten;

/// A status in the words of calls. `place` names the service.
pub(super) fn error_of(status: &Status, place: &str) -> CallError {
    let words = shorten(status.message(), 400);
    // The client's own refusal of an answer looks like the server's complaint about the input.
    if status.code() == Code::OutOfRange && words.starts_with("Error, decoded message length too large") {
        let limit = super::MAX_MESSAGE >> 20;
        return CallError::new(CallFault::Transport, format!("{place} answered with more than {limit} MiB"));
    }
    if let (Code::Unavailable, Some(cause)) = (status.code(), cause(status)) {
        return CallError::new(CallFault::Transport, format!("{place} cannot be reached: {cause}"));
    }
    let (kind, what) = match status.code() {
        Code::InvalidArgument | Code::OutOfRange => (CallFault::BadInput, "refuses the input"),
        Code::NotFound => (CallFault::Message, "did not find it"),
        Code::AlreadyExists => (CallFault::Message, "says that it exists already"),
        Code::FailedPrecondition => (CallFault::Message, "cannot do it now"),
        Code::Aborted => (CallFault::Message, "gave the call up"),
        Code::DataLoss => (CallFault::NotWorking, "lost data"),
        Code::Unknown => (CallFault::Message, "answered with an error"),
        Code::Internal => (CallFault::NotWorking, "broke down"),
        Code::Unimplemented => (CallFault::NoSuchApi, "does not have the method"),
        Code::PermissionDenied | Code::Unauthenticated => (CallFault::Unauthorized, "does not let us in"),
        Code::ResourceExhausted => (CallFault::TooManyRequests, "takes no more calls now"),
        Code::DeadlineExceeded => (CallFault::Timeout, "gave no answer in time"),
        Code::Unavailable => (CallFault::Transport, "is not available now"),
        Code::Cancelled => (CallFault::Transport, "cancelled the call"),
        Code::Ok => (CallFault::Transport, "gave no answer"),
    };
    let words = if words.is_empty() { String::new() } else { format!(": {words}") };
    CallError::new(kind, format!("{place} {what}{words}"))
}

/// The innermost reason why nothing came through; `None` when the service itself said so.
fn cause(status: &Status) -> Option<String> {
    let mut cause: &dyn Error = status.source()?;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    Some(shorten(&cause.to_string(), 200))
}
