//! Pipelines by name: their runs, their streams, and as models of the OpenAI door.

use jarvis_testing::chat::{Reply as Said, Script};
use serde_json::{Value, json};

use crate::harness::{self, ask};

const PLAN: &str = "Plan: Add.\n#E1 = calculator[17 + 25]\nPlan: Say it.\n#E2 = LLM[Say #E1 in words.]";

pub(crate) fn rewoo() -> Script {
    Script::new()
        .on("rewoo_plan", Said::text(PLAN).usage(100, 20))
        .on("rewoo_llm", Said::text("forty-two"))
        .on("rewoo_solve", Said::pieces(["Both cost ", "forty-two."]).usage(30, 3))
}

#[tokio::test]
async fn a_pipeline_runs_by_its_name() {
    let harness = harness::with_chat(rewoo()).start().await;
    let reply = harness.post("/pipelines/rewoo/runs", ask("what do both cost?")).await;
    assert_eq!((reply.status, &reply.json["message"]), (200, &json!("Both cost forty-two.")), "{}", reply.text);
    let outcomes = reply.json["run"]["outcomes"].as_array().expect("outcomes");
    let texts: Vec<&Value> = outcomes.iter().map(|outcome| &outcome["outputs"][0]["text"]).collect();
    assert_eq!(texts, [&json!("42"), &json!("forty-two")]);

    let events = harness.stream("/pipelines/rewoo/runs/stream", ask("what do both cost?")).await;
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names.first(), names.last()), (Some(&"run_started"), Some(&"done")), "{names:?}");
    assert!(["plan", "task_finished", "token", "answer"].iter().all(|name| names.contains(name)), "{names:?}");
}

#[tokio::test]
async fn every_pipeline_is_a_model() {
    let harness = harness::with_chat(rewoo()).start().await;
    let models = harness.get("/v1/models").await;
    let ids: Vec<&Value> = models.json["data"].as_array().expect("models").iter().map(|model| &model["id"]).collect();
    assert_eq!(
        ids,
        [&json!("jarvis/hugginggpt"), &json!("jarvis/chat"), &json!("jarvis/rewoo"), &json!("jarvis/react")]
    );
    assert_eq!(harness.get("/health").await.json["pipelines"], json!(["hugginggpt", "chat", "rewoo", "react"]));
    let offline = harness::offline().start().await;
    assert_eq!(offline.get("/health").await.json["pipelines"], json!(["hugginggpt"]), "ReWOO needs a model");
    let mut body = ask("what do both cost?");
    body["model"] = json!("jarvis/rewoo");
    let reply = harness.post("/v1/chat/completions", body).await;
    assert_eq!(reply.json["model"], "jarvis/rewoo", "{}", reply.text);
    assert_eq!(reply.json["choices"][0]["message"]["content"], "Both cost forty-two.");
}

#[tokio::test]
async fn what_cannot_be_run_is_refused() {
    let harness = harness::offline().start().await;
    for (path, body, told) in [
        ("/pipelines/none/runs", ask("x"), "404 not_found"),
        ("/pipelines/none/runs/stream", ask("x"), "404 not_found"),
        ("/pipelines/rewoo/runs", ask("x"), "501 not_configured"),
        ("/pipelines/rewoo/runs", json!({}), "400 invalid_request"),
    ] {
        assert_eq!(harness.post(path, body).await.told(), told, "{path}");
    }
    let reply = harness.post("/pipelines/hugginggpt/runs", ask("tell the mood of: I love it")).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
}
