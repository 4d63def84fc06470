//! The client of OpenAI-compatible endpoints, Azure and legacy completions among them.
//!
//! Built on reqwest and eventsource-stream with own lenient types: of a client library only the joining of addresses would
//! be left in use, since typed replies refuse real servers, and its own repeats and error reading have to be replaced.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use backon::Retryable;
use futures::stream::{self, BoxStream, StreamExt};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Proxy, RequestBuilder, Response, StatusCode, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

use crate::config::{OpenAiConfig, Protocol};
use crate::endpoint::{Endpoint, without_secrets};
use crate::model::{CallLabels, ChatChunk, ChatError, ChatModel, ChatReply, ChatRequest, Part};
use crate::retry::{self, Failure};
use crate::tokens::Tokens;
use crate::wire::{self, Refused, Reply};
use crate::{sse, wire::start};

/// The header that carries the stage label of each call.
pub const STAGE_HEADER: &str = "x-jarvis-stage";
/// The header that carries the task of a call that has one.
pub const TASK_HEADER: &str = "x-jarvis-task";
/// The header that carries the number of an attempt.
pub const ATTEMPT_HEADER: &str = "x-jarvis-attempt";

/// The longest reply that is read, in bytes.
pub(crate) const MAX_REPLY: usize = 16 << 20;

/// The longest error body that is read, in bytes.
const MAX_ERROR: usize = 64 << 10;

/// A client of one endpoint. Cheap to share by reference or `Arc`; connections are pooled.
pub struct OpenAi {
    config: OpenAiConfig,
    endpoint: Endpoint,
    client: Client,
    redactor: Redactor,
    /// Fields refused so far, by model.
    refused: Mutex<HashMap<String, Refused>>,
}

