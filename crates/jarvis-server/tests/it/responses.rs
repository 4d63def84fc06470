//! The responses protocol: what its clients send and check, and that a response is a run.

use jarvis_testing::chat::{Reply as Said, Script};
use jarvis_testing::rows;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{self, Does, Harness, MOOD, Reply};

const DOOR: &str = "/v1/responses";
const CASES: &str = include_str!("responses.yaml");
const PICTURE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The fields that every response has, by Open Responses.
const FIELDS: [&str; 31] = [
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "incomplete_details",
    "model",
    "previous_response_id",
    "instructions",
    "output",
    "error",
    "tools",
    "tool_choice",
    "truncation",
    "parallel_tool_calls",
    "text",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "temperature",
    "reasoning",
    "user",
    "usage",
    "max_output_tokens",
    "max_tool_calls",
    "store",
    "background",
    "service_tier",
    "metadata",
    "prompt_cache_key",
];

fn body(more: &Value) -> Value {
    let mut body = json!({"model": "jarvis/hugginggpt"});
    let fields = body.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    body
}

async fn again(harness: &Harness, method: Method, path: &str) -> Reply {
    Reply::of(harness.request(method, &format!("{DOOR}/{path}")).send().await.expect("a reply")).await
}

fn text(response: &Value) -> &str {
    response["output"][0]["content"][0]["text"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn what_clients_send_is_answered_in_the_form_that_they_check() {
    let harness = harness::offline().start().await;
    for (name, more, kind) in rows::<(String, Value, String)>(CASES, "cases") {
        let more: Value = serde_json::from_str(&more.to_string().replace("PICTURE", PICTURE)).expect("JSON");
        let reply = harness.post(DOOR, body(&more)).await;
        assert_eq!(reply.status, 200, "{name}: {}", reply.text);
        let response = &reply.json;
        for field in FIELDS {
            assert!(response.get(field).is_some(), "{name}: no `{field}`");
        }
        assert_eq!((response["object"].as_str(), response["status"].as_str()), (Some("response"), Some("completed")));
        let output = response["output"].as_array().expect("output");
        let found = output.iter().find(|item| item["type"] == kind);
        let found = found.unwrap_or_else(|| panic!("{name}: no {kind}: {}", reply.text));
        assert_eq!(found["status"], "completed", "{name}");
        if kind == "message" {
            let part = &found["content"][0];
            assert_eq!(
                (&part["type"], &part["annotations"], &part["logprobs"]),
                (&json!("output_text"), &json!([]), &json!([]))
            );
        }
        // The same as a stream.
        let mut streamed = body(&more);
        streamed["stream"] = json!(true);
        let events = harness.stream(DOOR, streamed).await;
        check_stream(&name, &events, &kind);
    }
}

/// The events of a stream: their names are those of their data, numbered from 0, and each part begins and ends once.
fn check_stream(name: &str, events: &[(String, Value)], kind: &str) {
    for (at, (event, data)) in events.iter().enumerate() {
        assert_eq!(data["type"], event.as_str(), "{name}");
        assert_eq!(data["sequence_number"], at, "{name}");
    }
    let names: Vec<&str> = events.iter().map(|(event, _)| event.trim_start_matches("response.")).collect();
    assert_eq!(names[..2], ["created", "in_progress"], "{name}");
    let rest: Vec<&str> = names[2..].iter().copied().filter(|name| !name.ends_with(".delta")).collect();
    let want: &[&str] = match kind {
        "message" => &[
            "output_item.added",
            "content_part.added",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "completed",
        ],
        _ => &["output_item.added", "function_call_arguments.done", "output_item.done", "completed"],
    };
    assert_eq!(rest, want, "{name}");
    let (_, created) = &events[0];
    let (_, last) = events.last().expect("an end");
    assert_eq!(created["response"]["id"], last["response"]["id"], "{name}: one id from the first to the last");
    assert_eq!(last["response"]["status"], "completed");
    let deltas: String = events
        .iter()
        .filter(|(event, _)| event.ends_with("output_text.delta"))
        .filter_map(|(_, data)| data["delta"].as_str())
        .collect();
    if kind == "message" {
        assert_eq!(text(&last["response"]), deltas, "{name}");
        let done = events.iter().find(|(event, _)| event.ends_with("output_text.done")).expect("the whole text");
        assert_eq!(done.1["text"], deltas, "{name}");
    }
}

#[tokio::test]
async fn what_cannot_be_served_is_refused_by_name() {
    let harness = harness::offline().start().await;
    for (more, want, param) in rows::<(Value, String, String)>(CASES, "refused") {
        let reply = harness.post(DOOR, body(&more)).await;
        assert_eq!(reply.told(), want, "{more} {}", reply.text);
        assert_eq!(reply.json["error"]["param"], param, "{more}");
    }
}

#[tokio::test]
async fn a_response_is_kept_and_gone_on_with() {
    let script = Script::new()
        .on("parse_task", [Said::text(MOOD).usage(100, 20), Said::text("[]")])
        .on("response_results", Said::pieces(["A good ", "mood."]).usage(30, 3))
        .on("chitchat", Said::text("You said: I love it."));
    let harness = harness::with_chat(script).start().await;
    let first =
        json!({"input": "tell the mood of: I love it", "metadata": {"topic": "mood"}, "instructions": "Be brief."});
    let made = harness.post(DOOR, body(&first)).await;
    let id = made.json["id"].as_str().expect("an id").to_owned();
    assert_eq!(text(&made.json), "A good mood.");
    assert_eq!(made.json["usage"]["total_tokens"], 153);
    let kept = again(&harness, Method::GET, &id).await;
    assert_eq!((&kept.json["output"], &kept.json["metadata"]), (&made.json["output"], &json!({"topic": "mood"})));
    let events = harness::events(&again(&harness, Method::GET, &format!("{id}?stream=true")).await.text);
    check_stream("again", &events, "message");
    let later =
        harness::events(&again(&harness, Method::GET, &format!("{id}?stream=true&starting_after=3")).await.text);
    assert_eq!(later[..], events[4..], "those after the number");
    let items = again(&harness, Method::GET, &format!("{id}/input_items")).await;
    assert_eq!(items.json["data"][0]["content"][0]["text"], "tell the mood of: I love it", "{}", items.text);
    assert_eq!((&items.json["object"], &items.json["has_more"]), (&json!("list"), &json!(false)));

    let next = body(&json!({"input": "What did I say?", "previous_response_id": id}));
    let next = harness.post(DOOR, next).await;
    assert_eq!(text(&next.json), "You said: I love it.", "{}", next.text);
    assert_eq!(next.json["previous_response_id"], id.as_str());
    let asked = harness.chat.as_ref().expect("a chat model").requests_of("chitchat").pop().expect("a call");
    let prompt = asked.prompt();
    assert!(prompt.contains("tell the mood of: I love it") && prompt.contains("A good mood."), "{prompt}");
    assert!(!prompt.contains("Be brief."), "instructions hold for one response: {prompt}");

    let run = uuid::Uuid::try_parse(id.trim_start_matches("resp_")).expect("the id of a run").to_string();
    assert_eq!(harness.get(&format!("/runs/{run}")).await.status, 200);
    let gone = again(&harness, Method::DELETE, &id).await;
    assert_eq!(gone.json, json!({"id": id, "object": "response", "deleted": true}));
    assert_eq!(again(&harness, Method::GET, &id).await.told(), "404 not_found");
    assert_eq!(harness.get(&format!("/runs/{run}")).await.told(), "404 not_found");
    let harness = harness::offline().start().await;
    let unkept = harness.post(DOOR, body(&json!({"input": "hello", "store": false}))).await;
    assert_eq!(unkept.json["store"], false, "{}", unkept.text);
    let id = unkept.json["id"].as_str().expect("an id");
    assert_eq!(again(&harness, Method::GET, id).await.told(), "404 not_found");
}

#[tokio::test]
async fn calls_are_answered_with_the_whole_conversation_or_with_the_response_before() {
    let plan = r#"[{"task": "get_weather", "id": 0, "dep": [-1], "args": {"location": "Paris"}},
        {"task": "text-classification", "id": 1, "dep": [0], "args": {"text": "<GENERATED>-0"}}]"#;
    let tools = json!([{"type": "function", "name": "get_weather", "parameters":
        {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}}]);
    for whole in [true, false] {
        let script = Script::new().on("parse_task", Said::text(plan)).on("response_results", Said::text("Warm."));
        let harness = harness::with_chat(script).start().await;
        let said = json!({"role": "user", "content": "How warm is it in Paris, and is that good?"});
        let made = harness.post(DOOR, body(&json!({"input": [said], "tools": tools}))).await;
        let call = made.json["output"][0].clone();
        assert_eq!((&call["type"], &call["name"]), (&json!("function_call"), &json!("get_weather")), "{}", made.text);
        assert_eq!(call["arguments"], r#"{"location":"Paris"}"#);
        let output = json!({"type": "function_call_output", "call_id": call["call_id"], "output": "18 °C"});
        let more = match whole {
            true => json!({"input": [said, call, output], "tools": tools}),
            false => json!({"input": [output], "tools": tools, "previous_response_id": made.json["id"]}),
        };
        let answered = harness.post(DOOR, body(&more)).await;
        assert_eq!(text(&answered.json), "Warm.", "{}", answered.text);
        assert_ne!(answered.json["id"], made.json["id"]);
        let given = harness.worker.given.lock().expect("no panic").clone();
        assert_eq!(given, [json!({"text": "18 °C"})]);
    }
}

#[tokio::test]
async fn a_response_in_the_background_is_asked_for_and_cancelled() {
    let harness = harness::offline().does("text-classification", Does::Waits).start().await;
    let asked = body(&json!({"input": "tell the mood of: I love it", "background": true}));
    let begun = harness.post(DOOR, asked.clone()).await;
    assert!(matches!(begun.json["status"].as_str(), Some("queued" | "in_progress")), "{}", begun.text);
    let id = begun.json["id"].as_str().expect("an id").to_owned();
    harness.worker.started.reach(1).await;
    assert_eq!(again(&harness, Method::GET, &id).await.json["status"], "in_progress");
    assert_eq!(again(&harness, Method::DELETE, &id).await.told(), "409 goes_on");
    harness.go.add_permits(1);
    harness.settled().await;
    let done = again(&harness, Method::GET, &id).await;
    assert_eq!(done.json["status"], "completed", "{}", done.text);
    assert!(text(&done.json).contains("text-classification"), "{}", done.text);

    let begun = harness.post(DOOR, asked).await;
    harness.worker.started.reach(2).await;
    let id = begun.json["id"].as_str().expect("an id");
    let cancelled = again(&harness, Method::POST, &format!("{id}/cancel")).await;
    assert_eq!(cancelled.json["status"], "cancelled", "{}", cancelled.text);
    assert_eq!(again(&harness, Method::GET, id).await.json["status"], "cancelled");
}

#[tokio::test]
async fn a_response_that_fails_says_so() {
    let harness = harness::with_chat(Script::new().on("parse_task", Said::error(500, "no"))).start().await;
    let events = harness.stream(DOOR, body(&json!({"input": "x", "stream": true}))).await;
    let (name, last) = events.last().expect("an end");
    assert_eq!((name.as_str(), &last["response"]["status"]), ("response.failed", &json!("failed")));
    assert_eq!(last["response"]["error"]["code"], "server_error");
    let id = last["response"]["id"].as_str().expect("an id");
    assert_eq!(again(&harness, Method::GET, id).await.json["status"], "failed");
    assert_eq!(harness.post(DOOR, body(&json!({"input": "x"}))).await.told(), "502 upstream");
}

#[tokio::test]
async fn a_conversation_is_made_shorter() {
    let input =
        json!([{"role": "user", "content": "My name is Alice."}, {"role": "assistant", "content": "Hello Alice!"}]);
    let script = Script::new().on("compact", Said::text("The user is Alice.")).on("chitchat", Said::text("Alice."));
    let harness = harness::with_chat(script.on("parse_task", Said::text("[]"))).start().await;
    let offline = harness::offline().start().await;
    for (harness, want) in
        [(&harness, "The user is Alice."), (&offline, "user: My name is Alice.\nassistant: Hello Alice!")]
    {
        let made = harness.post(&format!("{DOOR}/compact"), body(&json!({"input": input}))).await;
        assert_eq!(made.json["object"], "response.compaction", "{}", made.text);
        let output = made.json["output"].as_array().expect("items");
        assert_eq!(output.iter().map(|item| &item["type"]).collect::<Vec<_>>(), ["message", "compaction"]);
        let next = json!({"input": [output[1], {"role": "user", "content": "What is my name?"}]});
        assert_eq!(harness.post(DOOR, body(&next)).await.json["status"], "completed");
        harness.settled().await;
        let runs = harness.get("/runs").await;
        let run = harness.get(&format!("/runs/{}", runs.json["runs"][0]["run_id"].as_str().expect("an id"))).await;
        let history = &run.json["events"][0]["request"]["history"];
        assert_eq!(history[0]["content"], format!("What was said before, in short:\n{want}"), "{history}");
    }
}

#[tokio::test]
async fn responses_of_others_are_not_there() {
    let user = |name: &str| jarvis_server::User {
        name: name.into(),
        token: jarvis_net::Secret::new(&format!("a token of the user {name}")).expect("a token"),
        may: jarvis_server::May { run: true, approve: true, admin: false },
        max_runs: None,
        a_day: jarvis_plan::Budget::default(),
    };
    let harness = harness::offline().options(|options| options.users = vec![user("ada"), user("bob")]).start().await;
    let ask = |name: &str, method: Method, path: String, body: Option<Value>| {
        let request = harness.request(method, &path).bearer_auth(format!("a token of the user {name}"));
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        async move { Reply::of(request.send().await.expect("a reply")).await }
    };
    let made = ask("ada", Method::POST, DOOR.into(), Some(body(&json!({"input": "hello"})))).await;
    let id = made.json["id"].as_str().expect("an id").to_owned();
    assert_eq!(ask("ada", Method::GET, format!("{DOOR}/{id}"), None).await.status, 200);
    for (method, path) in [
        (Method::GET, format!("{DOOR}/{id}")),
        (Method::GET, format!("{DOOR}/{id}/input_items")),
        (Method::POST, format!("{DOOR}/{id}/cancel")),
        (Method::DELETE, format!("{DOOR}/{id}")),
    ] {
        assert_eq!(ask("bob", method.clone(), path.clone(), None).await.told(), "404 not_found", "{method} {path}");
    }
    let next = body(&json!({"input": "and then?", "previous_response_id": id}));
    assert_eq!(ask("bob", Method::POST, DOOR.into(), Some(next)).await.told(), "404 previous_response_not_found");
}

#[tokio::test]
async fn what_is_named_may_not_be_longer_than_what_may_be_said() {
    // A request may have 64 KiB then.
    let small = |options: &mut jarvis_server::Options| (options.max_upload, options.max_messages) = (0, 4);
    let long = "tell the mood of: I love it. ".repeat(1200);
    let script = Script::new().on("parse_task", harness::MOOD).on("response_results", Said::text(&long));
    let harness = harness::with_chat(script).options(small).start().await;
    let first = harness.post(DOOR, body(&json!({"input": "tell the mood of: I love it"}))).await;
    let first_id = first.json["id"].as_str().unwrap_or_else(|| panic!("no id: {}", first.text));
    let next = harness.post(DOOR, body(&json!({"input": "and then?", "previous_response_id": first_id}))).await;
    let next_id = next.json["id"].as_str().unwrap_or_else(|| panic!("no id: {}", next.text));
    let item = json!({"type": "item_reference", "id": first.json["output"][0]["id"]});
    let said = json!({"role": "user", "content": "and then?"});
    for (more, want, param) in [
        (json!({"input": "and then?", "previous_response_id": next_id}), "413 too_large", "previous_response_id"),
        (json!({"input": [item, item, said]}), "413 too_large", "input"),
    ] {
        let reply = harness.post(DOOR, body(&more)).await;
        assert_eq!(reply.told(), want, "{more}: {}", reply.text);
        assert_eq!(reply.json["error"]["param"], param, "{more}: {}", reply.text);
    }
}
