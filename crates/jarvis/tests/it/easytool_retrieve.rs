//! `jarvis easytool retrieve` with vectors of an embeddings endpoint.

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
fn a_model_that_cannot_be_asked_is_named() {
    let harness = harness();
    let fake = FakeChat::spawn(Script::new().on("embed", Reply::error(401, "who are you?")));
    let url = fake.url();
    let retrieve =
        |args: &[&str]| harness.told(&[&["easytool", "retrieve", "x", "--tools", "tools.json"], args].concat());
    assert_snapshot!("credentials_are_refused", retrieve(&["--embedder", "m", "--embeddings-url", &url]));
    assert_snapshot!("a_folder_without_a_model", retrieve(&["--embedder", "local:model"]));
    assert_snapshot!("a_model_that_was_not_pulled", retrieve(&["--embedder", "local/model"]));
}
