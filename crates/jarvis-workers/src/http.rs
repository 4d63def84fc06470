//! Calls to services with JSON or media replies: capped, timed, and told apart from errors in disguise.

use std::error::Error;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use jarvis_plan::{ErrorCode, TaskError};
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, StatusCode};
use serde_json::Value;

use crate::sniff;
use crate::text::{Secret, shorten};

/// A client for configured services. It uses the proxy that the environment names. Redirects are not followed: a
/// service that redirects could send the token elsewhere.
pub(crate) fn client(connect_timeout: Duration) -> Result<Client, TaskError> {
    Client::builder()
        .user_agent(concat!("jarvis/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .referer(false)
        .connect_timeout(connect_timeout)
        .build()
        .map_err(|error| client_error(&error))
}

pub(crate) fn client_error(error: &reqwest::Error) -> TaskError {
    TaskError::new(ErrorCode::NotConfigured, format!("the HTTP client cannot be made: {}", root_cause(error)))
        .hint("Install the system's CA certificates (the package `ca-certificates` on most systems)")
}

/// The innermost reason of an error of the HTTP client; the outer ones repeat the address.
pub(crate) fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if std::ptr::addr_eq(cause, error) { shorten(&error_kind(error), 200) } else { shorten(&cause.to_string(), 200) }
}

/// An error without a cause prints the address, query included; its kind is enough.
fn error_kind(error: &reqwest::Error) -> String {
    let kind = match () {
        () if error.is_timeout() => "it timed out",
        () if error.is_connect() => "no connection",
        () if error.is_redirect() => "too many redirects",
        () if error.is_body() || error.is_decode() => "the answer broke off",
        () => "the request failed",
    };
    kind.to_owned()
}

/// How a service is called: what it is named in messages, how long a call may take and how much it may answer.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    /// Its name in messages.
    pub(crate) name: String,
    /// The longest one call may take.
    pub(crate) timeout: Duration,
    /// The largest reply, in bytes.
    pub(crate) max_bytes: u64,
    /// The token that must never be shown.
    pub(crate) token: Option<Secret>,
    /// What to try when the token is refused.
    pub(crate) token_hint: String,
    /// What to try when the model is not there.
    pub(crate) missing_hint: String,
}

/// A whole reply.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) content_type: String,
    pub(crate) body: Bytes,
    /// The body as JSON, when it is JSON.
    pub(crate) json: Option<Value>,
}

