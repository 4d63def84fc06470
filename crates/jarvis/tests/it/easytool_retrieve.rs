//! `jarvis easytool retrieve` and `jarvis easytool score retrieval` as a person runs them.

use insta::assert_snapshot;
use jarvis_testing::chat::{FakeChat, Reply, Script, fake_vector};
use serde_json::json;

use crate::harness::Harness;

const TOOLS: &str = r#"{
    "0": {"ID": 0, "tool_name": "Movies", "tool_description": "Search movies by title.\n1. search is to search.", "tool_guidelines": {}},
    "1": {"ID": 1, "tool_name": "Weather", "tool_description": "Current weather of a city."},
    "7": {"ID": 7, "tool_name": "People", "tool_description": "\n  Search people by name."}
}"#;

fn harness() -> Harness {
    let harness = Harness::new();
    harness.file("tools.json", TOOLS);
    harness
}

#[test]
fn words_need_no_model() {
    let harness = harness();
    assert_snapshot!(
        "words_need_no_model",
        harness.told(&["easytool", "retrieve", "search for a movie", "--tools", "tools.json"])
    );
    assert_snapshot!(harness.told(&["easytool", "retrieve", "zebra", "--tools", "tools.json"]), @r"
    exit 0
    --- stdout
    --- stderr
    no tool shares a word with the text
    ");
    let (code, document) =
        harness.json(&["easytool", "retrieve", "the weather", "--tools", "tools.json", "--top-k", "1", "--json"]);
    assert_eq!(code, 0);
    assert_eq!((&document["embedder"], &document["top_k"]), (&json!("bm25"), &json!(1)));
    assert_eq!((&document["tools"][0]["id"], &document["tools"][0]["name"]), (&json!(1), &json!("Weather")));
}

#[test]
fn every_published_shape_is_read() {
    let harness = Harness::new();
    let function = json!({"0": {"ID": 3, "standardized_name": "add_", "API_description": "sum of numbers",
        "Usage": {"required_parameters": [{"name": "input", "type": "List"}], "Example": {"Scenario": "", "Parameters": {"input": [1]}}}}});
    let endpoint = json!([{"ID": 3, "tool_name": "/sum", "tool_description": "sum of numbers", "tool_usage": "GET /sum",
        "Example": {"Scenario": "", "Parameters": {"input": "GET /sum"}}}]);
    let cases = [
        ("functions.json", function.to_string(), "add_"),
        ("endpoints.json", endpoint.to_string(), "/sum"),
        ("tool_dic.jsonl", "{\"ID\": 3, \"description\": \"sum of numbers\"}\n".to_owned(), ""),
    ];
    for (name, text, tool) in cases {
        harness.file(name, text);
        let (_, document) = harness.json(&["easytool", "retrieve", "sum", "--tools", name, "--json"]);
        assert_eq!((&document["tools"][0]["id"], &document["tools"][0]["name"]), (&json!(3), &json!(tool)), "{name}");
    }
}

#[test]
fn vectors_of_an_endpoint_are_kept() {
    let fake = FakeChat::spawn(Script::new());
    let harness = harness().env("OPENAI_API_KEY", "sk-very-secret");
    let url = fake.url();
    let args = [
        "easytool",
        "retrieve",
        "weather city",
        "--tools",
        "tools.json",
        "--top-k",
        "2",
        "--embedder",
        "m",
        "--embeddings-url",
        &url,
    ];
    assert_snapshot!("vectors_of_an_endpoint_are_kept", harness.told(&args));
    let asked = || fake.requests().iter().map(|request| request.inputs().len()).collect::<Vec<_>>();
    assert_eq!(asked(), [3, 1]);
    assert!(fake.requests().iter().all(|request| request.header("authorization") == "Bearer sk-very-secret"));
    assert!(fake.requests().iter().all(|request| request.stage() == "embed"));
    // Nothing is asked twice, neither tools nor texts.
    assert_eq!(harness.run(&args).code, 0);
    assert_eq!(asked(), [3, 1]);
    assert!(harness.data().join("vectors").is_dir());

    let file = std::fs::read_dir(harness.data().join("vectors")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, "jarvisV\nnonsense").unwrap();
    let ended = harness.run(&args);
    assert_eq!(ended.code, 0);
    assert!(ended.stderr.contains("is damaged: it ends too early; its vectors are made anew"), "{}", ended.stderr);
}

#[test]
fn stored_vectors_are_searched() {
    let fake = FakeChat::spawn(Script::new());
    let harness = harness();
    harness.file("pair.json", json!([[1, 99], [fake_vector("weather", 64), fake_vector("zebra", 64)]]).to_string());
    let url = fake.url();
    let told = harness.told(&[
        "easytool",
        "retrieve",
        "weather",
        "--tools",
        "tools.json",
        "--embedder",
        "m",
        "--base-url",
        &url,
        "--vectors",
        "pair.json",
        "--cache",
        "kept",
    ]);
    assert_snapshot!("stored_vectors_are_searched", told);
    assert!(harness.work().join("kept").is_dir());
}

#[test]
fn wrong_use_is_told() {
    let harness = harness();
    let fake = FakeChat::spawn(Script::new().on("embed", Reply::error(401, "who are you?")));
    let url = fake.url();
    let retrieve =
        |args: &[&str]| harness.told(&[&["easytool", "retrieve", "x", "--tools", "tools.json"], args].concat());
    assert_snapshot!("wrong_use_is_told_1", retrieve(&["--embedder", "m"]));
    assert_snapshot!("wrong_use_is_told_2", retrieve(&["--vectors", "x.json"]));
    assert_snapshot!("wrong_use_is_told_3", retrieve(&["--embedder", "m", "--embeddings-url", &url]));
    assert_snapshot!("wrong_use_is_told_4", harness.told(&["easytool", "retrieve", "x", "--tools", "none.json"]));
    #[cfg(not(feature = "embeddings"))]
    assert_snapshot!("wrong_use_is_told_5", retrieve(&["--embedder", "local:model"]));
}

#[test]
fn retrieval_is_scored() {
    let harness = harness();
    let questions = json!([
        {"query": "search movies", "api_list": [{"tool_name": "Movies"}, {"tool_name": "Movies"}, {"tool_name": "Nowhere"}]},
        {"query": "weather", "api_list": [], "Tool_dic": [{"ID": 1, "Description": "…"}, {"ID": "7", "Description": "…"}]},
        {"query": "nothing", "api_list": []},
    ]);
    harness.file("questions.json", questions.to_string());
    let args = ["easytool", "score", "retrieval", "--data", "questions.json", "--tools", "tools.json"];
    assert_snapshot!("retrieval_is_scored_1", harness.told(&args));
    let (code, document) = harness.json(&[args.as_slice(), &["--json"]].concat());
    assert_eq!((code, &document["n"], &document["recall"]), (0, &json!(2), &json!(0.75)));

    let log = [
        json!({"config": {"model": "m"}}),
        json!({"ID": 1, "question": "q", "retrieved": [[3, 4], [1, 4]], "gold_tools": [1, 4]}),
        json!({"ID": 2, "question": "q", "retrieved": [], "gold_tools": [1]}),
    ];
    harness.file("log.jsonl", log.map(|line| line.to_string()).join("\n"));
    assert_snapshot!(
        "retrieval_is_scored_2",
        harness.told(&["easytool", "score", "retrieval", "--log", "log.jsonl", "--top-k", "2"])
    );
    harness.file("plain.jsonl", "{\"question\": \"q\"}\n");
    assert_snapshot!(
        "retrieval_is_scored_3",
        harness.told(&["easytool", "score", "retrieval", "--log", "plain.jsonl"])
    );
    assert_eq!(harness.run(&["easytool", "score", "retrieval"]).code, 2);
}
