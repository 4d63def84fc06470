//! The document at `/openapi.json` against what the server sends. Every reply that a test gets through the harness is checked as well.

mod document;
mod samples;

use std::collections::BTreeSet;

use jarvis_plan::{Event, EventKind, RunId};
use jarvis_testing::chat::{Reply as Said, Script};
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use strum::VariantNames;

pub(crate) use self::document::Document;
use crate::harness::{self, Does, Harness, MOOD, Reply, ask, planned};
use crate::pipelines::rewoo;

/// Schemas that say in words that any value fits them.
const FREE: [&str; 1] = ["AnyJson"];

#[tokio::test]
async fn every_kind_of_event_has_a_schema() {
    let document = Document::get().await;
    let union = document.schema("Event");
    let words = union["discriminator"]["mapping"].as_object().expect("a mapping");
    let described: BTreeSet<&str> = words.keys().map(String::as_str).collect();
    let known: BTreeSet<&str> = EventKind::VARIANTS.iter().copied().collect();
    assert_eq!(described, known);
    for (word, reference) in words {
        let name = reference.as_str().and_then(|reference| reference.rsplit('/').next()).expect("a reference");
        assert_eq!(document.schema(name)["properties"]["event"]["enum"], json!([word]), "{name}");
    }
}

#[tokio::test]
async fn events_with_every_member_are_as_described() {
    let document = Document::get().await;
    let mut seen = BTreeSet::new();
    for kind in samples::events() {
        let name = kind.name();
        let piece = u32::from(kind.is_piece());
        let event = Event { run_id: RunId("r".to_owned()), seq: 1, piece, at_ms: 1, kind };
        let mut event = event.to_value();
        document.check_event(&event);
        event["odd"] = json!(1);
        let wrong = document.faults(&json!({"$ref": "#/components/schemas/Event"}), &event);
        assert!(wrong.len() == 1 && wrong[0].contains("odd"), "what is not described is found: {wrong:?}");
        seen.insert(name);
    }
    assert_eq!(seen, EventKind::VARIANTS.iter().copied().collect(), "each kind has a sample");
}

#[tokio::test]
async fn no_schema_is_an_untyped_leaf() {
    let document = Document::get().await;
    let untyped = document.untyped();
    assert!(untyped.iter().all(|place| FREE.contains(&place.as_str())), "{untyped:?}");
    for name in FREE {
        assert!(document.schema(name)["description"].is_string(), "{name} says that it is free");
    }
}

#[tokio::test]
async fn streams_name_what_is_in_them() {
    let document = Document::get().await;
    for (method, path, piece) in [
        ("post", "/hugginggpt/stream", "SseEvent"),
        ("get", "/runs/{id}/events", "SseEvent"),
        ("get", "/events", "RunsSseEvent"),
        ("post", "/v1/chat/completions", "ChatSseEvent"),
        ("post", "/v1/responses", "ResponseSseEvent"),
        ("post", "/ag-ui", "AgUiSseEvent"),
    ] {
        let schema = document.reply_schema(method, path, 200, "text/event-stream").expect("it is described");
        assert_eq!(schema["$ref"], format!("#/components/schemas/{piece}"), "{path}");
    }
    assert_eq!(
        document.schema("SseEvent")["properties"]["data"]["contentSchema"]["$ref"],
        "#/components/schemas/Event"
    );
}

/// Follows a run to its end, and looks at all that is said of it.
async fn look(harness: &Harness, id: &str) -> Vec<(String, Value)> {
    let events = harness::events(&harness.get(&format!("/runs/{id}/events")).await.text);
    harness.settled().await;
    assert_eq!(harness.get(&format!("/runs/{id}")).await.status, 200);
    events
}

async fn detached(harness: &Harness, path: &str, text: &str) -> String {
    let mut body = ask(text);
    body["detached"] = json!(true);
    let reply = harness.post(path, body).await;
    assert_eq!(reply.status, 202, "{}", reply.text);
    reply.json["run_id"].as_str().expect("an id").to_owned()
}

