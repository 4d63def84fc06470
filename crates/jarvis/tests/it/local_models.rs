//! `--llm auto`: local model servers found, their models chosen and asked what they can do.

use jarvis_testing::chat::{FakeChat, Host, Hosted, Make, Reply, Script};
use serde_json::{Value, json};

use crate::harness::{Ended, Harness, outcomes};

fn model(name: &str) -> Hosted {
    Hosted { name: name.into(), context: 32768, parameters: "8.0B".into(), ..Hosted::default() }
}

fn seeing(name: &str) -> Hosted {
    Hosted { vision: true, ..model(name) }
}

/// What the model says of a picture `photo.png`.
fn script() -> Script {
    // Files are named by what they hold.
    let harness = Harness::new();
    harness.picture("photo.png");
    let edges = harness.json(&["run", "find the edges of photo.png", "--json", "-q"]).1;
    let picture = &edges["plan"]["tasks"][0]["args"]["image"];
    let plan = json!([{"task": "image-to-text", "id": 0, "dep": [-1], "args": {"image": picture}}]);
    Script::new()
        .on("parse_task", Reply::text(plan.to_string()))
        .on("task_llm", Reply::text("A red square on a blue ground."))
        .on("response_results", Reply::text("The picture shows a red square."))
        .otherwise(Reply::text("ok"))
}

/// A harness that looks for servers at these addresses.
fn looking_at(addresses: &[String]) -> Harness {
    let harness = Harness::new().env("JARVIS_LLM__LOCAL_SERVERS", &json!(addresses).to_string());
    harness.picture("photo.png");
    // A key for somewhere else.
    harness.env("OPENAI_API_KEY", "sk-very-secret-key-0123456789")
}

#[test]
fn a_picture_is_described_by_the_model_that_was_found_without_any_key() {
    for (make, hosted, name) in [
        (Make::Ollama, vec![model("nomic-embed-text:latest"), seeing("gemma3:4b")], "gemma3:4b"),
        (Make::LmStudio, vec![seeing("qwen2-vl-7b-instruct")], "qwen2-vl-7b-instruct"),
        (Make::LlamaServer, vec![seeing("gpt-3.5-turbo")], "gpt-3.5-turbo"),
        (Make::Vllm, vec![model("Qwen/Qwen2.5-VL-7B-Instruct")], "Qwen/Qwen2.5-VL-7B-Instruct"),
    ] {
        let server = FakeChat::hosted(Host::new(make, hosted), script());
        let harness = looking_at(&["http://127.0.0.1:1".into(), server.origin()]);
        let (code, document) = harness.json(&["run", "what is in photo.png?", "--llm", "auto", "--json", "-q"]);
        assert_eq!((code, &document["model"]), (0, &json!(name)), "{document:#}");
        assert_eq!(outcomes(&document), [format!("0 image-to-text succeeded {name}")], "{document:#}");
        assert_eq!(document["answer"]["text"], "The picture shows a red square.");
        let asked = server.requests_of("task_llm");
        let url = asked[0].body["messages"][0]["content"][1]["image_url"]["url"].as_str().expect("a picture");
        assert!(url.starts_with("data:image/jpeg;base64,"), "{url}");
        for request in server.requests().iter().chain(&server.lookups()) {
            assert_eq!(request.header("authorization"), "", "no key is meant for what was found");
        }
        assert!(server.requests().iter().all(|request| request.body["model"] == name));
    }
}

#[test]
fn a_model_without_vision_is_given_no_picture() {
    let server = FakeChat::hosted(Host::new(Make::Ollama, [model("qwen3:8b")]), script());
    let harness = looking_at(&[server.origin()]);
    let (_, document) = harness.json(&["run", "what is in photo.png?", "--llm", "auto", "--json", "-q"]);
    assert_eq!(outcomes(&document), ["0 image-to-text succeeded native/image-measure"], "{document:#}");
    assert_eq!(server.requests_of("task_llm").len(), 0);
}

#[test]
fn another_model_of_the_server_may_look_at_pictures() {
    let server = FakeChat::hosted(Host::new(Make::Ollama, [model("qwen3:8b"), seeing("llava:7b")]), script());
    let harness = looking_at(&[server.origin()]).env("JARVIS_LLM__STAGES__TASK_LLM", "llava:7b");
    let (_, document) = harness.json(&["run", "what is in photo.png?", "--llm", "auto", "--json", "-q"]);
    assert_eq!(
        (&document["model"], outcomes(&document)),
        (&json!("qwen3:8b"), vec!["0 image-to-text succeeded llava:7b".into()])
    );
}

#[test]
fn a_base_url_says_where_auto_looks_and_its_key_goes_there() {
    let server = FakeChat::hosted(Host::new(Make::Vllm, [model("mine")]), script());
    let harness = looking_at(&[]);
    let args = ["run", "hello", "--llm", "auto", "--base-url", &server.url(), "--json", "-q"];
    let (_, document) = harness.json(&args);
    assert_eq!(document["model"], "mine");
    let key = "Bearer sk-very-secret-key-0123456789";
    assert!(server.requests().iter().chain(&server.lookups()).all(|request| request.header("authorization") == key));
}

