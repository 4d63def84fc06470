//! What a request is answered with when it cannot be served: one JSON shape, with the status that fits.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jarvis_chat::ChatError;
use jarvis_events::NotWritten;
use jarvis_hugginggpt::RunError;
use jarvis_hugginggpt::decisions::trial::TrialError;
use jarvis_hugginggpt::decisions::{DecisionError, PlanFileError, StoreError};
use jarvis_plan::ErrorCode;
use jarvis_store::{JournalError, MediaError};
use jarvis_workers::AttachError;
use serde::Serialize;
use serde_json::json;
use utoipa::{IntoResponses, ToSchema};

use crate::elsewhere::NotSaid;
use crate::log::Refused;

/// An error on its way to a caller. It says what happened and what to try, and nothing of how the server is built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    /// Boxed, since most calls have none.
    pub(crate) fields: Box<ErrorFields>,
}

/// One of the things that are wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Detail {
    /// The task, as the plan calls it.
    pub(crate) task: Option<String>,
    /// The field.
    #[schema(example = "args.image")]
    pub(crate) field: String,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

/// More about an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Details {
    /// Everything that is wrong with a plan.
    Faults(Vec<Detail>),
    /// The version that the server has; 0 where it has none.
    Version { version: u64 },
}

/// The body of every error.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    error: ErrorFields,
}

/// The failures of every route, for the API's description.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "only its description is used")]
pub(crate) enum Failures {
    /// The request is refused; `error` says why
    #[response(status = "4XX")]
    Refused(ErrorBody),
    /// It could not be done; `error` says why
    #[response(status = "5XX")]
    Failed(ErrorBody),
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ErrorFields {
    /// A stable word.
    #[schema(example = "invalid_request")]
    pub(crate) code: &'static str,
    /// What happened.
    pub(crate) message: String,
    /// What to try, where something can be tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// The kind of error in the words of the OpenAI API.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The field of the request that is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) param: Option<String>,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
    #[serde(skip)]
    pub(crate) status: StatusCode,
    #[serde(skip)]
    pub(crate) retry_after_s: Option<u64>,
    /// Answer with `{"error": "…"}`, as the originals do.
    #[serde(skip)]
    plain: bool,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> ApiError {
        let fields = ErrorFields {
            status,
            kind: kind_of(status),
            code,
            message: message.into(),
            hint: None,
            param: None,
            details: None,
            retry_after_s: None,
            plain: false,
        };
        ApiError { fields: Box::new(fields) }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    pub(crate) fn not_found(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// Something in the server failed; the details are logged, not sent.
    pub(crate) fn internal(what: &str, error: &dyn std::fmt::Display) -> ApiError {
        tracing::error!(%error, "{what}");
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", what)
    }

    pub(crate) fn stopping() -> ApiError {
        let mut error =
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "the server is stopping and takes no more runs");
        error.fields.retry_after_s = Some(5);
        error
    }

    pub(crate) fn overloaded(retry_after_s: u64) -> ApiError {
        let mut error = ApiError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "overloaded",
            "every slot for runs is taken, and the queue is full",
        )
        .hint("try again later, or raise `server.max_running` and `server.max_waiting`");
        error.fields.retry_after_s = Some(retry_after_s);
        error
    }

    pub(crate) fn too_slow() -> ApiError {
        ApiError::new(StatusCode::REQUEST_TIMEOUT, "too_slow", "the body came too slowly")
            .hint("the bounds are `server.body_time_s` and `server.body_bytes_per_s` in its configuration")
    }

    pub(crate) fn too_many_waiting(retry_after_s: u64) -> ApiError {
        ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_waiting", "too many runs of this caller wait for a slot")
            .hint("try again when some have ended, or raise `server.max_waiting_per_caller`")
            .retry_after(retry_after_s)
    }

    /// After how many seconds it may be tried again.
    pub(crate) fn retry_after(mut self, seconds: u64) -> ApiError {
        self.fields.retry_after_s = Some(seconds);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> ApiError {
        self.fields.hint = Some(hint.into());
        self
    }

    fn hint_if(mut self, hint: Option<impl Into<String>>) -> ApiError {
        self.fields.hint = hint.map(Into::into).or(self.fields.hint);
        self
    }

    pub(crate) fn param(mut self, param: impl Into<String>) -> ApiError {
        self.fields.param = Some(param.into());
        self
    }

    /// Says which version the server has.
    pub(crate) fn version(mut self, version: u64) -> ApiError {
        self.fields.details = Some(Details::Version { version });
        self
    }

    /// The same, answered as the originals answered every failure: status 500 and `{"error": "…"}`.
    pub(crate) fn in_the_original_form(mut self) -> ApiError {
        if self.fields.status != StatusCode::BAD_REQUEST {
            self.fields.status = StatusCode::INTERNAL_SERVER_ERROR;
            self.fields.kind = kind_of(self.fields.status);
        }
        self.fields.plain = true;
        self
    }

    /// The body, for streams that have begun and can only tell of an error inside.
    pub(crate) fn body(&self) -> ErrorBody {
        ErrorBody { error: (*self.fields).clone() }
    }
}

fn kind_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::UNAUTHORIZED => "authentication_error",
        StatusCode::FORBIDDEN => "permission_error",
        StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
        status if status.is_server_error() => "server_error",
        _ => "invalid_request_error",
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = match self.fields.plain {
            true => (self.fields.status, Json(json!({ "error": self.fields.message }))).into_response(),
            false => (self.fields.status, Json(self.body())).into_response(),
        };
        if let Some(seconds) = self.fields.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if self.fields.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(Refused(self.fields.code));
        response
    }
}

