//! Settings of the OpenAI-compatible client. Reads no file and no environment: whoever builds the client does.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use jarvis_net::Secret;
use jarvis_net::policy::without_secrets;
use jarvis_net::retry::Retries;
use serde_json::{Map, Value};

/// The time for one question about a model server, unless another is set.
pub(crate) const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// Which of the two protocols an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// `POST …/chat/completions` with messages.
    #[default]
    Chat,
    /// The legacy `POST …/completions` with one prompt, laid out with `<im_start>` and `<im_end>`.
    Completion,
}

/// Where an Azure OpenAI deployment is: `{base_url}/openai/deployments/{deployment}/…?api-version={api_version}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Azure {
    /// A model set for a stage names another deployment.
    pub deployment: String,
    /// Such as `2022-12-01`.
    pub api_version: String,
}

/// Everything the client needs to know. `Debug` shows neither the key nor header values nor a proxy's password.
#[derive(Clone)]
pub struct OpenAiConfig {
    /// The endpoint, with or without `/v1` and a final slash; an address that ends with `/chat/completions` or
    /// `/completions` is accepted too. `/v1` is added where no part of the path is a version (`v1`, `v1beta`, `v4`, …),
    /// unless the whole address was given. For Azure: the resource, such as `https://NAME.openai.azure.com`.
    pub base_url: String,
    /// Without a key no credentials are sent.
    pub api_key: Option<Secret>,
    /// The model of every stage that has none of its own.
    pub model: String,
    pub stage_models: BTreeMap<String, String>,
    pub protocol: Protocol,
    /// Set for Azure OpenAI; the key then goes into the header `api-key`.
    pub azure: Option<Azure>,
    pub headers: BTreeMap<String, String>,
    /// Further fields of each body, such as `top_k` or `options`; they win over the client's own.
    pub extra_body: Map<String, Value>,
    /// The proxy of all calls. Without it, or with an empty one, the environment decides (`HTTPS_PROXY`, `NO_PROXY`, …).
    /// An endpoint on this machine is always called directly.
    pub proxy: Option<String>,
    /// Time to connect, 10 s by default.
    pub connect_timeout: Duration,
    /// Time for one attempt, 120 s by default: until the whole reply is there, or, for a streamed one, until its start and
    /// then between two pieces.
    pub timeout: Duration,
    /// Retries of a call that failed for a transient reason: 408, 429, 5xx, no connection, no reply in time. A reply that
    /// did not come in time is asked for at most once more, whatever this says.
    pub retries: Retries,
    /// The context size in tokens; without it what the endpoint told, see [`crate::OpenAi::probe`], or the model's family.
    pub context_tokens: Option<usize>,
    /// Whether the models take pictures; without it what the endpoint told, or the model's family.
    pub vision: Option<bool>,
    /// Time for each question about what the endpoint is and what its models can do, 1 s by default.
    pub probe_timeout: Duration,
}

impl OpenAiConfig {
    /// An endpoint and a model, everything else by default.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> OpenAiConfig {
        OpenAiConfig {
            base_url: base_url.into(),
            api_key: None,
            model: model.into(),
            stage_models: BTreeMap::new(),
            protocol: Protocol::default(),
            azure: None,
            headers: BTreeMap::new(),
            extra_body: Map::new(),
            proxy: None,
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(120),
            retries: Retries::default(),
            context_tokens: None,
            vision: None,
            probe_timeout: PROBE_TIMEOUT,
        }
    }

    pub fn model_of(&self, stage: &str) -> &str {
        self.stage_models.get(stage).unwrap_or(&self.model)
    }
}

impl fmt::Debug for OpenAiConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiConfig")
            .field("base_url", &without_secrets(&self.base_url))
            .field("api_key", &self.api_key)
            .field("model", &self.model)
            .field("stage_models", &self.stage_models)
            .field("protocol", &self.protocol)
            .field("azure", &self.azure)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("extra_body", &self.extra_body.keys().collect::<Vec<_>>())
            .field("proxy", &self.proxy.as_deref().map(without_secrets))
            .field("connect_timeout", &self.connect_timeout)
            .field("timeout", &self.timeout)
            .field("retries", &self.retries)
            .field("context_tokens", &self.context_tokens)
            .field("vision", &self.vision)
            .field("probe_timeout", &self.probe_timeout)
            .finish()
    }
}