#[test]
fn where_nothing_answers_it_is_told_what_was_tried_and_what_to_start() {
    let embedder = FakeChat::hosted(Host::new(Make::Ollama, [model("all-minilm:latest")]), script());
    let page = FakeChat::spawn(script());
    let (first, second) = (embedder.origin(), page.origin());
    let harness = looking_at(&["http://127.0.0.1:1".into(), first.clone(), second.clone()]);
    let Ended { code, stdout, stderr } = harness.run(&["run", "hello", "--llm", "auto"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    for want in [
        "no local model server with a chat model answers",
        "http://127.0.0.1:1 (",
        &format!("{first} (Ollama has no chat model)"),
        &format!("{second} (not a model server that jarvis recognises)"),
        "hint: start one, for example `ollama serve`",
    ] {
        assert!(stderr.contains(want), "{want}: {stderr}");
    }
    let nowhere = Harness::new().run(&["run", "hello", "--llm", "auto"]);
    assert!((nowhere.code, nowhere.stderr.contains("`llm.local_servers` is empty")) == (2, true), "{}", nowhere.stderr);
}

#[test]
fn commands_that_call_no_model_ask_nothing() {
    let server = FakeChat::hosted(Host::new(Make::Ollama, [model("qwen3:8b")]), script());
    let harness = looking_at(&[server.origin()]).env("JARVIS_LLM", "auto");
    for args in [&["models", "list"][..], &["runs", "list"], &["tools", "list"]] {
        assert_eq!(harness.run(args).code, 0, "{args:?}");
    }
    let offline = ["run", "find the edges of photo.png", "--llm", "offline"];
    assert_eq!(harness.run(&offline).code, 0);
    assert_eq!((server.lookups().len(), server.requests().len()), (0, 0));
}

/// What the doctor finds about these, as `what: found (fix: …)`.
fn found(findings: &Value, about: &[&str]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |finding: &Value| {
        let fix = finding["fix"].as_str().map_or_else(String::new, |fix| format!(" (fix: {fix})"));
        format!("{}: {}{fix}", text(&finding["what"]), text(&finding["found"]))
    };
    let list = findings.as_array().expect("a list").iter();
    list.filter(|finding| about.contains(&text(&finding["what"]).as_str())).map(of).collect()
}

#[test]
fn the_doctor_tells_what_was_found_from_where_and_what_would_be_better() {
    const ABOUT: [&str; 5] = ["chat model", "local model server", "chat endpoint", "context size", "vision"];
    let loaded = Hosted { loaded: true, loaded_context: Some(16384), ..seeing("gemma3:4b") };
    let server = FakeChat::hosted(Host::new(Make::Ollama, [loaded, model("qwen3:8b")]), script());
    let (at, url) = (server.origin(), server.url());
    let harness = looking_at(&[server.origin()]);
    let doctor = |args: &[&str]| found(&harness.json(&[&["doctor", "--json"], args].concat()).1, &ABOUT);
    assert_eq!(
        doctor(&[]),
        [
            "chat model: none: the offline planner plans, native models work".to_owned(),
            format!(
                "local model server: Ollama answers at {at} with 2 models (fix: set `llm.model: auto`, or give --llm auto)"
            ),
        ]
    );
    assert_eq!(
        doctor(&["--llm", "auto"]),
        [
            "chat model: gemma3:4b answers".to_owned(),
            format!("chat endpoint: {url}: Ollama, models: 2"),
            "context size: 16384 tokens, reported by the endpoint".to_owned(),
            "vision: the chat model takes pictures, reported by the endpoint".to_owned(),
        ]
    );
    harness.file("set.yaml", "llm: {vision: true, context_tokens: 99999}");
    assert_eq!(
        doctor(&["--llm", "qwen3:8b", "--base-url", &url, "--config", "set.yaml"])[2..],
        [
            "context size: 99999 tokens, configured, but the endpoint reports 32768 (fix: set `llm.context_tokens: auto`, \
             or give the server's model more context)",
            "vision: the chat model takes pictures, configured, but the endpoint reports otherwise (fix: set `llm.vision: auto`)",
        ]
    );
    let text_only = doctor(&["--llm", "qwen3:8b", "--base-url", &url]);
    let fix = "(fix: set `llm.stages.task_llm: gemma3:4b`, which the same server has, for tasks on pictures)";
    assert_eq!(text_only[3], format!("vision: the chat model takes no pictures, reported by the endpoint {fix}"));
    let unknown = doctor(&["--llm", "my-own", "--base-url", &url]);
    assert!(unknown[2].starts_with("chat model: Ollama does not list it (fix: name one that it has"), "{unknown:#?}");
    assert!(unknown[3].starts_with("context size: 8192 tokens, assumed"), "{unknown:#?}");
}
