//! A server on a free port, whose chat model and workers are scripted.

mod reply;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use jarvis_catalogue::TaskOutput;
use jarvis_catalogue::{Catalogue, Deployment, InferenceMode, Wanted};
use jarvis_chat::{ChatModel, OpenAi, OpenAiConfig, Retries};
use jarvis_document::NoReader;
use jarvis_engine::{Engine, Job, Worker};
use jarvis_hugginggpt::decisions::examples::{Example, Examples};
use jarvis_hugginggpt::decisions::{DecisionSettings, Decisions, Format, PlanStore};
use jarvis_hugginggpt::prompts::Prompts;
use jarvis_hugginggpt::{FileSource, HuggingGpt, Sources};
use jarvis_pipeline::{Pipeline, RunContext};
use jarvis_plan::{ErrorCode, TaskError};
use jarvis_react::Agent;
use jarvis_rewoo::Rewoo;
use jarvis_server::{Desk, GrpcOptions, Listeners, MakeContext, Named, NoModels, Options, Parts, ServedModels};
use jarvis_store::{Journal, Media};
use jarvis_testing::chat::{FakeChat, Script};
use jarvis_tools::{Registry, Scope, local};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) use self::reply::{Reply, events};
use crate::described::Document;

pub(crate) const CASES: &str = include_str!("cases.yaml");

/// How long a test waits for what must come; reached only when it does not.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Performs every job with a text; a task type may be told to hang until it is let go, fail or panic.
#[derive(Default)]
pub(crate) struct Scripted {
    does: HashMap<&'static str, Does>,
    pub(crate) started: Counted,
    pub(crate) dropped: Counted,
    /// The arguments of every job.
    pub(crate) given: Mutex<Vec<Value>>,
    go: Option<Arc<Semaphore>>,
}

#[derive(Clone, Copy)]
pub(crate) enum Does {
    Hangs,
    Waits,
    Fails,
    HearsNothing,
    Panics,
    Floods,
    /// This JSON.
    Gives(&'static str),
}

/// Bytes of a result that no socket holds.
pub(crate) const FLOOD: usize = 16 << 20;

#[derive(Default)]
pub(crate) struct Counted {
    count: AtomicUsize,
    changed: Notify,
}

impl Counted {
    fn add(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    pub(crate) async fn reach(&self, count: usize) {
        let reached = async {
            loop {
                let changed = self.changed.notified();
                if self.count.load(Ordering::SeqCst) >= count {
                    return;
                }
                changed.await;
            }
        };
        tokio::time::timeout(PATIENCE, reached).await.expect("it comes to that count");
    }
}

struct OnDrop<'a>(&'a Counted);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.add();
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
        let task = job.candidate.effective_task.as_str();
        self.given.lock().expect("no panic").push(job.object());
        self.started.add();
        let _left = OnDrop(&self.dropped);
        match self.does.get(task) {
            Some(Does::Hangs) => std::future::pending().await,
            Some(Does::Waits) => {
                if let Some(go) = &self.go {
                    go.acquire().await.expect("open").forget();
                }
            }
            Some(Does::Fails) => return Err(TaskError::new(ErrorCode::Upstream, "the far side is broken")),
            Some(Does::HearsNothing) => return Err(TaskError::new(ErrorCode::NoOutput, "no speech was found")),
            Some(Does::Floods) => return Ok(TaskOutput::text("x".repeat(FLOOD))),
            Some(Does::Panics) => panic!("a worker's own bug"),
            Some(Does::Gives(json)) => return Ok(TaskOutput(serde_json::from_str(json).expect("JSON"))),
            None => {}
        }
        Ok(TaskOutput::text(format!("{task} done")))
    }
}

pub(crate) struct Harness {
    pub(crate) url: String,
    /// Where gRPC is served: host and port.
    pub(crate) grpc: String,
    pub(crate) client: Client,
    pub(crate) worker: Arc<Scripted>,
    pub(crate) go: Arc<Semaphore>,
    pub(crate) chat: Option<FakeChat>,
    pub(crate) stop: CancellationToken,
    pub(crate) served: JoinHandle<()>,
    folder: tempfile::TempDir,
}

