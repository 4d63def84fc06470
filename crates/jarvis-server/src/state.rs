//! What every route can reach: the pipeline, the folders, the runs and the settings.

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use axum::http::HeaderMap;
use futures::future::BoxFuture;
use jarvis_chat::ChatModel;
use jarvis_engine::Events;
use jarvis_engine::Meter;
use jarvis_hugginggpt::HuggingGpt;
use jarvis_hugginggpt::decisions::{Decisions, Format};
use jarvis_net::Secret;
use jarvis_net::http::LazyClient;
use jarvis_pipeline::{Pipeline, RunContext};
use jarvis_plan::{Resource, Source};
use jarvis_react::Agent;
use jarvis_store::{Journal, JournalError, Media};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use url::Url;
use utoipa::ToSchema;

use crate::a2a::push;
use crate::audit::Audit;
use crate::desk::Desk;
use crate::elsewhere::Elsewhere;
use crate::error::ApiError;
use crate::guard;
use crate::metrics::{CountToo, Metrics};
use crate::offered::{ChatModels, ListTools, NamedPipelines};
use crate::options::Options;
use crate::pulls::ModelStore;
use crate::reload::Reload;
use crate::runs::{Runs, Slots};
use crate::served::ServedModels;
use crate::sessions::Sessions;
use crate::users::{Caller, Users};
use crate::wrong_tokens::WrongTokens;

#[derive(Clone)]
pub struct Parts {
    pub pipeline: Arc<HuggingGpt>,
    /// Every pipeline that callers may choose by name; the first is the default.
    pub pipelines: Vec<Named>,
    pub context: MakeContext,
    pub agent: Arc<Agent>,
    /// What model calls cost and what a run may take.
    pub meter: Meter,
    /// Where calls wait for leave; the gate of the pipelines asks there.
    pub desk: Desk,
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
    pub media: Arc<Media>,
    /// The journal; without one, runs are forgotten when they end.
    pub journal: Option<Arc<Journal>>,
    /// Where runs are carried out that other servers tell of too; only this process where there is none.
    /// It does not know whose a run is: not beside several users.
    pub elsewhere: Option<Arc<dyn Elsewhere>>,
    /// Makes the pipeline of a caller who brings a chat endpoint and key of their own.
    pub for_caller: Arc<dyn Fn(CallerModel) -> Result<Arc<HuggingGpt>, String> + Send + Sync>,
    /// Looks whether what the pipeline needs can be reached.
    pub checks: Arc<dyn Fn() -> BoxFuture<'static, Vec<Check>> + Send + Sync>,
    /// Where each kind of work may send what it is given.
    pub reach: Vec<Reach>,
    pub kept: Kept,
    /// Where it is written down who allowed what, and who administered; nowhere where there is none.
    pub audit: Option<Audit>,
    /// The chat models that a request may name.
    pub chat_models: Arc<dyn ChatModels>,
    pub tools: ListTools,
    /// Removes logs that have been kept for long enough. Blocks.
    pub prune_logs: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Reads the configuration anew; never where there is none.
    pub reload: Option<Reload>,
    /// Told of everything that the server counts, beside `/metrics`.
    pub count_too: Option<Arc<dyn CountToo>>,
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

/// The server as its routes see it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Server(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) parts: Parts,
    pub(crate) options: Options,
    pub(crate) runs: Arc<Runs>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) sessions: Sessions,
    pub(crate) users: Users,
    /// Calls the webhooks of callers.
    pub(crate) webhooks: LazyClient,
    /// Where it listens.
    pub(crate) listens: OnceLock<Listens>,
    pub(crate) wrong_tokens: WrongTokens,
    pub(crate) named: NamedPipelines,
}

/// The sockets of a server that serves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listens {
    pub(crate) http: Option<SocketAddr>,
    pub(crate) grpc: Option<SocketAddr>,
}

impl Listens {
    pub(crate) fn all(self) -> impl Iterator<Item = SocketAddr> {
        self.http.into_iter().chain(self.grpc)
    }
}

