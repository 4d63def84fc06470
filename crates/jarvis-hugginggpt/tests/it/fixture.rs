//! A pipeline whose far side is scripted: chat replies by stage, workers by task, models by availability.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use jarvis_catalogue::{
    Catalogue, Deployment, HubCheck, InferenceMode, Model, ProbeConfig, Prober, Wanted, where_probed,
};
use jarvis_catalogue::{Host, TaskOutput};
use jarvis_chat::{ChatModel, OpenAi, OpenAiConfig, Retries};
use jarvis_engine::{Events, Job, Worker};
use jarvis_hugginggpt::prompts::Prompts;
use jarvis_hugginggpt::{HuggingGpt, RequestLogs, Run, RunError, Settings, Sources};
use jarvis_plan::{ErrorCode, Event, Request, RunId, TaskError, Tool, Usage, Vocabulary};
use jarvis_testing::chat::{FakeChat, Script};
use jarvis_testing::hub::{FakeHub, HubModel};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Does {
    Gives(Value),
    Fails(ErrorCode, String),
    Panics,
    Hangs,
}

/// Performs jobs by script, looked up by model id, then by task; keeps what it was given.
#[derive(Default)]
pub(crate) struct Scripted {
    script: HashMap<String, Does>,
    pub(crate) seen: Mutex<Vec<(String, String, Value)>>,
    starts: Notify,
}

impl Scripted {
    pub(crate) async fn started(&self, count: usize) {
        loop {
            let start = self.starts.notified();
            if self.seen.lock().expect("no poison").len() >= count {
                return;
            }
            start.await;
        }
    }
}

#[async_trait]
impl Worker for Scripted {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        self.output(job).await.map(Value::from)
    }
}

impl Scripted {
    async fn output(&self, job: &Job) -> Result<TaskOutput, TaskError> {
        let task = &job.candidate.effective_task;
        let id = &job.candidate.id;
        self.seen.lock().expect("no poison").push((id.clone(), task.clone(), json!(job.args)));
        self.starts.notify_waiters();
        match self.script.get(id).or_else(|| self.script.get(task)) {
            Some(Does::Gives(value)) => Ok(TaskOutput(value.clone())),
            Some(Does::Fails(code, message)) => Err(TaskError::new(*code, message)),
            Some(Does::Panics) => panic!("a worker's own bug"),
            Some(Does::Hangs) => std::future::pending().await,
            None => Ok(TaskOutput::text(format!("{task} of {}", job.texts().into_values().next().unwrap_or_default()))),
        }
    }
}

pub(crate) struct Fixture {
    pub(crate) chat: Option<FakeChat>,
    pub(crate) worker: Arc<Scripted>,
    pub(crate) pipeline: Arc<HuggingGpt>,
    pub(crate) logs: tempfile::TempDir,
    _hub: FakeHub,
}

pub(crate) struct Builder {
    script: Option<Script>,
    live: Vec<(String, String)>,
    listed: Vec<(String, String)>,
    does: Vec<(String, Does)>,
    mode: InferenceMode,
    model_server: bool,
    native: bool,
    tools: Vec<Tool>,
    beside: bool,
    talks: bool,
    pub(crate) settings: Settings,
}

/// A fixture with a scripted chat model. Native models do not exist unless asked for, so that counts are those of the
/// original.
pub(crate) fn with_chat(script: Script) -> Builder {
    let settings = Settings { stream_answer: false, ..Settings::default() };
    Builder {
        script: Some(script),
        live: Vec::new(),
        listed: Vec::new(),
        does: Vec::new(),
        mode: InferenceMode::Hybrid,
        model_server: true,
        native: false,
        tools: Vec::new(),
        beside: true,
        talks: false,
        settings,
    }
}

pub(crate) fn offline() -> Builder {
    Builder { script: None, native: true, model_server: false, ..with_chat(Script::new()) }
}

/// A fixture with a model that talks, and the offline planner.
pub(crate) fn with_conversation_model(script: Script) -> Builder {
    Builder { script: Some(script), talks: true, ..offline() }
}

impl Builder {
    /// Models of a task that are available at the Hub, with blanks between.
    pub(crate) fn live(mut self, task: &str, ids: &str) -> Builder {
        self.live.extend(ids.split(' ').map(|id| (task.to_owned(), id.to_owned())));
        self
    }

    /// Models of a task that the catalogue lists and that are not available.
    pub(crate) fn listed(mut self, task: &str, ids: &str) -> Builder {
        self.listed.extend(ids.split(' ').map(|id| (task.to_owned(), id.to_owned())));
        self
    }

    pub(crate) fn does(mut self, what: &str, does: Does) -> Builder {
        self.does.push((what.to_owned(), does));
        self
    }

    pub(crate) fn mode(mut self, mode: InferenceMode) -> Builder {
        self.mode = mode;
        self
    }

    /// Tools of the configuration; plans may name no others.
    pub(crate) fn tools(mut self, tools: Vec<Tool>) -> Builder {
        self.tools = tools;
        self
    }

    /// No file exists that the request does not bring.
    pub(crate) fn nothing_beside(mut self) -> Builder {
        self.beside = false;
        self
    }

    pub(crate) fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Builder {
        change(&mut self.settings);
        self
    }