pub(crate) struct Builder {
    script: Option<Script>,
    does: HashMap<&'static str, Does>,
    pub(crate) options: Options,
    pub(crate) grpc: GrpcOptions,
    journal: bool,
    checks: Vec<jarvis_server::Check>,
    run_timeout: Option<Duration>,
    models: Arc<dyn ServedModels>,
    reload: Option<jarvis_server::Reload>,
    asks_people: bool,
    examples: Examples,
}

pub(crate) fn offline() -> Builder {
    Builder {
        script: None,
        does: HashMap::new(),
        options: Options::default(),
        grpc: GrpcOptions::default(),
        journal: true,
        checks: Vec::new(),
        run_timeout: None,
        models: Arc::new(NoModels),
        reload: None,
        asks_people: false,
        examples: Examples::default(),
    }
}

pub(crate) fn with_chat(script: Script) -> Builder {
    Builder { script: Some(script), ..offline() }
}

impl Builder {
    pub(crate) fn does(mut self, task: &'static str, does: Does) -> Builder {
        self.does.insert(task, does);
        self
    }

    pub(crate) fn options(mut self, change: impl FnOnce(&mut Options)) -> Builder {
        change(&mut self.options);
        self
    }

    pub(crate) fn grpc(mut self, change: impl FnOnce(&mut GrpcOptions)) -> Builder {
        change(&mut self.grpc);
        self
    }

    pub(crate) fn models(mut self, models: impl ServedModels + 'static) -> Builder {
        self.models = Arc::new(models);
        self
    }

    /// What the configuration says when it is read anew.
    pub(crate) fn reloads(mut self, read: impl Fn() -> Result<Options, String> + Send + Sync + 'static) -> Builder {
        let read = move || {
            let read = read().map(|options| jarvis_server::Configured { options, setup: None, warnings: Vec::new() });
            Box::pin(std::future::ready(read)) as futures::future::BoxFuture<'static, _>
        };
        self.reload = Some(jarvis_server::Reload { read: Arc::new(read), asked: Arc::default() });
        self
    }

    /// Lets the planner ask whoever started a run.
    pub(crate) fn asks_people(mut self) -> Builder {
        self.asks_people = true;
        self
    }

    /// Pipelines that are known to be right.
    pub(crate) fn examples(mut self, examples: &[Value]) -> Builder {
        let read = |example: &Value| Example::read(example).expect("an example");
        self.examples = Examples::new(examples.iter().map(read).collect());
        self
    }

    pub(crate) fn run_timeout(mut self, most: Duration) -> Builder {
        self.run_timeout = Some(most);
        self
    }

    pub(crate) fn without_journal(mut self) -> Builder {
        self.journal = false;
        self
    }

    pub(crate) fn check(mut self, name: &str, detail: Option<&str>) -> Builder {
        let (name, detail) = (name.to_owned(), detail.map(str::to_owned));
        self.checks.push(jarvis_server::Check { name, ok: detail.is_none(), detail });
        self
    }

