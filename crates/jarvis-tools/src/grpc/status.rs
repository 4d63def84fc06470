//! What a gRPC status means for a call.

use std::error::Error as _;

use tonic::{Code, Status};

use crate::{CallError, CallFault, reach};
use jarvis_net::text::shorten;

/// What to look at when a service hangs up.
const SPEAKS: &str = "; does it speak gRPC, and TLS just where its address begins with https://?";

/// A status in the words of calls. `place` names the service.
pub(super) fn error_of(status: &Status, place: &str) -> CallError {
    let words = shorten(status.message(), 400);
    // The client's own refusal of an answer looks like the server's complaint about the input.
    if status.code() == Code::OutOfRange && words.starts_with("Error, decoded message length too large") {
        let limit = super::MAX_MESSAGE >> 20;
        return CallError::new(CallFault::Transport, format!("{place} answered with more than {limit} MiB"));
    }
    match (status.code(), cause(status)) {
        (Code::Unavailable, Some((cause, hint))) => {
            return CallError::new(CallFault::Transport, format!("{place} cannot be reached: {cause}{hint}"));
        }
        // What the service itself calls unknown has no cause here.
        (Code::Unknown, Some((cause, hint))) => {
            let hint = if hint.is_empty() { SPEAKS } else { hint };
            return CallError::new(CallFault::Transport, format!("{place} broke the connection off: {cause}{hint}"));
        }
        _ => {}
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
        // The client's own clock.
        Code::Cancelled if words == "Timeout expired" => (CallFault::Timeout, "gave no answer in time"),
        Code::Cancelled => (CallFault::Transport, "cancelled the call"),
        Code::Ok => (CallFault::Transport, "gave no answer"),
    };
    let words = if words.is_empty() { String::new() } else { format!(": {words}") };
    let hint = if kind == CallFault::Timeout { super::RAISE } else { "" };
    CallError::new(kind, format!("{place} {what}{words}{hint}"))
}

/// The innermost reason why nothing came through, with what to look at; `None` when the service itself said so.
fn cause(status: &Status) -> Option<(String, &'static str)> {
    let outermost = status.source()?;
    let mut cause = outermost;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    Some((reach::plain(shorten(&cause.to_string(), 200)), reach::hint(outermost)))
}
