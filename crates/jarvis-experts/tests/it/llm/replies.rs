//! Replies of language models: constrained, streamed, stopped, cut and cancelled.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use jarvis_experts::{Call, ChatInput, ExpertError, Input, LocalModels, LocalModelsConfig, ModelFiles, Output};
use serde_json::{Value, json};

use super::{ARCHITECTURES, TASK, endless, files, folder, models, reply, turn};

/// How many plans to ask for: `JARVIS_PLANS`, or these.
pub(super) fn plan_count(usual: usize) -> usize {
    std::env::var("JARVIS_PLANS").ok().and_then(|count| count.parse().ok()).unwrap_or(usual)
}

pub(super) fn plan_schema() -> Value {
    let names = ["image-to-text", "object-detection", "text-to-speech", "translation"];
    json!({
        "type": "object",
        "properties": {
            "tasks": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "task": { "enum": names },
                        "id": { "type": "integer", "minimum": 0, "maximum": 99 },
                        "dep": { "type": "array", "items": { "type": "integer" } },
                        "args": {
                            "type": "object",
                            "properties": { "text": { "type": "string" }, "image": { "type": ["string", "null"] } },
                            "required": ["text"],
                        },
                    },
                    "required": ["task", "id", "dep", "args"],
                },
                "minItems": 1,
            },
            "confidence": { "type": "number" },
        },
        "required": ["tasks"],
    })
}

#[tokio::test]
async fn replies_by_a_schema_are_valid_and_whole() {
    let models = models();
    let schema = plan_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut lengths = Vec::new();
    for seed in 0..plan_count(200) as u64 {
        // From barely enough for one task to more than enough for all that the bounds allow in this context.
        let max_tokens = 90 + 2 * (seed as u32 % 200);
        let input = ChatInput {
            turns: vec![turn("user", "Describe a.jpg")],
            schema: Some(schema.clone()),
            max_tokens: Some(max_tokens),
            temperature: Some(1.0),
            seed: Some(seed),
            ..ChatInput::default()
        };
        let output = reply(&models, "qwen3", input, Call::default()).await.unwrap();
        assert_eq!(output.finish_reason, "stop", "seed {seed}: {}", output.text);
        let value: Value =
            serde_json::from_str(&output.text).unwrap_or_else(|_| panic!("seed {seed}: {}", output.text));
        assert!(validator.is_valid(&value), "seed {seed}: {}", output.text);
        assert!(output.completion_tokens <= u64::from(max_tokens));
        lengths.push(output.completion_tokens);
    }
    lengths.sort_unstable();
    lengths.dedup();
    assert!(lengths.len() > 20, "the replies hardly differ: {lengths:?}");
}

#[tokio::test]
async fn every_vocabulary_follows_a_schema() {
    let schema = plan_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for architecture in ARCHITECTURES {
        let models = models();
        for seed in 0..4 {
            let input = ChatInput { schema: Some(schema.clone()), seed: Some(seed), ..endless("Describe a.jpg", 250) };
            let output = reply(&models, architecture, input, Call::default()).await.unwrap();
            let value: Value = serde_json::from_str(&output.text).unwrap();
            assert!(validator.is_valid(&value), "{architecture}, seed {seed}: {}", output.text);
            assert_eq!(output.finish_reason, "stop", "{architecture}, seed {seed}");
        }
    }
}

#[tokio::test]
async fn a_reply_that_cannot_be_whole_says_so() {
    let input = ChatInput { schema: Some(plan_schema()), ..endless("Describe a.jpg", 12) };
    let output = reply(&models(), "llama", input, Call::default()).await.unwrap();
    assert_eq!((output.finish_reason.as_str(), output.completion_tokens), ("length", 12));
    assert!(output.text.starts_with("{\"tasks\":[{\"task\""), "{}", output.text);
}

#[tokio::test]
async fn schemas_are_followed_or_refused() {
    let models = models();
    // A schema, and the start of the reply or of the error.
    let cases = [
        (json!({ "const": "only this" }), Ok("\"only this\"")),
        (json!({ "enum": ["<|im_end|>"] }), Ok("\"<|im_end|>\"")),
        (json!({ "enum": ["日本"] }), Ok("\"日本\"")),
        (json!({ "type": "object", "properties": {} }), Ok("{}")),
        (json!({ "type": "array", "maxItems": 0 }), Ok("[]")),
        (json!(true), Ok("")),
        (json!({ "type": "object", "properties": { "any": {} }, "required": ["any"] }), Ok("{\"any\":")),
        (json!({ "type": "object" }), Ok("{")),
        (json!({ "type": "array" }), Ok("[")),
        (json!(7), Err("the schema of the reply is no object")),
        (json!({ "type": "strange" }), Err("the schema of the reply cannot be followed")),
        (json!({ "type": "string", "pattern": "(" }), Err("the schema of the reply cannot be followed")),
    ];
    for (schema, expected) in cases {
        let input = ChatInput { schema: Some(schema.clone()), ..endless("Go", 60) };
        match (reply(&models, "qwen2", input, Call::default()).await, expected) {
            (Ok(output), Ok(start)) => {
                assert!(output.text.starts_with(start), "{schema}: {}", output.text);
                assert!(serde_json::from_str::<Value>(&output.text).is_ok(), "{schema}: {}", output.text);
                assert_eq!(output.finish_reason, "stop", "{schema}");
            }
            (Err(ExpertError::BadInput(error)), Err(start)) => assert!(error.starts_with(start), "{schema}: {error}"),
            (result, _) => panic!("{schema}: {result:?}"),
        }
    }
}

