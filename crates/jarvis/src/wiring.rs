//! From a configuration to a pipeline: the only place where all parts meet.

mod agent;
mod basis;
mod bounds;
mod chat;
#[cfg(feature = "serve")]
mod checks;
mod decisions;
#[cfg(feature = "documents")]
pub(crate) mod document;
#[cfg(feature = "bench")]
pub(crate) mod encoders;
mod experience;
mod experts;
mod folders;
mod journal;
mod lazy_chat;
mod local;
mod media;
#[cfg(feature = "serve")]
mod offered;
pub(crate) mod pipelines;
mod prompts;
pub(crate) mod pulls;
#[cfg(feature = "serve")]
mod reach;
#[cfg(feature = "restate")]
mod restate_runs;
#[cfg(feature = "restate")]
pub(crate) mod scale;
#[cfg(feature = "bench")]
mod sentences;
#[cfg(feature = "serve")]
mod served;
mod staying;
mod tools;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jarvis_catalogue::{Catalogue, InferenceMode, RefreshConfig};
use jarvis_chat::{ChatModel, OpenAi};
use jarvis_engine::{Engine, Gate, Limits as EngineLimits, Meter};
use jarvis_events::Weights;
use jarvis_hugginggpt::prompts::Prompts;
use jarvis_hugginggpt::{Conversation, HuggingGpt, Look, PlanMemory, RequestLogs, Settings};
use jarvis_pipeline::Shelf;
use jarvis_pipeline::approval::Approver;
use jarvis_plan::Limits as PlanLimits;
use jarvis_planner::{Basis, Offline};
use jarvis_react::Agent;
#[cfg(feature = "serve")]
use jarvis_server::CallerModel;
use jarvis_store::{Journal, Media};
use jarvis_workers::{OwnFiles, ToolWorker};
use url::Url;

use crate::approval::{self, ApprovalArgs};
use crate::budget::BudgetArgs;
use crate::cli::Global;
use crate::config::{self, Config, LastResort, Loaded};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::results::Results;

pub(crate) use agent::document_reader;
pub(crate) use basis::{basis, differs};
use bounds::gate;
pub(crate) use bounds::meter;
#[cfg(feature = "serve")]
pub(crate) use bounds::{check_prices, unpriced};
pub(crate) use chat::{Special, build_special, discovery, embeddings_config, may_ask};
#[cfg(feature = "serve")]
pub(crate) use checks::checks;
#[cfg(all(feature = "bench", feature = "experts", feature = "llm"))]
pub(crate) use encoders::encoder_files;
pub(crate) use experts::{Addresses, Experts, hub_url, local_timeout, secret, token, url_policy};
pub(crate) use folders::{Folders, config_folder, default_data_folder};
pub(crate) use journal::JournalUse;
#[cfg(any(feature = "experts", feature = "llm"))]
pub(crate) use local::child as local_model;
pub(crate) use local::{LocalRuntime, RUNS_LOCAL_MODELS, files_of, hub_environment, hub_variables, limits};
pub(crate) use media::{failure as media_failure, media, open_media};
use pipelines::Contexts;
use prompts::prompts;
#[cfg(feature = "restate")]
pub(crate) use restate_runs::{carried_out_by_restate, told_by_restate};
pub(crate) use staying::Staying;
pub(crate) use tools::{Tools, changed_tools, look_at_tools, open_tools};

/// Where `models refresh` and probing ask unless configured otherwise.
pub(crate) const HUB: &str = "https://huggingface.co";
/// Where models at Hugging Face are called unless configured otherwise.
pub(crate) const ROUTER: &str = "https://router.huggingface.co/hf-inference/models";

/// What a command says of its run, beside the flags of every command.
#[derive(Debug, Default)]
pub(crate) struct Flags<'a> {
    /// What is allowed beforehand.
    pub(crate) approval: ApprovalArgs,
    /// What the run may take.
    pub(crate) budget: BudgetArgs,
    /// When what came of a plan is looked at.
    pub(crate) replan: Option<Look>,
    /// The folder for the files that are made.
    pub(crate) out: Option<&'a Path>,
    pub(crate) journal: JournalUse,
}

pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) media: Arc<Media>,
    /// Where a person at this machine finds the files that are made.
    pub(crate) results: Option<Arc<Results>>,
    /// The journal; `None` when it could not be opened, which is a warning.
    pub(crate) journal: Option<Arc<Journal>>,
    pub(crate) pipeline: Arc<HuggingGpt>,
    pub(crate) agent: Arc<Agent>,
    conversation: Arc<Conversation>,
    pub(crate) contexts: Contexts,
    /// What model calls cost and what a run may take.
    pub(crate) meter: Meter,
    /// The endpoint of the chat model, when it is at one.
    pub(crate) endpoint: Option<Arc<OpenAi>>,
    /// Where the workers send what they are given.
    addresses: Addresses,
    #[cfg_attr(not(feature = "serve"), allow(dead_code, reason = "only a server reads its configuration anew"))]
    staying: Staying,
    base: Arc<Base>,
}

