//! The chat model that the configuration names, or none.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jarvis_chat::{Azure, ChatError, ChatModel, OpenAi, OpenAiConfig, Protocol, Recorder, Replay, Retries, Secret};
#[cfg(feature = "serve")]
use jarvis_server::CallerModel;
use serde_json::{Map, Value};

use super::experts::secret;
use crate::config::{Config, env_vars};
use crate::failure::Failure;

const OPENAI: &str = "https://api.openai.com/v1";

#[derive(Clone)]
pub(crate) struct Chat {
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) endpoint: Option<Arc<OpenAi>>,
}

/// What a command sets for its calls on top of the configuration.
#[derive(Default)]
pub(crate) struct Special {
    /// The key, in place of the environment's.
    pub(crate) key: Option<Secret>,
    pub(crate) body: Map<String, Value>,
}

/// Builds the chat model; `None` for `offline`.
pub(super) fn build(config: &Config, record: Option<&Path>) -> Result<Option<Chat>, Failure> {
    build_special(config, record, Special::default())
}

/// Builds the chat model of a command that has its own way with calls; `None` for `offline`.
pub(crate) fn build_special(config: &Config, record: Option<&Path>, special: Special) -> Result<Option<Chat>, Failure> {
    let name = config.llm.model.trim();
    let mut endpoint = None;
    let model: Arc<dyn ChatModel> = if name.is_empty() || name == "offline" {
        if record.is_some() {
            return Err(Failure::usage("--record needs a chat model").hint("add --llm MODEL"));
        }
        return Ok(None);
    } else if let Some(file) = name.strip_prefix("replay:") {
        Arc::new(Replay::open(file).map_err(unusable)?)
    } else {
        let openai = OpenAiConfig { extra_body: special.body, ..openai(config, special.key)? };
        let openai = Arc::new(OpenAi::new(openai).map_err(unusable)?);
        endpoint = Some(Arc::clone(&openai));
        openai
    };
    let model = match record {
        Some(path) => Arc::new(Recorder::open(model, path).map_err(unusable)?),
        None => model,
    };
    Ok(Some(Chat { model, endpoint }))
}

#[cfg(feature = "serve")]
/// The chat model of a caller who brings an endpoint and a key; the model's name stays the configured one.
pub(super) fn for_caller(config: &Config, caller: CallerModel) -> Result<Arc<dyn ChatModel>, String> {
    let name = config.llm.model.trim();
    if name.is_empty() || name == "offline" || name.starts_with("replay:") {
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
    OpenAi::new(openai).map(|model| Arc::new(model) as Arc<dyn ChatModel>).map_err(|error| error.to_string())
}

/// The endpoint of an embeddings model: at `url` where one is given, else where the chat model is; with the same key.
pub(crate) fn embeddings_config(config: &Config, model: &str, url: Option<&str>) -> Result<OpenAiConfig, Failure> {
    let mut config = config.clone();
    config.llm.model = model.to_owned();
    if let Some(url) = url {
        config.llm.base_url = Some(url.to_owned());
        config.llm.azure = None;
    }
    if let Some(azure) = &mut config.llm.azure {
        // At Azure a model is asked by the name of its deployment.
        azure.deployment_name = model.to_owned();
    }
    config.llm.stages.clear();
    config.llm.protocol = "chat".into();
    openai(&config, None).map_err(|failure| {
        failure.hint(
            "set it, or name a local server with --embeddings-url URL, or use --embedder bm25, which needs no model",
        )
    })
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
    let api_key = key.or_else(|| secret(&[name]));
    if api_key.is_none() && llm.base_url.is_none() {
        return Err(Failure::usage(format!("there is no key for the model `{}`: {name} is not set", llm.model))
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
        context_tokens: llm.context_tokens,
        vision: llm.vision,
        ..OpenAiConfig::new(base_url, llm.model.trim())
    })
}
