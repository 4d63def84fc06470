//! Sources of models and the workers that run them: native models, Hugging Face, a model server, media endpoints, the
//! chat model.

use std::sync::Arc;
use std::time::Duration;

use jarvis_catalogue::Host;
use jarvis_catalogue::{
    Available, Catalogue, HubCheck, InferenceMode, Model, ProbeConfig, Prober, Wanted, where_probed,
};
use jarvis_chat::{ChatModel, Message};
use jarvis_engine::Worker;
use jarvis_hugginggpt::Sources;
use jarvis_hugginggpt::prompts::Prompts;
use jarvis_net::{Secret, UrlPolicy};
use jarvis_store::Media;
use jarvis_workers::native::{Native, Programs};
use jarvis_workers::{
    ChatWorker, HuggingFace, HuggingFaceConfig, InputLimits, Inputs, LocalWorker, MediaEndpoint, MediaEndpointConfig,
    ModelServer, ModelServerConfig, PICTURE_TASKS, Sharing, SmallLanguageModel, TASK_STAGE, ToolWorker, Workers,
};
use url::Url;

use super::{HUB, LocalRuntime, ROUTER, Tools, url};
use crate::config::{Config, MediaConfig, StatusApi, env_vars};
use crate::failure::Failure;

/// The longest that one use of a local model may take: a long recording on a slow machine.
const LOCAL_TIMEOUT: Duration = Duration::from_secs(900);

/// The two halves of stages 2 and 3.
pub(crate) struct Experts {
    pub(crate) sources: Sources,
    pub(crate) worker: Arc<dyn Worker>,
    pub(crate) addresses: Addresses,
}

