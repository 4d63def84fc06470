//! Questions over many tools: what the prompt shows of them, and what a search brings.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_plan::Effect;
use jarvis_react::Format;
use jarvis_testing::chat::{Reply, Script};
use jarvis_tools::{Observation, Registry, Scope, Tool, ToolError, ToolSource, ToolSpec};
use serde_json::{Value, json};

use crate::harness::{Harness, answer};

/// A service that answers with its name.
struct Service(ToolSpec);

#[async_trait]
impl Tool for Service {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: &Value, _: &Scope) -> Result<Observation, ToolError> {
        Ok(Observation::text(format!("{} says: sunny", self.0.name)))
    }
}

/// Services for as many subjects and deeds as make 120.
fn services(registry: &mut Registry) {
    let subjects = [
        "weather", "flights", "hotels", "stocks", "recipes", "films", "songs", "games", "trains", "books", "news",
        "maps",
    ];
    let deeds = ["find", "show", "list", "count", "compare", "rate", "describe", "translate", "summarise", "forecast"];
    for subject in subjects {
        for deed in deeds {
            let text = json!({"type": "string", "description": format!("which {subject} to {deed}, by name, place or number")});
            registry
                .add(Arc::new(Service(ToolSpec {
                    name: format!("{subject}/{deed}"),
                    description: format!("{deed}s {subject} and gives what is known of them, with their source."),
                    when: format!("the question is about {subject} and wants to {deed} them"),
                    input_schema: json!({"type": "object", "properties": {"which": text}, "required": ["which"]}),
                    example: json!({"which": "Rome"}),
                    output_schema: None,
                    effect: Effect::Reads,
                    source: ToolSource::Native,
                })))
                .unwrap();
        }
    }
}

async fn harness(script: Script, format: Format, max_tools: usize) -> Harness {
    let mut harness = Harness::with(script, |settings| {
        settings.format = format;
        settings.max_tools = max_tools;
    })
    .await;
    let mut registry = Registry::clone(&harness.agent.registry);
    services(&mut registry);
    harness.agent.registry = Arc::new(registry);
    harness
}

/// How many of the services a request tells of.
fn told(request: &jarvis_testing::chat::Request) -> usize {
    let all = request.body.to_string();
    let subjects = [
        "weather", "flights", "hotels", "stocks", "recipes", "films", "songs", "games", "trains", "books", "news",
        "maps",
    ];
    let deeds = ["find", "show", "list", "count", "compare", "rate", "describe", "translate", "summarise", "forecast"];
    let names =
        subjects.iter().flat_map(|subject| deeds.iter().map(move |deed| format!("{deed}s {subject} and gives")));
    names.filter(|name| all.contains(name.as_str())).count()
}

#[tokio::test]
async fn of_many_tools_the_best_are_shown_and_the_others_are_found() {
    let tags = |action: &str, input: Value| format!("<Thought>: x\n<Action>: {action}\n<Action Input>: {input}");
    let written =
        |action: &str, input: Value| json!({"thought": "x", "action": action, "action_input": input}).to_string();
    let native = |name: &str, input: Value| {
        let call = json!({"id": "1", "type": "function", "function": {"name": name, "arguments": input.to_string()}});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        Reply::json(200, json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}))
    };
    let (search, call) = (json!({"query": "forecast weather"}), json!({"which": "Rome"}));
    for (format, replies) in [
        (
            Format::Tags,
            vec![
                Reply::text(tags("search_tools", search.clone())),
                Reply::text(tags("weather/forecast", call.clone())),
                Reply::text(answer("It is sunny.")),
            ],
        ),
        (
            Format::Json,
            vec![
                Reply::text(written("search_tools", search.clone())),
                Reply::text(written("weather/forecast", call.clone())),
                Reply::text(json!({"thought": "x", "final_answer": "It is sunny."}).to_string()),
            ],
        ),
        (
            Format::NativeTools,
            vec![
                native("search_tools", search.clone()),
                native("weather__forecast", call.clone()),
                Reply::text("It is sunny."),
            ],
        ),
    ] {
        let harness = harness(Script::always(replies), format, 24).await;
        let (reached, _) = harness.ask("which songs are rated best?", "Songs.").await;
        let reached = reached.unwrap();
        assert_eq!(reached.text, "It is sunny.", "{format:?}");
        assert!(
            reached.rounds[1].observation.contains("weather/forecast says: sunny"),
            "{format:?}: {:?}",
            reached.rounds
        );
        let requests = harness.chat.requests();
        let first = told(&requests[0]);
        assert!((10..=24).contains(&first), "{format:?}: {first} services are told of");
        assert!(requests[0].body.to_string().contains("rates songs and gives"), "{format:?}: the best is shown");
        assert!(!requests[0].body.to_string().contains("forecasts weather and gives"), "{format:?}");
        assert!(
            requests[1].body.to_string().contains("forecasts weather and gives"),
            "{format:?}: what was found is told"
        );
    }
}

#[tokio::test]
async fn prompts_stay_small() {
    let mut sizes = Vec::new();
    for max_tools in [24, usize::MAX] {
        let harness = harness(Script::always(Reply::text(answer("It is sunny."))), Format::Tags, max_tools).await;
        harness.ask("which songs are rated best?", "Songs.").await.0.unwrap();
        let prompt = harness.chat.requests()[0].prompt();
        sizes.push(jarvis_chat::Tokens::of("gpt-4o").count(&prompt));
    }
    println!("tokens of the first prompt over {} tools: {} with 24 shown, {} with all", 126, sizes[0], sizes[1]);
    assert!(sizes[0] * 3 < sizes[1], "{sizes:?}");
}