#[tokio::test]
async fn the_same_prompt_is_known_the_second_time() {
    for architecture in ARCHITECTURES {
        let models = models();
        let input = |text: &str| ChatInput { temperature: Some(0.0), ..endless(text, 20) };
        let first = reply(&models, architecture, input("How far is the harbour from the old station"), Call::default())
            .await
            .unwrap();
        let again = reply(&models, architecture, input("How far is the harbour from the old station"), Call::default())
            .await
            .unwrap();
        assert_eq!((first.cached_tokens, again.cached_tokens), (0, first.prompt_tokens - 1), "{architecture}");
        assert_eq!((&first.text, first.completion_tokens), (&again.text, 20), "{architecture}");
        let other = reply(&models, architecture, input("How far is the harbour from the new station"), Call::default())
            .await
            .unwrap();
        assert!(other.cached_tokens > 16 && other.cached_tokens < other.prompt_tokens - 5, "{architecture}: {other:?}");
        let fresh = reply(
            &super::models(),
            architecture,
            input("How far is the harbour from the new station"),
            Call::default(),
        )
        .await
        .unwrap();
        assert_eq!((fresh.cached_tokens, &fresh.text), (0, &other.text), "{architecture}");
    }
}

#[tokio::test]
async fn replies_at_once_are_those_of_replies_in_turn() {
    let input = |number: u64| ChatInput { seed: Some(number), ..endless(&format!("What is number {number} for?"), 40) };
    let mut in_turn = Vec::new();
    for number in 0..6 {
        in_turn.push(reply(&models(), "qwen2", input(number), Call::default()).await.unwrap().text);
    }
    let models = models();
    let at_once = (0..6).map(|number| reply(&models, "qwen2", input(number), Call::default()));
    let at_once = futures::future::join_all(at_once).await.into_iter().map(|output| output.unwrap().text);
    assert_eq!(at_once.collect::<Vec<_>>(), in_turn);
}

#[tokio::test]
async fn seeds_decide_replies() {
    let models = models();
    let with =
        |seed, temperature| ChatInput { seed: Some(seed), temperature: Some(temperature), ..endless("Tell me", 24) };
    let mut texts = Vec::new();
    for (seed, temperature) in [(1, 1.0), (1, 1.0), (2, 1.0), (1, 0.0), (2, 0.0)] {
        texts.push(reply(&models, "qwen2", with(seed, temperature), Call::default()).await.unwrap().text);
    }
    assert_eq!(texts[0], texts[1]);
    assert_ne!(texts[0], texts[2]);
    assert_eq!(texts[3], texts[4]);
}

#[tokio::test]
async fn pieces_joined_are_the_reply() {
    for architecture in ARCHITECTURES {
        for schema in [None, Some(plan_schema())] {
            let pieces = Arc::new(Mutex::new(Vec::new()));
            let told = Arc::clone(&pieces);
            let on_text = move |piece: &str| told.lock().unwrap().push(piece.to_owned());
            let call = Call { on_text: Some(Box::new(on_text)), ..Call::default() };
            let input = ChatInput { schema, ..endless("Sing", 150) };
            let output = reply(&models(), architecture, input, call).await.unwrap();
            let pieces = pieces.lock().unwrap();
            assert!(pieces.len() > 10, "{architecture}: {pieces:?}");
            assert_eq!(pieces.concat(), output.text, "{architecture}");
        }
    }
}

#[tokio::test]
async fn stop_strings_end_a_reply() {
    let models = models();
    let whole = reply(&models, "qwen2", endless("Count", 60), Call::default()).await.unwrap();
    let characters: Vec<char> = whole.text.chars().collect();
    let (start, end) = (characters.len() / 2, characters.len() / 2 + 5);
    // Five characters are several tokens in this vocabulary.
    let stop: String = characters[start..end].iter().collect();
    let expected = &whole.text[..whole.text.find(&stop).unwrap()];
    let input = ChatInput { stop: vec!["never comes".to_owned(), stop.clone()], ..endless("Count", 60) };
    let cut = reply(&models, "qwen2", input, Call::default()).await.unwrap();
    assert_eq!((cut.text.as_str(), cut.finish_reason.as_str()), (expected, "stop"));
    assert!(cut.completion_tokens < whole.completion_tokens);
    assert_eq!(whole.finish_reason, "length");
}