/// Where the workers and the prober send what they are given.
#[derive(Debug, Clone, Default)]
pub(crate) struct Addresses {
    pub(crate) huggingface: Option<Url>,
    /// Where models are asked for before one is chosen.
    pub(crate) probed: Vec<Url>,
    pub(crate) model_server: Option<Url>,
    /// The media endpoint, and the task types that go there.
    pub(crate) media: Option<(Url, Vec<&'static str>)>,
}

impl Experts {
    /// Builds what the configuration asks for, and nothing else: what is not configured costs no start-up time.
    pub(super) fn build(
        config: &Config,
        catalogue: Catalogue,
        media: &Arc<Media>,
        chat: Option<Arc<dyn ChatModel>>,
        prompts: &Arc<Prompts>,
        tools: &Tools,
        local: Option<&Arc<LocalRuntime>>,
    ) -> Result<Experts, Failure> {
        let inputs = Arc::new(inputs(config, media)?);
        let programs = Programs::find();
        let token = token(config);
        let mode = config.inference_mode;
        let local = local.filter(|_| mode != InferenceMode::Huggingface);
        let local_timeout = local_timeout(config);
        let native = Native::new(Arc::clone(&inputs), programs.clone());
        let native = Arc::new(match local {
            Some(local) => native.with_reader(Arc::new(local.reader(local_timeout))),
            None => native,
        });
        let probed = where_probed(mode, config.local_deployment);
        let huggingface = probed.huggingface && (token.is_some() || config.huggingface.anonymous);
        let server = config
            .local_inference_endpoint
            .as_ref()
            .map(|endpoint| url("local_inference_endpoint", &endpoint.url()))
            .transpose()?;
        let base = config.huggingface.base_url.as_deref().unwrap_or(ROUTER);
        let base = url("huggingface.base_url", base)?;

        let mut endpoints = tools.serving();
        let mut workers = Workers { native: Some(Arc::clone(&native) as Arc<dyn Worker>), ..Workers::default() };
        let planned = tools.planned();
        let native_tools = tools.native();
        if !planned.is_empty() || !endpoints.is_empty() || !native_tools.is_empty() {
            let worker = ToolWorker::new(Arc::clone(&tools.registry), Arc::clone(&inputs));
            workers.tool = Some(Arc::new(worker));
        }
        let mut addresses = Addresses { model_server: server.clone(), ..Addresses::default() };
        if huggingface {
            addresses.huggingface = Some(base.clone());
            let proxy = config.proxy.as_deref().and_then(Secret::new);
            let mut huggingface = HuggingFaceConfig { proxy, ..HuggingFaceConfig::new(base.clone(), token.clone()) };
            huggingface.timeout = seconds(config.limits.model_timeout_s, huggingface.timeout);
            huggingface.max_wait = seconds(config.limits.model_wait_s, huggingface.max_wait);
            workers.huggingface = Some(Arc::new(HuggingFace::new(huggingface, Arc::clone(&inputs))));
        }
        if let (Some(server), Some(endpoint)) = (&server, &config.local_inference_endpoint) {
            let sharing = if endpoint.shares_folder() { Sharing::Folder } else { Sharing::DataUrls };
            let mut served = ModelServerConfig { sharing, ..ModelServerConfig::new(server.clone()) };
            served.timeout = seconds(config.limits.model_timeout_s, served.timeout);
            workers.local = Some(Arc::new(ModelServer::new(served, Arc::clone(&inputs))));
        }
        if let Some(media) = &config.media {
            let proxy = config.proxy.as_deref().and_then(Secret::new);
            let endpoint = MediaEndpointConfig { proxy, ..media_endpoint(media)? };
            let endpoint = MediaEndpoint::new(endpoint, Arc::clone(&inputs));
            let mut tasks = Vec::new();
            for task in jarvis_catalogue::task_types() {
                tasks.extend(endpoint.model(task.name).map(|_| task.name));
                endpoints.extend(endpoint.model(task.name).map(|id| at_endpoint(id, task.name)));
            }
            workers.media = Some(Arc::new(endpoint));
            addresses.media = Some((url("media.base_url", &media.base_url)?, tasks));
        }
        if let Some(chat) = chat {
            if chat.can_see(TASK_STAGE) {
                let name = chat.model_name(TASK_STAGE);
                endpoints.extend(PICTURE_TASKS.iter().map(|task| at_endpoint(&name, task)));
            }
            workers.chat = Some(chat_worker(chat, true, &inputs, prompts));
        }
        if let Some(local) = local {
            let (models, files) = (local.models.clone(), local.files.clone());
            let mut worker = LocalWorker::new(models, files, Arc::clone(&inputs), programs, local_timeout);
            let (runtime, inputs, prompts) = (Arc::clone(local), Arc::clone(&inputs), Arc::clone(prompts));
            worker.language = Arc::new(move |id: &str| {
                let (chat, plans) = runtime.language_model(id)?;
                Some(chat_worker(chat, plans, &inputs, &prompts))
            });
            worker.next = workers.local.take();
            workers.local = Some(Arc::new(worker));
        }
        let prober = if huggingface || server.is_some() {
            let hub = match (huggingface, config.huggingface.status) {
                (false, _) => None,
                (true, StatusApi::Hub) => Some(HubCheck::ModelApi(hub_url(config)?)),
                (true, StatusApi::Legacy) => Some(HubCheck::Status(base)),
            };
            addresses.probed.extend(hub.iter().map(|hub| match hub {
                HubCheck::ModelApi(url) | HubCheck::Status(url) => url.clone(),
            }));
            addresses.probed.extend(server.clone());
            let probe = ProbeConfig {
                hub,
                local: server.clone(),
                token,
                num_candidates: config.num_candidate_models,
                providers: config.huggingface.providers.clone(),
                staging: config.huggingface.staging,
                each: Duration::from_secs(config.limits.probe_timeout_s),
                overall: Duration::from_secs(config.limits.probe_total_s),
                keep_positive: Duration::from_secs(config.limits.probe_keep_s),
                keep_negative: Duration::from_secs(config.limits.probe_keep_failed_s),
                proxy: config.proxy.as_deref().map(|proxy| url("proxy", proxy)).transpose()?,
                ..ProbeConfig::new(probed)
            };
            let checked = Arc::clone(&native);
            let check = move |model: &Model| checked.available(&model.id).map_err(|error| error.message);
            Some(Prober::new(probe, Arc::new(check)).map_err(Failure::work)?)
        } else {
            None
        };
        let mut sources = Sources {
            prober,
            model_server: server.is_some(),
            huggingface,
            native: Arc::new(move |id: &str| native.available(id)),
            endpoints,
            tools: planned,
            native_tools,
            ..Sources::new(catalogue, Wanted::remote(mode, config.local_deployment))
        };
        if let Some(local) = local {
            let runtime = Arc::clone(local);
            sources.local = Arc::new(move || runtime.candidates());
            sources.local_hint = local.hint();
        }
        Ok(Experts { sources, worker: Arc::new(workers), addresses })
    }
}

/// Performs tasks on texts by asking a chat model.
/// A model that is too small to plan gets a shorter prompt, and plain tasks alone.
fn chat_worker(chat: Arc<dyn ChatModel>, plans: bool, inputs: &Arc<Inputs>, prompts: &Arc<Prompts>) -> Arc<dyn Worker> {
    let prompts = Arc::clone(prompts);
    let prompt = move |request: &jarvis_plan::Request, task: &serde_json::Value| {
        let turns = match plans {
            true => prompts.task_llm(&request.text, task)?,
            false => prompts.task_llm_short(&request.text, task)?,
        };
        Ok(turns.into_iter().map(Message::from).collect())
    };
    let worker = Arc::new(ChatWorker::new(chat, Arc::clone(inputs), Arc::new(prompt)));
    if plans { worker } else { Arc::new(SmallLanguageModel(worker)) }
}

/// The longest that one use of a local model may take.
pub(crate) fn local_timeout(config: &Config) -> Duration {
    seconds(config.limits.model_timeout_s, LOCAL_TIMEOUT)
}

/// A time from the configuration, or the default.
fn seconds(set: Option<u64>, default: Duration) -> Duration {
    set.map_or(default, Duration::from_secs)
}

fn at_endpoint(id: &str, task: &str) -> Available {
    let model = Model::new(id, task, Host::Llm, "served by the configured OpenAI-compatible endpoint");
    Available { model: Arc::new(model), host: Host::Llm }
}

/// Which addresses that callers name may be reached.
pub(crate) fn url_policy(config: &Config) -> UrlPolicy {
    UrlPolicy {
        allow_private: config.urls.allow_private,
        allow_hosts: config.urls.allow_hosts.clone(),
        use_proxy: false,
    }
}

/// Reads the inputs of tasks, within the configured limits.
pub(super) fn inputs(config: &Config, media: &Arc<Media>) -> Result<Inputs, Failure> {
    let limits = InputLimits {
        max_bytes: config.limits.max_input_bytes,
        max_pixels: config.limits.max_pixels,
        fetch_timeout: Duration::from_secs(config.limits.fetch_timeout_s),
    };
    Inputs::new(Arc::clone(media), url_policy(config), limits).map_err(|error| {
        let hint = error.hint.clone();
        Failure::work(error).maybe_hint(hint)
    })
}

fn media_endpoint(media: &MediaConfig) -> Result<MediaEndpointConfig, Failure> {
    let key = media.api_key_env.as_deref().and_then(|name| secret(&[name]));
    let mut endpoint = MediaEndpointConfig::new(url("media.base_url", &media.base_url)?, key);
    endpoint.image_model.clone_from(&media.image_model);
    endpoint.image_size.clone_from(&media.image_size);
    endpoint.speech_model.clone_from(&media.speech_model);
    endpoint.transcription_model.clone_from(&media.transcription_model);
    if let Some(voice) = &media.voice {
        endpoint.voice.clone_from(voice);
    }
    Ok(endpoint)
}

/// The Hugging Face token, from the variable that the configuration names or the usual ones.
pub(crate) fn token(config: &Config) -> Option<Secret> {
    match config.huggingface.token_env.as_deref() {
        Some(name) => secret(&[name]),
        None => secret(&[env_vars::HF_TOKEN, env_vars::HUGGINGFACE_ACCESS_TOKEN]),
    }
}

/// The first of these environment variables that holds something.
pub(crate) fn secret(names: &[&str]) -> Option<Secret> {
    names.iter().find_map(|name| Secret::new(&std::env::var(name).ok()?))
}

pub(crate) fn hub_url(config: &Config) -> Result<Url, Failure> {
    url("huggingface.hub_url", config.huggingface.hub_url.as_deref().unwrap_or(HUB))
}
