//! The OpenAI door: the protocol, and what it refuses.

use base64::Engine;
use jarvis_testing::chat::{Reply as Said, Script};
use jarvis_testing::rows;
use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{self, CASES, MOOD, ask};

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
