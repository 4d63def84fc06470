//! HTTP to an OpenAI-compatible endpoint, whatever is asked there: credentials, one attempt, retries, and reading the reply.

use std::future::Future;
use std::time::{Duration, SystemTime};

use jarvis_net::Secret;
use jarvis_net::http::{self, CappedBody, ClientError, ClientOptions, Route, cause};
use jarvis_net::policy::without_secrets;
use jarvis_net::retry::{Retries, retry_after};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use url::Url;

use crate::config::OpenAiConfig;
use crate::endpoint::Endpoint;
use crate::model::ChatError;
use crate::redact::Redactor;
use crate::retry::{Failure, is_transient};
use crate::wire::{self, start};

/// The header that carries the stage label of each call.
pub const STAGE_HEADER: &str = "x-jarvis-stage";

/// The header that carries the task of a call that has one.
pub const TASK_HEADER: &str = "x-jarvis-task";

/// The header that carries the number of an attempt.
pub const ATTEMPT_HEADER: &str = "x-jarvis-attempt";

/// The longest error body that is read, in bytes.
const MAX_ERROR: u64 = 64 << 10;

/// A client of one endpoint; connections are pooled.
pub(crate) struct Transport {
    client: Client,
    redactor: Redactor,
    connect_timeout: Duration,
    what: &'static str,
}

impl Transport {
    /// Prepares the client; calls nothing. Errors are [`ChatError::Config`].
    pub(crate) fn new(config: &OpenAiConfig, endpoint: &Endpoint, what: &'static str) -> Result<Transport, ChatError> {
        let unusable = |error: ClientError| ChatError::Config(error.to_string());
        let proxy = config.proxy.as_deref().and_then(Secret::new);
        // Even for an endpoint that is called directly: a wrong setting is told at once.
        proxy.as_ref().map_or(Ok(()), http::check_proxy).map_err(unusable)?;
        // Redirects are not followed: one could carry the prompt and the key elsewhere.
        let options = ClientOptions {
            route: Route::to(endpoint.base(), proxy.as_ref()),
            connect_timeout: config.connect_timeout,
            headers: headers(config)?,
            ..ClientOptions::default()
        };
        let client = http::client(options).map_err(unusable)?;
        let redactor = Redactor::new(config);
        Ok(Transport { client, redactor, connect_timeout: config.connect_timeout, what })
    }

    /// The client, whose requests carry the credentials. It follows no redirect, so they go to the endpoint alone.
    pub(crate) fn client(&self) -> &Client {
        &self.client
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

    /// Makes attempts while their failures are transient, and one more after the first that took too long.
    pub(crate) async fn retry<T, F>(&self, retries: &Retries, attempt: impl FnMut() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let mut late = false;
        let pause = |failure: &Failure, scheduled: Duration| {
            let timed_out = matches!(failure.error, ChatError::Timeout { .. });
            let is_final = !failure.transient || (late && timed_out);
            late |= timed_out;
            if is_final {
                return None;
            }
            let pause = failure.retry_after.unwrap_or(scheduled).min(retries.longest_pause);
            // What an endpoint says may repeat what it was sent.
            tracing::warn!(?pause, error = failure.error.code().as_str(), "retrying the call of the {}", self.what);
            tracing::debug!(error = %self.redactor.error(failure.error.clone()), "it said");
            Some(pause)
        };
        retries.run(attempt, pause).await
    }

    /// One attempt, within `limit`: sends, checks the status and reads the reply.
    pub(crate) async fn attempt<T, R, F>(&self, call: RequestBuilder, limit: Duration, read: R) -> Result<T, Failure>
    where
        R: FnOnce(Response) -> F,
        F: Future<Output = Result<T, Failure>>,
    {
        let work = async {
            let response = http::send(call).await.map_err(|error| self.unsent(error))?;
            if response.status().is_success() { read(response).await } else { Err(self.refusal(response).await) }
        };
        match tokio::time::timeout(limit, work).await {
            Ok(result) => result,
            Err(_) => Err(Failure::transient(ChatError::Timeout { after: limit })),
        }
    }

    fn unsent(&self, error: reqwest::Error) -> Failure {
        let url = error.url().map_or_else(|| "(not an address)".to_owned(), |url| without_secrets(url.as_str()));
        let reason = if error.is_connect() && error.is_timeout() {
            format!("no connection within {} s", self.connect_timeout.as_secs_f32())
        } else {
            cause(&error)
        };
        if error.is_builder() {
            return Failure::lasting(ChatError::Config(reason));
        }
        Failure::transient(ChatError::Unreachable { url, reason })
    }

    /// Reads a body of at most so many bytes that must be JSON.
    pub(crate) async fn read_json(&self, response: Response, limit: u64) -> Result<String, Failure> {
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
        let retry_after = retry_after(response.headers(), SystemTime::now());
        let kind = content_type(&response);
        let target = response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).map(without_secrets);
        // What the body says is welcome, but the status alone is an answer too.
        let text = read_text(response, MAX_ERROR).await.unwrap_or_else(|_| String::new());
        let parsed: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
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
        let transient = is_transient(status.as_u16()) && !spent;
        let error = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ChatError::Unauthorized { message },
            StatusCode::TOO_MANY_REQUESTS => ChatError::RateLimited { message },
            status => ChatError::Api { status: status.as_u16(), message },
        };
        let field = matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY);
        Failure { error, transient, retry_after, refusal: field.then_some(text) }
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
        let key = key.expose();
        if config.azure.is_some() {
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
async fn read_text(response: Response, limit: u64) -> Result<String, Failure> {
    match CappedBody::new(response, limit).read().await {
        Ok(body) => Ok(String::from_utf8_lossy(&body).into_owned()),
        Err((error, body)) => {
            let body = start(&String::from_utf8_lossy(&body), 300);
            Err(Failure::lasting(ChatError::BadReply { reason: error.to_string(), body }))
        }
    }
}

/// The media type in lower case and without parameters; empty when there is none.
pub(crate) fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
    value.split(';').next().unwrap_or(value).trim().to_ascii_lowercase()
}

fn is_json(kind: &str) -> bool {
    kind.is_empty() || matches!(kind, "application/json" | "text/json") || kind.ends_with("+json")
}
