//! Calls to a service with JSON or media replies: size-limited, timed, with errors in successful replies detected.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use jarvis_net::http::{self, BodyError, ClientError, ClientOptions, LazyClient, Route, cause, read_capped};
use jarvis_net::retry::retry_after;
use jarvis_net::text::{Secret, shorten};
use jarvis_plan::{ErrorCode, TaskError};
use jarvis_store::{blocking, sniff};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::Value;
use url::Url;

/// The longest JSON that is parsed on the runtime's own threads, in bytes.
const PARSE_IN_PLACE: usize = 128 << 10;

/// How a service is called: its name in messages, how long a call may take and how long its reply may be.
#[derive(Debug)]
pub struct Service {
    name: String,
    timeout: Duration,
    max_bytes: u64,
    /// Sent as a bearer token, and taken out of messages.
    token: Option<Secret>,
    token_hint: &'static str,
    missing_hint: &'static str,
    /// Redirects are not followed: a service that redirects could send the token elsewhere.
    client: LazyClient,
}

/// A whole reply, whatever its status.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The body.
    pub body: Bytes,
    /// The body as JSON, when it is JSON.
    pub json: Option<Value>,
    /// The pause that the service asks for before another call.
    pub retry_after: Option<Duration>,
}

impl Service {
    /// A service of that name in messages. A call may take `timeout` and answer `max_bytes`.
    pub fn new(name: impl Into<String>, timeout: Duration, max_bytes: u64) -> Service {
        Service {
            name: name.into(),
            timeout,
            max_bytes,
            token: None,
            token_hint: "Check the key in the configuration",
            missing_hint: "Check the model's name",
            client: LazyClient::new(ClientOptions::default()),
        }
    }

    /// Calls the service by this route.
    pub fn route(mut self, route: Route) -> Service {
        self.client = LazyClient::new(ClientOptions { route, ..ClientOptions::default() });
        self
    }

    /// Sends the token as a bearer token with each request.
    pub fn token(mut self, token: Option<Secret>) -> Service {
        self.token = token;
        self
    }

    /// What to try when the token is refused, and when the model is not there.
    pub fn hints(mut self, token: &'static str, missing: &'static str) -> Service {
        self.token_hint = token;
        self.missing_hint = missing;
        self
    }

    /// Begins a `POST`.
    pub async fn post(&self, url: Url) -> Result<RequestBuilder, TaskError> {
        self.request(Method::POST, url).await
    }

    /// Begins a `GET`.
    pub async fn get(&self, url: Url) -> Result<RequestBuilder, TaskError> {
        self.request(Method::GET, url).await
    }

    /// Begins a request of any method.
    pub async fn request(&self, method: Method, url: Url) -> Result<RequestBuilder, TaskError> {
        Ok(self.client.get().await.map_err(client_error)?.request(method, url))
    }

    /// Sends a request and reads the whole reply, whatever its status.
    pub async fn send(&self, request: RequestBuilder) -> Result<Reply, TaskError> {
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
        let response = http::send(request).await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_json = content_type.is_some_and(|value| value.to_ascii_lowercase().contains("json"));
        let retry_after = retry_after(response.headers(), SystemTime::now());
        let body = read_capped(response, self.max_bytes).await.map_err(|error| self.incomplete(&error))?;
        let looks_json = body
            .iter()
            .find(|byte| !byte.is_ascii_whitespace())
            .is_some_and(|byte| matches!(byte, b'{' | b'[') || is_json);
        let json = match looks_json {
            true if body.len() > PARSE_IN_PLACE => {
                let body = body.clone();
                blocking(move || Ok(serde_json::from_slice(&body).ok())).await?
            }
            true => serde_json::from_slice(&body).ok(),
            false => None,
        };
        Ok(Reply { status, body, json, retry_after })
    }

