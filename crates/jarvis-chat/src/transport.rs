//! HTTP to an OpenAI-compatible endpoint, whatever is asked there: credentials, one attempt, repeats, and reading what came.

use std::future::Future;
use std::time::{Duration, SystemTime};

use backon::Retryable;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Proxy, RequestBuilder, Response, StatusCode, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

use crate::config::{OpenAiConfig, Retries};
use crate::endpoint::{Endpoint, without_secrets};
use crate::model::ChatError;
use crate::retry::{self, Failure};
use crate::wire::{self, start};

/// The header that carries the stage label of each call.
pub const STAGE_HEADER: &str = "x-jarvis-stage";

/// The header that carries the task of a call that has one.
pub const TASK_HEADER: &str = "x-jarvis-task";

/// The header that carries the number of an attempt.
pub const ATTEMPT_HEADER: &str = "x-jarvis-attempt";

/// The longest error body that is read, in bytes.
const MAX_ERROR: usize = 64 << 10;

/// A client of one endpoint; connections are pooled.
pub(crate) struct Transport {
    client: Client,
    redactor: Redactor,
    connect_timeout: Duration,
    /// What messages call the endpoint.
    what: &'static str,
}

impl Transport {
    /// Prepares the client; calls nothing. Errors are [`ChatError::Config`].
    pub(crate) fn new(config: &OpenAiConfig, endpoint: &Endpoint, what: &'static str) -> Result<Transport, ChatError> {
        let mut builder = Client::builder()
            .user_agent(concat!("jarvis/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers(config)?)
            .connect_timeout(config.connect_timeout)
            // A redirect could carry the prompt and the key elsewhere.
            .redirect(redirect::Policy::none());
        let proxy = config.proxy.as_deref().map(str::trim).filter(|proxy| !proxy.is_empty());
        if let Some(proxy) = proxy {
            let shown = without_secrets(proxy);
            let proxy = Proxy::all(proxy)
                .map_err(|error| ChatError::Config(format!("the proxy {shown} cannot be used: {}", chain(&error))))?;
            builder = builder.proxy(proxy);
        }
        if endpoint.is_loopback() {
            // Takes back the proxy as well, which was checked all the same.
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|error| ChatError::Config(format!("the HTTP client cannot be built: {}", chain(&error))))?;
        let redactor = Redactor::new(config);
        Ok(Transport { client, redactor, connect_timeout: config.connect_timeout, what })
    }

    pub(crate) fn get(&self, url: Url) -> RequestBuilder {
        self.client.get(url)
    }

    pub(crate) fn post(&self, url: Url) -> RequestBuilder {
        self.client.post(url)
    }

    /// What takes keys out of texts from outside.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Makes attempts while their failures may pass.
    pub(crate) async fn repeat<T, A, F>(&self, retries: &Retries, attempt: A) -> Result<T, Failure>
    where
        A: FnMut() -> F,
        F: Future<Output = Result<T, Failure>>,
    {
        let mut late = false;
        attempt
            .retry(retry::pauses(retries))
            .when(|failure: &Failure| {
                let again = failure.passing && !(late && matches!(failure.error, ChatError::Timeout { .. }));
                late |= matches!(failure.error, ChatError::Timeout { .. });
                again
            })
            .adjust(|failure, usual| retry::pause(failure, usual, retries.longest_pause))
            .notify(|failure, pause| {
                let error = self.redactor.clean_error(failure.error.clone());
                tracing::warn!(?pause, %error, "the call of the {} is repeated", self.what);
            })
            .await
    }

    /// One attempt, within `limit`: sends, checks the status and reads the reply.
    pub(crate) async fn attempt<T, R, F>(&self, call: RequestBuilder, limit: Duration, read: R) -> Result<T, Failure>
    where
        R: FnOnce(Response) -> F,
        F: Future<Output = Result<T, Failure>>,
    {
        let work = async {
            let response = call.send().await.map_err(|error| self.unsent(error))?;
            if response.status().is_success() { read(response).await } else { Err(self.refusal(response).await) }
        };
        match tokio::time::timeout(limit, work).await {
            Ok(result) => result,
            Err(_) => Err(Failure::passing(ChatError::Timeout { after: limit })),
        }
    }

    /// What it means that a call could not be sent.
    fn unsent(&self, error: reqwest::Error) -> Failure {
        let url = error.url().map(|url| without_secrets(url.as_str())).unwrap_or_default();
        let reason = if error.is_connect() && error.is_timeout() {
            format!("no connection within {} s", self.connect_timeout.as_secs_f32())
        } else {
            chain(&error)
        };
        if error.is_builder() {
            return Failure::lasting(ChatError::Config(reason));
        }
        Failure::passing(ChatError::Unreachable { url, reason })
    }

    /// Reads a body of at most so many bytes that must be JSON.
    pub(crate) async fn read_json(&self, response: Response, limit: usize) -> Result<String, Failure> {
        let kind = content_type(&response);
        let text = read_text(response, limit).await?;
        if is_json(&kind) {
            return Ok(text);
        }
        let what = if kind == "text/html" { " (a web page; is the base URL right?)" } else { "" };
        let reason = format!("its content type is `{kind}`{what}, not JSON");
        Err(Failure::lasting(ChatError::BadReply { reason, body: start(&text, 300) }))
    }

    /// Reads an answer whose status is not 2xx.
    async fn refusal(&self, response: Response) -> Failure {
        let (status, what) = (response.status(), self.what);
        let wait = retry::retry_after(response.headers(), SystemTime::now());
        let kind = content_type(&response);
        let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).map(without_secrets);
        // What the body says is welcome, but the status alone is an answer too.
        let text = read_text(response, MAX_ERROR).await.unwrap_or_default();
        let parsed: Value = serde_json::from_str(&text).unwrap_or_default();
        let message = match wire::error_message(&parsed) {
            Some(message) => message,
            None if status.is_redirection() => {
                let target = target.unwrap_or_else(|| "another address".to_owned());
                format!("the {what} redirects to {target}, which is not followed; use its final address as base URL")
            }
            None => {
                let shown = match kind.as_str() {
                    "text/html" => ": a web page".to_owned(),
                    _ if text.trim().is_empty() => String::new(),
                    _ => format!(": {}", start(&text, 300)),
                };
                format!("the {what} answered with HTTP {status}{shown}")
            }
        };
        // No pause helps when the money has run out.
        let spent = parsed.pointer("/error/code").and_then(Value::as_str) == Some("insufficient_quota");
        let passing = retry::is_passing(status.as_u16()) && !spent;
        let error = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ChatError::Unauthorized { message },
            StatusCode::TOO_MANY_REQUESTS => ChatError::RateLimited { message },
            status => ChatError::Api { status: status.as_u16(), message },
        };
        let field = matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY);
        Failure { error, passing, wait, refusal: field.then_some(text) }
    }
}

