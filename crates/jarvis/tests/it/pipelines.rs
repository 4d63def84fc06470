//! `jarvis plan` with a catalogue service, in the pipeline form, and `--evaluate`: the binary against real sockets.

use jarvis_testing::catalogue::{Data, FakeCatalogue, Fault};
use jarvis_testing::chat::{FakeChat, Reply, Script};
use serde_json::{Value, json};

use crate::harness::Harness;

fn task(id: &str, before: &str, after: &str) -> Value {
    json!({
        "id": id, "inputs_from_upstreams": [if before == "none" { "none" } else { "image" }], "upstreams": [before],
        "outputs_for_downstreams": [if after == "none" { "none" } else { "image" }],
        "downstreams": [after], "sample-reasoning": {after: "it follows"},
    })
}

/// source → fire-detection → pipeline-end.
fn pipeline() -> Value {
    json!([
        task("source", "none", "fire-detection"),
        task("fire-detection", "source", "pipeline-end"),
        task("pipeline-end", "fire-detection", "none"),
    ])
}

fn examples() -> Value {
    let example =
        |id: &str| json!({"id": id, "scenario": {"sample-description": format!("scene of {id}")}, "tasks": pipeline()});
    json!([example("a-example-0"), example("a-example-1"), example("b-example-0"), example("b-example-1")])
}

fn harness(chat: &FakeChat, service: &FakeCatalogue) -> Harness {
    Harness::new()
        .env("JARVIS_LLM", "qwen-2.5-7b-instruct")
        .env("OPENAI_BASE_URL", &chat.url())
        .env("JARVIS_DECISIONS__MODEL_API_BASE_URL", &service.base())
}

