//! A pipeline beside a catalogue service: the far side of decisions, scripted.

use std::sync::Arc;
use std::time::Duration;

use jarvis_chat::{ChatModel, OpenAi, OpenAiConfig, Retries};
use jarvis_engine::Events;
use jarvis_hugginggpt::HuggingGpt;
use jarvis_hugginggpt::decisions::Decisions;
use jarvis_hugginggpt::decisions::examples::Scenario;
use jarvis_hugginggpt::decisions::pipeline::decide::PipelineDecision;
use jarvis_hugginggpt::decisions::service::{Service, ServiceConfig, ServiceSource};
use jarvis_testing::catalogue::{Data, FakeCatalogue};
use jarvis_testing::chat::{Reply, Script};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::decisions::Decided;
use crate::fixture::{Builder, Fixture, with_chat, with_events};

pub(crate) struct ServiceFixture {
    pub(crate) base: Fixture,
    pub(crate) service: FakeCatalogue,
    pub(crate) decisions: Decisions,
}

pub(crate) fn city() -> Data {
    Data::of(&[
        ("source", &[]),
        ("face-detection", &["org/face-a", "org/face-b", "org/face-c"]),
        ("age-classification", &["org/age"]),
        ("fire-detection", &[]),
        ("pipeline-end", &[]),
    ])
}

pub(crate) async fn with_service(script: Script, data: Data) -> ServiceFixture {
    with_service_of(with_chat(script), data).await
}

pub(crate) async fn with_service_of(builder: Builder, data: Data) -> ServiceFixture {
    let base = builder.build().await;
    let service = FakeCatalogue::start(data).await.expect("the service starts");
    let config = ServiceConfig {
        timeout: Duration::from_millis(500),
        retries: Retries { first_pause: Duration::ZERO, ..Retries::default() },
        ..ServiceConfig::new(service.base().parse().expect("a URL"))
    };
    let source = ServiceSource::new(Service::new(config).expect("the client builds"), 5);
    let decisions = Decisions { source: Arc::new(source), ..crate::decisions::decisions(&base) };
    ServiceFixture { base, service, decisions }
}

pub(crate) type Told = Decided<PipelineDecision>;

impl Told {
    /// The tasks with their models: `id (model), …`.
    pub(crate) fn lines(&self) -> String {
        let tasks = self.decision().pipeline.tasks.iter();
        tasks.map(|task| format!("{} ({})", task.id, task.model_id)).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn warns(&self, text: &str) -> bool {
        self.decision().warnings.iter().any(|warning| warning.contains(text))
    }
}

impl ServiceFixture {
    pub(crate) async fn decide(&self, scenario: &Scenario) -> Told {
        let decide =
            async |events: &Events| self.decisions.decide_pipeline(scenario, events, CancellationToken::new()).await;
        let (result, events) = with_events("d1", decide).await;
        Told { result, events }
    }

    pub(crate) fn prompts(&self, stage: &str) -> Vec<String> {
        let requests = self.base.requests_of(stage);
        requests.iter().map(jarvis_testing::chat::Request::prompt).collect()
    }

    pub(crate) fn saved(&self) -> usize {
        std::fs::read_dir(self.base.logs.path().join("execution_configs")).map_or(0, Iterator::count)
    }
}

pub(crate) fn scene() -> Scenario {
    let value = json!({"objects-seen": ["person"], "sample-description": "Two people wait at a \"door\"."});
    Scenario::read(&value).expect("a scenario")
}

pub(crate) fn task(id: &str, before: &[&str], after: &[&str]) -> Value {
    let reasons: serde_json::Map<String, Value> =
        after.iter().filter(|id| **id != "none").map(|id| ((*id).to_owned(), json!("it follows"))).collect();
    json!({
        "id": id, "inputs_from_upstreams": [if id == "source" { "none" } else { "image" }], "upstreams": before,
        "outputs_for_downstreams": [if id == "pipeline-end" { "none" } else { "image" }], "downstreams": after,
        "sample-reasoning": reasons,
    })
}

/// source → face-detection → age-classification → end, source → fire-detection → end.
pub(crate) fn plan() -> Value {
    json!([
        task("source", &["none"], &["face-detection", "fire-detection"]),
        task("face-detection", &["source"], &["age-classification"]),
        task("age-classification", &["face-detection"], &["pipeline-end"]),
        task("fire-detection", &["source"], &["pipeline-end"]),
        task("pipeline-end", &["age-classification", "fire-detection"], &["none"]),
    ])
}

pub(crate) fn script(plan: &Value) -> Script {
    Script::new()
        .on("parse_task", Reply::text(plan.to_string()))
        .on("choose_model", Reply::text(r#"{"id":"org/face-b","reason":"it sees crowds"}"#))
}

pub(crate) const CHOSEN: &str = "source (none), face-detection (org/face-b), age-classification (org/age), \
    fire-detection (none), pipeline-end (none)";

pub(crate) fn example(id: &str) -> Value {
    json!({"id": id, "scenario": {"objects-seen": ["x"], "sample-description": format!("scene of {id}")}, "tasks": plan()})
}

pub(crate) fn examples(count: usize) -> Value {
    (0..count).flat_map(|at| [example(&format!("c{at}-example-0")), example(&format!("c{at}-example-1"))]).collect()
}

/// The same fixture with a chat model of a small context.
pub(crate) fn small(fixture: &ServiceFixture, context: usize) -> Decisions {
    with_model(fixture, |config| config.context_tokens = Some(context))
}

/// The same fixture with another chat model, whose tokenizer nobody knows unless changed.
pub(crate) fn with_model(fixture: &ServiceFixture, change: impl FnOnce(&mut OpenAiConfig)) -> Decisions {
    let chat = fixture.base.chat.as_ref().expect("a chat model");
    let retries = Retries { max: 0, ..Retries::default() };
    let mut config = OpenAiConfig { retries, ..OpenAiConfig::new(chat.url(), "qwen-2.5-7b") };
    change(&mut config);
    let model: Arc<dyn ChatModel> = Arc::new(OpenAi::new(config).expect("the client builds"));
    let pipeline = HuggingGpt { chat: Some(model), logs: None, ..(*fixture.base.pipeline).clone() };
    Decisions { pipeline: Arc::new(pipeline), ..fixture.decisions.clone() }
}
