//! Bodies and replies of the wire, case by case.

use std::sync::Arc;

use jarvis_plan::Role;
use jarvis_testing::rows;
use serde_json::json;

use super::*;
use crate::model::ReplySchema;

const CASES: &str = include_str!("../cases.yaml");

fn request() -> ChatRequest {
    ChatRequest::exact("parse_task", vec![Message::text(Role::System, "Plan."), Message::text(Role::User, "Hi")])
}

/// The body of a call as it is sent where nothing is refused.
fn body(request: &ChatRequest, stream: bool) -> Value {
    let (fields, extra) = (chat_body(request, "m", stream), Map::new());
    let refused = Refused::new();
    let body = Body { fields: &fields, schema: request.schema.as_ref(), refused: &refused, extra: &extra };
    serde_json::to_value(body).unwrap()
}

#[test]
fn chat_body_keeps_numbers_as_written() {
    let mut request = request();
    request.logit_bias = [(307, 0.1), (330, 5.0)].into();
    request.top_p = Some(0.95);
    request.schema = Some(ReplySchema { name: "plan".into(), schema: Arc::new(json!({"type": "object"})) });
    let body = body(&request, true);
    insta::assert_snapshot!(body, @r#"{"model":"m","messages":[{"role":"system","content":"Plan."},{"role":"user","content":"Hi"}],"temperature":0,"top_p":0.95,"logit_bias":{"307":0.1,"330":5},"stream":true,"stream_options":{"include_usage":true},"response_format":{"type":"json_schema","json_schema":{"name":"plan","schema":{"type":"object"},"strict":true}}}"#);
}

#[test]
fn pictures_become_parts() {
    let message = Message {
        role: Role::User,
        parts: vec![Part::Text("What?".into()), Part::Image("data:image/png;base64,AA".into())],
    };
    let request = ChatRequest { messages: vec![message], ..ChatRequest::default() };
    let body = body(&request, false);
    assert_eq!(
        body["messages"][0]["content"],
        json!([{"type": "text", "text": "What?"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}])
    );
}

#[test]
fn tools_and_what_they_gave_stand_as_the_protocol_has_them() {
    let call = ToolUse { id: "c1".into(), name: "add".into(), arguments: "{\"a\": 5}".into() };
    let said = Message { role: Role::Assistant, parts: vec![Part::Text("Add.".into()), Part::ToolUse(call)] };
    let given = Part::ToolResult { id: "c1".into(), text: "5".into() };
    let given = Message { role: Role::User, parts: vec![given] };
    let tool = ToolOffer { name: "add".into(), description: "Adds.".into(), schema: json!({"type": "object"}) };
    let request = ChatRequest { messages: vec![said, given], tools: vec![tool], ..ChatRequest::default() };
    insta::assert_snapshot!(body(&request, false), @r#"{"model":"m","messages":[{"role":"assistant","content":"Add.","tool_calls":[{"id":"c1","type":"function","function":{"name":"add","arguments":"{\"a\": 5}"}}]},{"role":"tool","tool_call_id":"c1","content":"5"}],"tools":[{"type":"function","function":{"name":"add","description":"Adds.","parameters":{"type":"object"}}}]}"#);
}

#[test]
fn calls_of_tools_are_read_leniently() {
    let check = |calls: Value, expected: &[(&str, &str, &str)]| {
        let message = json!({"content": null, "tool_calls": calls});
        let text = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).to_string();
        let reply = Reply::read(&text, 200).and_then(|reply| reply.whole(&text)).unwrap();
        let got: Vec<(&str, &str, &str)> = reply
            .tool_uses
            .iter()
            .map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str()))
            .collect();
        assert_eq!((reply.text.as_str(), got.as_slice()), ("", expected), "{text}");
    };
    let function = |arguments: Value| json!({"name": "add", "arguments": arguments});
    check(json!([{"id": "c1", "function": function(json!("{}"))}]), &[("c1", "add", "{}")]);
    // Without an id, with the arguments as JSON, with none.
    check(json!([{"function": function(json!({"a": 5}))}]), &[("call_0", "add", "{\"a\":5}")]);
    check(json!([{"id": "", "function": function(json!(null))}]), &[("call_0", "add", "")]);
    check(json!([{"id": "x"}, {"id": "y", "function": function(json!("{}"))}]), &[("y", "add", "{}")]);
}

