//! Calls to services with JSON or media replies: capped, timed, and told apart from errors in disguise.

use std::error::Error;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use jarvis_plan::{ErrorCode, TaskError};
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Proxy, RequestBuilder, StatusCode};
use serde_json::Value;
use tokio::sync::OnceCell;
use url::Url;

use crate::sniff;
use crate::text::{Secret, shorten};

/// The longest that connecting to a service may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest JSON that is parsed on the runtime's own threads, in bytes.
const PARSE_IN_PLACE: usize = 128 << 10;

/// Why no HTTP client can be made, and what to install.
pub fn client_error(error: &reqwest::Error) -> TaskError {
    TaskError::new(ErrorCode::NotConfigured, format!("the HTTP client cannot be made: {}", root_cause(error)))
        .hint("Install the system's CA certificates (the package `ca-certificates` on most systems)")
}

/// The innermost reason of an error of the HTTP client; the outer ones repeat the address.
pub fn root_cause(error: &reqwest::Error) -> String {
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
#[derive(Debug)]
pub struct Service {
    /// Its name in messages.
    name: String,
    /// The longest one call may take.
    timeout: Duration,
    /// The largest reply, in bytes.
    max_bytes: u64,
    /// The token that must never be shown.
    token: Option<Secret>,
    /// What to try when the token is refused.
    token_hint: &'static str,
    /// What to try when the model is not there.
    missing_hint: &'static str,
    /// Whether to go through a proxy.
    route: Route,
    /// Made at the first call.
    client: OnceCell<Client>,
}

/// The way to a service.
#[derive(Debug, Clone, Default)]
pub enum Route {
    /// Through the proxy that the environment names, if it names one.
    #[default]
    Environment,
    /// Through this proxy, whose address may hold a password.
    Proxy(Secret),
    /// Straight.
    Direct,
}

impl Route {
    /// The way to a base address: straight to this machine, else by the proxy given, else as the environment says.
    pub fn to(base: &Url, proxy: Option<&Secret>) -> Route {
        match proxy {
            _ if jarvis_plan::is_loopback(base) => Route::Direct,
            Some(proxy) => Route::Proxy(proxy.clone()),
            None => Route::Environment,
        }
    }
}

/// A whole reply.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The body, whole.
    pub body: Bytes,
    /// The body as JSON, when it is JSON.
    pub json: Option<Value>,
    /// How long the service asks to wait before another call.
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
            route: Route::default(),
            client: OnceCell::new(),
        }
    }

    /// Goes this way.
    pub fn route(mut self, route: Route) -> Service {
        self.route = route;
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
        Ok(self.client().await?.post(url))
    }

    /// Begins a request of any method.
    pub async fn request(&self, method: Method, url: Url) -> Result<RequestBuilder, TaskError> {
        Ok(self.client().await?.request(method, url))
    }

    /// Begins a `GET`.
    pub async fn get(&self, url: Url) -> Result<RequestBuilder, TaskError> {
        Ok(self.client().await?.get(url))
    }

    /// The client. Redirects are not followed: a service that redirects could send the token elsewhere.
    async fn client(&self) -> Result<&Client, TaskError> {
        let route = self.route.clone();
        let make = move || {
            let builder = Client::builder()
                .user_agent(concat!("jarvis/", env!("CARGO_PKG_VERSION")))
                .redirect(Policy::none())
                .referer(false)
                .connect_timeout(CONNECT_TIMEOUT);
            let builder = match route {
                Route::Environment => builder,
                Route::Direct => builder.no_proxy(),
                Route::Proxy(proxy) => builder.proxy(Proxy::all(proxy.expose()).map_err(|_| {
                    TaskError::new(ErrorCode::NotConfigured, "the address of the proxy is not one")
                        .hint("Give the proxy as `http://host:port`")
                })?),
            };
            builder.build().map_err(|error| client_error(&error))
        };
        self.client.get_or_try_init(|| blocking(make)).await
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
        let mut response = request.send().await.map_err(|error| self.transport(&error))?;
        let status = response.status();
        let content_type =
            response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        let retry_after = retry_after.map(Duration::from_secs);
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
        let words = match &self.token {
            Some(token) => token.redact(words),
            None => words.to_owned(),
        };
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
pub fn join<'a>(base: &Url, segments: impl IntoIterator<Item = &'a str>) -> Result<Url, TaskError> {
    let mut url = base.clone();
    match url.path_segments_mut() {
        Ok(mut path) => path.pop_if_empty().extend(segments),
        Err(()) => {
            return Err(TaskError::new(
                ErrorCode::NotConfigured,
                format!("`{}` cannot be the address of a service", crate::policy::shown(base)),
            ));
        }
    };
    Ok(url)
}

/// Runs blocking work off the runtime's threads.
///
/// # Errors
/// What the work says; `Panic` when it panicked, `Cancelled` when the runtime is shutting down.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TaskError> + Send + 'static,
) -> Result<T, TaskError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => Err(TaskError::new(ErrorCode::Panic, "the work on a file panicked")),
        Err(_) => Err(TaskError::new(ErrorCode::Cancelled, "the runtime is shutting down")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_reached_straight() {
        let proxy = Secret::new("http://proxy.test:3128");
        for (base, with, without) in [
            ("http://localhost:8005", "Direct", "Direct"),
            ("http://127.0.0.1", "Direct", "Direct"),
            ("http://[::1]:1", "Direct", "Direct"),
            ("https://models.test", "Proxy", "Environment"),
        ] {
            let base = Url::parse(base).unwrap();
            let way = |proxy| format!("{:?}", Route::to(&base, proxy));
            assert!(way(proxy.as_ref()).starts_with(with) && way(None).starts_with(without), "{base}");
        }
    }

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
