//! What a request is answered with when it cannot be served: each kind with its number in JSON-RPC, its status in HTTP and in gRPC,
//! and its reason, as the specification has them.

use std::collections::HashMap;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::error::ApiError;
use crate::wire::set;

/// Who defines the reasons of the specification.
const DOMAIN: &str = "a2a-protocol.org";

/// A kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    TaskNotFound,
    TaskNotCancelable,
    NoWebhooks,
    Unsupported,
    MediaType,
    Version,
    /// The body is no JSON.
    Json,
    /// The JSON is no request.
    Request,
    Method,
    Params,
    Unauthenticated,
    Denied,
    Exhausted,
    Unavailable,
    Internal,
}

/// How each binding says it.
struct Said {
    rpc: i32,
    http: u16,
    grpc: Code,
    /// The name of the code of gRPC, which the HTTP binding says too.
    status: &'static str,
    reason: Option<&'static str>,
}

impl Wrong {
    fn said(self) -> Said {
        let said = |rpc, http, grpc, status, reason| Said { rpc, http, grpc, status, reason };
        let failed = |rpc, reason| said(rpc, 400, Code::FailedPrecondition, "FAILED_PRECONDITION", Some(reason));
        let invalid = |rpc, http| said(rpc, http, Code::InvalidArgument, "INVALID_ARGUMENT", None);
        match self {
            Wrong::TaskNotFound => said(-32001, 404, Code::NotFound, "NOT_FOUND", Some("TASK_NOT_FOUND")),
            Wrong::TaskNotCancelable => failed(-32002, "TASK_NOT_CANCELABLE"),
            Wrong::NoWebhooks => failed(-32003, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
            Wrong::Unsupported => failed(-32004, "UNSUPPORTED_OPERATION"),
            Wrong::MediaType => {
                let reason = Some("CONTENT_TYPE_NOT_SUPPORTED");
                said(-32005, 400, Code::InvalidArgument, "INVALID_ARGUMENT", reason)
            }
            Wrong::Version => failed(-32009, "VERSION_NOT_SUPPORTED"),
            Wrong::Json => invalid(-32700, 400),
            Wrong::Request => invalid(-32600, 400),
            Wrong::Method => said(-32601, 404, Code::Unimplemented, "UNIMPLEMENTED", None),
            Wrong::Params => invalid(-32602, 400),
            Wrong::Unauthenticated => said(-32000, 401, Code::Unauthenticated, "UNAUTHENTICATED", None),
            Wrong::Denied => said(-32000, 403, Code::PermissionDenied, "PERMISSION_DENIED", None),
            Wrong::Exhausted => said(-32000, 429, Code::ResourceExhausted, "RESOURCE_EXHAUSTED", None),
            Wrong::Unavailable => said(-32000, 503, Code::Unavailable, "UNAVAILABLE", None),
            Wrong::Internal => said(-32603, 500, Code::Internal, "INTERNAL", None),
        }
    }
}

/// Why a request is not served.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) wrong: Wrong,
    message: String,
    /// The field that is wrong.
    field: Option<String>,
    /// What more there is to know: the task, what to try.
    about: HashMap<String, String>,
    /// The status of HTTP where it is another.
    http: Option<StatusCode>,
    retry_after_s: Option<u64>,
}

impl Fault {
    pub(super) fn new(wrong: Wrong, message: impl Into<String>) -> Fault {
        let (field, about) = (None, HashMap::new());
        Fault { wrong, message: message.into(), field, about, http: None, retry_after_s: None }
    }

    /// A field of the request is wrong.
    pub(super) fn field(field: &str, message: impl Into<String>) -> Fault {
        Fault { field: Some(field.to_owned()), ..Fault::new(Wrong::Params, message) }
    }

    /// The same about a field.
    pub(super) fn at(self, field: &str) -> Fault {
        Fault { field: Some(field.to_owned()), ..self }
    }

