//! Local models: which are on this machine, and what loads and runs them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jarvis_catalogue::{Available, Catalogue, Host, Model, Wanted};
use jarvis_chat::ChatModel;
use jarvis_events::Weights;
use jarvis_experts::process::Processes;
use jarvis_experts::{Call, ExpertError, LocalModels, LocalModelsConfig, ModelFiles, Resources};
use jarvis_hugginggpt::LocalHint;
use jarvis_models::{Engine, Environment, Local, ModelError, Reference, Stamp, Store, total_memory};
use jarvis_workers::{ASKED_FOR_AS, LocalFiles, LocalReader};

use super::Folders;
use super::lazy_chat::LazyChat;
use crate::config::{Config, env_vars};
use crate::failure::Failure;

/// Before the name of a language model on this machine: `--llm local/qwen3-0.6b`.
pub(crate) const PREFIX: &str = "local/";

/// The subcommand by which this program runs one model for another process.
const SUBCOMMAND: &str = "local-model";

/// Task types that text encoders in safetensors serve.
const VECTOR_TASKS: [&str; 2] = ["feature-extraction", "sentence-similarity"];

/// Address space of a process beyond the memory of models, in bytes: its code, and the stacks of its threads.
#[cfg(any(feature = "experts", feature = "llm"))]
const OVERHEAD: u64 = 1 << 30;

/// Bytes of the weights of a language model from which on it plans: the one smaller model that was measured got no plan right
/// (`docs/local-models.md`).
const PLANS: u64 = 1_000_000_000;

/// The memory that models may take where the machine does not say how much it has, in bytes.
const UNKNOWN_MEMORY: u64 = 4 << 30;

/// The models of this machine and the engines that run them.
pub(crate) struct LocalRuntime {
    pub(crate) store: Store,
    pub(crate) models: LocalModels,
    pub(crate) files: LocalFiles,
    /// The language models that were asked for. Another file under the same name is another model.
    chats: Mutex<HashMap<PathBuf, Arc<dyn ChatModel>>>,
    seen: Mutex<Option<Seen>>,
}

/// The models of this machine when they were last looked at.
struct Seen {
    stamp: Option<Stamp>,
    candidates: Arc<[Available]>,
}

impl LocalRuntime {
    /// # Errors
    /// When the environment names a Hub that is not an address, or threads cannot be started.
    pub(crate) fn open(config: &Config, folders: &Folders) -> Result<LocalRuntime, Failure> {
        let store = Store::new(&hub_environment(config)?, &folders.data);
        let limits = limits(config);
        let processes = config.local.isolated.then(std::env::current_exe).transpose().map_err(Failure::work)?;
        let processes = processes.map(|program| {
            Processes::new(program, vec![SUBCOMMAND.into()], limits.threads).with_env(crate::SMALL_ARENAS)
        });
        let of_store = store.clone();
        let open = move |files: &ModelFiles, task: &str, resources: &Resources, call: &Call| {
            let model = match &processes {
                Some(processes) => processes.open(files, task, resources, call)?,
                None => jarvis_experts::open(files, task, resources)?,
            };
            let name = of_store.local_models().into_iter().find(|local| local.folder == files.folder);
            // When a model was last used is good to know, and no reason to fail.
            if let Some(Err(error)) = name.map(|local| of_store.touch(&local.name)) {
                tracing::debug!(%error, "the use of a local model was not noted");
            }
            Ok(model)
        };
        let models = LocalModels::with_open(limits, Box::new(open)).map_err(Failure::work)?;
        let runtime = LocalRuntime {
            store,
            models,
            files: LocalFiles::default(),
            chats: Mutex::default(),
            seen: Mutex::default(),
        };
        runtime.candidates();
        Ok(runtime)
    }

    /// The model of a name, if this build can run it.
    pub(crate) fn resolve(&self, name: &str) -> Option<Local> {
        self.store.resolve(name).filter(is_supported)
    }

    /// Whether a language model is large enough to plan.
    pub(crate) fn can_plan(local: &Local) -> bool {
        plans(local)
    }