impl App {
    /// Builds everything from flags, environment and file, for a person at this machine.
    pub(crate) async fn build(global: &Global, printer: Printer) -> Result<App, Failure> {
        App::build_with(Flags::default(), global, printer).await
    }

    /// The same with what a command that runs something says of its run.
    pub(crate) async fn build_with(flags: Flags<'_>, global: &Global, printer: Printer) -> Result<App, Failure> {
        let reader = Reader::Here { out: flags.out.map(Path::to_path_buf) };
        App::build_for(reader, flags, approval::at_this_machine(), global, printer).await
    }

    /// Builds everything from flags, environment and file; answers are for this reader, and this one is asked for leave.
    pub(crate) async fn build_for(
        reader: Reader,
        flags: Flags<'_>,
        approver: Arc<dyn Approver>,
        global: &Global,
        printer: Printer,
    ) -> Result<App, Failure> {
        let loaded = load_config(global, printer)?;
        let staying = Staying::open(&loaded, reader, &flags, printer)?;
        // Boxed, since every command holds this future.
        Box::pin(App::assemble(loaded, staying, flags, approver, global, printer)).await
    }

    /// Builds what the configuration says around what stays.
    pub(crate) async fn assemble(
        loaded: Loaded,
        staying: Staying,
        flags: Flags<'_>,
        approver: Arc<dyn Approver>,
        global: &Global,
        printer: Printer,
    ) -> Result<App, Failure> {
        let folders = Folders::of(&loaded.config)?;
        let tools = open_tools(&loaded, &folders, printer).await?;
        let mut config = loaded.config;
        let Flags { approval, budget, replan, .. } = flags;
        config.budget.set(budget);
        config.planning.replan = replan.unwrap_or(config.planning.replan);
        let Staying { media, results, journal, logs, local, .. } = staying.clone();
        let chat = chat::build(&mut config, local.as_deref(), global.record.as_deref()).await?;
        let catalogue = catalogue(&config, printer)?;
        let prompts = Arc::new(prompts(&config)?);
        let model = chat.as_ref().map(|chat| Arc::clone(&chat.model));
        let mut meter = meter(&config)?;
        let mut settings = indexmap::IndexMap::from([
            (MODEL.to_owned(), config.llm.name().to_owned()),
            ("prompts".to_owned(), prompts.fingerprint().to_owned()),
        ]);
        let basis = basis(&config).await?;
        if let Some(other) = differs(&basis) {
            settings.insert("planner".to_owned(), other);
        }
        if let Some(weights) = local.as_ref().and_then(|local| local.of(config.llm.name())) {
            settings.insert("revision".to_owned(), weights);
        }
        meter.settings = Arc::new(settings);
        meter.weights = local.clone().map(|local| local as Arc<dyn Weights>);
        let gate = gate(&config, &approval, Arc::clone(&approver), &tools)?;
        let agent = agent::build(&config, &tools, &media, model.clone(), Arc::clone(&gate))?;
        let (model, conversation_model) =
            if chat.as_ref().is_some_and(|chat| chat.plans) { (model, None) } else { (None, model) };
        if conversation_model.is_some() {
            let name = config.llm.name();
            printer.progress(&format!(
                "note: `{name}` is too small to plan well: the offline planner plans; it writes and talks \
                 (`llm.plans: true` lets it plan)"
            ));
        }
        let shelf = results.clone().map(|results| results as Arc<dyn Shelf>);
        let gate_of_runs = Arc::clone(&gate);
        let base = Base {
            media,
            logs,
            prompts,
            catalogue,
            shelf,
            tools,
            local,
            gate: gate_of_runs,
            approver,
            memory: journal
                .clone()
                .map(|journal| PlanMemory::new(journal, experience::secrets(&config)).read_by(basis.clone())),
            journal: journal.clone(),
            basis,
            config,
        };
        let (pipeline, addresses) = base.pipeline(model)?;
        let pipeline = Arc::new(HuggingGpt { conversation_model, ..pipeline });
        let inputs = Arc::new(experts::inputs(&base.config, &base.media)?);
        let conversation = Arc::new(pipelines::conversation(&inputs));
        let worker = ToolWorker::new(Arc::clone(&base.tools.registry), inputs);
        let worker = OwnFiles::confine(Arc::new(worker), base.journal.as_ref(), &base.media);
        let engine = Engine::shared(worker).gate(gate);
        let contexts = Contexts::new(&base.tools.registry, engine, &pipeline.settings, base.shelf.clone());
        let endpoint = chat.and_then(|chat| chat.endpoint);
        let (config, media) = (base.config.clone(), Arc::clone(&base.media));
        Ok(App {
            config,
            media,
            results,
            journal,
            pipeline,
            agent,
            conversation,
            contexts,
            meter,
            endpoint,
            addresses,
            staying,
            base: Arc::new(base),
        })
    }