#[test]
fn completion_prompt_tags_all_but_the_first_system_text() {
    let messages = [
        Message::text(Role::System, "S1"),
        Message::text(Role::User, "U1"),
        Message::text(Role::Assistant, "A1"),
        Message::text(Role::System, "S2"),
        Message::text(Role::User, "U2"),
    ];
    assert_eq!(
        completion_prompt(&messages),
        "S1<im_start>user\nU1<im_end>\n<im_start>assistant\nA1<im_end>\n<im_start>system\nS2<im_end>\n<im_start>user\nU2<im_end>\n<im_start>assistant"
    );
}

#[test]
fn refusals_name_their_fields() {
    let all = json!({"logit_bias": {}, "response_format": {}, "temperature": 0, "max_tokens": 5, "model": "m"});
    let few = json!({"temperature": 0, "model": "m"});
    for (sent, answer, expected) in rows::<(String, String, Vec<String>)>(CASES, "refusals") {
        let sent = if sent == "all" { &all } else { &few };
        let refused = refused_by(&answer, |name| sent.get(name).is_some());
        assert_eq!(refused.into_iter().collect::<Vec<_>>(), expected, "{answer}");
    }
}

#[test]
fn what_is_refused_is_left_out_and_what_is_configured_is_added() {
    let mut request = request();
    (request.max_tokens, request.top_p) = (Some(5), Some(0.5));
    request.schema = Some(ReplySchema { name: "plan".into(), schema: Arc::new(json!({})) });
    let fields = chat_body(&request, "m", false);
    let check = |refused: &[&'static str], extra: Value, expected: Value| {
        let (refused, extra) = (refused.iter().copied().collect(), extra.as_object().unwrap().clone());
        let body = Body { fields: &fields, schema: request.schema.as_ref(), refused: &refused, extra: &extra };
        let mut sent = serde_json::to_value(&body).unwrap();
        sent.as_object_mut().unwrap().retain(|name, _| !["model", "messages", "temperature"].contains(&name.as_str()));
        assert_eq!(sent, expected, "{refused:?} {extra:?}");
    };
    let format = json!({"type": "json_schema", "json_schema": {"name": "plan", "schema": {}, "strict": true}});
    check(&[], json!({}), json!({"top_p": 0.5, "max_tokens": 5, "response_format": format}));
    check(&["max_tokens", "response_format"], json!({}), json!({"top_p": 0.5, "max_completion_tokens": 5}));
    check(&["top_p"], json!({"response_format": 1, "x": 2}), json!({"max_tokens": 5, "response_format": 1, "x": 2}));
    check(
        &["max_tokens"],
        json!({"max_completion_tokens": 9, "top_p": 1, "response_format": null}),
        json!({"max_completion_tokens": 9, "top_p": 1, "response_format": null}),
    );
}

#[test]
fn replies_are_read_leniently() {
    for (body, expected) in rows::<(Value, Result<(String, String), String>)>(CASES, "replies") {
        let text = body.to_string();
        let got = Reply::read(&text, 200).and_then(|reply| reply.whole(&text));
        let expected = expected.map(|(text, finish_reason)| ChatReply { text, finish_reason, ..ChatReply::default() });
        assert_eq!(got.map_err(|error| error.to_string()), expected, "{body}");
    }
}

#[test]
fn start_cuts_at_characters() {
    assert_eq!(start("  日本語  ", 2), "日本…");
    assert_eq!(start("日本", 2), "日本");
}
