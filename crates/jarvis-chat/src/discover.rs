//! Discovery of model servers, and of what their models can do.
//!
//! A server is recognised by its own protocol, never by its port: Ollama by `/api/version`, LM Studio by `/api/v0/models`,
//! llama-server by `/props`, vLLM by the owner of the models that `/v1/models` lists. Questions are bounded in time
//! and size, and follow no redirect.

mod ask;
mod choose;
mod read;

use std::fmt;
use std::time::Duration;

use futures::stream::{FuturesOrdered, StreamExt};
use jarvis_net::http::{ClientOptions, LazyClient, Route, is_loopback};
use jarvis_net::policy::without_secrets;
use url::Url;

use crate::config::{OpenAiConfig, PROBE_TIMEOUT};
use crate::endpoint::Endpoint;
use crate::family::Family;
use crate::model::ChatError;
pub(crate) use ask::Asker;
pub(crate) use choose::CANDIDATES;

/// Where local servers listen by default, in the order in which they are preferred.
pub const LOCAL_SERVERS: [&str; 4] =
    ["http://127.0.0.1:11434", "http://127.0.0.1:1234", "http://127.0.0.1:8080", "http://127.0.0.1:8000"];

/// What a model server is, by the protocol that it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    Ollama,
    LmStudio,
    LlamaServer,
    Vllm,
    /// Another one that lists its models as OpenAI does. Never taken for a local model server unless it was named: any
    /// service may list models at these ports, another jarvis too.
    OpenAiCompatible,
}

impl fmt::Display for ServerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ServerKind::Ollama => "Ollama",
            ServerKind::LmStudio => "LM Studio",
            ServerKind::LlamaServer => "llama-server",
            ServerKind::Vllm => "vLLM",
            ServerKind::OpenAiCompatible => "an OpenAI-compatible server",
        })
    }
}

/// A model as its server describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServedModel {
    pub name: String,
    /// Whether it holds conversations on this machine: neither an embedding model nor one that runs in a cloud.
    pub chats: bool,
    pub loaded: bool,
    /// The context size in tokens, where the server tells it.
    pub context: Option<usize>,
    /// Whether `context` is what the model could have, and the server may load it with less.
    pub context_is_maximum: bool,
    /// Whether it takes pictures, where the server tells.
    pub vision: Option<bool>,
    /// Millions of parameters, where the server or the name tells.
    parameters: Option<u64>,
}

impl ServedModel {
    /// Whether it takes pictures, by what the server tells, else by its name.
    pub fn sees(&self) -> bool {
        self.vision.unwrap_or_else(|| Family::of(&self.name).is_some_and(|family| family.sees))
    }
}

/// A model server that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelServer {
    pub kind: ServerKind,
    /// The address without `/v1`.
    pub address: Url,
    pub models: Vec<ServedModel>,
}

impl ModelServer {
    /// A model by the name that calls use.
    pub fn model(&self, name: &str) -> Option<&ServedModel> {
        let by_name = |name: &str| self.models.iter().find(|model| model.name == name);
        match self.kind {
            ServerKind::Ollama => by_name(name).or_else(|| by_name(&format!("{name}:latest"))),
            // It serves its only model whatever a call names.
            ServerKind::LlamaServer if self.models.len() == 1 => self.models.first(),
            _ => by_name(name),
        }
    }

    /// The best fitting model for planning and conversation: a loaded one before others; then one whose context holds a plan
    /// (8192 tokens), of a family that jarvis knows; then the one with more parameters, the larger context, vision; then
    /// the first by name.
    pub fn best(&self) -> Option<&ServedModel> {
        choose::best(&self.models)
    }

    /// The base URL of calls.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.address.as_str().trim_end_matches('/'))
    }

    /// The address as messages show it.
    pub fn shown_address(&self) -> String {
        shown(&self.address)
    }
}