    pub(crate) async fn build(self) -> Fixture {
        let hub = self.live.iter().map(|(task, id)| HubModel::live(id, task, 1)).collect();
        let hub = FakeHub::start(hub).await.expect("the hub starts");
        let chat = match self.script {
            Some(script) => Some(FakeChat::start(script).await),
            None => None,
        };
        let model: Option<Arc<dyn ChatModel>> = chat.as_ref().map(|chat| {
            let retries = Retries { max: 0, ..Retries::default() };
            let config = OpenAiConfig { retries, ..OpenAiConfig::new(chat.url(), "gpt-4") };
            Arc::new(OpenAi::new(config).expect("the client builds")) as Arc<dyn ChatModel>
        });
        let models = self
            .live
            .iter()
            .chain(&self.listed)
            .map(|(task, id)| Model::new(id, task, Host::Huggingface, "a model"))
            .collect();
        // Nothing is loaded on the model server, so only the Hub's models count as available.
        let deployment = Deployment::Minimal;
        let probed = where_probed(self.mode, deployment);
        let hub_url = hub.base().parse().expect("a URL");
        let config = ProbeConfig { hub: Some(HubCheck::ModelApi(hub_url)), ..ProbeConfig::new(probed) };
        let native = self.native;
        let prober = Prober::new(config, Arc::new(|_: &Model| Ok(()))).expect("the client builds");
        let own = self.tools;
        let sources = Sources {
            prober: chat.is_some().then_some(prober),
            model_server: self.model_server,
            huggingface: true,
            native: Arc::new(move |_| match native {
                true => Ok(()),
                false => Err(TaskError::new(ErrorCode::NoModel, "no native models here")),
            }),
            tools: own.clone(),
            ..Sources::new(Catalogue::with_models(models, Vec::new()), Wanted::remote(self.mode, deployment))
        };
        let logs = tempfile::tempdir().expect("a folder");
        let script = self.does.into_iter().collect();
        let worker = Arc::new(Scripted { script, ..Scripted::default() });
        let prompts = Arc::new(Prompts::builtin().expect("the prompts parse"));
        let (model, conversation_model) = if self.talks { (None, model) } else { (model, None) };
        let mut pipeline = HuggingGpt {
            conversation_model,
            logs: Some(Arc::new(RequestLogs::open(logs.path()).expect("the logs open"))),
            settings: self.settings,
            ..HuggingGpt::new(model, sources, Arc::clone(&worker) as Arc<dyn Worker>, prompts)
        };
        if !own.is_empty() {
            pipeline.vocabulary = Arc::new(Vocabulary::new(own));
        }
        if !self.beside {
            pipeline.exists = Arc::new(|_| false);
        }
        Fixture { chat, worker, pipeline: Arc::new(pipeline), logs, _hub: hub }
    }
}

/// Does something that emits events, and gives them beside what came of it.
pub(crate) async fn with_events<T>(run_id: &str, work: impl AsyncFnOnce(&Events) -> T) -> (T, Vec<Event>) {
    let (events, mut receiver) = Events::channel(RunId(run_id.into()));
    let result = work(&events).await;
    drop(events);
    let mut seen = Vec::new();
    while let Ok(event) = receiver.try_recv() {
        seen.push(event);
    }
    (result, seen)
}

pub(crate) struct Went {
    pub(crate) run: Result<Run, RunError>,
    pub(crate) usage: Usage,
    pub(crate) events: Vec<Event>,
}

impl Fixture {
    pub(crate) async fn run(&self, request: &str) -> Went {
        self.run_request(Request::new(request), CancellationToken::new()).await
    }

    pub(crate) async fn run_request(&self, request: Request, cancel: CancellationToken) -> Went {
        let run = async |events: &Events| {
            let run = self.pipeline.run(Arc::new(request), events, cancel).await;
            (run, events.usage())
        };
        let ((run, usage), events) = with_events("r", run).await;
        Went { run, usage, events }
    }

    pub(crate) fn log(&self, name: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.logs.path().join(name)).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
    }

    pub(crate) fn requests_of(&self, stage: &str) -> Vec<jarvis_testing::chat::Request> {
        self.chat.as_ref().expect("a chat model").requests_of(stage)
    }

    /// The first prompt of a stage.
    pub(crate) fn prompt(&self, stage: &str) -> String {
        self.requests_of(stage)[0].prompt()
    }

    pub(crate) fn stages(&self) -> Vec<String> {
        self.chat.as_ref().map(FakeChat::stages).unwrap_or_default()
    }
}

impl Went {
    /// The outcomes in one line each: `id task status model text-or-error`.
    pub(crate) fn lines(&self) -> Vec<String> {
        let run = self.run.as_ref().expect("the run ends with an answer");
        run.outcomes
            .iter()
            .map(|outcome| {
                let model = outcome.performer().map(|performer| performer.id.as_str()).unwrap_or("-");
                let what = match &outcome.error {
                    Some(error) => format!("{}: {error}", error.code),
                    None => outcome.output.as_ref().map(ToString::to_string).unwrap_or_default(),
                };
                format!("{} {} {:?} {model} {what}", outcome.id, outcome.task, outcome.status)
            })
            .collect()
    }
}
