//! `jarvis easytool instruct`: what is printed, asked, written, executed and gone on with.

use jarvis_testing::chat::{FakeChat, Script};
use serde_json::{Value, json};

use crate::harness::Harness;

const LIBRARY: &str = include_str!("../../../../examples/easytool/library.yaml");

const TIDES: &str = r#"{"name": "Tides", "description": "Tides of harbours, everywhere, at any time.", "api_list": [
  {"name": "next", "description": "Get the next tide", "required_parameters": [{"name": "harbour", "type": "STRING"}]},
  {"name": "all", "description": "List all harbours"}]}"#;

const DESCRIPTION: &str =
    "Tides is a tool that can tell tides. This tool has 2 functions: 1. next is to get it. 2. all is to list.";

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn read(harness: &Harness, name: &str) -> Value {
    json_of(&std::fs::read_to_string(harness.work().join(name)).unwrap())
}

#[test]
fn a_document_is_turned_into_instructions() {
    let harness = Harness::new();
    harness.file("library.yaml", LIBRARY);
    insta::assert_snapshot!(
        "a_document_is_turned_into_instructions",
        harness.told(&["easytool", "instruct", "library.yaml", "--limit", "2"])
    );
    let report = harness.run(&[
        "easytool",
        "instruct",
        "library.yaml",
        "--out",
        "tools.json",
        "--shape",
        "tool",
        "--json",
        "-q",
    ]);
    assert_eq!((report.code, report.stderr.as_str()), (0, ""));
    let report = json_of(&report.stdout);
    assert_eq!(
        (&report["apis_out"], &report["shape"], &report["llm"]),
        (&json!(12), &json!("tool"), &json!("offline"))
    );
    let tools = read(&harness, "tools.json");
    assert_eq!(tools["0"]["tool_name"], "Town Library");
    assert_eq!(tools["0"]["tool_guidelines"].as_object().unwrap().len(), 12);
}

#[test]
fn a_model_writes_and_a_second_run_goes_on() {
    let harness = Harness::new();
    harness.file("tides.json", TIDES);
    let line = |stage: &str, contains: &str, reply: &str| {
        format!("{}\n", json!({"stage": stage, "contains": [contains], "reply": reply}))
    };
    let args = ["easytool", "instruct", "tides.json", "--out", "tools.json", "--llm", "replay:answers.jsonl"];
    harness.file("answers.jsonl", line("describe_tool", "Tides", DESCRIPTION));
    insta::assert_snapshot!("a_model_writes_and_a_second_run_goes_on_1", harness.told(&args));
    assert!(harness.work().join("tools.json.partial.jsonl").exists());
    let next = r#"{"Scenario": "If you want the next tide of Brest.", "Parameters": {"harbour": "Brest"}}"#;
    harness.file(
        "answers.jsonl",
        line("write_scenario", "`next` of", r#"{"Scenario": "x", "Parameters": {}}"#)
            + &line("write_scenario", "`harbour` is missing", next)
            + &line("write_scenario", "`all` of", "?").repeat(3),
    );
    insta::assert_snapshot!("a_model_writes_and_a_second_run_goes_on_2", harness.told(&args));
    let tools = read(&harness, "tools.json");
    assert_eq!(tools["0"]["tool_description"], DESCRIPTION);
    assert_eq!(tools["0"]["tool_guidelines"]["next"]["Example"], json_of(next));
    assert_eq!(tools["0"]["tool_guidelines"]["all"]["Example"]["generated_by"], "default");
    assert!(!harness.work().join("tools.json.partial.jsonl").exists());
}

#[test]
fn an_endpoint_is_asked_with_the_stage_label() {
    let harness = Harness::new();
    harness.file("tides.json", TIDES);
    let fake = FakeChat::spawn(
        Script::new()
            .on("describe_tool", DESCRIPTION)
            .on_containing(
                "write_scenario",
                &["`next` of"],
                r#"{"Scenario": "Brest.", "Parameters": {"harbour": "Brest"}}"#,
            )
            .on("write_scenario", r#"{"Scenario": "All.", "Parameters": {}}"#),
    );
    let url = fake.url();
    let ended = harness.run(&["easytool", "instruct", "tides.json", "--llm", "m", "--base-url", &url]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(json_of(&ended.stdout)["0"]["tool_guidelines"]["all"]["Example"]["Scenario"], "All.");
    let mut stages = fake.stages();
    stages.sort();
    assert_eq!(stages, ["describe_tool", "write_scenario", "write_scenario"]);
}

#[test]
fn wrong_use_is_told() {
    let harness = Harness::new();
    harness.file("library.yaml", LIBRARY);
    harness.file("tides.json", TIDES);
    harness.file("old.yaml", "swagger: '2.0'\npaths: {}\n");
    let told = |args: &[&str]| harness.told(&[&["easytool", "instruct"], args].concat());
    insta::assert_snapshot!("wrong_use_is_told_1", told(&["old.yaml"]));
    insta::assert_snapshot!("wrong_use_is_told_2", told(&["library.yaml", "tides.json"]));
    insta::assert_snapshot!("wrong_use_is_told_3", told(&["library.yaml", "--execute"]));
    insta::assert_snapshot!(
        "wrong_use_is_told_4",
        told(&["tides.json", "--execute", "--api-url", "http://127.0.0.1:9"])
    );
}
