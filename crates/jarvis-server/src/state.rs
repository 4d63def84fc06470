//! What every route can reach: the parts of the server and its setup, the runs and the settings.

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use axum::http::HeaderMap;
use jarvis_hugginggpt::decisions::Decisions;
use jarvis_net::http::LazyClient;
use jarvis_plan::{Resource, Source};
use jarvis_store::{Journal, JournalError};
use serde_json::Value;

use crate::a2a::push;
use crate::error::ApiError;
use crate::guard;
use crate::metrics::Metrics;
use crate::offered::NamedPipelines;
use crate::options::Options;
use crate::parts::{Named, Parts, Setup};
use crate::runs::{Runs, Slots};
use crate::sessions::Sessions;
use crate::users::{Caller, Users};
use crate::wrong_tokens::WrongTokens;

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
    setup: RwLock<Arc<Current>>,
    /// Held while the configuration is read anew.
    pub(crate) reloading: tokio::sync::Mutex<()>,
}

/// What the configuration made when it was read last.
pub(crate) struct Current {
    setup: Setup,
    pub(crate) named: NamedPipelines,
}

impl Deref for Current {
    type Target = Setup;

    fn deref(&self) -> &Setup {
        &self.setup
    }
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
    pub(crate) fn new(parts: Parts, setup: Setup, options: Options) -> Server {
        let metrics = Arc::new(Metrics::new(parts.metrics_sink.clone()));
        let slots = Slots::new(options.bounds());
        let (desk, meter) = (parts.desk.clone(), setup.meter.clone());
        metrics.expect_models(named_models(&setup));
        let runs = Runs::new(slots, parts.journal.clone(), Arc::clone(&metrics), desk, meter);
        let users = Users::of(&options);
        if let Some(journal) = parts.journal.as_ref().filter(|_| users.are_several()) {
            journal.owns_what_is_made(parts.media.made());
        }
        let (webhooks, sessions) = (push::client(&options.urls), Sessions::default());
        let (wrong_tokens, listens, reloading) = Default::default();
        let current = Current { setup, named: NamedPipelines::default() };
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
            setup: RwLock::new(Arc::new(current)),
            reloading,
        }))
    }

    /// What the configuration of models and tools made when it was read last.
    pub(crate) fn setup(&self) -> Arc<Current> {
        Arc::clone(&self.setup.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Works with another setup from now on. Runs that go on keep what they began with.
    pub(crate) fn set_up(&self, setup: Setup) {
        self.runs.meter_by(setup.meter.clone());
        self.metrics.expect_models(named_models(&setup));
        let current = Current { setup, named: NamedPipelines::default() };
        *self.setup.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(current);
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

    pub(crate) fn pipeline(&self, name: &str) -> Option<Named> {
        self.pipelines().into_iter().find(|named| named.name == name)
    }

    /// The pipelines that callers may use; none where the server serves models alone.
    pub(crate) fn pipelines(&self) -> Vec<Named> {
        self.pipelines_of(&self.setup())
    }

    /// The same of a setup.
    pub(crate) fn pipelines_of(&self, setup: &Current) -> Vec<Named> {
        if self.options.models_only { Vec::new() } else { setup.pipelines.clone() }
    }

    /// The names of the pipelines that work as configured, the default first.
    pub(crate) fn working_pipelines(&self) -> Vec<&'static str> {
        let setup = self.setup();
        let has_model = setup.pipeline.chat.is_some();
        setup.pipelines.iter().filter(|named| has_model || !named.needs_model).map(|named| named.name).collect()
    }
}

/// The chat models that a configuration names.
fn named_models(setup: &Setup) -> Vec<String> {
    std::iter::once(setup.pipeline.model_name()).chain(setup.chat_models.names()).collect()
}

impl Deref for Server {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}
