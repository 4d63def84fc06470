//! The original's routes: shapes, outcomes and statuses.

use jarvis_testing::chat::{Reply as Said, Script};
use jarvis_testing::rows;
use serde_json::{Value, json};

use crate::harness::{self, CASES, Does, MOOD, ask};

/// Two tasks, the second about what the first gave.
const CHAIN: &str = r#"[{"task": "image-to-text", "id": 0, "dep": [-1], "args": {"image": "/images/a.png"}},
    {"task": "text-classification", "id": 1, "dep": [0], "args": {"text": "<GENERATED>-0"}}]"#;

fn planned(plan: &str) -> Script {
    Script::new().on("parse_task", plan).on("response_results", "Here you are.").on("chitchat", "Hello to you.")
}

#[tokio::test]
async fn the_original_shapes_still_work() {
    let harness = harness::with_chat(planned(CHAIN)).start().await;
    let answer = harness.post("/hugginggpt", ask("do it")).await;
    assert_eq!((answer.status, &answer.json["message"]), (200, &json!("Here you are.")));
    assert_eq!(
        answer.json["run"]["usage"]["calls"],
        json!({"parse_task": 1, "choose_model": 1, "response_results": 1})
    );
    assert_eq!(answer.json["run"]["outcomes"][1]["status"], "succeeded");
    let tasks = harness.post("/tasks", ask("do it")).await;
    assert_eq!(tasks.json, serde_json::from_str::<Value>(CHAIN).expect("JSON"));
    let results = harness.post("/results", ask("do it")).await;
    assert_eq!(results.json["0"]["inference result"], json!({"generated text": "image-to-text done"}));
    assert_eq!(results.json["1"]["task"]["args"]["text"], "image-to-text done");
    assert_eq!(results.json["1"]["choose model result"]["id"], "native/vader");
    // The results are given without the answer's call.
    let stages = harness.chat.as_ref().expect("a chat").stages();
    assert_eq!(stages.iter().filter(|stage| *stage == "response_results").count(), 1);
}

