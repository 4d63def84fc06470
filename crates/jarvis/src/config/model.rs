//! The configuration as types. `docs/configuration.md` explains the keys; defaults are here and nowhere else.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jarvis_net::http::is_loopback;
use serde::Deserialize;
use url::Url;

use jarvis_catalogue::{Deployment, InferenceMode};
use jarvis_hugginggpt::decisions::{Format, Method};
use jarvis_tools::config::{McpEntry, ToolEntry};

use super::agent::ReactConfig;
#[cfg(feature = "serve")]
use super::server::{GrpcConfig, ServerConfig};
#[cfg(not(feature = "serve"))]
use serde_json::{Value as GrpcConfig, Value as ServerConfig};

/// The whole configuration.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct Config {
    /// The chat model.
    pub(crate) llm: LlmConfig,
    /// Hugging Face.
    pub(crate) huggingface: HuggingFaceConfig,
    /// The model server; none unless set.
    pub(crate) local_inference_endpoint: Option<LocalEndpoint>,
    /// An OpenAI-compatible endpoint for pictures and sound; none unless set.
    pub(crate) media: Option<MediaConfig>,
    /// Where expert models may run.
    pub(crate) inference_mode: InferenceMode,
    /// What the model server has loaded.
    pub(crate) local_deployment: Deployment,
    /// A catalogue file in the format of the original's `p0_models.jsonl`.
    pub(crate) catalogue: Option<PathBuf>,
    /// How many available models the choosing model sees.
    pub(crate) num_candidate_models: usize,
    /// Characters of a description it sees.
    pub(crate) max_description_length: usize,
    /// A proxy for calls to models; those of the environment are used when it is not set. This machine is called directly.
    pub(crate) proxy: Option<String>,
    /// Stage 1.
    pub(crate) planning: PlanningConfig,
    /// Decisions: plans with models, without execution.
    pub(crate) decisions: DecisionsConfig,
    /// Bias on format words.
    pub(crate) logit_bias: BiasConfig,
    /// System text of a stage, by stage: the text, or the name of a JSON file that holds it.
    pub(crate) tprompt: BTreeMap<String, String>,
    /// User template of a stage, by stage, likewise.
    pub(crate) prompt: BTreeMap<String, String>,
    /// File with the example messages of a stage, by stage.
    pub(crate) demos_or_presteps: BTreeMap<String, PathBuf>,
    /// Sizes and times.
    pub(crate) limits: LimitsConfig,
    /// Which web addresses may be fetched.
    pub(crate) urls: UrlConfig,
    /// Tools: built-in ones for plans, methods of gRPC services, operations of HTTP APIs.
    pub(crate) tools: Vec<ToolEntry>,
    /// MCP servers whose tools are used, by name.
    pub(crate) mcp_servers: BTreeMap<String, McpEntry>,
    /// The document agent.
    pub(crate) react: ReactConfig,
    /// The gRPC service.
    pub(crate) grpc: GrpcConfig,
    /// The server.
    pub(crate) server: ServerConfig,
    /// Where the server listens, under the original's key.
    pub(crate) http_listen: Option<ListenConfig>,
    /// Where everything jarvis keeps is; the platform's data folder unless set.
    pub(crate) data_dir: Option<PathBuf>,
    /// The public root; `public` in the data folder unless set.
    pub(crate) public_dir: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            llm: LlmConfig::default(),
            huggingface: HuggingFaceConfig::default(),
            local_inference_endpoint: None,
            media: None,
            inference_mode: InferenceMode::Hybrid,
            local_deployment: Deployment::Full,
            catalogue: None,
            num_candidate_models: 5,
            max_description_length: 100,
            proxy: None,
            planning: PlanningConfig::default(),
            decisions: DecisionsConfig::default(),
            logit_bias: BiasConfig::default(),
            tprompt: BTreeMap::new(),
            prompt: BTreeMap::new(),
            demos_or_presteps: BTreeMap::new(),
            limits: LimitsConfig::default(),
            urls: UrlConfig::default(),
            tools: Vec::new(),
            mcp_servers: BTreeMap::new(),
            react: ReactConfig::default(),
            grpc: GrpcConfig::default(),
            server: ServerConfig::default(),
            http_listen: None,
            data_dir: None,
            public_dir: None,
        }
    }
}

/// The chat model.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct LlmConfig {
    /// `offline`, a model name, or `replay:FILE`.
    pub(crate) model: String,
    /// The endpoint's base URL; OpenAI's unless set.
    pub(crate) base_url: Option<String>,
    /// The environment variable that holds the key.
    pub(crate) api_key_env: Option<String>,
    /// `chat` or `completion` (the legacy protocol).
    pub(crate) protocol: String,
    /// Model per stage, by stage.
    pub(crate) stages: BTreeMap<String, String>,
    /// The context size in tokens, when it is not known for the model.
    pub(crate) context_tokens: Option<usize>,
    /// Whether the model takes pictures.
    pub(crate) vision: bool,
    /// Whether to ask for structured output where a stage answers in JSON.
    pub(crate) structured: bool,
    /// Seconds to connect.
    pub(crate) connect_timeout_s: u64,
    /// Seconds for a whole call.
    pub(crate) timeout_s: u64,
    /// Tries after the first.
    pub(crate) max_retries: u32,
    /// Azure OpenAI.
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
pub(crate) struct AzureConfig {
    /// The resource's base URL.
    pub(crate) base_url: String,
    /// The deployment.
    pub(crate) deployment_name: String,
    /// The API version.
    #[serde(default = "azure_version")]
    pub(crate) api_version: String,
}

