//! The client of OpenAI-compatible endpoints, Azure and legacy completions among them.
//!
//! Built on reqwest and eventsource-stream with own lenient types: of a client library only the joining of addresses would
//! be left in use, since typed replies refuse real servers, and its own repeats and error reading have to be replaced.

mod facts;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::{Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, StreamExt};
use jarvis_net::policy::without_secrets;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{RequestBuilder, Response};
use serde_json::{Map, Value};

use crate::config::{OpenAiConfig, Protocol};
use crate::discover::ModelServer;
use crate::endpoint::{CHAT_ENDPOINT, Endpoint};
use crate::model::{CallLabels, ChatChunk, ChatError, ChatModel, ChatReply, ChatRequest, ChatStream, Part};
use crate::provider;
use crate::retry::Failure;
use crate::sse;
use crate::tokens::Tokens;
use crate::transport::{ATTEMPT_HEADER, STAGE_HEADER, TASK_HEADER, Transport, content_type};
use crate::wire::{self, MAX_REPLY, Refused, Reply, start};

pub use facts::{Fact, Origin};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A client of one endpoint. Cheap to share by reference or `Arc`; connections are pooled.
pub struct OpenAi {
    config: OpenAiConfig,
    endpoint: Endpoint,
    transport: Transport,
    refused: Mutex<HashMap<String, Refused>>,
    /// What the endpoint told of itself, once it was asked.
    server: OnceLock<Option<ModelServer>>,
}

impl OpenAi {
    /// Checks the settings and prepares the client; calls nothing. Errors are [`ChatError::Config`].
    pub fn new(config: OpenAiConfig) -> Result<OpenAi, ChatError> {
        if config.model.trim().is_empty() {
            return Err(ChatError::Config("no chat model is named".to_owned()));
        }
        let endpoint = Endpoint::new(&config, CHAT_ENDPOINT)?;
        let transport = Transport::new(&config, &endpoint, CHAT_ENDPOINT)?;
        Ok(OpenAi { config, endpoint, transport, refused: Mutex::default(), server: OnceLock::new() })
    }

    /// The names of the models that the endpoint offers. One attempt, no repeats.
    pub async fn models(&self) -> Result<Vec<String>, ChatError> {
        let request = self.transport.get(self.endpoint.models());
        let listed = self.transport.attempt(request, self.config.timeout, |response| async {
            let text = self.transport.read_json(response, MAX_REPLY).await?;
            let body: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
            let names = body.get("data").and_then(Value::as_array).map(|models| {
                models.iter().filter_map(|model| model.get("id")?.as_str()).map(str::to_owned).collect::<Vec<_>>()
            });
            names.ok_or_else(|| {
                let reason = "it holds no list of models".to_owned();
                Failure::lasting(ChatError::BadReply { reason, body: start(&text, 300) })
            })
        });
        listed.await.map_err(|failure| self.transport.redactor().error(failure.error))
    }

    /// The endpoint's base URL, without credentials.
    pub fn address(&self) -> String {
        without_secrets(self.endpoint.base().as_str())
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
    #[tracing::instrument(name = "endpoint", level = "debug", skip_all, fields(stage = request.stage, streamed))]
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

        let known = self.lock_refused().get(&model).cloned().unwrap_or_default();
        let mut refused = known.clone();
        loop {
            let schema = request.schema.as_ref().filter(|_| self.config.protocol == Protocol::Chat);
            let body = wire::Body { fields: &full, schema, refused: &refused, extra: &self.config.extra_body };
            let sent = Bytes::from(serde_json::to_vec(&body).expect("the keys of a body are texts"));
            let result = self.transport.retry(&self.config.retries, || {
                let call = self.transport.post(url.clone()).header(STAGE_HEADER, stage.clone());
                let call = call.header(CONTENT_TYPE, JSON).body(sent.clone());
                self.transport.attempt(labelled(call, request.labels), limit, &read)
            });
            let result = result.await;
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
            let fresh = failure
                .refusal
                .as_deref()
                .map(|answer| wire::refused_by(answer, |name| body.has(name)))
                .unwrap_or_default();
            if fresh.is_empty() {
                return Err(self.transport.redactor().error(failure.error));
            }
            // Each round takes out at least one field, so the rounds end.
            refused.extend(fresh);
        }
    }

    async fn body(&self, request: &ChatRequest, model: &str, streamed: bool) -> Result<Map<String, Value>, ChatError> {
        let pictures = |part: &Part| matches!(part, Part::Image(_));
        let pictures = request.messages.iter().any(|message| message.parts.iter().any(pictures));
        if pictures && !self.can_see(&request.stage) {
            return Err(ChatError::Config(format!(
                "the model {model} takes no pictures as far as is known; set `llm.vision: true` if it does"
            )));
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

    async fn read_reply(&self, response: Response) -> Result<ChatReply, Failure> {
        let status = response.status().as_u16();
        let text = self.transport.read_json(response, MAX_REPLY).await?;
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
        self.context(stage).value
    }

    fn count_tokens(&self, stage: &str, text: &str) -> usize {
        self.tokens(stage).count(text)
    }

    fn token_ids(&self, stage: &str, text: &str) -> Vec<u32> {
        self.tokens(stage).ids(text)
    }

    fn provider(&self, _stage: &str, _model: &str) -> String {
        provider::of(self.endpoint.base(), self.server().map(|server| server.kind))
    }

    fn can_see(&self, stage: &str) -> bool {
        self.vision(stage).value
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.call(request, false, |response| self.read_reply(response)).await
    }

    async fn stream(&self, request: &ChatRequest) -> Result<ChatStream, ChatError> {
        let pause = request.timeout.unwrap_or(self.config.timeout);
        let response = self.call(request, true, |response| async { Ok(response) }).await?;
        let redactor = self.transport.redactor().clone();
        if content_type(&response) == "text/event-stream" {
            let pieces = sse::pieces(response, pause);
            return Ok(pieces.map(move |piece| piece.map_err(|error| redactor.error(error))).boxed());
        }
        // Some servers do not stream; their whole reply is one piece.
        let reply = match tokio::time::timeout(pause, self.read_reply(response)).await {
            Ok(reply) => reply.map_err(|failure| redactor.error(failure.error))?,
            Err(_) => return Err(ChatError::Timeout { after: pause }),
        };
        Ok(stream::iter([Ok(ChatChunk::last(reply))]).boxed())
    }
}

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
