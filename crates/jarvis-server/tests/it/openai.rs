//! The OpenAI door: the protocol, and what it refuses.

use base64::Engine;
use jarvis_testing::chat::{Reply as Said, Script};
use jarvis_testing::rows;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{self, CASES, Does, MOOD, ask};

const DOOR: &str = "/v1/chat/completions";

fn planned() -> Script {
    let answer = Said::pieces(["Here ", "you ", "are."]).usage(30, 3);
    Script::new().on("parse_task", Said::text(MOOD).usage(100, 20)).on("response_results", answer)
}

fn body(more: Value) -> Value {
    let mut body = json!({"model": "jarvis/hugginggpt"});
    let fields = body.as_object_mut().expect("an object");
    fields.extend(ask("tell the mood of: I love it").as_object().expect("an object").clone());
    fields.extend(more.as_object().expect("an object").clone());
    body
}

#[tokio::test]
async fn a_whole_reply_has_the_fields_that_clients_read() {
    let harness = harness::with_chat(planned()).start().await;
    let reply = harness.post(DOOR, body(json!({}))).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(reply.json["object"], "chat.completion");
    assert_eq!(reply.json["model"], "jarvis/hugginggpt");
    assert_eq!(
        reply.json["choices"],
        json!([{"index": 0, "message": {"role": "assistant", "content": "Here you are.", "refusal": null},
            "finish_reason": "stop", "logprobs": null}])
    );
    assert_eq!(reply.json["usage"], json!({"prompt_tokens": 130, "completion_tokens": 23, "total_tokens": 153}));
}

#[tokio::test]
async fn a_streamed_reply_comes_in_pieces() {
    let harness = harness::with_chat(planned()).start().await;
    for (more, usage, progress) in [
        (json!({"stream": true}), false, false),
        (json!({"stream": true, "stream_options": {"include_usage": true}}), true, false),
        (json!({"stream": true, "stream_progress": true}), false, true),
    ] {
        let events = harness.stream(DOOR, body(more.clone())).await;
        let (_, last) = events.last().expect("an end");
        assert_eq!(last, "[DONE]", "{more}");
        let chunks: Vec<&Value> = events.iter().map(|(_, chunk)| chunk).filter(|chunk| chunk.is_object()).collect();
        let text = |field: &str| -> String {
            chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"][field].as_str()).collect()
        };
        assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
        assert_eq!(text("content"), "Here you are.", "{more}");
        assert_eq!(
            text("reasoning_content").contains("Being planned: 1. text-classification.\nTask 1 (text-classification)"),
            progress,
            "{more}"
        );
        let last = chunks.last().expect("a chunk");
        let finish = if usage { chunks[chunks.len() - 2] } else { last };
        assert_eq!(finish["choices"][0]["finish_reason"], "stop");
        assert_eq!(last["usage"]["total_tokens"].as_u64(), usage.then_some(153));
        assert!(
            chunks.iter().all(|chunk| chunk["object"] == "chat.completion.chunk" && chunk["id"] == chunks[0]["id"])
        );
    }
    let offline = harness::offline().start().await;
    let events = offline.stream(DOOR, body(json!({"stream": true}))).await;
    assert!(events.iter().any(|(_, chunk)| {
        chunk["choices"][0]["delta"]["content"].as_str().is_some_and(|text| text.contains("text-classification"))
    }));
    assert_eq!(events.last().map(|(_, chunk)| chunk.clone()), Some(json!("[DONE]")));
}

#[tokio::test]
async fn a_stream_that_fails_says_so_inside() {
    let harness = harness::with_chat(Script::new().on("parse_task", Said::error(500, "no"))).start().await;
    let events = harness.stream(DOOR, body(json!({"stream": true}))).await;
    assert_eq!(events.last().map(|(_, chunk)| chunk["error"]["code"].clone()), Some(json!("upstream")));
    let reply = harness.post(DOOR, body(json!({}))).await;
    assert_eq!((reply.told(), reply.json["error"]["type"].as_str()), ("502 upstream".to_owned(), Some("server_error")));
}

#[tokio::test]
async fn what_cannot_be_given_is_refused_by_name() {
    let harness = harness::with_chat(planned()).start().await;
    for (more, want, param) in rows::<(Value, String, String)>(CASES, "refused openai bodies") {
        let reply = harness.post(DOOR, body(more.clone())).await;
        assert_eq!(reply.told(), want, "{more} {}", reply.text);
        assert_eq!(reply.json["error"]["param"], param, "{more}");
        assert_eq!(reply.json["error"]["type"], "invalid_request_error");
    }
    // What only tunes a model is left to it; what asks for the usual is the usual.
    for more in [
        json!({"temperature": 0.2, "top_p": 1, "max_tokens": 5, "user": "me", "seed": 1}),
        json!({"n": 1, "tools": [], "tool_choice": "none", "response_format": {"type": "text"}, "stop": null, "stream": null}),
        json!({"model": "hugginggpt"}),
    ] {
        assert_eq!(harness.post(DOOR, body(more.clone())).await.status, 200, "{more}");
    }
}

