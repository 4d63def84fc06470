//! The chat model that the configuration names, or none.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jarvis_chat::{
    Azure, ChatError, ChatModel, Discovery, Fallback, ModelServer, NoServer, OpenAi, OpenAiConfig, Protocol, Recorder,
    Replay, Retries, Secret,
};
#[cfg(feature = "serve")]
use jarvis_server::CallerModel;
use serde_json::{Map, Value};
use url::Url;

use jarvis_workers::TASK_STAGE;

use super::Folders;
use super::experts::secret;
use super::local::{LocalRuntime, PREFIX};
use crate::config::{Config, FallbackConfig, Setting, env_vars};
use crate::failure::Failure;

const OPENAI: &str = "https://api.openai.com/v1";

/// The model name that stands for the best one found.
const AUTO: &str = "auto";
/// The model name that stands for the first language model on this machine.
const LOCAL: &str = "local";

#[derive(Clone)]
pub(crate) struct Chat {
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) endpoint: Option<Arc<OpenAi>>,
    /// Whether it plans, chooses and answers.
    pub(crate) plans: bool,
}

/// What a command sets for its calls on top of the configuration.
#[derive(Default)]
pub(crate) struct Special {
    /// The key, in place of the environment's.
    pub(crate) key: Option<Secret>,
    pub(crate) body: Map<String, Value>,
}

/// Builds the chat model; `None` for `offline`. Afterwards the configuration names the model that `auto` stands for.
pub(super) async fn build(
    config: &mut Config,
    local: Option<&LocalRuntime>,
    record: Option<&Path>,
) -> Result<Option<Chat>, Failure> {
    let others = fallbacks(config, local)?;
    match (local_name(config), local) {
        (None, _) => build_elsewhere(config, record, Special::default(), others).await,
        (Some(name), Some(local)) => build_local(config, &name, local, record, others).map(Some),
        (Some(_), None) => Err(turned_off()),
    }
}

/// The name behind `local/`, empty for `local` alone; nothing where another kind of model is named.
fn local_name(config: &Config) -> Option<String> {
    let name = config.llm.name();
    name.strip_prefix(PREFIX).or((name == LOCAL).then_some("")).map(str::to_owned)
}

fn turned_off() -> Failure {
    Failure::usage("local models are turned off").hint("set `local.enabled: true` in the configuration")
}

/// The models that are asked where the first fails.
fn fallbacks(config: &Config, local: Option<&LocalRuntime>) -> Result<Vec<Arc<dyn ChatModel>>, Failure> {
    let model = |other: &FallbackConfig| -> Result<Arc<dyn ChatModel>, Failure> {
        if let Some(name) = other.model.strip_prefix(PREFIX) {
            return Ok(local.ok_or_else(turned_off)?.named(name)?.0);
        }
        let mut own = config.clone();
        own.llm.model = Some(other.model.clone());
        own.llm.base_url = Some(other.base_url.clone().unwrap_or_else(|| OPENAI.to_owned()));
        own.llm.azure = None;
        own.llm.stages.clear();
        // No other endpoint's key is sent here.
        own.llm.is_keyless = other.api_key_env.is_none();
        own.llm.api_key_env = other.api_key_env.clone();
        own.llm.context_tokens = other.context_tokens.map_or(own.llm.context_tokens, Setting::Set);
        Ok(Arc::new(OpenAi::new(openai(&own, None)?).map_err(unusable)?))
    };
    config.llm.fallback.iter().map(model).collect()
}

fn with_fallbacks(model: Arc<dyn ChatModel>, others: Vec<Arc<dyn ChatModel>>) -> Arc<dyn ChatModel> {
    if others.is_empty() { model } else { Arc::new(Fallback::new(model, others)) }
}

fn build_local(
    config: &mut Config,
    name: &str,
    local: &LocalRuntime,
    record: Option<&Path>,
    others: Vec<Arc<dyn ChatModel>>,
) -> Result<Chat, Failure> {
    let (model, can_plan) = local.named(name)?;
    config.llm.model = Some(model.model_name(TASK_STAGE));
    let plans = config.llm.plans.get().unwrap_or(can_plan);
    Ok(Chat { model: recorded(with_fallbacks(model, others), record)?, endpoint: None, plans })
}