    /// The task types that a model serves, the usual one first.
    pub(crate) fn tasks_of(&self, local: &Local) -> Vec<String> {
        match local.engine {
            Engine::Gguf => {
                let served = jarvis_catalogue::task_types().iter().filter(|task| task.is_chat_served());
                served.map(|task| task.name.to_owned()).collect()
            }
            Engine::Onnx => local.tasks.clone(),
            Engine::Safetensors => {
                local.tasks.iter().filter(|task| VECTOR_TASKS.contains(&task.as_str())).cloned().collect()
            }
        }
    }

    /// The models that this build can run, looked for now.
    pub(crate) fn kept(&self) -> Vec<Local> {
        self.look().0
    }

    /// What tells the weights of a candidate from others of its id, see [`Local::identity`].
    fn identity_of(&self, id: &str) -> Option<String> {
        // Most candidates are no models of this machine.
        self.candidates().iter().find(|candidate| candidate.model.id == id)?;
        self.store.local_models().iter().find(|local| id_of(local) == id)?.identity()
    }

    fn look(&self) -> (Vec<Local>, Arc<[Available]>) {
        let stamp = self.store.stamp();
        let kept: Vec<Local> = self.store.local_models().into_iter().filter(is_supported).collect();
        let experts = kept.iter().filter(|local| local.engine != Engine::Gguf);
        self.files.set(experts.map(|local| (files_of(local), local.tasks.clone())));
        let candidates: Arc<[Available]> = self.candidates_of(&kept).into();
        let seen = Seen { stamp, candidates: Arc::clone(&candidates) };
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
        (kept, candidates)
    }

    /// Every task that a model of this machine serves, as a candidate. What was pulled or removed since is seen here; what other
    /// programs downloaded meanwhile, when the models are next listed.
    pub(crate) fn candidates(&self) -> Arc<[Available]> {
        let stamp = self.store.stamp();
        let known = || {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.as_ref().filter(|seen| seen.stamp == stamp).map(|seen| Arc::clone(&seen.candidates))
        };
        known().unwrap_or_else(|| self.look().1)
    }

    fn candidates_of(&self, kept: &[Local]) -> Vec<Available> {
        let candidate = |local: &Local, task: &str| {
            let about = self.store.catalogue().find(&local.name).map_or("a local model", |entry| &entry.about);
            let model = Model::new(&id_of(local), task, Host::Local, about);
            Available { model: Arc::new(model), host: Host::Local }
        };
        let natively = Catalogue::builtin();
        let tasks = |local: &Local| {
            let mut tasks = self.tasks_of(local);
            // A small language model writes; what native models do by rules they do better, and translations are those of
            // models made for that.
            if local.engine == Engine::Gguf && !plans(local) {
                let is_native = |task: &str| !natively.candidates(task, &Wanted::native_only()).is_empty();
                tasks.retain(|task| task != "translation" && !is_native(task));
            }
            let asked_for = ASKED_FOR_AS.iter().filter(|(made, _)| tasks.iter().any(|task| task == made));
            let asked_for: Vec<String> = asked_for.map(|(_, as_asked)| (*as_asked).to_owned()).collect();
            tasks.extend(asked_for);
            tasks.iter().map(|task| candidate(local, task)).collect::<Vec<_>>()
        };
        // Models made for a task come before language models, which do many.
        let (language, experts): (Vec<&Local>, Vec<&Local>) =
            kept.iter().partition(|local| local.engine == Engine::Gguf);
        experts.into_iter().chain(language).flat_map(tasks).collect()
    }

