//! The top level of the configuration. Defaults are in these types and nowhere else, and the table of keys in
//! `docs/configuration.md` is generated from them: a field's comment is its entry, see `reference.rs`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jarvis_catalogue::{Deployment, InferenceMode};
use jarvis_pipeline::approval::Approve;
use jarvis_tools::config::{McpEntry, ToolEntry};
use serde::Deserialize;

use super::agent::ReactConfig;
use super::budget::{BudgetConfig, PricesConfig};
use super::decisions::{ChooseConfig, DecisionsConfig, PlanningConfig};
use super::experts::{HuggingFaceConfig, LocalConfig, LocalEndpoint, MediaConfig};
use super::limits::{LimitsConfig, UrlConfig};
use super::llm::{BiasConfig, LlmConfig};
use super::media_store::MediaStoreConfig;
use super::runs::{RetentionConfig, RunsConfig};
#[cfg(feature = "serve")]
use super::server::{GrpcConfig, ServerConfig};
#[cfg(not(feature = "serve"))]
use serde_json::{Value as GrpcConfig, Value as ServerConfig};

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct Config {
    pub(crate) llm: LlmConfig,
    pub(crate) planning: PlanningConfig,
    pub(crate) choose: ChooseConfig,
    pub(crate) budget: BudgetConfig,
    pub(crate) runs: RunsConfig,
    /// Files that are sent and made, when nothing speaks of them any more.
    pub(crate) kept_media: RetentionConfig,
    /// Request logs, prompt logs and the trace of the agent.
    pub(crate) kept_logs: RetentionConfig,
    pub(crate) prices: PricesConfig,
    pub(crate) decisions: DecisionsConfig,
    pub(crate) logit_bias: BiasConfig,
    /// Where expert models may run: `local`, `huggingface`, `hybrid`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) inference_mode: InferenceMode,
    /// What the model server has loaded: `minimal`, `standard`, `full`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) local_deployment: Deployment,
    /// The model server: a URL such as `http://localhost:8005`, or a mapping of the keys below.
    pub(crate) local_inference_endpoint: Option<LocalEndpoint>,
    pub(crate) local: LocalConfig,
    pub(crate) huggingface: HuggingFaceConfig,
    pub(crate) media: Option<MediaConfig>,
    /// A catalogue file, one model per line, as `jarvis models refresh --out FILE` and the original's `p0_models.jsonl`
    /// have it. Default: built in.
    pub(crate) catalogue: Option<PathBuf>,
    /// Number of available models shown to the model that chooses.
    pub(crate) num_candidate_models: usize,
    /// Characters of a model's description shown to the model that chooses.
    pub(crate) max_description_length: usize,
    /// A proxy for calls to models. Addresses on this machine are called directly. Default: from the environment.
    pub(crate) proxy: Option<String>,
    /// System text of a stage, or the name of a `.json` file with `template_array`, `content_array`, `template` or
    /// `content`. Stages: `parse_task`, `choose_model`, `response_results`, `chitchat`, `task_llm`, and of decisions
    /// `map_task`, `pipeline_parse`, `pipeline_choose`, `pipeline_unified`. The list of tasks replaces `{{tasks}}` or
    /// `[TASKS_LIST_WILL_BE_REPLACED_DYNAMICALLY]`, and is appended when neither is there. Default: built in.
    pub(crate) tprompt: BTreeMap<String, String>,
    /// User template of a stage with `{{name}}` slots, or the name of a file as for `tprompt`. Default: built in.
    pub(crate) prompt: BTreeMap<String, String>,
    /// JSON file with the example messages of a stage. Default: built in.
    pub(crate) demos_or_presteps: BTreeMap<String, PathBuf>,
    pub(crate) http_listen: Option<ListenConfig>,
    pub(crate) grpc: GrpcConfig,
    pub(crate) react: ReactConfig,
    pub(crate) output: OutputConfig,
    /// Tools beyond the built-in ones, and built-in ones for plans: see [tools.md](tools.md). Default: none.
    #[cfg_attr(test, serde(skip_serializing), schemars(with = "Vec<String>"))]
    pub(crate) tools: Vec<ToolEntry>,
    /// An MCP server whose tools are used: see [tools.md](tools.md). Default: none.
    #[cfg_attr(test, serde(skip_serializing), schemars(with = "BTreeMap<String, String>"))]
    pub(crate) mcp_servers: BTreeMap<String, McpEntry>,
    /// Which calls of tools wait for leave: `writes` (those that change something), `destroys` (those that remove something)
    /// or `never`.
    #[cfg_attr(test, serde(skip_serializing), schemars(with = "String", default = "writes"))]
    pub(crate) approve: Approve,
    /// Tools that need no leave, by name or by patterns such as `shop/*`. Also `--approve`.
    pub(crate) approved: Vec<String>,
    pub(crate) server: ServerConfig,
    pub(crate) limits: LimitsConfig,
    pub(crate) urls: UrlConfig,
    /// Folder of media, journal and logs, `DATA` on this page. Also `--data-dir`. Default: the platform's data folder.
    pub(crate) data_dir: Option<PathBuf>,
    /// The public root. Default: `DATA/public`.
    pub(crate) public_dir: Option<PathBuf>,
    pub(crate) media_store: Option<MediaStoreConfig>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            llm: LlmConfig::default(),
            planning: PlanningConfig::default(),
            choose: ChooseConfig::default(),
            budget: BudgetConfig::default(),
            runs: RunsConfig::default(),
            kept_media: RetentionConfig::default(),
            kept_logs: RetentionConfig::default(),
            prices: PricesConfig::default(),
            decisions: DecisionsConfig::default(),
            logit_bias: BiasConfig::default(),
            inference_mode: InferenceMode::Hybrid,
            local_deployment: Deployment::Full,
            local_inference_endpoint: None,
            local: LocalConfig::default(),
            huggingface: HuggingFaceConfig::default(),
            media: None,
            catalogue: None,
            num_candidate_models: 5,
            max_description_length: 100,
            proxy: None,
            tprompt: BTreeMap::new(),
            prompt: BTreeMap::new(),
            demos_or_presteps: BTreeMap::new(),
            http_listen: None,
            grpc: GrpcConfig::default(),
            react: ReactConfig::default(),
            output: OutputConfig::default(),
            tools: Vec::new(),
            mcp_servers: BTreeMap::new(),
            approve: Approve::default(),
            approved: Vec::new(),
            server: ServerConfig::default(),
            limits: LimitsConfig::default(),
            urls: UrlConfig::default(),
            data_dir: None,
            public_dir: None,
            media_store: None,
        }
    }
}

/// What becomes of the files that are made.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct OutputConfig {
    /// The folder in which the files that `run` and `chat` make are found, by names such as `photo-edges.png`. Also `--out`.
    /// Default: `DATA/results`.
    pub(crate) dir: Option<PathBuf>,
}

/// Where the server listens.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
pub(crate) struct ListenConfig {
    /// Address on which `jarvis serve` listens, or `localhost`. Also `--http`.
    #[serde(default = "this_machine")]
    pub(crate) host: String,
    /// Its port. Also `--http`.
    #[serde(default = "http_port")]
    pub(crate) port: u16,
}

fn this_machine() -> String {
    "127.0.0.1".into()
}

fn http_port() -> u16 {
    8004
}