impl Server {
    pub(crate) fn new(parts: Parts, options: Options) -> Server {
        let metrics = Arc::new(Metrics::new(parts.count_too.clone()));
        let slots = Slots::new(options.bounds());
        let (desk, meter) = (parts.desk.clone(), parts.meter.clone());
        let runs = Runs::new(slots, parts.journal.clone(), Arc::clone(&metrics), desk, meter);
        let users = Users::of(&options);
        if let Some(journal) = parts.journal.as_ref().filter(|_| users.are_several()) {
            journal.owns_what_is_made(parts.media.made());
        }
        let (webhooks, sessions) = (push::client(&options.urls), Sessions::default());
        let (wrong_tokens, named, listens) = Default::default();
        Server(Arc::new(Inner {
            parts,
            options,
            runs,
            metrics,
            sessions,
            users,
            webhooks,
            listens,
            wrong_tokens,
            named,
        }))
    }

    /// Where a client reaches this server over HTTP.
    pub(crate) fn base(&self, headers: &HeaderMap) -> String {
        self.options.public_url.clone().unwrap_or_else(|| guard::base(headers))
    }

    /// The parts that decide, with the plans of whoever asks.
    pub(crate) fn decisions_for(&self, caller: &Caller, decisions: &Decisions) -> Decisions {
        let plans = decisions.plans.as_ref().map(|plans| match self.users.are_several() {
            true => Arc::new(plans.of_user(caller.name())),
            false => Arc::clone(plans),
        });
        Decisions { plans, ..decisions.clone() }
    }

    /// Asks the journal, away from the threads that serve requests.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub(crate) async fn read_journal<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let Some(journal) = self.parts.journal.clone() else {
            return Err(ApiError::not_found("there is no such run going on, and this server keeps no journal"));
        };
        let asked = tokio::task::spawn_blocking(move || ask(&journal)).await;
        Ok(asked.map_err(|error| ApiError::internal("the run journal cannot be read", &error))??)
    }

    /// Makes files a caller's own, where there are several users.
    async fn own(&self, caller: &Caller, paths: Vec<String>) -> Result<(), ApiError> {
        let Some(journal) = self.parts.journal.as_ref().filter(|_| self.users.are_several()) else { return Ok(()) };
        Ok(journal.own(caller.name(), paths).await?)
    }

    /// Makes the files that a model made, and that stand in what it gave, the own of whoever called it outside of a run.
    pub(crate) async fn own_made(&self, caller: &Caller, output: &Value) -> Result<(), ApiError> {
        if !self.users.are_several() {
            return Ok(());
        }
        let (text, made) = (output.to_string(), self.parts.media.made());
        let paths = jarvis_store::named(&text).filter(|path| made.told(path)).map(str::to_owned).collect();
        self.own(caller, paths).await
    }

    /// Makes a file that was taken in a caller's own.
    pub(crate) async fn own_resource(&self, caller: &Caller, taken: &Resource) -> Result<(), ApiError> {
        match &taken.source {
            Source::Public(path) => self.own(caller, vec![path.clone()]).await,
            Source::Inline(_) | Source::Url(_) => Ok(()),
        }
    }

    /// Whether a caller may have a file.
    ///
    /// # Errors
    /// To others it does not exist.
    pub(crate) async fn check_file(&self, caller: &Caller, path: &str) -> Result<(), ApiError> {
        if caller.lists().is_none() {
            return Ok(());
        }
        let (user, paths) = (caller.name().to_owned(), vec![path.to_owned()]);
        match self.read_journal(move |journal| journal.first_foreign(&user, &paths)).await? {
            None => Ok(()),
            Some(_) => Err(ApiError::not_found("there is no such file")),
        }
    }

    /// Writes down that a caller does something that is audited.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub(crate) async fn audit(&self, caller: &Caller, action: &str, about: Value) -> Result<(), ApiError> {
        match &self.parts.audit {
            Some(audit) => audit.tell(caller, action, about).await,
            None => Ok(()),
        }
    }

    pub(crate) fn pipeline(&self, name: &str) -> Option<&Named> {
        self.pipelines().iter().find(|named| named.name == name)
    }

    /// The pipelines that callers may use; none where the server serves models alone.
    pub(crate) fn pipelines(&self) -> &[Named] {
        if self.options.models_only { &[] } else { &self.parts.pipelines }
    }

    /// The names of the pipelines that work as configured, the default first.
    pub(crate) fn working_pipelines(&self) -> Vec<&'static str> {
        let has_model = self.parts.pipeline.chat.is_some();
        self.parts.pipelines.iter().filter(|named| has_model || !named.needs_model).map(|named| named.name).collect()
    }
}

impl Deref for Server {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}