    /// Loads a model that is not in the list yet, so that what cannot be loaded does not come into it. What speaks against it but not
    /// for ever comes back.
    ///
    /// # Errors
    /// When this build has its engine, and it cannot be loaded.
    pub(crate) async fn try_out(&self, local: &Local, timeout: Duration) -> Result<Option<String>, Failure> {
        let runs = match local.engine {
            Engine::Safetensors => RUNS_LOCAL_MODELS,
            engine => is_runnable(engine),
        };
        if !runs {
            return Ok(Some(format!("{} was not tried: this build of jarvis does not run it", local.name)));
        }
        if local.engine == Engine::Safetensors && !is_supported(local) {
            let message =
                format!("`{}` cannot be imported: of models in safetensors jarvis runs text encoders", local.name);
            return Err(Failure::work(message).hint("look for a conversion of it to ONNX or GGUF"));
        }
        for task in self.tasks_of(local).iter().take(if local.engine == Engine::Gguf { 1 } else { usize::MAX }) {
            let call = Call { deadline: Some(Instant::now() + timeout), ..Call::default() };
            match self.models.load(&files_of(local), task, &call).await {
                Ok(()) => {}
                Err(error @ ExpertError::TooLarge { .. }) => return Ok(Some(error.to_string())),
                Err(error) => {
                    let hint = match error {
                        ExpertError::MissingFile { .. } => "give the folder of a whole export",
                        _ => "nothing was taken into the list; `--task` says what a model is for",
                    };
                    return Err(Failure::work(error).hint(hint));
                }
            }
        }
        Ok(None)
    }

    /// Reads the writing in pictures with the first model that does.
    pub(crate) fn reader(&self, timeout: Duration) -> LocalReader {
        LocalReader::new(self.models.clone(), self.files.clone(), timeout)
    }

    /// The language model with this id among the candidates, and whether it is large enough to plan.
    pub(crate) fn language_model(&self, id: &str) -> Option<(Arc<dyn ChatModel>, bool)> {
        let name = id.strip_prefix(PREFIX)?;
        let local = self.resolve(name).filter(|local| local.engine == Engine::Gguf)?;
        Some((self.chat(&local), plans(&local)))
    }

    /// A language model. It is opened when it is first used.
    pub(crate) fn chat(&self, local: &Local) -> Arc<dyn ChatModel> {
        let mut chats = self.chats.lock().unwrap_or_else(PoisonError::into_inner);
        let file = local.folder.join(local.weights.first().map_or("", String::as_str));
        let chat = chats.entry(file).or_insert_with(|| {
            let files = ModelFiles { id: local.name.clone(), ..files_of(local) };
            Arc::new(LazyChat::new(self.models.clone(), files))
        });
        Arc::clone(chat)
    }

    /// What to pull for a task type that nothing serves.
    pub(crate) fn hint(&self) -> LocalHint {
        let catalogue = self.store.catalogue().clone();
        Arc::new(move |task: &str| {
            let entry = catalogue.default_of(task).filter(|entry| is_runnable(entry.engine))?;
            let size = entry.weight().map_or_else(String::new, |(bytes, is_estimate)| {
                format!(" ({}{} MB)", if is_estimate { "about " } else { "" }, bytes / 1_000_000)
            });
            Some(format!("`jarvis models pull {}` brings a local model for it{size}", entry.name))
        })
    }

    /// The language model of `--llm local/NAME`, and whether it is large enough to plan; without a name the first on this
    /// machine.
    ///
    /// # Errors
    /// When there is none of that name, or it is no language model.
    pub(crate) fn named(&self, name: &str) -> Result<(Arc<dyn ChatModel>, bool), Failure> {
        if cfg!(not(feature = "llm")) {
            return Err(without_engine("llm"));
        }
        let local = match name {
            "" => self.kept().into_iter().find(|local| local.engine == Engine::Gguf),
            name => self.store.resolve(name),
        };
        match local {
            Some(local) if local.engine == Engine::Gguf => Ok((self.chat(&local), plans(&local))),
            Some(local) => Err(Failure::usage(format!("`{}` is no language model", local.name))
                .hint("`jarvis models suggest` names one that fits this machine")),
            None => {
                let message = match name {
                    "" => "there is no language model on this machine".to_owned(),
                    name => format!("the model `{name}` is not on this machine"),
                };
                let known = Reference::parse(if name.is_empty() { "qwen3-0.6b" } else { name }, self.store.catalogue());
                Err(Failure::usage(message).hint(match known {
                    Ok(known) => format!("get it with `jarvis models pull {}`", known.name()),
                    Err(_) => "`jarvis models ls` lists those that are".to_owned(),
                }))
            }
        }
    }
}

/// How much local models may take of this machine.
pub(crate) fn limits(config: &Config) -> LocalModelsConfig {
    let settings = &config.local;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let half = total_memory().map_or(UNKNOWN_MEMORY, |memory| memory / 2);
    LocalModelsConfig {
        max_memory: settings.max_memory_mb.map_or(half, |mb| mb.saturating_mul(1 << 20)),
        keep_alive: Duration::from_secs(settings.keep_alive_s),
        threads: settings.threads.unwrap_or(cores),
        at_once: settings.at_once,
    }
}

