//! Pulling models: what a typed name stands for, progress in the words of Ollama, and the server's side of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jarvis_models::{BlobId, Environment, Hub, HubOptions, ModelError, PullEvent, PullPlan, Reference, Store};
use jarvis_net::Secret;
use serde_json::{Value, json};

use crate::config::Config;
use crate::failure::Failure;

/// The shortest time between two lines about one file.
const INTERVAL: Duration = Duration::from_millis(100);

/// The Hub, which is not asked before it is needed.
pub(crate) fn hub(environment: &Environment, config: &Config) -> Hub {
    let proxy = config.proxy.as_deref().and_then(Secret::new);
    Hub::new(HubOptions { proxy, ..HubOptions::new(environment) })
}

/// What was typed: a name of the catalogue, a task type under any of its names, or a repository.
pub(crate) fn reference(store: &Store, typed: &str) -> Result<Reference, Failure> {
    let catalogue = store.catalogue();
    let task = jarvis_catalogue::find(typed).filter(|_| catalogue.find(typed).is_none() && !typed.contains('/'));
    let Some(task) = task else { return Reference::parse(typed, catalogue).map_err(failure) };
    if catalogue.default_of(task.name).is_none() {
        return Err(Failure::usage(format!("the catalogue has no model for {}", task.name))
            .hint("name a repository: jarvis models pull org/repo"));
    }
    Reference::parse(task.name, catalogue).map_err(failure)
}

/// What is wrongly typed is wrong use; the rest is work that failed.
pub(crate) fn failure(error: ModelError) -> Failure {
    let hint = error.hint();
    let failure = match &error {
        ModelError::UnknownName { .. } | ModelError::InvalidName(_) => Failure::usage(error),
        _ => Failure::work(error),
    };
    failure.maybe_hint(hint)
}

/// Whether the configuration names a service for a task type of local models.
pub(crate) fn is_served_elsewhere(config: &Config, task: &str) -> bool {
    let media = config.media.as_ref();
    match task {
        "text-to-speech" => media.is_some_and(|media| media.speech_model.is_some()),
        "automatic-speech-recognition" => media.is_some_and(|media| media.transcription_model.is_some()),
        _ => false,
    }
}

/// The lines of a pull, as Ollama words them; of each content ten a second at most.
#[derive(Debug, Default)]
pub(crate) struct PullLines {
    /// When each content was last told of.
    told: HashMap<BlobId, Instant>,
}

impl PullLines {
    pub(crate) fn of(&mut self, event: &PullEvent) -> Vec<Value> {
        match event {
            PullEvent::Progress { blob, completed, total, .. } => {
                let now = Instant::now();
                let is_due = self.told.get(blob).is_none_or(|last| now.duration_since(*last) >= INTERVAL);
                if !is_due && completed != total {
                    return Vec::new();
                }
                self.told.insert(blob.clone(), now);
                let (status, digest) = (format!("pulling {}", blob.short()), blob.digest());
                vec![json!({"status": status, "digest": digest, "total": total, "completed": completed})]
            }
            PullEvent::Waiting { .. } | PullEvent::Retry { .. } => Vec::new(),
            PullEvent::Verified => vec![json!({"status": "verifying sha256 digest"})],
            PullEvent::Complete => vec![json!({"status": "writing manifest"}), json!({"status": "success"})],
        }
    }
}

#[cfg(feature = "serve")]
mod served {
    use async_trait::async_trait;
    use jarvis_models::{suggest, total_memory};
    use jarvis_server::{KeptModel, ModelStore, PlannedPull, PullFailure, PullFault, PullRequest, SuggestedModel};
    use tokio::sync::Semaphore;

    use super::*;
    use crate::wiring::{App, LocalRuntime, local};

    /// The most pulls at the same time; each fetches several files at once.
    const PULLS: usize = 2;

    /// The models of this machine for administrators of a server.
    pub(crate) struct Pulls {
        local: Arc<LocalRuntime>,
        store: Store,
        environment: Environment,
        config: Config,
        places: Semaphore,
    }

    impl App {
        /// None where this build runs no local models, or the configuration leaves them out.
        pub(crate) fn pulls(&self, is_offline: bool) -> Result<Option<Arc<dyn ModelStore>>, Failure> {
            let Some(local) = self.local().filter(|_| local::RUNS_LOCAL_MODELS) else { return Ok(None) };
            let (store, config) = (local.store.clone(), self.config.clone());
            let mut environment = local::hub_environment(&config)?;
            environment.is_offline |= is_offline;
            Ok(Some(Arc::new(Pulls {
                local: Arc::clone(local),
                store,
                environment,
                config,
                places: Semaphore::new(PULLS),
            })))
        }
    }

    impl Pulls {
        async fn planned(&self, name: &str) -> Result<(Hub, PullPlan), PullFailure> {
            let reference = reference(&self.store, name).map_err(|failure| PullFailure {
                kind: PullFault::Name,
                message: failure.message(),
                hint: failure.advice().map(str::to_owned),
            })?;
            let hub = hub(&self.environment, &self.config);
            let plan = self.store.plan(&hub, &reference, None).await.map_err(refused)?;
            Ok((hub, plan))
        }
    }