#[tokio::test]
async fn conversation_is_a_message_everywhere() {
    for plan in
        ["[]", "I would rather talk.", r#"[{"task": "summarization", "id": 0, "dep": [-1], "args": {"text": "x"}}]"#]
    {
        let harness = harness::with_chat(planned(plan)).start().await;
        for route in ["/hugginggpt", "/tasks", "/results"] {
            let reply = harness.post(route, ask("hello")).await;
            assert_eq!((reply.status, &reply.json["message"]), (200, &json!("Hello to you.")), "{route} with {plan}");
        }
    }
}

#[tokio::test]
async fn what_fails_has_its_status_and_one_shape() {
    for (reply, body, want) in rows::<(Option<Said>, Value, String)>(CASES, "what fails") {
        let script = reply.map_or_else(|| planned(MOOD), |reply| Script::new().on("parse_task", reply));
        let harness = harness::with_chat(script).start().await;
        for route in ["/hugginggpt", "/tasks", "/results"] {
            let reply = harness.post(route, body.clone()).await;
            assert_eq!(reply.told(), want, "{route} {body} {}", reply.text);
            if reply.status != 200 {
                let error = &reply.json["error"];
                assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{}", reply.text);
            }
            assert!(!reply.header("x-request-id").is_empty());
        }
        // A stream that cannot begin is refused like the others; one that fails later says so inside.
        let reply = harness.post("/hugginggpt/stream", body.clone()).await;
        if reply.status == 200 && want != "200" {
            let (name, event) = harness::events(&reply.text).pop().expect("an event");
            assert_eq!((name.as_str(), event["code"].as_str()), ("error", want.split_once(' ').map(|(_, code)| code)));
        } else {
            assert_eq!(reply.told(), want, "stream {body}");
        }
    }
}

#[tokio::test]
async fn bodies_that_are_not_json_are_told_apart() {
    let harness = harness::offline().options(|options| options.max_body = 2000).start().await;
    for (kind, body, want) in [
        ("text/plain", ask("x").to_string(), "415 unsupported_media"),
        ("application/json", "{".to_owned(), "400 invalid_request"),
        ("application/json", "{} {}".to_owned(), "400 invalid_request"),
        ("application/json", String::new(), "400 invalid_request"),
        ("application/json", ask(&"x".repeat(3000)).to_string(), "413 too_large"),
        ("application/json; charset=utf-8", ask("tell the mood of: I love it").to_string(), "200"),
    ] {
        let request =
            harness.request(reqwest::Method::POST, "/hugginggpt").header("content-type", kind).body(body.clone());
        let reply = harness::Reply::of(request.send().await.expect("a reply")).await;
        assert_eq!(reply.told(), want, "{kind} {body}");
    }
    assert_eq!(harness.get("/hugginggpt").await.told(), "405 method_not_allowed");
    assert_eq!(harness.get("/no/such/thing").await.told(), "404 not_found");
    assert_eq!(harness.post("/no/such/thing", json!({})).await.told(), "404 not_found");
}

#[tokio::test]
async fn failed_tasks_are_an_answer_and_a_panic_takes_nothing_down() {
    for does in [Does::Fails, Does::Panics] {
        let harness = harness::with_chat(planned(MOOD)).does("text-classification", does).start().await;
        let reply = harness.post("/hugginggpt", ask("x")).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(reply.json["run"]["outcomes"][0]["status"], "failed");
        assert_eq!(harness.get("/health").await.status, 200);
    }
}

#[tokio::test]
async fn a_caller_may_bring_an_endpoint_only_from_the_list() {
    let own = jarvis_testing::chat::FakeChat::start(planned("[]")).await;
    let host = own.url().trim_start_matches("http://").split('/').next().expect("a host").to_owned();
    let harness = harness::with_chat(planned(MOOD))
        .options(|options| {
            options.caller.allow = true;
            options.caller.hosts = [host.clone()].into();
        })
        .start()
        .await;
    let with = |endpoint: &str| json!({"messages": [{"role": "user", "content": "hello"}], "api_endpoint": endpoint, "api_key": "sk-own"});
    let reply = harness.post("/hugginggpt", with(&own.url())).await;
    assert_eq!((reply.status, &reply.json["message"]), (200, &json!("Hello to you.")));
    assert!(harness.chat.as_ref().expect("a chat").stages().is_empty(), "the server's own model is not asked");
    let port = host.split(':').nth(1).expect("a port");
    for endpoint in [
        format!("http://{host}.example.org/v1"),
        format!("http://127.0.0.1:{port}0/v1"),
        format!("http://user@{host}/v1"),
        format!("http://example.org/{host}"),
        format!("file://{host}/etc"),
        "http://169.254.169.254/".to_owned(),
        "nonsense".to_owned(),
    ] {
        let reply = harness.post("/hugginggpt", with(&endpoint)).await;
        assert_eq!(reply.told(), "403 caller_model_refused", "{endpoint}");
        assert!(!reply.text.contains("sk-own"));
    }
}

#[tokio::test]
async fn attached_texts_and_names_reach_the_plan() {
    let harness = harness::offline().start().await;
    let body = json!({"messages": [{"role": "user", "content": "find the edges of my photo.jpg"}],
        "attachments": [{"kind": "image", "path": "/images/ab12.png", "name": "my photo.jpg"}]});
    let tasks = harness.post("/tasks", body).await;
    assert_eq!(tasks.json[0]["args"]["image"], "/images/ab12.png", "{}", tasks.text);
    let body = json!({"messages": [{"role": "user", "content": "tell the mood of it"}],
        "attachments": [{"kind": "text", "text": "What a lovely day.", "name": "day.txt"}]});
    let tasks = harness.post("/tasks", body).await;
    assert_eq!(tasks.json[0]["args"]["text"], "day.txt", "{}", tasks.text);
}