/// A planner that asks the person once a task has failed, and goes on when it was told.
fn asking() -> Script {
    let plan = r#"[{"task": "text-to-video", "id": 0, "dep": [-1], "args": {"text": "a sunrise"}}]"#;
    let next = r#"{"tasks": [{"task": "text-classification", "id": 1, "dep": [-1], "args": {"text": "I love it"}}]}"#;
    Script::new()
        .on("parse_task", Said::text(plan))
        .on_containing("replan", &["by the sea", "\"1\":"], Said::text(r#"{"done": true}"#))
        .on_containing("replan", &["by the sea"], Said::text(next))
        .on("replan", Said::text(r#"{"ask": "Which sunrise?"}"#))
        .on("response_results", Said::text("Here it is."))
}

#[tokio::test]
async fn events_of_runs_of_all_kinds_are_as_described() {
    let mut events: Vec<(String, Value)> = Vec::new();

    // A run that waits for another, and both with a failure that the next model makes up for.
    let harness = harness::with_chat(planned())
        .does("text-classification", Does::Waits)
        .options(|options| (options.max_running, options.max_waiting) = (1, 1))
        .start()
        .await;
    let first = detached(&harness, "/hugginggpt", "x").await;
    harness.worker.started.reach(1).await;
    let second = harness.open("/hugginggpt/stream", ask("y")).await;
    harness.go.add_permits(2);
    events.extend(harness::events(&second.text().await.expect("it ends")));
    events.extend(look(&harness, &first).await);
    let anew = harness.post(&format!("/runs/{first}/retry"), json!({"from": 0})).await;
    harness.go.add_permits(1);
    events.extend(look(&harness, anew.json["run_id"].as_str().expect("an id")).await);
    harness.get("/runs").await;

    let harness = harness::with_chat(planned()).does("text-classification", Does::Fails).start().await;
    events.extend(harness.stream("/hugginggpt/stream", ask("x")).await);
    harness.post("/results", ask("x")).await;
    let id = detached(&harness, "/hugginggpt", "x").await;
    events.extend(look(&harness, &id).await);
    // The body is optional, which clients that are generated write as `null`.
    let anew = harness.post(&format!("/runs/{id}/retry"), Value::Null).await;
    assert_eq!(anew.status, 200, "{}", anew.json);

    // A run that is cancelled, one whose model fails, and one that has no budget left.
    let harness = harness::with_chat(planned()).does("text-classification", Does::Hangs).start().await;
    let id = detached(&harness, "/hugginggpt", "x").await;
    harness.worker.started.reach(1).await;
    harness.post(&format!("/runs/{id}/cancel"), json!({})).await;
    events.extend(look(&harness, &id).await);
    let harness = harness::with_chat(Script::new().on("parse_task", Said::error(500, "no"))).start().await;
    events.extend(harness.stream("/hugginggpt/stream", ask("x")).await);
    let harness = harness::with_chat(planned()).start().await;
    let mut bounded = ask("x");
    bounded["budget"] = json!({"max_calls": 1});
    events.extend(harness.stream("/hugginggpt/stream", bounded).await);

    // Conversation, agents, and a planner that asks.
    let talk = Script::new().on("parse_task", "[]").on("chitchat", Said::pieces(["Hello ", "to you."]));
    let harness = harness::with_chat(talk).start().await;
    events.extend(harness.stream("/hugginggpt/stream", ask("hello")).await);
    for path in ["/hugginggpt", "/tasks", "/results"] {
        harness.post(path, ask("hello")).await;
    }
    let harness = harness::with_chat(rewoo()).start().await;
    events.extend(harness.stream("/pipelines/rewoo/runs/stream", ask("what do both cost?")).await);
    let plot = "<Thought>: Draw.\n<Action>: plot\n<Action Input>: {\"x\": [\"pear\", \"fig\"], \"y\": [2, 1]}";
    let replies = vec![Said::text(plot), Said::text("<Thought>: I know.\n<Final Answer>: Pear, twice.")];
    let harness = harness::with_chat(Script::new().on("react", replies)).start().await;
    events.extend(harness.stream("/pipelines/react/runs/stream", ask("Which fruits?")).await);
    let harness = harness::with_chat(asking()).asks_people().start().await;
    let waits = harness.post("/hugginggpt", ask("make a film of a sunrise")).await;
    assert_eq!((waits.status, &waits.json["status"]), (202, &json!("waiting")), "{}", waits.text);
    let id = waits.json["run_id"].as_str().expect("an id").to_owned();
    assert!(harness.get(&format!("/runs/{id}")).await.json["waiting"][0]["arguments"].is_object());
    let answer = json!({"decision": "approve", "arguments": {"answer": "by the sea"}});
    let answered = harness.post(&format!("/runs/{id}/approvals/1"), answer).await;
    assert_eq!(answered.status, 200, "{}", answered.text);
    events.extend(look(&harness, &id).await);

    // Decisions, and a plan that is carried out.
    let unknown = MOOD.replace("text-classification", "mood-finder");
    let script = Script::new()
        .on("parse_task", unknown)
        .on("response_results", "Here you are.")
        .on("map_task", r#"{"task_id": "text-classification"}"#);
    let harness = harness::with_chat(script).start().await;
    events.extend(harness.stream("/decisions/stream", ask("tell the mood")).await);
    let decided = harness.post("/decisions", ask("tell the mood")).await;
    let saved = harness.get(&format!("/plans/{}", decided.json["plan_id"].as_str().expect("an id"))).await;
    events.extend(harness.stream("/plans/run/stream", saved.json).await);

    let document = Document::get().await;
    let mut seen = BTreeSet::new();
    for (name, event) in &events {
        assert_eq!(event["event"], name.as_str());
        document.check_event(event);
        seen.insert(name.as_str());
    }
    let known: BTreeSet<&str> = EventKind::VARIANTS.iter().copied().collect();
    assert_eq!(known.difference(&seen).collect::<Vec<_>>(), Vec::<&&str>::new(), "kinds that no run has");
}

#[tokio::test]
async fn replies_are_as_described() {
    let harness = harness::with_chat(planned()).start().await;
    for path in ["/hugginggpt", "/tasks", "/results", "/decisions", "/pipelines/hugginggpt/runs"] {
        assert_eq!(harness.post(path, ask("tell the mood")).await.status, 200, "{path}");
    }
    let mut decisions = ask("tell the mood");
    decisions["return_decisions"] = json!(true);
    harness.post("/hugginggpt", decisions).await;
    let scenario = json!({"objects-seen": ["road"], "sample-description": "A road."});
    let task = |id: &str, before: &str, after: &str| {
        json!({"id": id, "upstreams": [before], "downstreams": [after], "inputs_from_upstreams": ["a picture"],
            "outputs_for_downstreams": ["a picture"], "sample-reasoning": {after: "it follows"}})
    };
    let pipeline = json!([
        task("source", "none", "image-to-text"),
        task("image-to-text", "source", "pipeline-end"),
        task("pipeline-end", "image-to-text", "none")
    ]);
    let example = json!({"id": "road-example-0", "scenario": scenario, "tasks": pipeline});
    let seeing = harness::with_chat(Script::always(Said::text(pipeline.to_string()))).examples(&[example]);
    let seeing = seeing.start().await;
    let tried = seeing.post("/decisions/test", json!({"test_category_index": 0})).await;
    assert_eq!(tried.json["test_info"]["test_example_id"], "road-example-0", "{}", tried.text);
    let decided = seeing.post("/decisions", json!({ "scenario": scenario })).await;
    assert_eq!(decided.json["tasks"][1]["id"], "image-to-text", "{}", decided.text);
    for path in ["/runs", "/models", "/tools", "/me", "/health", "/ready", "/v1/models", "/chats", "/local-models"] {
        assert_eq!(harness.get(path).await.status, 200, "{path}");
    }
    let chat = json!({"model": "jarvis/hugginggpt", "messages": ask("tell the mood")["messages"]});
    assert_eq!(harness.post("/v1/chat/completions", chat.clone()).await.status, 200);
    let mut streamed = chat;
    streamed["stream"] = json!(true);
    streamed["stream_options"] = json!({"include_usage": true});
    harness.stream("/v1/chat/completions", streamed).await;
    for more in [json!({}), json!({"stream": true})] {
        let mut body = json!({"model": "jarvis/hugginggpt", "input": "tell the mood"});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        match body["stream"].is_null() {
            true => drop(harness.post("/v1/responses", body).await),
            false => drop(harness.stream("/v1/responses", body).await),
        }
    }
    let exchange = json!({"threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{"id": "m", "role": "user", "content": "tell the mood"}]});
    harness.stream("/ag-ui", exchange).await;
}

#[tokio::test]
async fn media_come_under_the_types_that_are_described() {
    let harness = harness::offline().start().await;
    let document = Document::get().await;
    for (name, bytes, route) in [
        ("a.png", b"\x89PNG\r\n\x1a\n0000".as_slice(), "/images/{name}"),
        (
            "a.wav",
            b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\0\0\0\0",
            "/audios/{name}",
        ),
    ] {
        let form = Form::new().part("file", Part::bytes(bytes.to_vec()).file_name(name));
        let sent = harness.request(Method::POST, "/upload").multipart(form).send().await.expect("a reply");
        let sent = Reply::of(sent).await;
        document.check_reply("post", "/upload", &sent);
        let got = harness.get(sent.json["path"].as_str().expect("a path")).await;
        let kind = got.header("content-type");
        let schema = document.reply_schema("get", route, 200, kind);
        assert_eq!(schema.map(|schema| &schema["format"]), Some(&json!("binary")), "{kind}");
    }
}
