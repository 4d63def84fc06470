//! Decisions and plans through the door. What is decided is tested where it is decided.

use jarvis_testing::chat::{Reply as Said, Script};
use serde_json::{Value, json};

use crate::harness::{self, ask, planned};

#[tokio::test]
async fn a_decision_is_saved_looked_at_edited_and_carried_out() {
    let harness = harness::with_chat(planned()).start().await;
    let decided = harness.post("/decisions", ask("tell the mood")).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let config = &decided.json["execution_config"];
    assert_eq!(config["tasks"][0]["model_id"], "native/vader");
    let inside: Value = serde_json::from_str(decided.json["message"].as_str().expect("a text")).expect("JSON");
    assert_eq!(&inside["execution_config"], config);
    assert_eq!(harness.get("/runs").await.json["runs"], json!([]), "a decision is no run");
    let id = decided.json["plan_id"].as_str().expect("an id");
    assert_eq!(&harness.get(&format!("/plans/{id}")).await.json["execution_config"], config);
    // As it is, without a body.
    let reply = harness.request(reqwest::Method::POST, &format!("/plans/{id}/run")).send().await.expect("a reply");
    let reply = harness::Reply::of(reply).await;
    assert_eq!(reply.json["message"], "Here you are.", "{}", reply.text);
    assert_eq!(reply.json["run"]["planner"], "plan");
    // Edited.
    let mut edited = config.clone();
    edited["tasks"][0]["args"]["text"] = json!("I hate it");
    for path in [format!("/plans/{id}/run/stream"), "/plans/run/stream".to_owned()] {
        let events = harness.stream(&path, json!({"execution_config": edited})).await;
        let (_, plan) = events.iter().find(|(name, _)| name == "plan").expect("a plan");
        assert_eq!(plan["plan"]["tasks"][0]["args"]["text"], "I hate it");
        assert_eq!(events.last().map(|(name, _)| name.as_str()), Some("done"));
    }
    assert_eq!(harness.chat.as_ref().expect("a chat").requests_of("parse_task").len(), 1, "the plan is not made again");
}

#[tokio::test]
async fn plans_with_faults_are_not_carried_out() {
    let harness = harness::with_chat(planned()).start().await;
    let task =
        |task: &str, model: &str| json!({"task_id": 0, "task_type": task, "model_id": model, "args": {"text": "x"}});
    for (body, want) in [
        (json!({"execution_config": {"tasks": [task("no-such-task", "native/vader")]}}), "422 bad_plan"),
        (json!({"execution_config": {"tasks": [task("text-classification", "no/such-model")]}}), "422 bad_plan"),
        (json!({"execution_config": {"tasks": []}}), "422 bad_plan"),
        (json!({"execution_config": 7}), "422 bad_plan"),
        (
            json!({"execution_config": {"tasks": [{"task_id": 0, "task_type": "text-classification", "args": {"text": "x"},
                "dependencies": (1_000_000..1_080_000).collect::<Vec<u32>>()}]}}),
            "422 bad_plan",
        ),
        (
            json!({"execution_config": {"tasks": [{"task_id": "x".repeat(400_000), "task_type": "text-classification"}]}}),
            "422 bad_plan",
        ),
        (json!({}), "400 invalid_request"),
    ] {
        let reply = harness.post("/plans/run", body.clone()).await;
        assert_eq!(reply.told(), want, "{body} {}", reply.text);
        assert!(reply.text.len() < 100_000, "a fault is told in few words");
        if reply.status == 422 {
            assert!(reply.json["error"]["details"][0]["message"].is_string(), "{}", reply.text);
        }
    }
    for id in ["00000000-0000-7000-8000-000000000000", "x", "..%2f..%2fruns", "%00"] {
        assert_eq!(harness.get(&format!("/plans/{id}")).await.told(), "404 unknown_plan", "{id}");
    }
    assert_eq!(harness.get("/runs").await.json["runs"], json!([]));
}

#[tokio::test]
async fn a_decision_streams() {
    let harness = harness::with_chat(planned()).start().await;
    let events = harness.stream("/decisions/stream", ask("tell the mood")).await;
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["run_started", "model_call", "plan", "model_chosen", "execution_config", "done"]);
}

#[tokio::test]
async fn the_main_route_can_decide_too_and_does_not_by_default() {
    let harness = harness::with_chat(planned()).start().await;
    let mut body = ask("tell the mood");
    body["return_decisions"] = json!(true);
    let reply = harness.post("/hugginggpt", body).await;
    let keys: Vec<&String> = reply.json.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["decisions", "raw_results"]);
    let mut body = ask("tell the mood");
    body["return_decisions"] = json!(true);
    let events = harness.stream("/hugginggpt/stream", body.clone()).await;
    assert!(events.iter().all(|(name, _)| name != "task_started"), "nothing is carried out");
    assert_eq!(harness.post("/results", body).await.told(), "400 invalid_request");
    assert_eq!(harness.post("/hugginggpt", ask("tell the mood")).await.json["message"], "Here you are.");
}

#[tokio::test]
async fn what_fails_has_its_status_and_the_original_form_where_asked_for() {
    for (script, body, want) in [
        (planned(), json!({}), "400 invalid_request"),
        (planned(), json!({"messages": []}), "400 invalid_request"),
        (planned(), ask(" "), "400 invalid_request"),
        (planned(), json!({"scenario": {}}), "400 invalid_request"),
        (planned(), json!({"scenario": "a car"}), "400 invalid_request"),
        (Script::new().on("parse_task", Said::error(500, "no")), ask("x"), "502 upstream"),
        (Script::new().on("parse_task", "I would rather talk."), ask("x"), "422 unreadable_plan"),
    ] {
        let harness = harness::with_chat(script).start().await;
        let reply = harness.post("/decisions", body.clone()).await;
        assert_eq!(reply.told(), want, "{body} {}", reply.text);
    }
    let script = Script::new().on("parse_task", "I would rather talk.");
    let harness = harness::with_chat(script).options(|options| options.compat_errors = true).start().await;
    let reply = harness.post("/decisions", ask("x")).await;
    assert!(reply.status == 500 && reply.json["error"].is_string(), "{}", reply.text);
    let reply = harness.post("/decisions", json!({})).await;
    assert!(reply.status == 400 && reply.json["error"].is_string(), "{}", reply.text);
    for (body, want) in
        [(json!({}), 400), (json!({"test_category_index": "x"}), 400), (json!({"test_category_index": 0}), 500)]
    {
        let reply = harness.post("/decisions/test", body.clone()).await;
        assert_eq!(reply.status, want, "{body} {}", reply.text);
    }
}
