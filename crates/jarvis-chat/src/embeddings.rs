//! Vectors for texts: the trait of what makes them, and the client of OpenAI-compatible endpoints.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use futures::future::FutureExt;
use futures::stream::{self, StreamExt, TryStreamExt};
use jarvis_net::policy::without_secrets;
use reqwest::Response;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::config::OpenAiConfig;
use crate::endpoint::Endpoint;
use crate::model::ChatError;
use crate::provider;
use crate::retry::Failure;
use crate::transport::{STAGE_HEADER, Transport};
use crate::wire::{self, start};

const STAGE: &str = "embed";

/// What messages call the endpoint.
const EMBEDDINGS_ENDPOINT: &str = "embeddings endpoint";

/// Texts of one call unless set otherwise.
const BATCH: usize = 64;

/// Calls in flight at once.
const CALLS: usize = 4;

/// The longest reply that is read, in bytes.
const MAX_REPLY: u64 = 128 << 20;

/// Something that makes a vector of each text, so that texts of like meaning get vectors of a large cosine.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The model and the settings that its vectors depend on. Equal ids mean comparable vectors, now and later.
    fn id(&self) -> String;

    /// The length of the vectors, where it is known before the first.
    fn dimension(&self) -> Option<usize>;

    /// One vector for each text, in their order, all of one length and finite.
    ///
    /// # Errors
    /// When the vectors cannot be had; then there are none.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Why texts have no vectors. No variant ever holds a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The endpoint could not be called, or answered with something else than one finite vector for each text.
    #[error("{}", .0.message(EMBEDDINGS_ENDPOINT, "one vector for each text"))]
    Endpoint(ChatError),
    #[error("{0}")]
    Config(String),
    /// A model in this process cannot be loaded, or failed.
    #[error("{0}")]
    Model(String),
}

impl EmbedError {
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            EmbedError::Endpoint(ChatError::BadReply { .. }) => Some(
                "check that the base URL is that of an OpenAI-compatible endpoint and the model one for embeddings",
            ),
            EmbedError::Endpoint(error) => error.hint(),
            EmbedError::Config(_) | EmbedError::Model(_) => None,
        }
    }
}

impl From<ChatError> for EmbedError {
    fn from(error: ChatError) -> EmbedError {
        match error {
            ChatError::Config(reason) => EmbedError::Config(reason),
            ChatError::Unreachable { .. }
            | ChatError::Timeout { .. }
            | ChatError::Unauthorized { .. }
            | ChatError::RateLimited { .. }
            | ChatError::Api { .. }
            | ChatError::BadReply { .. }
            | ChatError::ReplayMiss { .. }
            | ChatError::Recording { .. }
            | ChatError::Budget(_)
            | ChatError::Stopped(_) => EmbedError::Endpoint(error),
        }
    }
}

/// A client of `POST …/embeddings`. Cheap to share by reference or `Arc`; connections are pooled.
pub struct OpenAiEmbeddings {
    config: OpenAiConfig,
    endpoint: Endpoint,
    transport: Transport,
    batch: usize,
    /// The length of the vectors; 0 until the first came.
    dimension: AtomicUsize,
    /// The endpoint does not know `encoding_format`.
    plain: AtomicBool,
}

impl OpenAiEmbeddings {
    /// Checks the settings and prepares the client; calls nothing. Of the settings, those of chats alone are not used.
    /// `extra_body` can hold `dimensions`.
    ///
    /// # Errors
    /// [`EmbedError::Config`] when the endpoint cannot be called so.
    pub fn new(config: OpenAiConfig) -> Result<OpenAiEmbeddings, EmbedError> {
        if config.model.trim().is_empty() {
            return Err(EmbedError::Config("no embeddings model is named".to_owned()));
        }
        let endpoint = Endpoint::new(&config, EMBEDDINGS_ENDPOINT)?;
        let transport = Transport::new(&config, &endpoint, EMBEDDINGS_ENDPOINT)?;
        let (dimension, plain) = (AtomicUsize::new(0), AtomicBool::new(false));
        Ok(OpenAiEmbeddings { config, endpoint, transport, batch: BATCH, dimension, plain })
    }

    /// The same with so many texts in a call, at least one; 64 unless set.
    #[must_use]
    pub fn batch(mut self, texts: usize) -> OpenAiEmbeddings {
        self.batch = texts.max(1);
        self
    }