impl Service {
    /// Sends a request and reads the whole reply, whatever its status.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Reply, TaskError> {
        match tokio::time::timeout(self.timeout, self.exchange(request)).await {
            Ok(done) => done,
            Err(_) => Err(self.timed_out()),
        }
    }

    async fn exchange(&self, request: RequestBuilder) -> Result<Reply, TaskError> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token.expose()),
            None => request,
        };
        let mut response = request.send().await.map_err(|error| self.transport(&error))?;
        let status = response.status();
        let content_type =
            response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        if response.content_length().is_some_and(|length| length > self.max_bytes) {
            return Err(self.oversize());
        }
        let mut body = BytesMut::new();
        while let Some(piece) = response.chunk().await.map_err(|error| self.cut(&error))? {
            if (body.len() + piece.len()) as u64 > self.max_bytes {
                return Err(self.oversize());
            }
            body.extend_from_slice(&piece);
        }
        let body = body.freeze();
        let looks_json = body
            .iter()
            .find(|byte| !byte.is_ascii_whitespace())
            .is_some_and(|byte| matches!(byte, b'{' | b'[') || content_type.to_ascii_lowercase().contains("json"));
        let json = if looks_json { serde_json::from_slice(&body).ok() } else { None };
        Ok(Reply { status, content_type, body, json })
    }

    /// The reply if it is a success; an error status, or a JSON body with `error` whatever the status, becomes an error.
    pub(crate) fn accept(&self, reply: Reply) -> Result<Reply, TaskError> {
        let message = reply.error_message();
        if reply.status.is_success() {
            return match message {
                Some(message) => Err(self.error(ErrorCode::Upstream, &format!("answered with an error: {message}"))),
                None => Ok(reply),
            };
        }
        let status = reply.status.as_u16();
        let words = message.unwrap_or_else(|| match reply.status.canonical_reason() {
            Some(reason) => format!("{status} {reason}"),
            None => format!("status {status}"),
        });
        Err(match status {
            401 | 403 => {
                self.error(ErrorCode::Unauthorized, &format!("refused the credentials: {words}")).hint(&self.token_hint)
            }
            402 => self
                .error(ErrorCode::RateLimited, &format!("wants payment: {words}"))
                .hint("The account's credits are used up; wait for the next period or add credits"),
            429 => self
                .error(ErrorCode::RateLimited, &format!("limits the rate of calls: {words}"))
                .hint("Wait a little, or use another model"),
            404 | 410 => self
                .error(ErrorCode::Unavailable, &format!("does not have the model: {words}"))
                .hint(&self.missing_hint),
            300..=399 => self
                .error(ErrorCode::BadReply, &format!("redirects elsewhere ({words}), which is not followed"))
                .hint("Correct the configured address"),
            502..=504 => self.error(ErrorCode::Unavailable, &format!("is not available now: {words}")),
            _ => self.error(ErrorCode::Upstream, &format!("answered with an error ({status}): {words}")),
        })
    }

    /// An error of this service. The words may come from outside: they are shortened and lose the token.
    pub(crate) fn error(&self, code: ErrorCode, words: &str) -> TaskError {
        let words = match &self.token {
            Some(token) => token.redact(words),
            None => words.to_owned(),
        };
        TaskError::new(code, format!("{} {}", self.name, shorten(&words, 400)))
    }

    /// A reply that is not what was asked for.
    pub(crate) fn bad_reply(&self, reply: &Reply, wanted: &str) -> TaskError {
        let start = match &reply.json {
            Some(value) => format!(": {}", shorten(&value.to_string(), 120)),
            None => String::new(),
        };
        let found = sniff::describe(&reply.body);
        self.error(
            ErrorCode::BadReply,
            &format!("should have answered with {wanted}, but its answer is {found}{start}"),
        )
    }

    pub(crate) fn timed_out(&self) -> TaskError {
        self.error(ErrorCode::Timeout, &format!("did not answer within {:.1} s", self.timeout.as_secs_f64()))
    }

    fn oversize(&self) -> TaskError {
        self.error(ErrorCode::TooLarge, &format!("answered with more than the limit of {} bytes", self.max_bytes))
    }

    fn transport(&self, error: &reqwest::Error) -> TaskError {
        if error.is_timeout() {
            return self.error(ErrorCode::Timeout, "did not accept a connection in time");
        }
        self.error(ErrorCode::Unavailable, &format!("cannot be reached: {}", root_cause(error)))
    }

    fn cut(&self, error: &reqwest::Error) -> TaskError {
        self.error(ErrorCode::BadReply, &format!("broke off its answer: {}", root_cause(error)))
    }
}

impl Reply {
    /// The service's own words, when the body is JSON that tells of an error: `error` as a text, a list or an object
    /// with `message`; with an error status also `message` and `detail`.
    pub(crate) fn error_message(&self) -> Option<String> {
        let fields = self.json.as_ref()?.as_object()?;
        let failed = !self.status.is_success();
        let error = fields.get("error").filter(|error| !error.is_null() && **error != Value::Bool(false));
        let error = error.or_else(|| fields.get("message").filter(|_| failed));
        let error = error.or_else(|| fields.get("detail").filter(|_| failed))?;
        Some(words(error))
    }

    /// The body's fields, when it is a JSON object.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.json.as_ref()?.get(name)
    }
}

fn words(error: &Value) -> String {
    match error {
        Value::String(text) => text.clone(),
        Value::Array(rows) => rows.iter().map(words).collect::<Vec<_>>().join("; "),
        Value::Object(fields) => match fields.get("message").or_else(|| fields.get("msg")) {
            Some(message) => words(message),
            None => error.to_string(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => error.to_string(),
    }
}