/// Builds the chat model of a command that has its own way with calls; otherwise as [`build`].
pub(crate) async fn build_special(
    config: &mut Config,
    record: Option<&Path>,
    special: Special,
) -> Result<Option<Chat>, Failure> {
    match local_name(config) {
        Some(name) => {
            let local = LocalRuntime::open(config, &Folders::of(config)?)?;
            build_local(config, &name, &local, record, Vec::new()).map(Some)
        }
        None => build_elsewhere(config, record, special, Vec::new()).await,
    }
}

/// The chat model that runs outside this process, or a recording.
async fn build_elsewhere(
    config: &mut Config,
    record: Option<&Path>,
    special: Special,
    others: Vec<Arc<dyn ChatModel>>,
) -> Result<Option<Chat>, Failure> {
    let found = match config.llm.name() {
        // Boxed, since every command holds this future.
        AUTO => Some(Box::pin(find(config, special.key.clone())).await?),
        _ => None,
    };
    let name = config.llm.name();
    let mut endpoint = None;
    let model: Arc<dyn ChatModel> = if config.llm.is_offline() {
        if record.is_some() {
            return Err(Failure::usage("--record needs a chat model").hint("add --llm MODEL"));
        }
        return Ok(None);
    } else if let Some(file) = name.strip_prefix("replay:") {
        Arc::new(Replay::open(file).map_err(unusable)?)
    } else {
        let openai = OpenAiConfig { extra_body: special.body, ..openai(config, special.key)? };
        let is_known = openai.context_tokens.is_some() && openai.vision.is_some();
        let openai = Arc::new(OpenAi::new(openai).map_err(unusable)?);
        match found {
            Some(server) => openai.set_server(server),
            None if !is_known && may_ask(config) => Box::pin(openai.probe()).await,
            None => {}
        }
        endpoint = Some(Arc::clone(&openai));
        openai
    };
    Ok(Some(Chat { model: recorded(with_fallbacks(model, others), record)?, endpoint, plans: true }))
}

fn recorded(model: Arc<dyn ChatModel>, record: Option<&Path>) -> Result<Arc<dyn ChatModel>, Failure> {
    Ok(match record {
        Some(path) => Arc::new(Recorder::open(model, path).map_err(unusable)?),
        None => model,
    })
}

/// Whether the endpoint is asked what it is and what its models can do: OpenAI and Azure do not tell.
pub(crate) fn may_ask(config: &Config) -> bool {
    let base_url = config.llm.base_url.as_ref().filter(|_| config.llm.azure.is_none());
    let host = base_url.and_then(|url| Some(Url::parse(url.trim()).ok()?.host_str()?.to_owned()));
    host.is_some_and(|host| host != "openai.com" && !host.ends_with(".openai.com"))
}

/// Looks for the model that `auto` stands for and puts it into the configuration: at the base URL where one is set, else at the
/// first local server that answers.
async fn find(config: &mut Config, key: Option<Secret>) -> Result<ModelServer, Failure> {
    if config.llm.base_url.is_some() && config.llm.azure.is_none() {
        let openai = OpenAi::new(openai(config, key)?).map_err(unusable)?;
        let server = openai.inspect().await.and_then(|server| match server.best() {
            Some(best) => Ok((best.name.clone(), server)),
            None => Err(NoServer::NoModel(server.kind)),
        });
        let (name, server) = server.map_err(|why| {
            Failure::work(format!("no model can be chosen at {}: {why}", openai.address()))
                .hint("name one with --llm MODEL, or leave --base-url out to look for a local server")
        })?;
        config.llm.model = Some(name);
        return Ok(server);
    }
    let (server, best) = discovery(config)?.first().await.map_err(|misses| not_found(&misses))?;
    config.llm.base_url = Some(server.base_url());
    config.llm.azure = None;
    config.llm.model = Some(best.name);
    config.llm.is_keyless = true;
    Ok(server)
}

/// What looks for local model servers.
pub(crate) fn discovery(config: &Config) -> Result<Discovery, Failure> {
    let discovery = Discovery::new(&config.llm.local_servers)
        .map_err(|error| unusable(error).hint("`llm.local_servers` is a list such as [\"http://127.0.0.1:11434\"]"))?;
    Ok(discovery.timeout(Duration::from_secs(config.llm.probe_timeout_s)))
}