    /// The reply if it is a success; an error status, or a JSON body with `error` whatever the status, becomes an error.
    pub fn accept(&self, reply: Reply) -> Result<Reply, TaskError> {
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
                self.error(ErrorCode::Unauthorized, &format!("refused the credentials: {words}")).hint(self.token_hint)
            }
            402 => self
                .error(ErrorCode::RateLimited, &format!("wants payment: {words}"))
                .hint("The account's credits are used up; wait for the next period or add credits"),
            429 => self
                .error(ErrorCode::RateLimited, &format!("limits the rate of calls: {words}"))
                .hint("Wait a little, or use another model"),
            404 | 410 => {
                self.error(ErrorCode::Unavailable, &format!("does not have the model: {words}")).hint(self.missing_hint)
            }
            300..=399 => self
                .error(ErrorCode::BadReply, &format!("redirects elsewhere ({words}), which is not followed"))
                .hint("Correct the configured address"),
            502..=504 => self.error(ErrorCode::Unavailable, &format!("is not available now: {words}")),
            _ => self.error(ErrorCode::Upstream, &format!("answered with an error ({status}): {words}")),
        })
    }

    /// An error of this service. The words may come from outside: they are shortened and lose the token.
    pub fn error(&self, code: ErrorCode, words: &str) -> TaskError {
        let words = Secret::redact_from(self.token.as_ref(), words);
        TaskError::new(code, format!("{} {}", self.name, shorten(&words, 400)))
    }

    /// A reply that is not what was asked for.
    pub fn bad_reply(&self, reply: &Reply, wanted: &str) -> TaskError {
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

    /// The error of a call that took too long.
    pub fn timed_out(&self) -> TaskError {
        self.error(ErrorCode::Timeout, &format!("did not answer within {:.1} s", self.timeout.as_secs_f64()))
    }

    fn unreachable(&self, error: &reqwest::Error) -> TaskError {
        if error.is_timeout() {
            return self.error(ErrorCode::Timeout, "did not accept a connection in time");
        }
        self.error(ErrorCode::Unavailable, &format!("cannot be reached: {}", cause(error)))
    }

    fn incomplete(&self, error: &BodyError) -> TaskError {
        match error {
            BodyError::TooLarge(max) => {
                self.error(ErrorCode::TooLarge, &format!("answered with more than the limit of {max} bytes"))
            }
            BodyError::Broken(error) => {
                self.error(ErrorCode::BadReply, &format!("broke off its answer: {}", cause(error)))
            }
        }
    }
}

/// The error of a service whose client cannot be built.
fn client_error(error: ClientError) -> TaskError {
    TaskError::new(ErrorCode::NotConfigured, error.to_string()).hint(error.hint())
}

impl Reply {
    /// The service's own message, when the body is JSON that reports an error: `error` as a text, a list or an object
    /// with `message`; with an error status also `message` and `detail`.
    pub fn error_message(&self) -> Option<String> {
        let fields = self.json.as_ref()?.as_object()?;
        let failed = !self.status.is_success();
        let error = fields.get("error").filter(|error| !error.is_null() && **error != Value::Bool(false));
        let error = error.or_else(|| fields.get("message").filter(|_| failed));
        let error = error.or_else(|| fields.get("detail").filter(|_| failed))?;
        Some(words(error))
    }

    /// The body's fields, when it is a JSON object.
    pub fn field(&self, name: &str) -> Option<&Value> {
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

/// The address of a model: the base, the parts of its id, and what follows. The base may end in `/` or not.
///
/// # Errors
/// `CannotDo` when the id is not one that a service could have: parts of letters, digits, `.`, `_`, `-`, `:`.
pub fn model_url(base: &Url, id: &str, tail: &[&str]) -> Result<Url, TaskError> {
    let proper = |part: &str| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':'))
            && part.chars().any(|c| c != '.')
    };
    if id.len() > 200 || !id.split('/').all(proper) {
        return Err(TaskError::new(ErrorCode::CannotDo, format!("`{}` is not a model id", shorten(id, 80))));
    }
    join(base, id.split('/').chain(tail.iter().copied()))
}

/// The base with more path segments.
///
/// # Errors
/// `NotConfigured` when the base cannot have a path.
pub fn join<'a>(base: &Url, segments: impl IntoIterator<Item = &'a str>) -> Result<Url, TaskError> {
    jarvis_net::http::join(base, segments).ok_or_else(|| {
        let message = format!("`{}` cannot be the address of a service", jarvis_net::policy::shown(base));
        TaskError::new(ErrorCode::NotConfigured, message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_addresses_are_built_from_proper_ids_only() {
        let base = Url::parse("http://h/hf-inference/models/").unwrap();
        let bare = Url::parse("http://h").unwrap();
        let url = |base: &Url, id: &str, tail: &[&str]| model_url(base, id, tail).map(String::from).ok();
        assert_eq!(url(&base, "a/b-c.d_1", &[]).unwrap(), "http://h/hf-inference/models/a/b-c.d_1");
        assert_eq!(url(&base, "a/b", &["pipeline", "x"]).unwrap(), "http://h/hf-inference/models/a/b/pipeline/x");
        assert_eq!(url(&bare, "canny-control", &[]).unwrap(), "http://h/canny-control");
        for id in ["", "/", "a//b", "../x", "a/..", "a/b?x", "a b", "a%2fb", "a/b#c", "http://evil/"] {
            assert_eq!(url(&base, id, &[]), None, "{id}");
        }
    }
}
