//! What a server is made of: what stays while it serves, and what the configuration of models and tools makes, which may be taken anew.

use std::sync::Arc;

use futures::future::BoxFuture;
use jarvis_chat::ChatModel;
use jarvis_engine::{Events, Meter};
use jarvis_hugginggpt::HuggingGpt;
use jarvis_hugginggpt::decisions::{Decisions, Format};
use jarvis_net::Secret;
use jarvis_pipeline::{Pipeline, RunContext};
use jarvis_react::Agent;
use jarvis_store::{Journal, Media};
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use url::Url;
use utoipa::ToSchema;

use crate::audit::Audit;
use crate::desk::Desk;
use crate::elsewhere::Elsewhere;
use crate::metrics::MetricsSink;
use crate::offered::{ChatModels, ListTools};
use crate::pulls::ModelStore;
use crate::reload::Reload;
use crate::served::ServedModels;

/// What stays while a server serves.
#[derive(Clone)]
pub struct Parts {
    /// Where calls wait for leave; the gate of the pipelines asks there.
    pub desk: Desk,
    pub media: Arc<Media>,
    /// The journal; without one, runs are forgotten when they end.
    pub journal: Option<Arc<Journal>>,
    /// Where runs are carried out that other servers tell of too; only this process where there is none.
    /// It does not know whose a run is: not beside several users.
    pub elsewhere: Option<Arc<dyn Elsewhere>>,
    pub kept: Kept,
    /// Where it is written down who allowed what, and who administered; nowhere where there is none.
    pub audit: Option<Audit>,
    /// Removes logs that have been kept for long enough. Blocks.
    pub prune_logs: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Reads the configuration anew; never where there is none.
    pub reload: Option<Reload>,
    /// Told of everything that the server counts, beside `/metrics`.
    pub metrics_sink: Option<Arc<dyn MetricsSink>>,
}

/// What the configuration of models and tools makes. Runs that go on keep what they began with.
#[derive(Clone)]
pub struct Setup {
    pub pipeline: Arc<HuggingGpt>,
    /// Every pipeline that callers may choose by name; the first is the default.
    pub pipelines: Vec<Named>,
    pub context: MakeContext,
    pub agent: Arc<Agent>,
    /// What model calls cost and what a run may take.
    pub meter: Meter,
    /// Whether a tool takes these arguments; the error says what it takes.
    pub check: CheckCall,
    /// Decides, with the configured catalogue.
    pub decisions: Decisions,
    /// Decides with the catalogue of this machine, whatever is configured.
    pub local_decisions: Decisions,
    /// The models of this machine, which callers may use on their own.
    pub models: Arc<dyn ServedModels>,
    /// What is kept of them and how more come; none where this build runs no models.
    pub store: Option<Arc<dyn ModelStore>>,
    /// How decisions are written unless the caller says.
    pub format: Format,
    /// Makes the pipeline of a caller who brings a chat endpoint and key of their own.
    pub for_caller: Arc<dyn Fn(CallerModel) -> Result<Arc<HuggingGpt>, String> + Send + Sync>,
    /// Looks whether what the pipeline needs can be reached.
    pub checks: Arc<dyn Fn() -> BoxFuture<'static, Vec<Check>> + Send + Sync>,
    /// Where each kind of work may send what it is given.
    pub reach: Vec<Reach>,
    /// The chat models that a request may name.
    pub chat_models: Arc<dyn ChatModels>,
    /// A model that callers may have asked, and that has no price: then no bound of cost can be kept.
    pub unpriced: Option<String>,
    pub tools: ListTools,
    /// What is wrong with the tools: left out, unreachable, changed since their approval.
    pub warnings: Vec<String>,
}

/// A pipeline that callers may choose by name.
#[derive(Clone)]
pub struct Named {
    pub name: &'static str,
    /// Whether it works with a chat model only.
    pub needs_model: bool,
    /// Makes it beside the HuggingGPT pipeline of the server, or of a caller with a model of their own.
    pub make: MakePipeline,
}

/// Makes a pipeline beside a configured HuggingGPT pipeline.
pub type MakePipeline = Arc<dyn Fn(&Arc<HuggingGpt>) -> Result<Arc<dyn Pipeline>, String> + Send + Sync>;

/// Makes the context of a run: with this chat model or without one, for these events, until it is cancelled.
pub type MakeContext = Arc<dyn Fn(Option<Arc<dyn ChatModel>>, &Events, CancellationToken) -> RunContext + Send + Sync>;

/// Whether a tool takes these arguments.
pub type CheckCall = Arc<dyn Fn(&str, &serde_json::Value) -> Result<(), String> + Send + Sync>;

/// A chat endpoint and key that a caller brings.
#[derive(Debug, Clone)]
pub struct CallerModel {
    /// The endpoint's base URL; the configured one when the caller names none.
    pub endpoint: Option<Url>,
    pub key: Option<Secret>,
}

/// Where a kind of work may send what it is given, as configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Reach {
    /// A stage (`planning`, `choosing`, `answering`), `inputs`, `decisions`, a task type, or a tool.
    #[schema(example = "summarization")]
    pub kind: String,
    /// `this machine`, `your network`, the name of a public host, `program NAME` for a program of the configuration that may
    /// connect anywhere, or `hosts that the request names`.
    #[schema(example = json!(["api.openai.com"]))]
    pub hosts: Vec<String>,
}

/// What the server keeps of requests until somebody deletes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct Kept {
    /// Whether requests, answers and events are kept in the run journal.
    pub journal: bool,
    /// Whether requests and replies are kept in request logs; prompts of decisions and the trace of an agent, where they are
    /// configured, are beside them.
    pub logs: bool,
    /// Whether files that are sent and made are kept.
    pub files: bool,
    /// Whether chats are kept; otherwise the page keeps them in its browser.
    pub chats: bool,
    /// How many plans are kept; the oldest go first.
    pub plans: usize,
    /// `deleted`: nothing but plans is removed by itself.
    pub until: &'static str,
    /// The folder, for callers that are logged in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Each thing that is kept, where, and until when.
    pub items: Vec<KeptItem>,
}

/// One thing that the server keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct KeptItem {
    /// `runs`, `chats`, `media`, `plans`, `logs`, `traces`, `prompts`, `audit` or `approvals`.
    #[schema(example = "runs")]
    pub what: &'static str,
    #[serde(rename = "where")]
    #[schema(example = "run journal on this machine")]
    pub place: String,
    #[schema(example = "30 days after it ended")]
    pub until: String,
    /// The folder or file, which is told to callers that are logged in.
    #[serde(skip)]
    pub folder: Option<String>,
}

/// Whether one thing that the pipeline needs works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Check {
    #[schema(example = "chat model")]
    pub name: String,
    pub ok: bool,
    /// What was found, for callers that are logged in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}