    pub(crate) async fn start(self) -> Harness {
        let folder = tempfile::tempdir().expect("a folder");
        let media = Arc::new(Media::open(&folder.path().join("public")).expect("a public folder"));
        let journal = self.journal.then(|| Arc::new(Journal::open(&folder.path().join("runs.db")).expect("a journal")));
        let chat = match self.script {
            Some(script) => Some(FakeChat::start(script).await),
            None => None,
        };
        let model = chat.as_ref().map(|chat| model(&chat.url()));
        let go = Arc::new(Semaphore::new(0));
        let worker = Arc::new(Scripted { does: self.does, go: Some(Arc::clone(&go)), ..Scripted::default() });
        let agent = agent(model.clone(), &media);
        let (desk, mut pipeline) = (Desk::default(), pipeline(model, Arc::clone(&worker)));
        if self.asks_people {
            pipeline.approver = Arc::new(desk.clone());
        }
        pipeline.memory = journal.clone().map(|journal| jarvis_hugginggpt::PlanMemory::new(journal, Vec::new()));
        let pipeline = Arc::new(pipeline);
        let mut source = FileSource::for_planning(Arc::clone(&pipeline.sources), pipeline.chat.is_some(), 5);
        source.examples = Arc::new(self.examples);
        let decisions = Decisions {
            pipeline: Arc::clone(&pipeline),
            settings: DecisionSettings::default(),
            source: Arc::new(source),
            plans: Some(Arc::new(PlanStore::new(folder.path().join("plans"), 10))),
            prompt_logs: None,
        };
        let (for_worker, checks) = (Arc::clone(&worker), self.checks);
        let setup = jarvis_server::Setup {
            meter: jarvis_engine::Meter { door: jarvis_events::SERVER, ..jarvis_engine::Meter::default() },
            reach: vec![jarvis_server::Reach { kind: "planning".into(), hosts: vec!["this machine".into()] }],
            warnings: vec!["`files/read` is left out".into()],
            chat_models: Arc::new(Offline(Arc::clone(&worker))),
            tools: Arc::new(|| vec![offered()]),
            unpriced: None,
            pipelines: pipelines(&agent),
            check: Arc::new(|_, _| Ok(())),
            context: context(&agent.registry, self.run_timeout),
            agent,
            pipeline,
            models: self.models,
            store: None,
            local_decisions: decisions.clone(),
            decisions,
            format: Format::Config,
            for_caller: Arc::new(move |caller| {
                let endpoint = caller.endpoint.ok_or("an endpoint is needed")?;
                Ok(Arc::new(self::pipeline(Some(self::model(endpoint.as_str())), Arc::clone(&for_worker))))
            }),
            checks: Arc::new(move || {
                let checks = checks.clone();
                async move { checks }.boxed()
            }),
        };
        let parts = Parts {
            kept: jarvis_server::Kept {
                folder: Some("/data".into()),
                items: vec![kept_runs()],
                ..jarvis_server::Kept::default()
            },
            prune_logs: None,
            reload: self.reload,
            metrics_sink: None,
            audit: Some(jarvis_server::Audit::open(&folder.path().join("audit.jsonl")).expect("an audit")),
            elsewhere: None,
            desk,
            media,
            journal,
        };
        let listener = jarvis_server::bind(([127, 0, 0, 1], 0).into()).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let grpc = jarvis_server::bind(([127, 0, 0, 1], 0).into()).await.expect("a free port");
        let grpc_address = grpc.local_addr().expect("an address").to_string();
        let stop = CancellationToken::new();
        let listeners = Listeners { http: Some(listener), grpc: Some((grpc, self.grpc)) };
        let serving = jarvis_server::serve(listeners, parts, setup, self.options, stop.clone());
        let served = tokio::spawn(async move { serving.await.expect("it serves") });
        let client = jarvis_net::http::builder().timeout(PATIENCE).build().expect("a client");
        Harness { url, grpc: grpc_address, client, worker, go, chat, stop, served, folder }
    }
}

/// No chat model beside the configured one but the offline planner.
struct Offline(Arc<Scripted>);

impl jarvis_server::ChatModels for Offline {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn pipeline(&self, name: Option<&str>) -> Result<Arc<HuggingGpt>, String> {
        assert_eq!(name, None, "there are no others");
        Ok(Arc::new(pipeline(None, Arc::clone(&self.0))))
    }
}

fn kept_runs() -> jarvis_server::KeptItem {
    let (place, until) = ("run journal on this machine".to_owned(), "you delete it".to_owned());
    jarvis_server::KeptItem { what: "runs", place, until, folder: Some("/data".into()) }
}

fn offered() -> jarvis_server::OfferedTool {
    jarvis_server::OfferedTool {
        name: "shop/reserve".into(),
        description: "Reserves an article.".into(),
        kind: "mcp".into(),
        server: Some("shop".into()),
        effect: jarvis_plan::Effect::Writes,
        approval: jarvis_server::ToolApproval::New,
        inputs: json!({"type": "object"}),
    }
}

/// HuggingGPT, and ReWOO and the agent beside it.
fn pipelines(agent: &Arc<Agent>) -> Vec<Named> {
    let agent = Arc::clone(agent);
    let rewoo: Arc<dyn Pipeline> = Arc::new(Rewoo::new().expect("the prompts parse"));
    vec![
        Named {
            name: "hugginggpt",
            needs_model: false,
            make: Arc::new(|configured| Ok(Arc::clone(configured) as Arc<dyn Pipeline>)),
        },
        Named {
            name: jarvis_hugginggpt::Conversation::NAME,
            needs_model: true,
            make: Arc::new(|_| {
                let picture = |path: String| futures::future::ready(Ok(format!("data:,{path}"))).boxed();
                Ok(Arc::new(jarvis_hugginggpt::Conversation::new(Arc::new(picture))))
            }),
        },
        Named { name: "rewoo", needs_model: true, make: Arc::new(move |_| Ok(Arc::clone(&rewoo))) },
        Named {
            name: "react",
            needs_model: true,
            make: Arc::new(move |_| Ok(Arc::clone(&agent) as Arc<dyn Pipeline>)),
        },
    ]
}