    /// The same of another kind.
    pub(super) fn but(self, wrong: Wrong) -> Fault {
        Fault { wrong, ..self }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Fault {
        self.about("hint", hint)
    }

    pub(super) fn about(mut self, name: &str, value: impl Into<String>) -> Fault {
        self.about.insert(name.to_owned(), value.into());
        self
    }

    /// The same, when it was a task that is not there.
    pub(super) fn of_task(self, id: &str) -> Fault {
        let message = format!("there is no task `{}`", id.chars().take(100).collect::<String>());
        match self.wrong {
            Wrong::TaskNotFound => Fault { message, ..self.about("taskId", id.chars().take(100).collect::<String>()) },
            _ => self,
        }
    }

    fn reason(&self) -> Option<(&'static str, &'static str)> {
        let Said { rpc, status, reason, .. } = self.wrong.said();
        reason.map(|reason| (reason, DOMAIN)).or_else(|| (rpc == -32000).then_some((status, "jarvis")))
    }

    /// The details in the JSON of `google.protobuf.Any`.
    fn details(&self) -> Vec<Value> {
        let mut details = Vec::new();
        if let Some((reason, domain)) = self.reason() {
            details.push(json!({
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": reason, "domain": domain, "metadata": self.about,
            }));
        } else if let Some(hint) = self.about.get("hint") {
            details.push(json!({
                "@type": "type.googleapis.com/google.rpc.LocalizedMessage", "locale": "en", "message": hint,
            }));
        }
        if let Some(field) = &self.field {
            details.push(json!({
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [{"field": field, "description": self.message}],
            }));
        }
        details
    }

    /// The error object of JSON-RPC.
    pub(super) fn rpc(&self) -> Value {
        let mut error = json!({"code": self.wrong.said().rpc, "message": self.message});
        let details = self.details();
        if !details.is_empty() {
            set(&mut error, "data", details);
        }
        error
    }

    /// The error in its place in a stream of the HTTP binding.
    pub(super) fn body(&self) -> Value {
        let Said { http, status, .. } = self.wrong.said();
        let code = self.http.map_or(http, |http| http.as_u16());
        json!({"error": {"code": code, "status": status, "message": self.message, "details": self.details()}})
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let known = StatusCode::from_u16(self.wrong.said().http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (self.http.unwrap_or(known), Json(self.body())).into_response();
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<Fault> for Status {
    fn from(fault: Fault) -> Status {
        let mut details = ErrorDetails::new();
        if let Some((reason, domain)) = fault.reason() {
            details.set_error_info(reason, domain, fault.about.clone());
        } else if let Some(hint) = fault.about.get("hint") {
            details.set_localized_message("en", hint);
        }
        if let Some(field) = &fault.field {
            details.add_bad_request_violation(field, &fault.message);
        }
        Status::with_error_details(fault.wrong.said().grpc, fault.message, details)
    }
}

impl From<ApiError> for Fault {
    fn from(error: ApiError) -> Fault {
        let fields = error.fields;
        let wrong = match fields.status.as_u16() {
            401 => Wrong::Unauthenticated,
            403 => Wrong::Denied,
            404 => Wrong::TaskNotFound,
            409 => Wrong::Unsupported,
            415 => Wrong::MediaType,
            429 => Wrong::Exhausted,
            501 => Wrong::Unsupported,
            503 | 507 => Wrong::Unavailable,
            status if status < 500 => Wrong::Params,
            _ => Wrong::Internal,
        };
        let http = matches!(fields.status.as_u16(), 413 | 415).then_some(fields.status);
        let (message, field, retry_after_s) = (fields.message.clone(), fields.param.clone(), fields.retry_after_s);
        let fault = Fault { wrong, message, field, about: HashMap::new(), http, retry_after_s };
        match fields.hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_binding_says_the_same_with_its_own_numbers() {
        use Wrong::*;
        for (wrong, rpc, http, grpc, reason) in [
            (TaskNotFound, -32001, 404, Code::NotFound, "TASK_NOT_FOUND"),
            (TaskNotCancelable, -32002, 400, Code::FailedPrecondition, "TASK_NOT_CANCELABLE"),
            (NoWebhooks, -32003, 400, Code::FailedPrecondition, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
            (Unsupported, -32004, 400, Code::FailedPrecondition, "UNSUPPORTED_OPERATION"),
            (MediaType, -32005, 400, Code::InvalidArgument, "CONTENT_TYPE_NOT_SUPPORTED"),
            (Version, -32009, 400, Code::FailedPrecondition, "VERSION_NOT_SUPPORTED"),
            (Params, -32602, 400, Code::InvalidArgument, ""),
            (Denied, -32000, 403, Code::PermissionDenied, "PERMISSION_DENIED"),
        ] {
            let fault = Fault::new(wrong, "why").hint("try that");
            assert_eq!((&fault.rpc()["code"], &fault.rpc()["message"]), (&json!(rpc), &json!("why")), "{wrong:?}");
            assert_eq!(fault.rpc()["data"][0]["reason"].as_str().unwrap_or_default(), reason);
            assert_eq!(fault.rpc()["data"], fault.body()["error"]["details"]);
            assert_eq!(fault.body()["error"]["code"], http);
            let status = Status::from(fault);
            assert_eq!((status.code(), status.message()), (grpc, "why"), "{wrong:?}");
            let told = status.get_error_details();
            assert_eq!(told.error_info().map_or("", |info| &info.reason), reason, "{wrong:?}");
        }
    }

    #[test]
    fn a_wrong_field_is_named() {
        let fault = Fault::field("message.parts", "there are none");
        let named = &fault.rpc()["data"][0]["fieldViolations"][0]["field"];
        assert_eq!(named, "message.parts");
        let status = Status::from(fault).get_error_details();
        let violations = status.bad_request().map(|bad| bad.field_violations.clone()).unwrap_or_default();
        assert_eq!(violations.first().map(|violation| violation.field.as_str()), Some("message.parts"));
    }
}
