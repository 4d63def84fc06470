//! Keys of the chat model.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct LlmConfig {
    /// The chat model: `offline`, a model name, or `replay:FILE`. Also `--llm`, `JARVIS_LLM`.
    pub(crate) model: String,
    /// Base URL of any OpenAI-compatible endpoint. Also `--base-url`, `OPENAI_BASE_URL`. Default: OpenAI's.
    pub(crate) base_url: Option<String>,
    /// The environment variable that holds the key. With a `base_url` a key is optional. Default: `OPENAI_API_KEY`.
    pub(crate) api_key_env: Option<String>,
    /// `chat`, or `completion` for the legacy protocol.
    pub(crate) protocol: String,
    /// Another model for a stage, such as `parse_task`, `choose_model`, `response_results`, `chitchat`, `task_llm`,
    /// `rewoo_plan` or `react`.
    pub(crate) stages: BTreeMap<String, String>,
    /// Context size in tokens, for models jarvis does not know. Default: by model.
    pub(crate) context_tokens: Option<usize>,
    /// Whether the model takes pictures: it then answers questions about them itself.
    pub(crate) vision: bool,
    /// Ask for structured output (JSON Schema) where a stage answers in JSON.
    pub(crate) structured: bool,
    /// Seconds to connect.
    pub(crate) connect_timeout_s: u64,
    /// Seconds for a whole call.
    pub(crate) timeout_s: u64,
    /// Retries after the first attempt, on 429, 5xx and timeouts; `Retry-After` is honoured.
    pub(crate) max_retries: u32,
    pub(crate) azure: Option<AzureConfig>,
}

impl Default for LlmConfig {
    fn default() -> LlmConfig {
        LlmConfig {
            model: "offline".into(),
            base_url: None,
            api_key_env: None,
            protocol: "chat".into(),
            stages: BTreeMap::new(),
            context_tokens: None,
            vision: false,
            structured: false,
            connect_timeout_s: 10,
            timeout_s: 120,
            max_retries: 2,
            azure: None,
        }
    }
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