/// Contexts whose tools are called without media.
fn context(tools: &Arc<Registry>, run_timeout: Option<Duration>) -> MakeContext {
    let mut limits = jarvis_pipeline::Limits::default();
    limits.engine.run_timeout = run_timeout.unwrap_or(limits.engine.run_timeout);
    let tools = Arc::clone(tools);
    let called = Arc::clone(&tools);
    let engine = Engine::new(move |job: Job| {
        let tools = Arc::clone(&called);
        async move {
            let called = tools.call(job.name(), &job.object(), &Scope::default()).await;
            called.map(|seen| TaskOutput::text(seen.text).into()).map_err(|error| jarvis_workers::call_failed(&error))
        }
    });
    Arc::new(move |chat, events, cancel| {
        let ask = chat.map(|chat| jarvis_ask::Ask::new(chat, events));
        RunContext::new(ask, engine.clone(), Arc::clone(&tools), events, cancel, limits)
    })
}

fn agent(chat: Option<Arc<dyn ChatModel>>, media: &Arc<Media>) -> Arc<Agent> {
    let mut registry = Registry::new();
    local::add_to(&mut registry).expect("the built-in tools");
    Arc::new(Agent {
        chat,
        registry: Arc::new(registry),
        media: Arc::clone(media),
        prompts: Arc::new(jarvis_react::Prompts::builtin().expect("the prompts parse")),
        settings: jarvis_react::Settings::default(),
        reader: Arc::new(NoReader),
        gate: Arc::new(jarvis_engine::OpenGate),
        tracer: None,
    })
}

fn model(url: &str) -> Arc<dyn ChatModel> {
    let retries = Retries { max: 0, ..Retries::default() };
    Arc::new(OpenAi::new(OpenAiConfig { retries, ..OpenAiConfig::new(url, "gpt-4") }).expect("the client builds"))
}

fn pipeline(chat: Option<Arc<dyn ChatModel>>, worker: Arc<Scripted>) -> HuggingGpt {
    let wanted = Wanted::remote(InferenceMode::Hybrid, Deployment::Minimal);
    let prompts = Arc::new(Prompts::builtin().expect("the prompts parse"));
    HuggingGpt::new(chat, Sources::new(Catalogue::builtin(), wanted), worker, prompts)
}

impl Harness {
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        let reply = Reply::of(self.request(Method::GET, path).send().await.expect("a reply")).await;
        Document::get().await.check_reply("get", path, &reply);
        reply
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        let reply = Reply::of(self.open(path, body).await).await;
        Document::get().await.check_reply("post", path, &reply);
        reply
    }

    pub(crate) async fn open(&self, path: &str, body: Value) -> Response {
        self.request(Method::POST, path).json(&body).send().await.expect("a reply")
    }

    pub(crate) async fn stream(&self, path: &str, body: Value) -> Vec<(String, Value)> {
        let reply = self.post(path, body).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        events(&reply.text)
    }

    /// Waits until the runs that went on have ended and are in the journal.
    pub(crate) async fn settled(&self) {
        self.settled_for("").await;
    }

    /// The same as far as a user sees them.
    pub(crate) async fn settled_for(&self, name: &str) {
        let live = async || {
            let health = self.request(Method::GET, "/health").bearer_auth(format!("token-of-{name}"));
            Reply::of(health.send().await.expect("a reply")).await.json["runs_live"].clone()
        };
        let settled = async {
            while live().await != 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, settled).await.expect("the runs end");
    }
}

/// Replies for a request that is planned as [`MOOD`] and answered.
pub(crate) fn planned() -> Script {
    Script::new().on("parse_task", MOOD).on("response_results", "Here you are.")
}

pub(crate) fn ask(text: &str) -> Value {
    json!({"messages": [{"role": "user", "content": text}]})
}

/// A plan of one task that a worker performs.
pub(crate) const MOOD: &str =
    r#"[{"task": "text-classification", "id": 0, "dep": [-1], "args": {"text": "I love it"}}]"#;