    #[cfg(feature = "serve")]
    /// What stays whatever the configuration says later.
    pub(crate) fn staying(&self) -> Staying {
        self.staying.clone()
    }

    #[cfg(feature = "serve")]
    /// Makes the pipeline of a caller who brings a chat endpoint and a key.
    pub(crate) fn for_caller(&self) -> impl Fn(CallerModel) -> Result<Arc<HuggingGpt>, String> + Send + Sync + use<> {
        let (base, endpoint) = (Arc::clone(&self.base), self.endpoint.clone());
        move |caller| {
            let server = endpoint.as_ref().and_then(|endpoint| endpoint.server());
            let model = chat::for_caller(&base.config, caller, server)?;
            base.pipeline(Some(model))
                // Nobody else's requests are shown to a model that a caller brings.
                .map(|(pipeline, _)| Arc::new(HuggingGpt { memory: None, ..pipeline }))
                .map_err(|failure| failure.error().to_string())
        }
    }

    #[cfg(feature = "serve")]
    /// Whether a tool of the configuration takes these arguments.
    pub(crate) fn check_call(&self) -> jarvis_server::CheckCall {
        let registry = Arc::clone(&self.base.tools.registry);
        Arc::new(move |tool, arguments| registry.check(tool, arguments).map_err(|error| error.message))
    }

    /// The models of this machine, unless the configuration leaves them out.
    pub(crate) fn local(&self) -> Option<&Arc<LocalRuntime>> {
        self.base.local.as_ref()
    }

    pub(crate) fn new_run_id() -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

/// What a run says of its model, see `Meter::settings`.
pub(crate) use jarvis_events::MODEL;

/// Who reads the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A person or program at this machine, which finds files on its disk: in this folder, or where the configuration says.
    Here { out: Option<PathBuf> },
    /// Callers over a wire, which find files by their display paths.
    Wire,
}

pub(crate) struct Base {
    config: Config,
    media: Arc<Media>,
    logs: Option<Arc<RequestLogs>>,
    prompts: Arc<Prompts>,
    catalogue: Catalogue,
    shelf: Option<Arc<dyn Shelf>>,
    tools: Tools,
    /// The models of this machine, unless the configuration leaves them out.
    local: Option<Arc<LocalRuntime>>,
    gate: Arc<dyn Gate>,
    approver: Arc<dyn Approver>,
    journal: Option<Arc<Journal>>,
    memory: Option<PlanMemory>,
    /// What the offline planner plans by.
    basis: Basis,
}

impl Base {
    /// The pipeline that plans with this chat model, or without one.
    fn pipeline(&self, chat: Option<Arc<dyn ChatModel>>) -> Result<(HuggingGpt, Addresses), Failure> {
        let experts = Experts::build(
            &self.config,
            self.catalogue.clone(),
            &self.media,
            chat.clone(),
            &self.prompts,
            &self.tools,
            self.local.as_ref(),
        )?;
        let media = Arc::clone(&self.media);
        let worker = OwnFiles::confine(experts.worker, self.journal.as_ref(), &self.media);
        let pipeline = HuggingGpt {
            logs: self.logs.clone(),
            gate: Arc::clone(&self.gate),
            approver: Arc::clone(&self.approver),
            exists: Arc::new(move |path| media.open_file(path).is_ok()),
            shelf: self.shelf.clone(),
            memory: self.memory.clone(),
            planner: Arc::new(Offline::with(self.basis.clone())),
            settings: settings(&self.config),
            ..HuggingGpt::new(chat, experts.sources, worker, Arc::clone(&self.prompts))
        };
        Ok((pipeline, experts.addresses))
    }
}

/// The configuration with the flags on top; warnings are printed.
pub(crate) fn load_config(global: &Global, printer: Printer) -> Result<Loaded, Failure> {
    let loaded = load_holding(global, |_| Vec::new())?;
    for warning in &loaded.warnings {
        printer.warning(warning);
    }
    Ok(loaded)
}

