//! Failures as gRPC statuses: `INVALID_ARGUMENT`, `UNAVAILABLE` and the like.

use jarvis_chat::ChatError;
use jarvis_document::DocumentError;
use jarvis_react::AskError;
use tonic::{Code, Status};

use crate::error::ApiError;
use crate::runs::Lost;

pub(super) fn of(error: &AskError) -> Status {
    let code = match error {
        AskError::EmptyQuestion => Code::InvalidArgument,
        AskError::Model { source } => of_model(source),
        AskError::Unreadable { .. } => Code::Unavailable,
        AskError::Prompt(_) => Code::FailedPrecondition,
        AskError::Offline(_) => Code::Internal,
        AskError::Timeout { .. } => Code::DeadlineExceeded,
        AskError::Cancelled => Code::Cancelled,
    };
    match error.hint() {
        Some(hint) => Status::new(code, format!("{}; {hint}", error.whole())),
        None => Status::new(code, error.whole()),
    }
}

fn of_model(error: &ChatError) -> Code {
    match error {
        ChatError::Unreachable { .. } | ChatError::RateLimited { .. } | ChatError::BadReply { .. } => Code::Unavailable,
        ChatError::Timeout { .. } => Code::DeadlineExceeded,
        ChatError::Api { status: 500.., .. } => Code::Unavailable,
        ChatError::Unauthorized { .. }
        | ChatError::Api { .. }
        | ChatError::Config(_)
        | ChatError::ReplayMiss { .. } => Code::FailedPrecondition,
        ChatError::Budget(_) => Code::ResourceExhausted,
        ChatError::Stopped(_) => Code::Internal,
        ChatError::Recording { .. } => Code::Internal,
    }
}

pub(super) fn of_document(error: &DocumentError) -> Status {
    match error {
        DocumentError::Time(_) => Status::deadline_exceeded(error.to_string()),
        DocumentError::Broken => Status::internal(error.to_string()),
        DocumentError::NotText(_)
        | DocumentError::Utf32
        | DocumentError::NotBuilt(_)
        | DocumentError::Size { .. }
        | DocumentError::Unreadable(_) => Status::invalid_argument(error.to_string()),
    }
}

pub(super) fn of_refusal(error: &ApiError) -> Status {
    let message = match &error.fields.hint {
        Some(hint) => format!("{}; {hint}", error.fields.message),
        None => error.fields.message.clone(),
    };
    match error.fields.status.as_u16() {
        403 => Status::permission_denied(message),
        429 => Status::resource_exhausted(message),
        503 if error.fields.code == "overloaded" => Status::resource_exhausted(&error.fields.message),
        503 => Status::unavailable(&error.fields.message),
        _ => Status::internal(&error.fields.message),
    }
}

/// The status of a run that has no end of its own.
pub(super) fn of_lost(lost: Lost) -> Status {
    match lost {
        Lost::Cancelled => Status::cancelled("the question was cancelled"),
        Lost::Broken => Status::internal(Lost::Broken.message()),
        Lost::Interrupted => Status::unavailable("the server is stopping"),
        Lost::Suspended => Status::unavailable(Lost::Suspended.message()),
    }
}