impl OpenAi {
    /// Checks the settings and prepares the client; calls nothing. Errors are [`ChatError::Config`].
    pub fn new(config: OpenAiConfig) -> Result<OpenAi, ChatError> {
        if config.model.trim().is_empty() {
            return Err(ChatError::Config("no chat model is named".to_owned()));
        }
        let endpoint = Endpoint::new(&config)?;
        let mut builder = Client::builder()
            .user_agent(concat!("jarvis/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers(&config)?)
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
        let redactor = Redactor::new(&config);
        Ok(OpenAi { config, endpoint, client, redactor, refused: Mutex::default() })
    }

    /// The names of the models that the endpoint offers. One attempt, no repeats.
    pub async fn models(&self) -> Result<Vec<String>, ChatError> {
        let request = self.client.get(self.endpoint.models());
        let listed = self.attempt(request, self.config.timeout, |response| async {
            let text = self.read_json(response).await?;
            let body: Value = serde_json::from_str(&text).unwrap_or_default();
            let names = body.get("data").and_then(Value::as_array).map(|models| {
                models.iter().filter_map(|model| model.get("id")?.as_str()).map(str::to_owned).collect::<Vec<_>>()
            });
            names.ok_or_else(|| {
                let reason = "it holds no list of models".to_owned();
                Failure::lasting(ChatError::BadReply { reason, body: start(&text, 300) })
            })
        });
        listed.await.map_err(|failure| self.redactor.clean_error(failure.error))
    }

    /// Loads the tokenizers of the configured models off the async threads, so that no later count waits for them.
    pub async fn preload(&self) {
        let names: Vec<String> =
            std::iter::once(&self.config.model).chain(self.config.stage_models.values()).cloned().collect();
        let load = move || names.iter().for_each(|name| Tokens::of(name).preload());
        if tokio::task::spawn_blocking(load).await.is_err() {
            tracing::warn!("loading the tokenizers was interrupted");
        }
    }

    fn tokens(&self, stage: &str) -> Tokens {
        Tokens::of(self.config.model_of(stage))
    }

    /// Makes a call: repeats it while its failures may pass, and leaves out what the endpoint refuses.
    #[tracing::instrument(name = "chat", level = "debug", skip_all, fields(stage = request.stage, streamed))]
    async fn call<T, R, F>(&self, request: &ChatRequest, streamed: bool, read: R) -> Result<T, ChatError>
    where
        R: Fn(Response) -> F + Send + Sync,
        F: Future<Output = Result<T, Failure>> + Send,
        T: Send,
    {
        let model = self.config.model_of(&request.stage).to_owned();
        let stage = HeaderValue::from_str(&request.stage)
            .map_err(|_| ChatError::Config(format!("the stage {:?} cannot be sent as a header", request.stage)))?;
        let full = self.body(request, &model, streamed).await?;
        let deployment = self.config.stage_models.get(&request.stage).map(String::as_str);
        let url = self.endpoint.call(deployment);
        let limit = request.timeout.unwrap_or(self.config.timeout);
        let longest = self.config.retries.longest_pause;

        let known = self.lock_refused().get(&model).cloned().unwrap_or_default();
        let mut refused = known.clone();
        loop {
            let mut body = full.clone();
            wire::without(&mut body, &refused);
            let sent = body.clone();
            body.extend(self.config.extra_body.clone());
            let mut late = false;
            let result = (|| {
                let call = self.client.post(url.clone()).header(STAGE_HEADER, stage.clone()).json(&body);
                let call = labelled(call, request.labels);
                self.attempt(call, limit, &read)
            })
            .retry(retry::pauses(&self.config.retries))
            .when(|failure: &Failure| {
                let again = failure.passing && !(late && matches!(failure.error, ChatError::Timeout { .. }));
                late |= matches!(failure.error, ChatError::Timeout { .. });
                again
            })
            .adjust(|failure, usual| retry::pause(failure, usual, longest))
            .notify(|failure, pause| {
                let error = self.redactor.clean_error(failure.error.clone());
                tracing::warn!(?pause, %error, "the chat call is repeated");
            })
            .await;
            let failure = match result {
                Ok(reply) => {
                    if refused != known {
                        tracing::info!(model, ?refused, "the endpoint refuses fields, which are left out from now on");
                        self.lock_refused().entry(model).or_default().extend(refused);
                    }
                    return Ok(reply);
                }
                Err(failure) => failure,
            };
            let fresh = failure.refusal.as_deref().map(|answer| wire::refused_by(answer, &sent)).unwrap_or_default();
            if fresh.is_empty() {
                return Err(self.redactor.clean_error(failure.error));
            }
            // Each round takes out at least one field, so the rounds end.
            refused.extend(fresh);
        }
    }

    /// One attempt, within `limit`: sends, checks the status and reads the reply.
    async fn attempt<T, R, F>(&self, call: RequestBuilder, limit: Duration, read: R) -> Result<T, Failure>
    where
        R: FnOnce(Response) -> F,
        F: Future<Output = Result<T, Failure>>,
    {
        let work = async {
            let response = call.send().await.map_err(|error| self.unsent(error))?;
            if response.status().is_success() { read(response).await } else { Err(refusal(response).await) }
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
            format!("no connection within {} s", self.config.connect_timeout.as_secs_f32())
        } else {
            chain(&error)
        };
        if error.is_builder() {
            return Failure::lasting(ChatError::Config(reason));
        }
        Failure::passing(ChatError::Unreachable { url, reason })
    }

    async fn body(&self, request: &ChatRequest, model: &str, streamed: bool) -> Result<Map<String, Value>, ChatError> {
        let pictures = |part: &Part| matches!(part, Part::Image(_));
        let pictures = request.messages.iter().any(|message| message.parts.iter().any(pictures));
        if pictures && (!self.config.vision || self.config.protocol == Protocol::Completion) {
            return Err(ChatError::Config(format!("the model {model} is not configured to take pictures")));
        }
        match self.config.protocol {
            Protocol::Chat => Ok(wire::chat_body(request, model, streamed)),
            Protocol::Completion => {
                let prompt = wire::completion_prompt(&request.messages);
                let (tokens, counted) = (Tokens::of(model), prompt.clone());
                let count = tokio::task::spawn_blocking(move || tokens.count(&counted)).await;
                let count = count.map_err(|_| ChatError::Config("counting tokens was interrupted".to_owned()))?;
                let room = self.context_tokens(&request.stage).saturating_sub(count).max(1);
                Ok(wire::completion_body(request, model, streamed, prompt, room))
            }
        }
    }

    /// Reads a body that must be JSON.
    async fn read_json(&self, response: Response) -> Result<String, Failure> {
        let kind = content_type(&response);
        let text = read_text(response, MAX_REPLY).await?;
        if is_json(&kind) {
            return Ok(text);
        }
        let what = if kind == "text/html" { " (a web page; is the base URL right?)" } else { "" };
        let reason = format!("its content type is `{kind}`{what}, not JSON");
        Err(Failure::lasting(ChatError::BadReply { reason, body: start(&text, 300) }))
    }

    async fn read_reply(&self, response: Response) -> Result<ChatReply, Failure> {
        let status = response.status().as_u16();
        let text = self.read_json(response).await?;
        let reply = Reply::read(&text, status).and_then(|reply| reply.whole(&text)).map_err(Failure::lasting)?;
        tracing::debug!(prompt = reply.usage.prompt, completion = reply.usage.completion, "chat reply");
        Ok(reply)
    }

    fn lock_refused(&self) -> std::sync::MutexGuard<'_, HashMap<String, Refused>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("config", &self.config).finish_non_exhaustive()
    }
}

#[async_trait]
impl ChatModel for OpenAi {
    fn model_name(&self, stage: &str) -> String {
        self.config.model_of(stage).to_owned()
    }