/// The same, where some keys may not be what the file says (see [`config::load`]), and the warnings are the caller's to tell.
pub(crate) fn load_holding(
    global: &Global,
    hold: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>) -> Vec<String>,
) -> Result<Loaded, Failure> {
    let folder = config_folder().ok();
    load_file(global, named_config(global), folder.as_deref(), hold)
}

/// The file that the flags or the environment name.
pub(crate) fn named_config(global: &Global) -> Option<&Path> {
    global.config.as_deref().filter(|path| !path.as_os_str().is_empty())
}

/// The configuration of this file or folder, as [`config::load`] has it, with the environment and the flags on top.
pub(crate) fn load_file(
    global: &Global,
    file: Option<&Path>,
    folder: Option<&Path>,
    hold: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>) -> Vec<String>,
) -> Result<Loaded, Failure> {
    // All variables that jarvis reads are text.
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let mut loaded = config::load(file, folder, std::env::vars_os().filter_map(text), hold)
        .map_err(|error| Failure::usage(error).hint("docs/configuration.md lists every key"))?;
    if let Some(llm) = &global.llm {
        loaded.config.llm.model = Some(llm.clone());
    }
    if let Some(url) = &global.base_url {
        loaded.config.llm.base_url = Some(url.clone());
        loaded.config.llm.azure = None;
    }
    if let Some(folder) = &global.data_dir {
        loaded.config.data_dir = Some(folder.clone());
    }
    if let Some(file) = &global.planner_weights {
        loaded.config.planning.weights = Some(file.clone());
    }
    if let Some(model) = &global.planner_embedder {
        loaded.config.planning.embedder = Some(model.clone());
    }
    if global.offline {
        // Models at Hugging Face are out of reach.
        loaded.config.inference_mode = InferenceMode::Local;
    }
    Ok(loaded)
}

/// The catalogue: built in, or with the configured file.
pub(crate) fn catalogue(config: &Config, printer: Printer) -> Result<Catalogue, Failure> {
    let Some(path) = &config.catalogue else { return Ok(Catalogue::builtin()) };
    let catalogue = Catalogue::with_file(path).map_err(|error| {
        let hint = error.hint();
        Failure::usage(error).hint(hint)
    })?;
    for note in catalogue.notes() {
        printer.note(note);
    }
    Ok(catalogue)
}

pub(crate) fn open_journal(global: &Global, printer: Printer) -> Result<Journal, Failure> {
    let loaded = load_config(global, printer)?;
    let folders = Folders::of(&loaded.config)?;
    if let Some(parent) = folders.journal.parent() {
        std::fs::create_dir_all(parent).map_err(Failure::work)?;
    }
    Journal::open(&folders.journal).map_err(|error| {
        let hint = error.hint();
        Failure::work(error).maybe_hint(hint)
    })
}

pub(crate) fn refresh(config: &Config) -> Result<RefreshConfig, Failure> {
    let mut refresh = RefreshConfig::new(hub_url(config)?);
    refresh.token = token(config);
    refresh.proxy = config.proxy.as_deref().map(|proxy| url("proxy", proxy)).transpose()?;
    Ok(refresh)
}

pub(crate) fn url(key: &str, text: &str) -> Result<Url, Failure> {
    Url::parse(text).map_err(|error| Failure::usage(format!("`{key}` is not a URL: {error}")))
}

fn settings(config: &Config) -> Settings {
    let bias = |bias: f32| (bias != 0.0).then_some(bias);
    Settings {
        reask: config.planning.reask,
        last_resort: config.planning.last_resort == LastResort::Offline,
        stream_plan: config.planning.stream,
        replan: config.planning.replan,
        max_rounds: config.planning.max_rounds,
        plan: PlanLimits { max_tasks: config.planning.max_tasks },
        max_each: config.planning.max_each,
        engine: EngineLimits {
            concurrency: config.limits.concurrency,
            task_timeout: Duration::from_secs(config.limits.task_timeout_s),
            run_timeout: Duration::from_secs(config.limits.run_timeout_s),
            max_fallbacks: config.limits.max_fallbacks,
        },
        reserve_tokens: config.planning.reserve_tokens,
        parse_bias: bias(config.logit_bias.parse_task),
        choose_bias: bias(config.logit_bias.choose_model),
        structured: config.llm.structured.get().unwrap_or(true),
        speculate: config.choose.speculate,
        num_candidates: config.num_candidate_models,
        max_description: config.max_description_length,
        stream_answer: true,
        experience: config.planning.experience,
        experience_demos: config.planning.experience_demos,
    }
}