/// Headers of every call. Values are marked as sensitive, so that no layer prints them.
fn headers(config: &OpenAiConfig) -> Result<HeaderMap, ChatError> {
    let value = |what: &str, text: &str| {
        let mut value = HeaderValue::from_str(text)
            .map_err(|_| ChatError::Config(format!("{what} holds a character that a header cannot carry")))?;
        value.set_sensitive(true);
        Ok::<HeaderValue, ChatError>(value)
    };
    let mut headers = HeaderMap::new();
    if let Some(key) = &config.api_key {
        let key = key.expose_secret().trim();
        if key.is_empty() {
            // An empty variable means no key.
        } else if config.azure.is_some() {
            headers.insert(HeaderName::from_static("api-key"), value("the API key", key)?);
        } else {
            headers.insert(AUTHORIZATION, value("the API key", &format!("Bearer {key}"))?);
        }
    }
    for (name, text) in &config.headers {
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| ChatError::Config(format!("`{name}` is not a header name")))?;
        headers.insert(parsed, value(&format!("the header `{name}`"), text)?);
    }
    Ok(headers)
}

/// Reads a body up to a limit, as UTF-8 with what is not replaced.
async fn read_text(mut response: Response, limit: usize) -> Result<String, Failure> {
    let bad = |reason: String, body: &[u8]| {
        let body = start(&String::from_utf8_lossy(body), 300);
        Failure::lasting(ChatError::BadReply { reason, body })
    };
    let mut body: Vec<u8> = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(bytes)) if body.len() + bytes.len() > limit => {
                return Err(bad(format!("it is longer than {limit} bytes"), &body));
            }
            Ok(Some(bytes)) => body.extend_from_slice(&bytes),
            Ok(None) => return Ok(String::from_utf8_lossy(&body).into_owned()),
            Err(error) => return Err(bad(format!("the connection broke before its end: {}", chain(&error)), &body)),
        }
    }
}

/// The media type in lower case and without parameters; empty when there is none.
pub(crate) fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_json(kind: &str) -> bool {
    kind.is_empty() || matches!(kind, "application/json" | "text/json") || kind.ends_with("+json")
}

/// An error and its causes in one line, without the address, which may hold a key.
pub(crate) fn chain(error: &reqwest::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        parts.push(source.to_string());
        next = source.source();
    }
    if parts.is_empty() {
        let text = error.to_string();
        return error.url().map_or(text.clone(), |url| text.replace(url.as_str(), &without_secrets(url.as_str())));
    }
    parts.dedup();
    parts.join(": ")
}

/// Takes keys out of texts that came from outside: some servers quote them.
#[derive(Clone)]
pub(crate) struct Redactor(Vec<SecretString>);

impl Redactor {
    /// Shorter values are no secrets, and removing them would mangle messages.
    const SHORTEST: usize = 6;

    fn new(config: &OpenAiConfig) -> Redactor {
        let key = config.api_key.iter().map(|key| key.expose_secret().trim());
        let values = key.chain(config.headers.values().map(|value| value.trim()));
        Redactor(values.filter(|value| value.len() >= Redactor::SHORTEST).map(SecretString::from).collect())
    }

    fn clean(&self, text: String) -> String {
        self.0.iter().fold(text, |text, secret| text.replace(secret.expose_secret(), "[redacted]"))
    }

    pub(crate) fn clean_error(&self, error: ChatError) -> ChatError {
        match error {
            ChatError::Unreachable { url, reason } => ChatError::Unreachable { url, reason: self.clean(reason) },
            ChatError::Unauthorized { message } => ChatError::Unauthorized { message: self.clean(message) },
            ChatError::RateLimited { message } => ChatError::RateLimited { message: self.clean(message) },
            ChatError::Api { status, message } => ChatError::Api { status, message: self.clean(message) },
            ChatError::BadReply { reason, body } => {
                ChatError::BadReply { reason: self.clean(reason), body: self.clean(body) }
            }
            ChatError::Config(reason) => ChatError::Config(self.clean(reason)),
            error @ (ChatError::Timeout { .. } | ChatError::ReplayMiss { .. } | ChatError::Recording { .. }) => error,
        }
    }
}