fn azure_version() -> String {
    "2024-10-21".into()
}

/// Hugging Face.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct HuggingFaceConfig {
    /// The environment variable that holds the token.
    pub(crate) token_env: Option<String>,
    /// Base URL of inference calls.
    pub(crate) base_url: Option<String>,
    /// Base URL of the Hub.
    pub(crate) hub_url: Option<String>,
    /// How availability is asked for.
    pub(crate) status: StatusApi,
    /// Use Hugging Face without a token, as self-hosted servers of its protocol allow.
    pub(crate) anonymous: bool,
    /// The providers that may serve a model.
    pub(crate) providers: Vec<String>,
    /// Whether a provider in state `staging` counts too.
    pub(crate) staging: bool,
}

impl Default for HuggingFaceConfig {
    fn default() -> HuggingFaceConfig {
        HuggingFaceConfig {
            token_env: None,
            base_url: None,
            hub_url: None,
            status: StatusApi::Hub,
            anonymous: false,
            providers: vec!["hf-inference".into()],
            staging: false,
        }
    }
}

/// How the availability of a Hub model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StatusApi {
    /// The Hub's model API.
    Hub,
    /// `GET {base}/status/{id}`, as self-hosted servers answer it.
    Legacy,
}

/// The model server, as an address or as the original's host and port.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum LocalEndpoint {
    /// `http://host:port`.
    Url(String),
    /// The original's two keys, and ours.
    HostPort {
        /// Host.
        host: String,
        /// Port.
        port: u16,
        /// Whether the server sees the same public folder; unless set, one on this machine does.
        #[serde(default)]
        shared_folder: Option<bool>,
    },
}

impl LocalEndpoint {
    /// The base URL.
    pub(crate) fn url(&self) -> String {
        match self {
            LocalEndpoint::Url(url) => url.clone(),
            LocalEndpoint::HostPort { host, port, .. } => format!("http://{host}:{port}"),
        }
    }
}

impl LocalEndpoint {
    /// Whether media are shared as files rather than sent.
    pub(crate) fn shares_folder(&self) -> bool {
        let configured = match self {
            LocalEndpoint::Url(_) => None,
            LocalEndpoint::HostPort { shared_folder, .. } => *shared_folder,
        };
        let here = || Url::parse(&self.url()).is_ok_and(|url| is_loopback(&url));
        configured.unwrap_or_else(here)
    }
}

/// An OpenAI-compatible endpoint for pictures and sound. Only the tasks that have a model are sent there.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct MediaConfig {
    /// Base URL, such as `https://api.openai.com/v1`.
    pub(crate) base_url: String,
    /// The environment variable that holds the key.
    #[serde(default)]
    pub(crate) api_key_env: Option<String>,
    /// The model for `text-to-image`.
    #[serde(default)]
    pub(crate) image_model: Option<String>,
    /// The size of pictures, such as `1024x1024`.
    #[serde(default)]
    pub(crate) image_size: Option<String>,
    /// The model for `text-to-speech`.
    #[serde(default)]
    pub(crate) speech_model: Option<String>,
    /// The voice for speech.
    #[serde(default)]
    pub(crate) voice: Option<String>,
    /// The model for `automatic-speech-recognition`.
    #[serde(default)]
    pub(crate) transcription_model: Option<String>,
}

/// Stage 1.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct PlanningConfig {
    /// Ask once more, quoting the error, when a reply cannot be read.
    pub(crate) reask: bool,
    /// The most tasks of a plan.
    pub(crate) max_tasks: usize,
    /// Tokens left free for replies.
    pub(crate) reserve_tokens: usize,
}

impl Default for PlanningConfig {
    fn default() -> PlanningConfig {
        PlanningConfig { reask: true, max_tasks: 32, reserve_tokens: 800 }
    }
}