async fn city() -> FakeCatalogue {
    let data = Data::of(&[("face-detection", &["org/face-a", "org/face-b"]), ("fire-detection", &["org/fire"])]);
    FakeCatalogue::start(data).await.expect("the service starts")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalogue_service_takes_the_place_of_the_catalogue() {
    let service = city().await;
    let plan = r#"[{"task":"Face Detection","id":0,"dep":[-1],"args":{"image":"a.jpg"}}]"#;
    let chat = FakeChat::spawn(
        Script::new().on("parse_task", plan).on("choose_model", r#"{"id":"org/face-b","reason":"it sees crowds"}"#),
    );
    let (code, plan) = harness(&chat, &service).json(&["plan", "find the faces in a.jpg"]);
    let task = &plan["execution_config"]["tasks"][0];
    assert_eq!((code, &task["task_type"], &task["model_id"]), (0, &json!("face-detection"), &json!("org/face-b")));
    assert_eq!(task["args"]["image"], "public/a.jpg");

    service.fail(Fault::Status(503));
    let ended = harness(&chat, &service).run(&["plan", "find the faces in a.jpg"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("HTTP 503") && ended.stderr.contains("hint:"), "{}", ended.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scene_becomes_a_pipeline() {
    let service = city().await;
    let chat = FakeChat::spawn(Script::new().on("parse_task", Reply::text(pipeline().to_string())));
    for request in ["A van burns.", r#"{"objects-seen": ["van"], "sample-description": "A van burns."}"#] {
        let (code, reply) = harness(&chat, &service).json(&["plan", request, "--format", "pipeline"]);
        assert_eq!(code, 0);
        assert_eq!(reply["tasks"][1]["model_id"], "org/fire", "{reply}");
        assert_eq!(reply["tasks"].as_array().map(Vec::len), Some(3));
    }
    assert_eq!(chat.stages(), ["parse_task", "parse_task"]);

    let wrong = harness(&chat, &service).run(&["plan", r#"{"objects-seen": ["van"]}"#, "--format", "pipeline"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("sample-description"), "{}", wrong.stderr);
    let offline = Harness::new().run(&["plan", "A van burns.", "--format", "pipeline"]);
    assert_eq!(offline.code, 2);
    assert!(offline.stderr.contains("chat model"), "{}", offline.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn planning_is_measured_and_measured_again_without_a_call() {
    let service = city().await;
    let chat = FakeChat::spawn(
        Script::new()
            .on_containing("parse_task", &["scene of a-example-1"], Reply::text(pipeline().to_string()))
            .on("parse_task", "[]"),
    );
    let harness = harness(&chat, &service);
    harness.file("examples.json", examples().to_string());
    let (code, first) = harness.json(&["plan", "--evaluate", "examples.json", "--record", "answers.jsonl"]);
    assert_eq!((code, &first["samples"], &first["few_shots"], &first["failed"]), (0, &json!(2), &json!(2), &json!(0)));
    assert_eq!((&first["exact_match"], &first["path_recall"]), (&json!(0.5), &json!(0.5)));
    assert_eq!(chat.requests().len(), 2);
    let replayed = ["plan", "--evaluate", "examples.json", "--llm", "replay:answers.jsonl"];
    let (code, again) = harness.json(&replayed);
    assert_eq!((code, &again), (0, &first));
    assert_eq!(harness.run(&[&replayed[..], &["--out", "figures.json"]].concat()).code, 0);
    let written = |name: &str| std::fs::read_to_string(harness.work().join(name)).expect("it was written");
    assert_eq!(serde_json::from_str::<Value>(&written("figures.json")).expect("JSON"), first);
    assert!(written("figures.tasks.txt").contains("right  a-example-1: 3 of 3 tasks"));
    assert!(written("figures.paths.txt").contains("b-example-1: 0 of 1 paths"));
    assert_eq!(chat.requests().len(), 2);
    // What an earlier measurement left is gone on with by --resume, and by nothing else.
    harness.file("figures.samples.jsonl", format!("{}\n", first["per_sample"][0]));
    let measure = ["plan", "--evaluate", "examples.json", "--out", "figures.json"];
    let again = harness.run(&measure);
    assert!(again.code == 2 && again.stderr.contains("figures.samples.jsonl"), "{}", again.stderr);
    assert_eq!(harness.run(&[&measure[..], &["--resume"]].concat()).code, 0);
    assert_eq!(chat.requests().len(), 3);
    assert_eq!(serde_json::from_str::<Value>(&written("figures.json")).expect("JSON"), first);
    assert!(!harness.work().join("figures.samples.jsonl").exists());
    let wrong = harness.run(&["plan", "--evaluate", "nothing.json"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("nothing.json"), "{}", wrong.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_may_stand_in_json_files() {
    let service = city().await;
    let plan = r#"[{"task":"fire-detection","id":0,"dep":[-1],"args":{"image":"a.jpg"}}]"#;
    let chat = FakeChat::spawn(Script::new().on("parse_task", plan));
    let harness = harness(&chat, &service);
    harness.file("system.json", r#"{"content_array": ["Plan.", "Tasks: [TASKS_LIST_WILL_BE_REPLACED_DYNAMICALLY]"]}"#);
    harness.file("user.json", r#"{"template": "Now: {{input}}"}"#);
    harness.file(
        "demos.json",
        r#"[{"role": "user", "content_array": ["a", "b"]}, {"role": "assistant", "content": "[]"}]"#,
    );
    harness.file(
        "jarvis.yaml",
        "tprompt: {parse_task: system.json}\nprompt: {parse_task: user.json}\ndemos_or_presteps: {parse_task: demos.json}\n",
    );
    let (code, _) = harness.json(&["plan", "is there fire in a.jpg?", "--config", "jarvis.yaml"]);
    assert_eq!(code, 0);
    let messages = &chat.requests()[0].body["messages"];
    let texts: Vec<&str> =
        messages.as_array().expect("messages").iter().filter_map(|message| message["content"].as_str()).collect();
    assert_eq!(
        texts,
        ["Plan.\nTasks: \"face-detection\", \"fire-detection\"", "a\nb", "[]", "Now: is there fire in a.jpg?"]
    );
    harness.file("user.json", "{}");
    let wrong = harness.run(&["plan", "is there fire in a.jpg?", "--config", "jarvis.yaml"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("user.json"), "{}", wrong.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_looks_at_the_service() {
    let service = city().await;
    let found = |base: &str| {
        let harness = Harness::new().env("JARVIS_DECISIONS__MODEL_API_BASE_URL", base);
        let (_, findings) = harness.json(&["doctor", "--json"]);
        let finding = findings.as_array().expect("findings").iter().find(|row| row["what"] == "catalogue service");
        let finding = finding.expect("the service is looked at").clone();
        (finding["ok"].as_bool() == Some(true), finding["found"].as_str().unwrap_or_default().to_owned())
    };
    let (ok, text) = found(&service.base());
    assert!(ok && text.ends_with(": 2 tasks"), "{text}");
    service.fail(Fault::Body("<html>".into()));
    let (ok, text) = found(&service.base());
    assert!(!ok && text.contains("not JSON"), "{text}");
    let (ok, text) = found("ftp://models.example");
    assert!(!ok && text.contains("model_api_base_url"), "{text}");
}