/// What the environment says of the Hub and its cache, with the configuration's Hub and token where it says nothing.
///
/// # Errors
/// When a Hub is named that is not an address.
pub(crate) fn hub_environment(config: &Config) -> Result<Environment, Failure> {
    let home = std::env::home_dir();
    let mut environment = hub_variables(home.as_deref()).map_err(|error| {
        let hint = error.hint();
        Failure::usage(error).maybe_hint(hint)
    })?;
    if hub_variable(env_vars::HF_ENDPOINT).is_none_or(|text| text.trim().is_empty()) {
        environment.endpoint = super::hub_url(config)?;
    }
    if let Some(token) = super::token(config) {
        environment.token = Some(token);
    }
    Ok(environment)
}

/// The same as the variables alone say.
///
/// # Errors
/// When `HF_ENDPOINT` is not an address.
pub(crate) fn hub_variables(home: Option<&Path>) -> Result<Environment, ModelError> {
    Environment::read(hub_variable, home)
}

/// A variable of those that are listed.
fn hub_variable(name: &str) -> Option<String> {
    env_vars::HUB.contains(&name).then(|| std::env::var(name).ok())?
}

/// Whether a language model is large enough to plan.
fn plans(local: &Local) -> bool {
    local.weight() >= PLANS
}

/// Whether this build has an engine.
pub(crate) const RUNS_LOCAL_MODELS: bool = cfg!(any(feature = "experts", feature = "llm"));

/// Whether this build runs a model: of safetensors only text encoders, for their vectors.
fn is_supported(local: &Local) -> bool {
    match local.engine {
        Engine::Onnx | Engine::Gguf => is_runnable(local.engine),
        Engine::Safetensors => {
            let gives_vectors = local.tasks.iter().any(|task| VECTOR_TASKS.contains(&task.as_str()));
            gives_vectors && jarvis_experts::is_text_encoder(&files_of(local))
        }
    }
}

fn is_runnable(engine: Engine) -> bool {
    match engine {
        Engine::Gguf => cfg!(feature = "llm"),
        Engine::Onnx => cfg!(feature = "experts"),
        Engine::Safetensors => false,
    }
}

impl std::fmt::Debug for LocalRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalRuntime").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Weights for LocalRuntime {
    fn of(&self, model: &str) -> Option<String> {
        self.identity_of(model)
    }
}

fn without_engine(feature: &str) -> Failure {
    Failure::usage("this build of jarvis does not run local models")
        .hint(format!("build it with `cargo build --release --features {feature}`, or use a release of jarvis"))
}

/// The id of the candidates of a model: its repository where it is an expert, `local/NAME` where it is a language model.
pub(crate) fn id_of(local: &Local) -> String {
    match (&local.repo, local.engine) {
        (Some(repo), Engine::Onnx | Engine::Safetensors) => repo.as_str().to_owned(),
        (None, _) | (_, Engine::Gguf) => format!("{PREFIX}{}", local.name),
    }
}

pub(crate) fn files_of(local: &Local) -> ModelFiles {
    ModelFiles { weights: local.weights.clone(), ..ModelFiles::new(id_of(local), &local.folder) }
}

/// The child's side: one model, until the parent closes the pipe.
#[cfg(any(feature = "experts", feature = "llm"))]
pub(crate) fn child() -> std::process::ExitCode {
    let limit = |max_memory: u64| {
        #[cfg(unix)]
        {
            let most = max_memory.saturating_add(OVERHEAD);
            let _ = rlimit::setrlimit(rlimit::Resource::AS, most, most);
        }
        #[cfg(not(unix))]
        let _ = max_memory;
    };
    // The reply says that the engine broke down; the message of a panic could quote the input.
    std::panic::set_hook(Box::new(|_| {}));
    match jarvis_experts::process::serve(&mut std::io::stdin().lock(), std::io::stdout(), limit) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(_) => std::process::ExitCode::from(2),
    }
}