#[tokio::test]
async fn parts_become_text_and_files() {
    let harness = harness::offline().start().await;
    let mut png = Vec::new();
    image::RgbImage::from_pixel(8, 8, image::Rgb([200, 30, 30]))
        .write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png)
        .expect("a picture");
    let url = format!("data:image/png;base64,{}", base64::engine::general_purpose::STANDARD.encode(&png));
    let message = json!({"messages": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "find the edges of"}, {"type": "text", "text": "this picture"},
            {"type": "image_url", "image_url": {"url": url, "detail": "low"}}]}]});
    let reply = harness.post(DOOR, body(message)).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    harness.settled().await;
    let listed = harness.get("/runs").await;
    assert_eq!(listed.json["runs"][0]["request"], "find the edges of\nthis picture");
    let run = harness.get(&format!("/runs/{}", listed.json["runs"][0]["run_id"].as_str().expect("an id"))).await;
    let plan =
        run.json["events"].as_array().expect("events").iter().find(|event| event["event"] == "plan").expect("a plan");
    let path = plan["plan"]["tasks"][0]["args"]["image"].as_str().expect("a path");
    let stored = harness.request(Method::GET, path).send().await.expect("a reply").bytes().await.expect("bytes");
    assert_eq!(stored, png);
}

#[tokio::test]
async fn models_are_listed() {
    let harness = harness::offline().start().await;
    let models = harness.get("/v1/models").await;
    assert_eq!(models.json["data"][0]["id"], "jarvis/hugginggpt");
    assert_eq!(harness.get("/v1/models/jarvis/hugginggpt").await.json["object"], "model");
    assert_eq!(harness.get("/v1/models/gpt-9").await.told(), "404 model_not_found");
}