impl From<RunError> for ApiError {
    fn from(error: RunError) -> ApiError {
        let status = match &error {
            RunError::Model { source, .. } => status_of_chat(source),
            RunError::Unreadable { .. } => StatusCode::BAD_GATEWAY,
            RunError::Planner(_) | RunError::Prompt { .. } | RunError::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
            RunError::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            RunError::InvalidRequest(_) => StatusCode::BAD_REQUEST,
            RunError::NoAnswer(_) => StatusCode::UNPROCESSABLE_ENTITY,
            RunError::Cancelled => StatusCode::CONFLICT,
            RunError::Elsewhere(error) if error.code == ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            RunError::Elsewhere(_) => StatusCode::BAD_GATEWAY,
            RunError::NoModel { .. } => StatusCode::NOT_IMPLEMENTED,
            RunError::Stopped(NotWritten::Lost(_)) => StatusCode::INSUFFICIENT_STORAGE,
            RunError::Stopped(NotWritten::TakenOver | NotWritten::Diverged(_) | NotWritten::Unknown(_)) => {
                StatusCode::CONFLICT
            }
        };
        let message = match std::error::Error::source(&error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        ApiError::new(status, error.code(), message).hint_if(error.hint())
    }
}

fn status_of_chat(error: &ChatError) -> StatusCode {
    match error {
        ChatError::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
        ChatError::Budget(_) => StatusCode::UNPROCESSABLE_ENTITY,
        ChatError::Stopped(_) => StatusCode::INTERNAL_SERVER_ERROR,
        ChatError::Recording { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        ChatError::Unreachable { .. }
        | ChatError::Unauthorized { .. }
        | ChatError::RateLimited { .. }
        | ChatError::Api { .. }
        | ChatError::BadReply { .. }
        | ChatError::ReplayMiss { .. }
        | ChatError::Config(_) => StatusCode::BAD_GATEWAY,
    }
}

impl From<MediaError> for ApiError {
    fn from(error: MediaError) -> ApiError {
        match &error {
            MediaError::Forbidden { .. } | MediaError::NotFound { .. } => ApiError::not_found("there is no such file"),
            MediaError::TooLarge { .. } => ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", error.to_string()),
            MediaError::Io { source, .. } if is_full(source) => {
                ApiError::new(StatusCode::INSUFFICIENT_STORAGE, "disk_full", "the disk is full")
                    .hint("free disk space in the data folder of the server")
            }
            MediaError::Io { .. } => ApiError::internal("the public folder cannot be used", &error),
            MediaError::Store { source, .. } => {
                tracing::error!(%error, %source, hint = error.hint(), "the media store cannot be used");
                let message = "the store of media cannot be used";
                ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "store_unavailable", message)
                    .hint("try again later; the server's log says more")
            }
        }
    }
}

/// True when a disk has no room left, or the quota is used up.
fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

impl From<AttachError> for ApiError {
    fn from(error: AttachError) -> ApiError {
        let hint = error.hint();
        let api_error = match error {
            AttachError::TextTooLong { .. } => {
                ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", error.to_string())
            }
            AttachError::Unknown { .. } | AttachError::Other { .. } | AttachError::Document { .. } => {
                ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media", error.to_string())
            }
            // The extension of an upload is the caller's.
            AttachError::Store(MediaError::Forbidden { reason, .. }) => {
                ApiError::invalid(format!("the file's name cannot be used: {reason}"))
            }
            AttachError::Store(store) => return store.into(),
            AttachError::Broken { .. } => ApiError::internal("the file cannot be stored", &error),
        };
        api_error.hint_if(hint)
    }
}

impl From<NotSaid> for ApiError {
    fn from(error: NotSaid) -> ApiError {
        match error {
            NotSaid::Unknown => ApiError::not_found("there is no such run"),
            NotSaid::NotOpen => {
                ApiError::new(StatusCode::CONFLICT, "not_waiting", "the run waits for nothing of this kind")
            }
            NotSaid::Ended => ApiError::new(StatusCode::CONFLICT, "already_ended", "the run has ended"),
            NotSaid::Away(reason) => ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", reason),
        }
    }
}

impl From<JournalError> for ApiError {
    fn from(error: JournalError) -> ApiError {
        match &error {
            JournalError::NotFound { .. } => ApiError::not_found("there is no such run"),
            JournalError::Ambiguous { .. } => {
                ApiError::invalid("several runs have ids that begin like this; give the whole id")
            }
            JournalError::Taken { .. } => ApiError::new(StatusCode::CONFLICT, "taken_over", error.to_string()),
            JournalError::Corrupt { .. }
            | JournalError::NotAJournal { .. }
            | JournalError::TooNew { .. }
            | JournalError::Lost { .. }
            | JournalError::Sqlite { .. }
            | JournalError::InUse { .. }
            | JournalError::Io { .. } => ApiError::internal("the run journal cannot be read", &error),
        }
    }
}

impl From<DecisionError> for ApiError {
    fn from(error: DecisionError) -> ApiError {
        let status = match &error {
            DecisionError::EmptyRequest | DecisionError::Scenario(_) => StatusCode::BAD_REQUEST,
            DecisionError::NoTasks(error) if error.code == ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
            DecisionError::NoTasks(_) => StatusCode::BAD_GATEWAY,
            DecisionError::Model { source, .. } => status_of_chat(source),
            DecisionError::Planner(_) | DecisionError::Prompt { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            DecisionError::NeedsModel(_) | DecisionError::Unreadable { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            DecisionError::Timeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            DecisionError::Cancelled => StatusCode::CONFLICT,
        };
        ApiError::new(status, error.code(), error.to_string()).hint_if(error.hint())
    }
}

impl From<PlanFileError> for ApiError {
    fn from(error: PlanFileError) -> ApiError {
        let mut api_error = ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, error.code(), error.to_string());
        api_error.fields.hint = Some(error.hint());
        let faults = error.faults.into_iter().map(|fault| Detail {
            task: fault.task,
            field: fault.field,
            message: fault.message,
            hint: fault.hint,
        });
        api_error.fields.details = Some(Details::Faults(faults.collect()));
        api_error
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        match &error {
            StoreError::Unknown(_) => ApiError::new(StatusCode::NOT_FOUND, error.code(), error.to_string()),
            StoreError::Io { .. } | StoreError::Broken { .. } => {
                ApiError::internal("the saved plan cannot be read", &error)
            }
        }
    }
}

impl From<TrialError> for ApiError {
    fn from(error: TrialError) -> ApiError {
        let (code, message, hint) = (error.code(), error.to_string(), error.hint());
        let api_error = match error {
            TrialError::Request(_) => ApiError::new(StatusCode::BAD_REQUEST, code, message),
            // The server is as it was set up; in the original's form it is a 500 all the same.
            TrialError::NoExamples => ApiError::new(StatusCode::CONFLICT, code, message),
            TrialError::Decision(decision) => return decision.into(),
        };
        api_error.hint_if(hint)
    }
}