    #[async_trait]
    impl ModelStore for Pulls {
        fn kept(&self) -> Vec<KeptModel> {
            let kept = |model: jarvis_models::Local| KeptModel {
                id: local::id_of(&model),
                tasks: self.local.tasks_of(&model),
                name: model.name,
                bytes: model.bytes,
                license: model.license,
                loaded: None,
            };
            let models = self.local.kept();
            models.into_iter().map(kept).collect()
        }

        fn suggested(&self) -> Vec<SuggestedModel> {
            let limit = self.config.local.max_memory_mb.map(|mb| mb.saturating_mul(1 << 20));
            let memory = limit.or_else(|| total_memory().map(|bytes| bytes / 2));
            // What this build cannot run serves nothing.
            let kept = self.local.kept();
            let suggestions = suggest(&self.store, &kept, memory, &|task| is_served_elsewhere(&self.config, task));
            let shown = |one: jarvis_models::Suggestion| SuggestedModel {
                name: one.name,
                about: one.about,
                repo: one.repo,
                license: one.license,
                tasks: one.tasks,
                bytes: one.bytes,
                is_estimate: one.is_estimate,
                fits: one.fits,
            };
            suggestions.into_iter().map(shown).collect()
        }

        async fn plan(&self, name: &str) -> Result<PlannedPull, PullFailure> {
            let (_, plan) = self.planned(name).await?;
            Ok(PlannedPull {
                repo: plan.repo.to_string(),
                commit: plan.commit.to_string(),
                is_pinned: plan.is_pinned,
                is_gated: plan.is_gated,
                total: plan.total(),
                missing: plan.missing(),
                free: plan.free,
                name: plan.name,
                license: plan.license,
                tasks: plan.tasks,
            })
        }

        async fn pull(&self, request: &PullRequest, tell: &(dyn Fn(Value) + Send + Sync)) -> Result<(), PullFailure> {
            let Ok(_place) = self.places.try_acquire() else {
                let message = format!("{PULLS} models are being pulled already");
                return Err(PullFailure { kind: PullFault::Busy, message, hint: Some("wait for one to end".into()) });
            };
            let (hub, plan) = self.planned(&request.name).await?;
            if let Some(seen) = request.commit.as_ref().filter(|seen| **seen != plan.commit.to_string()) {
                let message = format!("{} is at {} now, and {seen} was agreed to", plan.repo, plan.commit);
                let hint = Some("look at the plan again".into());
                return Err(PullFailure { kind: PullFault::Changed, message, hint });
            }
            plan.check_space().map_err(refused)?;
            tell(json!({"status": "pulling manifest"}));
            let lines = Mutex::new(PullLines::default());
            let report = |event: PullEvent| {
                let lines = lines.lock().unwrap_or_else(PoisonError::into_inner).of(&event);
                lines.into_iter().for_each(tell);
            };
            self.store.pull(&hub, &plan, &report).await.map(drop).map_err(refused)
        }
    }

    fn refused(error: ModelError) -> PullFailure {
        let kind = match &error {
            ModelError::UnknownName { .. } | ModelError::InvalidName(_) => PullFault::Name,
            ModelError::Offline { .. } => PullFault::Offline,
            ModelError::NoRepository { .. }
            | ModelError::NoRevision { .. }
            | ModelError::FileGone { .. }
            | ModelError::Gated { .. }
            | ModelError::Unauthorized { .. }
            | ModelError::Forbidden { .. }
            | ModelError::PinMismatch { .. }
            | ModelError::NoSuchFile { .. }
            | ModelError::OnlyUnsafe { .. }
            | ModelError::NoWeights { .. }
            | ModelError::TooManyFiles { .. } => PullFault::Repository,
            ModelError::Busy { .. } => PullFault::Busy,
            ModelError::NoSpace { .. } => PullFault::Space,
            ModelError::Status { .. }
            | ModelError::RateLimited { .. }
            | ModelError::Unreachable { .. }
            | ModelError::Stalled { .. }
            | ModelError::Cut { .. }
            | ModelError::BadReply { .. }
            | ModelError::BadRedirect { .. }
            | ModelError::Client(_)
            | ModelError::NotOurs { .. }
            | ModelError::NotLocal { .. }
            | ModelError::WrongSize { .. }
            | ModelError::WrongHash { .. }
            | ModelError::Import { .. }
            | ModelError::Ledger { .. }
            | ModelError::Write { .. }
            | ModelError::Read { .. } => PullFault::Failed,
        };
        // Paths of this machine are none of a caller's business.
        let message = match &error {
            ModelError::NoSpace { needed, free, .. } => {
                format!("{needed} bytes are needed on the disk, {free} are free")
            }
            ModelError::Write { .. } | ModelError::Read { .. } | ModelError::Ledger { .. } => {
                tracing::error!(%error, "a pull failed");
                "the server cannot use its folder of models".to_owned()
            }
            error => error.to_string(),
        };
        let hint = error.hint().filter(|_| message == error.to_string());
        PullFailure { kind, message, hint }
    }
}