/// A tool of the caller's, as clients send it.
fn weather() -> Value {
    json!([{"type": "function", "function": {"name": "get_weather", "description": "Get the current weather for a location",
        "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]}}}])
}

const PLAN: &str = r#"[
    {"task": "get_weather", "id": 0, "dep": [-1], "args": {"location": "Paris"}},
    {"task": "text-classification", "id": 1, "dep": [-1], "args": {"text": "I love it"}},
    {"task": "summarization", "id": 2, "dep": [0], "args": {"text": "<GENERATED>-0"}}]"#;

/// What a client sends after a reply with calls.
fn with_results(body: &Value, reply: &Value, result: &str) -> Value {
    let message = reply["choices"][0]["message"].clone();
    let mut body = body.clone();
    let messages = body["messages"].as_array_mut().expect("messages");
    let results: Vec<Value> = message["tool_calls"]
        .as_array()
        .expect("calls")
        .iter()
        .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": result}))
        .collect();
    messages.push(message);
    messages.extend(results);
    body
}

#[tokio::test]
async fn calls_of_the_callers_tools_are_handed_back_and_what_was_done_is_not_done_again() {
    let script = Script::new().on("parse_task", Said::text(PLAN)).on("response_results", Said::text("It is warm."));
    let harness = harness::with_chat(script).start().await;
    let first = body(json!({"tools": weather()}));
    let reply = harness.post(DOOR, first.clone()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let choice = &reply.json["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls", "{}", reply.text);
    assert_eq!(choice["message"]["content"], Value::Null);
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!((call["type"].as_str(), call["function"]["name"].as_str()), (Some("function"), Some("get_weather")));
    assert_eq!(call["function"]["arguments"], r#"{"location":"Paris"}"#);
    assert_eq!(choice["message"]["tool_calls"].as_array().map(Vec::len), Some(1));
    harness.settled().await;
    let runs = harness.get("/runs").await;
    assert_eq!(runs.json["runs"][0]["status"], "done", "handing back is no failure: {}", runs.text);

    let reply = harness.post(DOOR, with_results(&first, &reply.json, "18 °C")).await;
    assert_eq!(reply.json["choices"][0]["message"]["content"], "It is warm.", "{}", reply.text);
    assert_eq!(reply.json["choices"][0]["finish_reason"], "stop");
    let given = harness.worker.given.lock().expect("no panic").clone();
    assert_eq!(given, [json!({"text": "I love it"}), json!({"text": "18 °C"})], "each task was done once");
    let chat = harness.chat.as_ref().expect("a chat model");
    assert_eq!(chat.stages(), ["parse_task", "response_results"], "the plan is taken over");
}

#[tokio::test]
async fn a_conversation_from_elsewhere_has_its_results_too() {
    let script = Script::new().on("parse_task", Said::text(PLAN)).on("response_results", Said::text("It is warm."));
    let harness = harness::with_chat(script).without_journal().start().await;
    let first = body(json!({"tools": weather()}));
    let reply = harness.post(DOOR, first.clone()).await;
    let mut again = with_results(&first, &reply.json, "18 °C").to_string();
    let id = reply.json["choices"][0]["message"]["tool_calls"][0]["id"].as_str().expect("an id").to_owned();
    again = again.replace(&id, "call_of_another_server");
    let reply = harness.post(DOOR, serde_json::from_str(&again).expect("JSON")).await;
    assert_eq!(reply.json["choices"][0]["message"]["content"], "It is warm.", "{}", reply.text);
}

#[tokio::test]
async fn calls_are_streamed_with_their_places() {
    let plan = r#"[{"task": "get_weather", "id": 0, "dep": [-1], "args": {"location": "Paris"}},
        {"task": "get_weather", "id": 1, "dep": [-1], "args": {"location": "Rome"}}]"#;
    let harness = harness::with_chat(Script::new().on("parse_task", Said::text(plan))).start().await;
    let events = harness.stream(DOOR, body(json!({"tools": weather(), "stream": true}))).await;
    let calls: Vec<&Value> = events
        .iter()
        .filter_map(|(_, chunk)| chunk["choices"][0]["delta"]["tool_calls"].as_array())
        .flatten()
        .collect();
    let told: Vec<(u64, &str)> = calls
        .iter()
        .filter_map(|call| Some((call["index"].as_u64()?, call["function"]["arguments"].as_str()?)))
        .collect();
    assert_eq!(told, [(0, r#"{"location":"Paris"}"#), (1, r#"{"location":"Rome"}"#)]);
    assert!(calls.iter().all(|call| call["id"].as_str().is_some_and(|id| id.starts_with("call_"))));
    let finish = events.iter().find_map(|(_, chunk)| chunk["choices"][0]["finish_reason"].as_str());
    assert_eq!(finish, Some("tool_calls"));
    assert_eq!(events.last().map(|(_, chunk)| chunk.clone()), Some(json!("[DONE]")));
}

#[tokio::test]
async fn without_a_model_the_callers_tools_are_planned_with_too() {
    let harness = harness::offline().start().await;
    let asked = json!({"messages": [{"role": "user", "content": "What's the weather like in San Francisco?"}], "tools": weather()});
    let reply = harness.post(DOOR, body(asked)).await;
    let call = &reply.json["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call["name"], "get_weather", "{}", reply.text);
    assert!(call["arguments"].as_str().is_some_and(|text| text.contains("San Francisco")), "{}", reply.text);
}

#[tokio::test]
async fn a_reply_ends_before_its_stops_and_follows_its_schema() {
    let schema = json!({"type": "object", "properties": {"mood": {"type": "string"}}, "required": ["mood"]});
    let format = json!({"type": "json_schema", "json_schema": {"name": "mood", "schema": schema}});
    for (answers, more, want) in [
        (vec!["Here you are."], json!({"stop": " you"}), "Here"),
        (vec!["Here you are."], json!({"stop": ["x", "are"], "stream": true}), "Here you "),
        (vec![r#"Sure: {"mood": "good"}"#], json!({"response_format": format}), r#"{"mood":"good"}"#),
        (vec!["good", r#"{"mood": "good"}"#], json!({"response_format": format}), r#"{"mood":"good"}"#),
        (vec![r#"{"mood": "good"}"#], json!({"response_format": format, "stream": true}), r#"{"mood":"good"}"#),
        (vec![r#"{"a": 1}"#], json!({"response_format": {"type": "json_object"}}), r#"{"a":1}"#),
    ] {
        let answers: Vec<Said> = answers.into_iter().map(Said::text).collect();
        let script = Script::new().on("parse_task", Said::text(MOOD)).on("response_results", answers);
        let harness = harness::with_chat(script).start().await;
        let text = match more["stream"].as_bool() {
            Some(true) => {
                let events = harness.stream(DOOR, body(more.clone())).await;
                events.iter().filter_map(|(_, chunk)| chunk["choices"][0]["delta"]["content"].as_str()).collect()
            }
            _ => {
                let reply = harness.post(DOOR, body(more.clone())).await;
                reply.json["choices"][0]["message"]["content"].as_str().unwrap_or(&reply.text).to_owned()
            }
        };
        assert_eq!(text, want, "{more}");
    }
    // What never follows it is an error, and no text of another form.
    let script =
        Script::new().on("parse_task", Said::text(MOOD)).on("response_results", [Said::text("no"), Said::text("no")]);
    let reply = harness::with_chat(script).start().await.post(DOOR, body(json!({"response_format": format}))).await;
    assert_eq!(reply.told(), "502 bad_reply", "{}", reply.text);
}

#[tokio::test]
async fn the_chat_model_alone_gets_the_conversation_as_it_is() {
    let delta =
        |delta: Value, finish: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    let function = |arguments: &str| {
        json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function",
        "function": {"name": "get_weather", "arguments": arguments}}]})
    };
    let called = [delta(function(r#"{"location": "Paris"}"#), Value::Null), delta(json!({}), json!("tool_calls"))];
    let called: String = called.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    let called = Said::raw(200, "text/event-stream", &(called + "data: [DONE]\n\n"));
    let script = Script::new().on("chitchat", [called, Said::pieces(["18 ", "degrees."])]);
    let harness = harness::with_chat(script).start().await;
    let first = body(json!({"model": "jarvis/chat", "tools": weather(), "tool_choice": "required", "temperature": 0.5,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How warm is it in Paris?"}]}));
    let reply = harness.post(DOOR, first.clone()).await;
    assert_eq!(reply.json["choices"][0]["finish_reason"], "tool_calls", "{}", reply.text);
    let events = harness.stream(DOOR, {
        let mut again = with_results(&first, &reply.json, "18");
        again["stream"] = json!(true);
        again["tool_choice"] = json!("auto");
        again
    });
    let text: String =
        events.await.iter().filter_map(|(_, chunk)| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(text, "18 degrees.");
    let asked = harness.chat.as_ref().expect("a chat model").requests();
    assert_eq!(asked.len(), 2, "one call each, and nothing planned");
    let sent = &asked[1].body;
    assert_eq!(
        sent["messages"],
        json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How warm is it in Paris?"},
            {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "type": "function",
                "function": {"name": "get_weather", "arguments": "{\"location\": \"Paris\"}"}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "18"}])
    );
    assert_eq!((&asked[0].body["tool_choice"], &asked[0].body["temperature"]), (&json!("required"), &json!(0.5)));
    assert_eq!(sent["tools"][0]["function"]["name"], "get_weather");
}

#[tokio::test]
async fn chores_of_front_ends_are_no_runs() {
    let title = "### Task:\nGenerate a title.\n### Output:\nJSON format: { \"title\": \"your title\" }\n### Chat History:\n\
                 <chat_history>\nUSER: find the edges of /images/a.png\n</chat_history>";
    let asked = |stream: bool| body(json!({"messages": [{"role": "user", "content": title}], "stream": stream}));
    let offline = harness::offline().start().await;
    let reply = offline.post(DOOR, asked(false)).await;
    let rule = r#"{"title":"find the edges of /images/a.png"}"#;
    assert_eq!(reply.json["choices"][0]["message"]["content"], rule, "{}", reply.text);
    let events = offline.stream(DOOR, asked(true)).await;
    let text: String =
        events.iter().filter_map(|(_, chunk)| chunk["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(text, rule);
    assert_eq!(offline.get("/runs").await.json["runs"], json!([]));

    let script = Script::new().on("chat", Said::text(r#"{"title": "Edges"}"#));
    let harness = harness::with_chat(script).start().await;
    let reply = harness.post(DOOR, asked(false)).await;
    assert_eq!(reply.json["choices"][0]["message"]["content"], r#"{"title": "Edges"}"#, "{}", reply.text);
    assert_eq!(harness.get("/runs").await.json["runs"], json!([]));
}

#[tokio::test]
async fn links_of_answers_open_without_a_token_for_a_while() {
    const TOKEN: &str = "a long token of the only user";
    let made = Does::Gives(r#"{"generated image": "/images/made.png"}"#);
    let offline = harness::offline().does("canny-control", made);
    let harness = offline.options(|options| options.token = jarvis_net::Secret::new(TOKEN)).start().await;
    let folder = harness.folder().join("public/images");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("made.png"), "a picture").expect("a file");
    let asked = body(json!({"messages": [{"role": "user", "content": "find the edges of /images/made.png"}]}));
    let reply = harness.request(Method::POST, DOOR).bearer_auth(TOKEN).json(&asked).send().await.expect("a reply");
    let reply: Value = reply.json().await.expect("JSON");
    let answer = reply["choices"][0]["message"]["content"].as_str().expect("an answer");
    let link = answer.rsplit_once("](").map(|(_, link)| link.trim_end_matches(')')).expect("a link");
    let link = link.strip_prefix(&harness.url).expect("a whole address");
    let opened = harness.request(Method::GET, link).send().await.expect("a reply");
    assert_eq!(opened.status(), 200, "{link}");
    assert_eq!(opened.bytes().await.expect("bytes"), "a picture");
    let forged = link.replace("signature=", "signature=A");
    for closed in ["/images/made.png", &forged, &link.replace("/images/made", "/images/other")] {
        let refused = harness.request(Method::GET, closed).send().await.expect("a reply");
        assert_eq!(refused.status(), 401, "{closed}");
    }
}
