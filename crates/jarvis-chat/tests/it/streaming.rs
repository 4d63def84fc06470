//! Streamed replies: pieces, ends, errors on the way, cancellation.

use std::time::Duration;

use futures::StreamExt;
use jarvis_chat::{ChatChunk, ChatError, ChatModel, OpenAi, Protocol, TokenUsage};
use jarvis_testing::chat::{FakeChat, Reply, Script};
use jarvis_testing::rows;
use serde_json::json;

use crate::{CASES, client, config, request};

/// All that a stream yields: the texts, then the last chunk or the error.
async fn collect(client: &OpenAi) -> (Vec<String>, Result<ChatChunk, ChatError>) {
    let mut stream = match client.stream(&request("response_results", "Hi")).await {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let mut texts = Vec::new();
    let mut last = Ok(ChatChunk::default());
    while let Some(chunk) = stream.next().await {
        if let Ok(chunk) = &chunk
            && !chunk.text.is_empty()
        {
            texts.push(chunk.text.clone());
        }
        last = chunk;
    }
    (texts, last)
}

fn end(reason: &str, usage: Option<(u64, u64)>) -> ChatChunk {
    let usage = usage.map(|(prompt, completion)| TokenUsage { prompt, completion, ..TokenUsage::default() });
    ChatChunk { finish_reason: Some(reason.into()), usage, ..ChatChunk::default() }
}

#[tokio::test]
async fn pieces_come_as_they_are_written() {
    for protocol in [Protocol::Chat, Protocol::Completion] {
        let fake =
            FakeChat::start(Script::always(Reply::pieces(["При", "вет, ", "世界"]).usage(7, 3).finish("length"))).await;
        let mut config = config(fake.url());
        config.protocol = protocol;
        let (texts, last) = collect(&OpenAi::new(config).unwrap()).await;
        assert_eq!(texts, ["При", "вет, ", "世界"], "{protocol:?}");
        assert_eq!(last, Ok(end("length", Some((7, 3)))), "{protocol:?}");
        let sent = &fake.requests()[0];
        assert_eq!(
            (&sent.body["stream"], &sent.body["stream_options"]),
            (&json!(true), &json!({"include_usage": true}))
        );
        assert_eq!(sent.stage(), "response_results");
    }
}

#[tokio::test]
async fn a_piece_arrives_before_the_next_is_written() {
    let (reply, step) = Reply::stepped(["one ", "two"]);
    let fake = FakeChat::start(Script::always(reply)).await;
    let mut stream = client(&fake).stream(&request("response_results", "Hi")).await.unwrap();
    for expected in ["one ", "two"] {
        step.step();
        assert_eq!(stream.next().await.unwrap().unwrap().text, expected);
    }
    assert_eq!(stream.next().await.unwrap().unwrap(), end("stop", Some((10, 2))));
    assert!(stream.next().await.is_none());
    drop(stream);
    assert_eq!(fake.aborted(), 0);
}

#[tokio::test]
async fn dropping_the_stream_is_seen_by_the_server() {
    let (reply, step) = Reply::stepped(["one ", "two"]);
    let fake = FakeChat::start(Script::always(reply)).await;
    let mut stream = client(&fake).stream(&request("response_results", "Hi")).await.unwrap();
    step.step();
    assert_eq!(stream.next().await.unwrap().unwrap().text, "one ");
    drop(stream);
    assert!(fake.wait_aborted(1).await);
}

#[tokio::test]
async fn ends_of_streams() {
    for (reply, texts, last) in rows::<(Reply, Vec<String>, String)>(CASES, "ends of streams") {
        let shown = format!("{reply:?}");
        let fake = FakeChat::start(Script::always(reply)).await;
        let got = collect(&client(&fake)).await;
        assert_eq!((got.0, format!("{:?}", got.1)), (texts, last), "{shown}");
        assert_eq!(fake.requests().len(), 1, "{shown}");
    }
}

#[tokio::test]
async fn beginnings_are_repeated_and_refusals_heard() {
    let fields = ["stream_options", "logit_bias"];
    let replies = [Reply::error(500, "oops"), Reply::refusing(&fields, "fine"), Reply::refusing(&fields, "fine")];
    let fake = FakeChat::start(Script::always(replies)).await;
    let (texts, last) = collect(&client(&fake)).await;
    assert_eq!((texts, last), (vec!["fine".to_owned()], Ok(end("stop", None))));
    assert_eq!(fake.requests().len(), 3);
}

#[tokio::test]
async fn a_stream_that_stalls_times_out() {
    let (reply, step) = Reply::stepped(["one ", "two"]);
    let fake = FakeChat::start(Script::always(reply)).await;
    step.step();
    let mut config = config(fake.url());
    config.timeout = Duration::from_millis(500);
    let (texts, last) = collect(&OpenAi::new(config).unwrap()).await;
    assert_eq!((texts, last), (vec!["one ".to_owned()], Err(ChatError::Timeout { after: Duration::from_millis(500) })));
    assert!(fake.wait_aborted(1).await);
}