/// Why no server was found at an address, or none that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoServer {
    #[error("{0}")]
    Unreachable(String),
    #[error("no answer within {} s", .0.as_secs_f32())]
    Timeout(Duration),
    #[error("llama-server is still loading its model")]
    Loading,
    #[error("it requires a key: configure its address and the key")]
    Locked,
    #[error("not a model server that jarvis recognises")]
    Unknown,
    #[error("{0} has no chat model")]
    NoModel(ServerKind),
}

/// Looks for model servers.
#[derive(Debug)]
pub struct Discovery {
    endpoints: Vec<Endpoint>,
    timeout: Duration,
    /// This machine is reached directly, whatever proxy the environment names.
    direct: LazyClient,
    routed: LazyClient,
}

impl Discovery {
    /// Looks at these addresses, with or without `/v1`.
    ///
    /// # Errors
    /// [`ChatError::Config`] when one is not an address.
    pub fn new<S: AsRef<str>>(addresses: impl IntoIterator<Item = S>) -> Result<Discovery, ChatError> {
        let endpoint = |address: S| Endpoint::new(&OpenAiConfig::new(address.as_ref(), "auto"), "local model server");
        Ok(Discovery {
            endpoints: addresses.into_iter().map(endpoint).collect::<Result<_, ChatError>>()?,
            timeout: PROBE_TIMEOUT,
            direct: LazyClient::new(ClientOptions { route: Route::Direct, ..ClientOptions::default() }),
            routed: LazyClient::new(ClientOptions::default()),
        })
    }

    /// The same with another time for each question.
    pub fn timeout(self, timeout: Duration) -> Discovery {
        Discovery { timeout, ..self }
    }

    /// The first server with a chat model, in the order of the addresses, with that model's facts. All addresses are asked at
    /// once, and those after the first that will do are not waited for.
    ///
    /// # Errors
    /// The addresses that were tried, and why nothing there will do.
    pub async fn first(&self) -> Result<(ModelServer, ServedModel), Vec<(String, NoServer)>> {
        let usable = |endpoint| async move {
            let server = self.look(endpoint, true).await?;
            let best = server.best().cloned().ok_or(NoServer::NoModel(server.kind))?;
            Ok((server, best))
        };
        let mut looks: FuturesOrdered<_> = self
            .endpoints
            .iter()
            .map(|endpoint| async { (root_of(endpoint.base()), usable(endpoint).await) })
            .collect();
        let mut misses = Vec::new();
        while let Some((address, found)) = looks.next().await {
            match found {
                Ok(found) => return Ok(found),
                Err(miss) => misses.push((shown(&address), miss)),
            }
        }
        Err(misses)
    }

    /// The servers that answer, in the order of the addresses, as far as their lists of models tell.
    pub async fn all(&self) -> Vec<ModelServer> {
        let looks = self.endpoints.iter().map(|endpoint| self.look(endpoint, false));
        futures::future::join_all(looks).await.into_iter().flatten().collect()
    }

    async fn look(&self, endpoint: &Endpoint, closely: bool) -> Result<ModelServer, NoServer> {
        let root = root_of(endpoint.base());
        let client = if is_loopback(&root) { &self.direct } else { &self.routed };
        let client = client.get().await.map_err(|error| NoServer::Unreachable(error.to_string()))?;
        let asker = Asker { client, root, models: endpoint.models(), timeout: self.timeout };
        let mut server = asker.server().await?;
        if server.kind == ServerKind::OpenAiCompatible {
            return Err(NoServer::Unknown);
        }
        if closely {
            asker.describe(&mut server, CANDIDATES).await;
        }
        Ok(server)
    }
}

/// The address of a server from the base of its calls: without `/v1`.
pub(crate) fn root_of(base: &Url) -> Url {
    let mut root = base.clone();
    root.set_query(None);
    let at_root = root.path_segments().and_then(Iterator::last) == Some("v1");
    if let (true, Ok(mut segments)) = (at_root, root.path_segments_mut()) {
        segments.pop();
    }
    root
}

/// An address as messages show it.
fn shown(address: &Url) -> String {
    without_secrets(address.as_str()).trim_end_matches('/').to_owned()
}
