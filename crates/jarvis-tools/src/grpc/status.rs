//! What a gRPC status means for a call.

use std::error::Error as _;

use tonic::{Code, Status};

use crate::{ToolError, ToolErrorKind, reach};
use jarvis_net::causes::innermost;
use jarvis_net::text::shorten;

/// What to look at when a service hangs up.
const SPEAKS: &str = "; does it speak gRPC, and TLS just where its address begins with https://?";

/// A status as a tool error. `place` names the service.
pub(super) fn error_of(status: &Status, place: &str) -> ToolError {
    let words = shorten(status.message(), 400);
    // The client's own refusal of an answer looks like the server's complaint about the input.
    if status.code() == Code::OutOfRange && words.starts_with("Error, decoded message length too large") {
        let limit = super::MAX_MESSAGE >> 20;
        return ToolError::new(ToolErrorKind::Transport, format!("{place} answered with more than {limit} MiB"));
    }
    match (status.code(), cause(status)) {
        (Code::Unavailable, Some((cause, hint))) => {
            return ToolError::new(ToolErrorKind::Transport, format!("{place} cannot be reached: {cause}{hint}"));
        }
        // What the service itself calls unknown has no cause here.
        (Code::Unknown, Some((cause, hint))) => {
            let hint = if hint.is_empty() { SPEAKS } else { hint };
            return ToolError::new(
                ToolErrorKind::Transport,
                format!("{place} broke the connection off: {cause}{hint}"),
            );
        }
        _ => {}
    }
    let (kind, what) = match status.code() {
        Code::InvalidArgument | Code::OutOfRange => (ToolErrorKind::InvalidInput, "refuses the input"),
        Code::NotFound => (ToolErrorKind::Failed, "did not find it"),
        Code::AlreadyExists => (ToolErrorKind::Failed, "says that it exists already"),
        Code::FailedPrecondition => (ToolErrorKind::Failed, "cannot do it now"),
        Code::Aborted => (ToolErrorKind::Failed, "gave the call up"),
        Code::DataLoss => (ToolErrorKind::Unavailable, "lost data"),
        Code::Unknown => (ToolErrorKind::Failed, "answered with an error"),
        Code::Internal => (ToolErrorKind::Unavailable, "broke down"),
        Code::Unimplemented => (ToolErrorKind::UnknownTool, "does not have the method"),
        Code::PermissionDenied | Code::Unauthenticated => (ToolErrorKind::Unauthorized, "does not let us in"),
        Code::ResourceExhausted => (ToolErrorKind::TooManyRequests, "takes no more calls now"),
        Code::DeadlineExceeded => (ToolErrorKind::Timeout, "gave no answer in time"),
        Code::Unavailable => (ToolErrorKind::Transport, "is not available now"),
        // The client's own clock.
        Code::Cancelled if words == "Timeout expired" => (ToolErrorKind::Timeout, "gave no answer in time"),
        Code::Cancelled => (ToolErrorKind::Transport, "cancelled the call"),
        Code::Ok => (ToolErrorKind::Transport, "gave no answer"),
    };
    let words = if words.is_empty() { String::new() } else { format!(": {words}") };
    let hint = if kind == ToolErrorKind::Timeout { super::RAISE } else { "" };
    ToolError::new(kind, format!("{place} {what}{words}{hint}"))
}

/// The innermost reason why nothing came through, with what to look at; `None` when the service itself said so.
fn cause(status: &Status) -> Option<(String, &'static str)> {
    let outermost = status.source()?;
    Some((reach::plain(shorten(&innermost(outermost).to_string(), 200)), reach::hint(outermost)))
}
