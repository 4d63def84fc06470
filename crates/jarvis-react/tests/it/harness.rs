//! An agent with its tools and a scripted endpoint.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use jarvis_chat::{ChatModel, OpenAi, OpenAiConfig, Retries};
use jarvis_document::NoReader;
use jarvis_engine::Events;
use jarvis_plan::{Event, EventKind, RunId};
use jarvis_react::{Agent, AgentAnswer, AskError, Asked, Prompts, Settings};
use jarvis_store::Media;
use jarvis_testing::chat::{FakeChat, Request, Script};
use jarvis_tools::{Observation, Registry, Scope, Tool, ToolError, ToolErrorKind, ToolSource, ToolSpec, local};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// The document of the specification's reference run.
pub(crate) const FRUITS: &str = "apple,apple,apple,banana,apple,banana,orange,apple,apple,banana";

pub(crate) fn plot(x: &Value, y: &Value) -> String {
    format!("<Thought>: Count, then plot.\n<Action>: plot\n<Action Input>: {}", json!({"x": x, "y": y}))
}

pub(crate) fn answer(text: &str) -> String {
    format!("<Thought>: I know the answer now\n<Final Answer>: {text}")
}

/// Replies in turn, the last of which repeats.
pub(crate) fn script<const N: usize>(replies: [&str; N]) -> Script {
    Script::always(replies)
}

pub(crate) struct Harness {
    pub(crate) agent: Agent,
    pub(crate) chat: FakeChat,
    pub(crate) media: Arc<Media>,
    _folder: TempDir,
}

impl Harness {
    pub(crate) async fn new(script: Script) -> Harness {
        Harness::with(script, |_| {}).await
    }

    pub(crate) async fn with(script: Script, change: impl FnOnce(&mut Settings)) -> Harness {
        let chat = FakeChat::start(script).await;
        let retries = Retries { max: 0, ..Retries::default() };
        let model = OpenAi::new(OpenAiConfig { retries, ..OpenAiConfig::new(chat.url(), "gpt-4o") }).unwrap();
        let folder = TempDir::new().unwrap();
        let media = Arc::new(Media::open(folder.path()).unwrap());
        let mut registry = Registry::new();
        local::add_to(&mut registry).unwrap();
        registry = registry.only(|spec| !local::is_of_hub(spec));
        registry.add(Arc::new(Fake::Add)).unwrap();
        registry.add_with(Arc::new(Fake::Hang), Duration::from_millis(30)).unwrap();
        let mut settings = Settings::default();
        change(&mut settings);
        let agent = Agent {
            chat: Some(Arc::new(model) as Arc<dyn ChatModel>),
            registry: Arc::new(registry),
            media: Arc::clone(&media),
            prompts: Arc::new(Prompts::builtin().unwrap()),
            settings,
            reader: Arc::new(NoReader),
            gate: Arc::new(jarvis_engine::OpenGate),
            tracer: None,
        };
        Harness { agent, chat, media, _folder: folder }
    }

    pub(crate) async fn ask(&self, question: &str, document: &str) -> (Result<AgentAnswer, AskError>, Vec<Event>) {
        self.ask_with(Asked::new(question, document), CancellationToken::new()).await
    }

    pub(crate) async fn ask_with(
        &self,
        asked: Asked,
        cancel: CancellationToken,
    ) -> (Result<AgentAnswer, AskError>, Vec<Event>) {
        let (events, mut receiver) = Events::channel(RunId("run".into()));
        let answered = self.agent.ask(&asked, &events, cancel).await;
        drop(events);
        let mut told = Vec::new();
        while let Some(event) = receiver.recv().await {
            told.push(event);
        }
        (answered, told)
    }

    /// The answer to a question about the fruits.
    pub(crate) async fn answered(&self, question: &str) -> AgentAnswer {
        self.ask(question, FRUITS).await.0.unwrap()
    }

    pub(crate) fn prompts(&self) -> Vec<String> {
        self.chat.requests().iter().map(Request::prompt).collect()
    }

    /// The prompt of a call from the question on.
    pub(crate) fn scratchpad(&self, call: usize) -> String {
        let prompt = &self.prompts()[call];
        prompt[prompt.rfind("<Question>:").unwrap()..].trim_end().to_owned()
    }

    pub(crate) fn picture(&self, url: &str) -> image::RgbImage {
        let png = self.media.read(url, 1 << 20).unwrap();
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
        image::load_from_memory(&png).unwrap().to_rgb8()
    }
}

/// The names of events, those of model calls and of the engine's choices left out.
pub(crate) fn names(events: &[Event]) -> Vec<&'static str> {
    let kinds = events.iter().map(|event| event.kind.name());
    kinds.filter(|name| !matches!(*name, "model_call" | "model_chosen")).collect()
}

pub(crate) fn ended_well(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event.kind, EventKind::Done { ok: true, .. }))
}

/// Tools of the tests: one adds as the sample service does, one never answers.
enum Fake {
    Add,
    Hang,
}

static ADD: LazyLock<ToolSpec> = LazyLock::new(|| spec("add"));
static HANG: LazyLock<ToolSpec> = LazyLock::new(|| spec("hang"));

fn spec(name: &str) -> ToolSpec {
    let number = json!({"type": "integer"});
    ToolSpec {
        name: name.into(),
        description: "Adds two whole numbers and gives the sum.".into(),
        when: "a sum is needed".into(),
        input_schema: json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]}),
        example: json!({"a": 5, "b": 10}),
        output_schema: None,
        effect: jarvis_plan::Effect::Reads,
        source: ToolSource::Grpc,
    }
}

#[async_trait]
impl Tool for Fake {
    fn spec(&self) -> &ToolSpec {
        match self {
            Fake::Add => &ADD,
            Fake::Hang => &HANG,
        }
    }

    async fn call(&self, input: &Value, _scope: &Scope) -> Result<Observation, ToolError> {
        let number = |name: &str| {
            let missing = || ToolError::new(ToolErrorKind::InvalidInput, format!("`{name}` must be a whole number"));
            input.get(name).and_then(Value::as_i64).ok_or_else(missing)
        };
        match self {
            Fake::Hang => std::future::pending().await,
            Fake::Add => match (number("a")?, number("b")?) {
                (0, 0) => Err(ToolError::new(ToolErrorKind::Transport, "the service cannot be reached")),
                (a, b) => Ok(Observation::text(format!("Addition Result: {}", a + b))),
            },
        }
    }
}