/// Decisions: plans with a model for each task, without execution.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct DecisionsConfig {
    /// Base URL of a model catalogue service; the catalogue of this machine is used unless set.
    pub(crate) model_api_base_url: Option<String>,
    /// The variable that holds the service's key; none is sent unless set.
    pub(crate) model_api_key_env: Option<String>,
    /// Seconds for which the service's answers are kept.
    pub(crate) cache_ttl_s: u64,
    /// A file of example pipelines; those of the service are used unless set.
    pub(crate) examples: Option<PathBuf>,
    /// A file that numbers their categories; they are numbered in their order unless set.
    pub(crate) example_categories: Option<PathBuf>,
    /// Save each plan.
    pub(crate) save_plan: bool,
    /// Where plans are saved; `execution_configs` in the data folder unless set.
    pub(crate) plan_dir: Option<PathBuf>,
    /// How many saved plans are kept; 0 keeps all.
    pub(crate) plan_keep: usize,
    /// Write down every prompt.
    pub(crate) save_prompts: bool,
    /// Where prompts are written down; `prompt_logs` in the data folder unless set.
    pub(crate) prompt_log_dir: Option<PathBuf>,
    /// Ask which known task an unknown task name means.
    pub(crate) semantic_mapping: bool,
    /// Replace references to pictures by the original picture; for a catalogue service only unless set.
    pub(crate) replace_generated_images: Option<bool>,
    /// Describe the plan in words.
    pub(crate) describe: bool,
    /// Choices at once.
    pub(crate) concurrency: usize,
    /// Seconds for a decision.
    pub(crate) timeout_s: u64,
    /// Errors over HTTP as the original gave them: status 500 and a plain string.
    pub(crate) compat_errors: bool,
    /// How the pipeline form asks: `separate`, or `unified` for one call.
    pub(crate) method: Method,
    /// How decisions over HTTP are written unless the request says: `config`, `pipeline`.
    pub(crate) format: Format,
    /// Ask for a reason even where there is one model only.
    pub(crate) explain_single: bool,
    /// The tasks that the chat model serves itself; the usual five unless set.
    pub(crate) llm_served_tasks: Option<Vec<String>>,
}

impl Default for DecisionsConfig {
    fn default() -> DecisionsConfig {
        DecisionsConfig {
            model_api_base_url: None,
            model_api_key_env: None,
            cache_ttl_s: 300,
            examples: None,
            example_categories: None,
            save_plan: true,
            plan_dir: None,
            plan_keep: 1_000,
            save_prompts: false,
            prompt_log_dir: None,
            semantic_mapping: true,
            replace_generated_images: None,
            describe: false,
            concurrency: 8,
            timeout_s: 180,
            compat_errors: false,
            method: Method::Separate,
            format: Format::Config,
            explain_single: false,
            llm_served_tasks: None,
        }
    }
}

/// Bias on the words of a stage's format; 0 sends none.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct BiasConfig {
    /// Stage 1.
    pub(crate) parse_task: f32,
    /// Stage 2.
    pub(crate) choose_model: f32,
}

impl Default for BiasConfig {
    fn default() -> BiasConfig {
        BiasConfig { parse_task: 0.1, choose_model: 5.0 }
    }
}

/// Sizes and times.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct LimitsConfig {
    /// Tasks at once.
    pub(crate) concurrency: usize,
    /// Seconds for one task, all its attempts together.
    pub(crate) task_timeout_s: u64,
    /// Seconds for a run.
    pub(crate) run_timeout_s: u64,
    /// Models tried after the first choice.
    pub(crate) max_fallbacks: usize,
    /// Bytes of one input.
    pub(crate) max_input_bytes: u64,
    /// Pixels of one picture.
    pub(crate) max_pixels: u64,
    /// Seconds to fetch one input.
    pub(crate) fetch_timeout_s: u64,
    /// Seconds for one call of an expert model; each worker's own default unless set.
    pub(crate) model_timeout_s: Option<u64>,
    /// Seconds to wait for a model at Hugging Face that is being loaded.
    pub(crate) model_wait_s: Option<u64>,
    /// Seconds for one question whether a model is available.
    pub(crate) probe_timeout_s: u64,
    /// Seconds for all such questions of a choice.
    pub(crate) probe_total_s: u64,
    /// Seconds for which "available" holds.
    pub(crate) probe_keep_s: u64,
    /// Seconds for which "not available" holds.
    pub(crate) probe_keep_failed_s: u64,
}

impl Default for LimitsConfig {
    fn default() -> LimitsConfig {
        LimitsConfig {
            concurrency: 8,
            task_timeout_s: 180,
            run_timeout_s: 600,
            max_fallbacks: 2,
            max_input_bytes: 64 << 20,
            max_pixels: 120_000_000,
            fetch_timeout_s: 60,
            model_timeout_s: None,
            model_wait_s: None,
            probe_timeout_s: 5,
            probe_total_s: 8,
            probe_keep_s: 60,
            probe_keep_failed_s: 15,
        }
    }
}

/// Which web addresses may be fetched.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct UrlConfig {
    /// Private, loopback and link-local hosts too.
    pub(crate) allow_private: bool,
    /// Hosts that may be fetched from even though they are private.
    pub(crate) allow_hosts: Vec<String>,
}

/// Where the server listens.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ListenConfig {
    /// An address, or `localhost`.
    #[serde(default = "this_machine")]
    pub(crate) host: String,
    /// A port.
    #[serde(default = "http_port")]
    pub(crate) port: u16,
}

fn this_machine() -> String {
    "127.0.0.1".into()
}

fn http_port() -> u16 {
    8004
}