fn not_found(misses: &[(String, NoServer)]) -> Failure {
    if misses.is_empty() {
        return Failure::usage("there is nowhere to look for a local model server: `llm.local_servers` is empty")
            .hint("name addresses there, or a model with --llm MODEL");
    }
    let tried: Vec<String> = misses.iter().map(|(at, why)| format!("{at} ({why})")).collect();
    Failure::work(format!("no local model server with a chat model answers; tried {}", tried.join(", "))).hint(
        "start one, for example `ollama serve` with a model from `ollama pull qwen3:8b`, or `llama-server -m FILE`; \
         or name a model with --llm MODEL and its server with --base-url URL",
    )
}

#[cfg(feature = "serve")]
/// The chat model of a caller who brings an endpoint and a key; the model's name stays the configured one.
pub(super) fn for_caller(
    config: &Config,
    caller: CallerModel,
    server: Option<&ModelServer>,
) -> Result<Arc<dyn ChatModel>, String> {
    if config.llm.is_offline() || config.llm.name().starts_with("replay:") {
        return Err("this server has no model name to use at an endpoint of yours".into());
    }
    let mut config = config.clone();
    let own = caller.endpoint.is_some();
    if let Some(endpoint) = caller.endpoint {
        config.llm.base_url = Some(endpoint.into());
        config.llm.azure = None;
    }
    let mut openai = openai(&config, None).map_err(|failure| failure.error().to_string())?;
    // The server's own key goes to the server's own endpoint only.
    if own || caller.key.is_some() {
        openai.api_key = caller.key;
    }
    let model = OpenAi::new(openai).map_err(|error| error.to_string())?;
    // An endpoint that a caller names is asked for replies and nothing else.
    if let (false, Some(server)) = (own, server) {
        model.set_server(server.clone());
    }
    Ok(Arc::new(model))
}

/// The endpoint of an embeddings model: at `url` where one is given, else where the chat model is; with the same key.
pub(crate) fn embeddings_config(config: &Config, model: &str, url: Option<&str>) -> Result<OpenAiConfig, Failure> {
    let mut config = config.clone();
    config.llm.model = Some(model.to_owned());
    if let Some(url) = url {
        config.llm.is_keyless = false;
        config.llm.base_url = Some(url.to_owned());
        config.llm.azure = None;
    }
    if let Some(azure) = &mut config.llm.azure {
        // At Azure a model is asked by the name of its deployment.
        azure.deployment_name = model.to_owned();
    }
    config.llm.stages.clear();
    config.llm.protocol = "chat".into();
    openai(&config, None)
}

fn unusable(error: ChatError) -> Failure {
    Failure::usage(error)
}

fn openai(config: &Config, key: Option<Secret>) -> Result<OpenAiConfig, Failure> {
    let llm = &config.llm;
    let base_url = match (&llm.azure, &llm.base_url) {
        (Some(azure), _) => azure.base_url.clone(),
        (None, Some(base_url)) => base_url.clone(),
        (None, None) => OPENAI.into(),
    };
    let name = llm.api_key_env.as_deref().unwrap_or(env_vars::OPENAI_API_KEY);
    let api_key = key.or_else(|| secret(&[name])).filter(|_| !llm.is_keyless);
    if api_key.is_none() && llm.base_url.is_none() {
        return Err(Failure::usage(format!("there is no key for the model `{}`: {name} is not set", llm.name()))
            .hint("set it, or use a local server with --base-url URL, or leave --llm out to work without a model"));
    }
    let protocol = match llm.protocol.as_str() {
        "chat" => Protocol::Chat,
        "completion" => Protocol::Completion,
        other => {
            return Err(Failure::usage(format!("`llm.protocol` is `{other}`; it is `chat` or `completion`")));
        }
    };
    Ok(OpenAiConfig {
        api_key,
        stage_models: llm.stages.clone(),
        protocol,
        azure: llm
            .azure
            .as_ref()
            .map(|azure| Azure { deployment: azure.deployment_name.clone(), api_version: azure.api_version.clone() }),
        proxy: config.proxy.clone(),
        connect_timeout: Duration::from_secs(llm.connect_timeout_s),
        timeout: Duration::from_secs(llm.timeout_s),
        retries: Retries { max: llm.max_retries as usize, ..Retries::default() },
        context_tokens: llm.context_tokens.get(),
        vision: llm.vision.get(),
        probe_timeout: Duration::from_secs(llm.probe_timeout_s),
        ..OpenAiConfig::new(base_url, llm.name())
    })
}