    fn context_tokens(&self, stage: &str) -> usize {
        self.config.context_tokens.unwrap_or_else(|| self.tokens(stage).context())
    }

    fn count_tokens(&self, stage: &str, text: &str) -> usize {
        self.tokens(stage).count(text)
    }

    fn token_ids(&self, stage: &str, text: &str) -> Vec<u32> {
        self.tokens(stage).ids(text)
    }

    fn can_see(&self) -> bool {
        self.config.vision && self.config.protocol == Protocol::Chat
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.call(request, false, |response| self.read_reply(response)).await
    }

    async fn stream(
        &self,
        request: &ChatRequest,
    ) -> Result<BoxStream<'static, Result<ChatChunk, ChatError>>, ChatError> {
        let pause = request.timeout.unwrap_or(self.config.timeout);
        let response = self.call(request, true, |response| async { Ok(response) }).await?;
        let redactor = self.redactor.clone();
        if content_type(&response) == "text/event-stream" {
            let pieces = sse::pieces(response, pause);
            return Ok(pieces.map(move |piece| piece.map_err(|error| redactor.clean_error(error))).boxed());
        }
        // Some servers do not stream; their whole reply is one piece.
        let reply = match tokio::time::timeout(pause, self.read_reply(response)).await {
            Ok(reply) => reply.map_err(|failure| redactor.clean_error(failure.error))?,
            Err(_) => return Err(ChatError::Timeout { after: pause }),
        };
        let finish_reason = (!reply.finish_reason.is_empty()).then_some(reply.finish_reason);
        let chunk = ChatChunk { text: reply.text, finish_reason, usage: Some(reply.usage) };
        Ok(stream::iter([Ok(chunk)]).boxed())
    }
}

/// The call with the headers of its labels.
fn labelled(call: RequestBuilder, labels: CallLabels) -> RequestBuilder {
    let call = match labels.task {
        Some(task) => call.header(TASK_HEADER, task),
        None => call,
    };
    match labels.attempt {
        Some(attempt) => call.header(ATTEMPT_HEADER, attempt),
        None => call,
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

/// Reads an answer whose status is not 2xx.
async fn refusal(response: Response) -> Failure {
    let status = response.status();
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
            format!("the chat endpoint redirects to {target}, which is not followed; use its final address as base URL")
        }
        None => {
            let shown = match kind.as_str() {
                "text/html" => ": a web page".to_owned(),
                _ if text.trim().is_empty() => String::new(),
                _ => format!(": {}", start(&text, 300)),
            };
            format!("the chat endpoint answered with HTTP {status}{shown}")
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
fn content_type(response: &Response) -> String {
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
struct Redactor(Vec<SecretString>);

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

    fn clean_error(&self, error: ChatError) -> ChatError {
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
