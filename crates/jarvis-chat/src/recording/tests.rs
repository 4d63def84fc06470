//! The contract of recordings, line by line.

use futures::StreamExt;
use jarvis_plan::Role;
use jarvis_testing::rows;

use super::*;
use crate::model::{ChatError, ChatModel, Message};

const CASES: &str = include_str!("../cases.yaml");

fn request(stage: &str, texts: &[&str]) -> ChatRequest {
    ChatRequest::exact(stage, texts.iter().map(|text| Message::text(Role::User, *text)).collect())
}

/// Asks one after another; a miss is `-`.
#[tokio::test]
async fn lines_answer_by_request_by_stage_and_contents_and_once_unless_sticky() {
    type Call = (String, Vec<String>, String);
    for (recording, calls) in rows::<(String, Vec<Call>)>(CASES, "recordings") {
        let recording = recording.replace("HASH", &request_sha256(&request("a", &["two"])));
        let replay = Replay::parse("r.jsonl", &recording).unwrap();
        for (at, (stage, texts, expected)) in calls.into_iter().enumerate() {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let got = match replay.complete(&request(&stage, &texts)).await {
                Ok(reply) => reply.text,
                Err(ChatError::ReplayMiss { stage: missed, .. }) if missed == stage => "-".to_owned(),
                Err(error) => error.to_string(),
            };
            assert_eq!(got, expected, "call {at} of {recording}");
        }
    }
}

#[tokio::test]
async fn a_miss_names_the_stage_and_quotes_the_prompt() {
    let replay = Replay::parse("r.jsonl", r#"{"stage":"a","reply":"x"}"#).unwrap();
    let error = replay.complete(&request("choose_tool", &["Pick one.", "Really."])).await.unwrap_err();
    let expected =
        "ReplayMiss: no unused line of the recording fits stage `choose_tool`; the prompt starts: Pick one.\nReally.";
    assert_eq!(error.to_string(), expected);
    let error = replay.stream(&request("b", &[&"ж".repeat(500)])).await.map(|_| ()).unwrap_err();
    let expected = format!("{}…", "ж".repeat(200));
    assert_eq!(error, ChatError::ReplayMiss { stage: "b".into(), prompt: expected });
}

#[tokio::test]
async fn a_reply_is_streamed_whole() {
    let replay = Replay::parse("r.jsonl", "{\"stage\":\"a\",\"reply\":\"one two\\nthree 世界\"}").unwrap();
    let chunks: Vec<_> = replay.stream(&request("a", &[])).await.unwrap().collect().await;
    let text: String = chunks.iter().map(|chunk| chunk.as_ref().unwrap().text.as_str()).collect();
    assert_eq!((text.as_str(), chunks.len()), ("one two\nthree 世界", 5));
    assert_eq!(chunks[4].as_ref().unwrap().finish_reason.as_deref(), Some("stop"));
}

#[test]
fn bad_lines_are_named_by_number() {
    for (text, expected) in rows::<(String, String)>(CASES, "bad lines") {
        assert_eq!(Replay::parse("r.jsonl", &text).map(|_| ()).unwrap_err().to_string(), expected);
    }
}

#[tokio::test]
async fn threads_share_the_lines() {
    let lines: String = (0..100).map(|at| format!("{{\"stage\":\"a\",\"reply\":\"{at}\"}}\n")).collect();
    let replay = std::sync::Arc::new(Replay::parse("r.jsonl", &lines).unwrap());
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let replay = replay.clone();
        calls.spawn(async move { replay.complete(&request("a", &["x"])).await.unwrap().text.parse::<u32>().unwrap() });
    }
    let mut replies = calls.join_all().await;
    replies.sort_unstable();
    assert_eq!(replies, (0..100).collect::<Vec<u32>>());
}

#[test]
fn the_hash_covers_all_that_is_asked() {
    let plain = request("a", &["x"]);
    let changes: [fn(&mut ChatRequest); 11] = [
        |r| r.stage = "b".into(),
        |r| r.messages[0].role = Role::System,
        |r| r.messages[0].parts.push(Part::Image("data:,".into())),
        |r| r.temperature = None,
        |r| r.top_p = Some(0.5),
        |r| r.presence_penalty = Some(0.5),
        |r| r.frequency_penalty = Some(0.5),
        |r| r.stop = vec!["x".into()],
        |r| r.max_tokens = Some(1),
        |r| r.logit_bias = [(1, 0.5)].into(),
        |r| r.schema = Some(crate::model::ReplySchema { name: "n".into(), schema: std::sync::Arc::new(json!({})) }),
    ];
    let mut seen = vec![request_sha256(&plain)];
    for change in changes {
        let mut changed = plain.clone();
        change(&mut changed);
        seen.push(request_sha256(&changed));
    }
    let mut unique = seen.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), seen.len());
    let mut patient = plain.clone();
    patient.timeout = Some(std::time::Duration::from_secs(1));
    assert_eq!(request_sha256(&patient), seen[0]);
    // Recordings outlive versions: the hash of a request never changes.
    assert_eq!(seen[0], "dccea0296c1a5be887674d4d58d44afd63b7fe3c2d2f7eb33a73af812e85486e");
}