/// A call whose listener does something at the fifth piece, and a count of the pieces.
fn at_fifth(act: impl Fn() + Send + Sync + 'static) -> (Call, Arc<Mutex<usize>>) {
    let count = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&count);
    let on_text = move |_: &str| {
        let mut count = counted.lock().unwrap();
        *count += 1;
        if *count == 5 {
            act();
        }
    };
    (Call { on_text: Some(Box::new(on_text)), ..Call::default() }, count)
}

#[tokio::test]
async fn calls_end_when_they_are_cancelled_or_late() {
    let models = models();
    let cancel = Call::default().cancel;
    let token = cancel.clone();
    let (call, count) = at_fifth(move || token.cancel());
    let result = reply(&models, "llama", endless("Go on", 400), Call { cancel, ..call }).await;
    assert_eq!((result, *count.lock().unwrap()), (Err(ExpertError::Cancelled), 5));

    let deadline = Instant::now() + std::time::Duration::from_millis(200);
    let (call, count) = at_fifth(move || while Instant::now() < deadline {});
    let result = reply(&models, "llama", endless("Go on", 400), Call { deadline: Some(deadline), ..call }).await;
    assert_eq!(result, Err(ExpertError::Timeout));
    assert!(*count.lock().unwrap() <= 5);

    // What was computed until then is known.
    let output = reply(&models, "llama", endless("Go on", 1), Call::default()).await.unwrap();
    assert_eq!(output.cached_tokens, output.prompt_tokens - 1);
}

#[tokio::test]
async fn long_prompts_are_refused_with_figures() {
    let error = reply(&models(), "qwen3", endless(&"rain ".repeat(400), 5), Call::default()).await.unwrap_err();
    let ExpertError::BadInput(message) = error else { panic!("{error:?}") };
    assert!(message.contains("the context of the model `qwen3` has 512"), "{message}");
    // Without a limit a reply ends where the context does.
    let input = ChatInput { max_tokens: None, ..endless(&"rain ".repeat(80), 0) };
    let output = reply(&models(), "qwen3", input, Call::default()).await.unwrap();
    assert_eq!((output.prompt_tokens + output.completion_tokens, output.finish_reason.as_str()), (512, "length"));
}

#[tokio::test]
async fn other_inputs_and_tasks() {
    let models = models();
    let cases = [
        ("text-generation", Input::Text("Once".to_owned()), true),
        ("summarization", Input::Text("It rained.".to_owned()), true),
        ("translation", Input::Translate { text: "rain".to_owned(), from: None, to: Some("de".to_owned()) }, true),
        ("conversational", Input::Chat(ChatInput::default()), true),
        ("conversational", Input::Texts(vec![]), false),
    ];
    for (task, input, fits) in cases {
        let result = models.run(&files("llama"), task, input, Call::default()).await;
        match result {
            Ok(Output::Text(_) | Output::Chat(_)) => assert!(fits, "{task}"),
            Err(ExpertError::BadInput(_)) => assert!(!fits, "{task}"),
            other => panic!("{task}: {other:?}"),
        }
    }
    // Other task types are not for language models.
    let error = models.run(&files("llama"), "object-detection", Input::Text(String::new()), Call::default()).await;
    assert!(matches!(error, Err(ExpertError::Unsupported { .. })), "{error:?}");
}

#[tokio::test]
async fn memory_bounds_models_and_contexts() {
    let with = |max_memory| {
        let keep_alive = std::time::Duration::from_secs(60);
        LocalModels::new(LocalModelsConfig { max_memory, keep_alive, threads: 1, at_once: 1 }).unwrap()
    };
    // qwen3 takes 0.15 MB of weights and 512 bytes for each token.
    let error = reply(&with(200_000), "qwen3", endless("Hi", 4), Call::default()).await.unwrap_err();
    assert!(matches!(error, ExpertError::TooLarge { .. }), "{error:?}");
    let error = reply(&with(330_000), "qwen3", endless(&"rain ".repeat(300), 4), Call::default()).await.unwrap_err();
    let ExpertError::BadInput(message) = error else { panic!("{error:?}") };
    let context: usize = message.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((256..512).contains(&context), "{message}");

    let models = with(1 << 30);
    models.load(&files("qwen3"), TASK, &Call::default()).await.unwrap();
    let memory = models.loaded()[0].memory;
    assert!((150_000..(4 << 20)).contains(&memory), "{memory}");
    // The only GGUF file of a folder need not be named; the first is taken of several.
    let unnamed = ModelFiles::new("any", folder());
    let output = models.run(&unnamed, TASK, Input::Chat(endless("Hi", 3)), Call::default()).await.unwrap();
    assert!(matches!(output, Output::Chat(_)));
}
