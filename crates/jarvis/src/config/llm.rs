//! Keys of the chat model.

use std::collections::BTreeMap;

use jarvis_chat::LOCAL_SERVERS;
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct LlmConfig {
    /// The chat model: `offline`, a model name, `auto` for the best fitting one of the first local server that answers (see
    /// [below](#local-models)), or `replay:FILE`. Also `--llm`, `JARVIS_LLM`. Default: `offline`.
    pub(crate) model: Option<String>,
    /// Base URL of any OpenAI-compatible endpoint. Also `--base-url`, `OPENAI_BASE_URL`. Default: OpenAI's.
    pub(crate) base_url: Option<String>,
    /// The environment variable that holds the key. With a `base_url` a key is optional. Default: `OPENAI_API_KEY`.
    pub(crate) api_key_env: Option<String>,
    /// `chat`, or `completion` for the legacy protocol.
    pub(crate) protocol: String,
    /// Another model for a stage, such as `parse_task`, `choose_model`, `response_results`, `chitchat`, `task_llm`,
    /// `rewoo_plan` or `react`.
    pub(crate) stages: BTreeMap<String, String>,
    /// Context size in tokens; `auto` asks the endpoint, and else goes by the model's name.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) context_tokens: Setting<usize>,
    /// Whether the model takes pictures: it then answers questions about them itself. `auto` asks the endpoint, and else goes by
    /// the model's name.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) vision: Setting<bool>,
    /// Ask for structured output (a JSON Schema with the tools and their arguments) where a stage answers in JSON. `auto` asks
    /// for it, and no more once the endpoint has refused it; benchmarks ask only where it is `true`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) structured: Setting<bool>,
    /// Whether the model plans, chooses and answers; otherwise the offline planner does, and the model performs the tasks on texts.
    /// For models of this machine (`local/NAME`). `auto` goes by the size of the model: one below 1 GB plans badly.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) plans: Setting<bool>,
    /// Where `auto`, `jarvis doctor` and the hint of a run look for local model servers, in this order; `[]` looks nowhere.
    pub(crate) local_servers: Vec<String>,
    /// Seconds for each question about what a server is and what its models can do.
    pub(crate) probe_timeout_s: u64,
    /// Seconds to connect.
    pub(crate) connect_timeout_s: u64,
    /// Seconds for a whole call.
    pub(crate) timeout_s: u64,
    /// Retries after the first attempt, on 429, 5xx and timeouts; `Retry-After` is honoured.
    pub(crate) max_retries: u32,
    pub(crate) azure: Option<AzureConfig>,
    /// Models that are asked in this order where the one before cannot be reached, is overloaded (after its retries) or broken, or
    /// has too small a context: a list of `{model, base_url, api_key_env, context_tokens}`; `local/NAME` is a model of this
    /// machine. A key is sent only where `api_key_env` names it. Default: none.
    #[cfg_attr(test, serde(skip_serializing), schemars(with = "Vec<String>"))]
    pub(crate) fallback: Vec<FallbackConfig>,
    /// The endpoint was found and not configured, so no key is meant for it.
    #[serde(skip)]
    pub(crate) is_keyless: bool,
}

impl Default for LlmConfig {
    fn default() -> LlmConfig {
        LlmConfig {
            model: None,
            base_url: None,
            api_key_env: None,
            protocol: "chat".into(),
            stages: BTreeMap::new(),
            context_tokens: Setting::auto(),
            vision: Setting::auto(),
            structured: Setting::auto(),
            plans: Setting::auto(),
            local_servers: LOCAL_SERVERS.map(Into::into).to_vec(),
            probe_timeout_s: 1,
            connect_timeout_s: 10,
            timeout_s: 120,
            max_retries: 2,
            azure: None,
            fallback: Vec::new(),
            is_keyless: false,
        }
    }
}

impl LlmConfig {
    /// The chat model as it is named; `offline` without one.
    pub(crate) fn name(&self) -> &str {
        match self.model.as_deref().unwrap_or_default().trim() {
            "" => OFFLINE,
            name => name,
        }
    }

    pub(crate) fn is_offline(&self) -> bool {
        self.name() == OFFLINE
    }
}

const OFFLINE: &str = "offline";

/// A value, or `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(untagged, expecting = "expected `auto` or a value")]
pub(crate) enum Setting<T> {
    Auto(Auto),
    Set(T),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Auto {
    Auto,
}

impl<T> Setting<T> {
    fn auto() -> Setting<T> {
        Setting::Auto(Auto::Auto)
    }

    pub(crate) fn get(self) -> Option<T> {
        match self {
            Setting::Auto(Auto::Auto) => None,
            Setting::Set(value) => Some(value),
        }
    }
}

/// A model that is asked where another fails.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FallbackConfig {
    pub(crate) model: String,
    #[serde(default)]
    pub(crate) base_url: Option<String>,
    #[serde(default)]
    pub(crate) api_key_env: Option<String>,
    #[serde(default)]
    pub(crate) context_tokens: Option<usize>,
}

/// Azure OpenAI, which names deployments in the URL.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
pub(crate) struct AzureConfig {
    /// Base URL of the Azure OpenAI resource, used in place of `llm.base_url`.
    pub(crate) base_url: String,
    /// Its deployment.
    pub(crate) deployment_name: String,
    /// Version of the Azure API.
    #[serde(default = "azure_version")]
    pub(crate) api_version: String,
}

fn azure_version() -> String {
    "2024-10-21".into()
}

/// Bias on the words of a reply's format.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct BiasConfig {
    /// Bias on the words of the reply's format when planning; 0 sends none. Nudges older models towards well-formed
    /// replies. Dropped when the endpoint refuses it, and never sent when the tokenizer is not known.
    pub(crate) parse_task: f32,
    /// Likewise when choosing a model.
    pub(crate) choose_model: f32,
}

impl Default for BiasConfig {
    fn default() -> BiasConfig {
        BiasConfig { parse_task: 0.1, choose_model: 5.0 }
    }
}