    #[tracing::instrument(
        name = "embed",
        level = "debug",
        skip_all,
        fields(texts = texts.len(), model = self.config.model.trim(), provider = provider::of(self.endpoint.base(), None))
    )]
    async fn call(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut body = Map::new();
        body.insert("model".into(), self.config.model.trim().into());
        // OpenAI refuses a list with an empty text in it.
        let texts_sent: Vec<&str> =
            texts.iter().map(|text| if text.is_empty() { " " } else { text.as_str() }).collect();
        body.insert("input".into(), json!(texts_sent));
        body.insert("encoding_format".into(), "float".into());
        body.extend(self.config.extra_body.clone());
        loop {
            let plain = self.plain.load(Ordering::Relaxed);
            if plain {
                body.shift_remove("encoding_format");
            }
            let attempt = || {
                let call = self.transport.post(self.endpoint.embeddings()).header(STAGE_HEADER, STAGE).json(&body);
                self.transport.attempt(call, self.config.timeout, |response| self.read(response, texts.len()))
            };
            let failure = match self.transport.retry(&self.config.retries, attempt).await {
                Ok(vectors) => return Ok(vectors),
                Err(failure) => failure,
            };
            // Some servers know no other format and refuse to be told.
            if !plain && failure.refusal.as_deref().is_some_and(|answer| answer.contains("encoding_format")) {
                self.plain.store(true, Ordering::Relaxed);
                continue;
            }
            return Err(self.transport.redactor().error(failure.error).into());
        }
    }

    async fn read(&self, response: Response, texts: usize) -> Result<Vec<Vec<f32>>, Failure> {
        let status = response.status().as_u16();
        let text = self.transport.read_json(response, MAX_REPLY).await?;
        vectors(&text, status, texts).map_err(Failure::lasting)
    }
}

#[async_trait]
impl Embedder for OpenAiEmbeddings {
    fn id(&self) -> String {
        let mut id =
            format!("{} at {}", self.config.model.trim(), without_secrets(self.endpoint.embeddings().as_str()));
        if !self.config.extra_body.is_empty() {
            id.push_str(&format!(" with {}", Value::Object(self.config.extra_body.clone())));
        }
        id
    }

    fn dimension(&self) -> Option<usize> {
        Some(self.dimension.load(Ordering::Relaxed)).filter(|dimension| *dimension > 0)
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let calls: Vec<_> = texts.chunks(self.batch).map(|texts| self.call(texts).boxed()).collect();
        let batches: Vec<Vec<Vec<f32>>> = stream::iter(calls).buffered(CALLS).try_collect().await?;
        let vectors: Vec<Vec<f32>> = batches.into_iter().flatten().collect();
        for vector in &vectors {
            let (known, found) = (self.dimension.load(Ordering::Relaxed), vector.len());
            if known == 0 {
                self.dimension.store(found, Ordering::Relaxed);
            } else if known != found {
                let reason = format!("a vector has {found} components, and others have {known}");
                return Err(ChatError::BadReply { reason, body: String::new() }.into());
            }
        }
        Ok(vectors)
    }
}

impl fmt::Debug for OpenAiEmbeddings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiEmbeddings").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Reads a reply: one vector for each of so many texts, in the order that `index` says.
fn vectors(text: &str, status: u16, texts: usize) -> Result<Vec<Vec<f32>>, ChatError> {
    #[derive(Deserialize)]
    struct Row {
        index: Option<usize>,
        embedding: Vec<f64>,
    }
    #[derive(Deserialize)]
    struct Reply {
        data: Vec<Row>,
    }
    let bad = |reason: String| ChatError::BadReply { reason, body: start(text, 300) };
    let reply: Reply = match serde_json::from_str(text) {
        Ok(reply) => reply,
        Err(error) => {
            // Some answer with an error and status 200.
            let parsed: Value = serde_json::from_str(text).unwrap_or(Value::Null);
            return Err(match wire::error_message(&parsed) {
                Some(message) => ChatError::Api { status, message },
                None => bad(error.to_string()),
            });
        }
    };
    if reply.data.len() != texts {
        return Err(bad(format!("{} vectors came for {texts} texts", reply.data.len())));
    }
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); texts];
    for (at, row) in reply.data.into_iter().enumerate() {
        let index = row.index.unwrap_or(at);
        let Some(place) = vectors.get_mut(index) else {
            return Err(bad(format!("a vector is for text {index} of {texts}")));
        };
        if !place.is_empty() {
            return Err(bad(format!("two vectors are for text {index}")));
        }
        #[allow(clippy::cast_possible_truncation, reason = "what single precision cannot hold is refused below")]
        place.extend(row.embedding.into_iter().map(|value| value as f32));
        if place.is_empty() {
            return Err(bad(format!("the vector for text {index} is empty")));
        }
        if !place.iter().all(|value| value.is_finite()) {
            return Err(bad(format!("the vector for text {index} holds a number that is not finite")));
        }
    }
    let lengths = vectors.first().map_or(0, Vec::len);
    if let Some(other) = vectors.iter().find(|vector| vector.len() != lengths) {
        return Err(bad(format!("a vector has {} components, and others have {lengths}", other.len())));
    }
    Ok(vectors)
}
