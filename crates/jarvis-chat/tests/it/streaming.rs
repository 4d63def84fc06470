//! Streamed replies: pieces, ends, errors on the way, cancellation.

use std::time::Duration;

use futures::StreamExt;
use jarvis_chat::{ChatChunk, ChatError, ChatModel, OpenAi, Protocol, TokenUsage};
use jarvis_testing::chat::{FakeChat, Reply, Script};
use serde_json::json;

use crate::{client, config, request};

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
    let usage = usage.map(|(prompt, completion)| TokenUsage { prompt, completion });
    ChatChunk { text: String::new(), finish_reason: Some(reason.into()), usage }
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
    let bad = |reason: &str| Err(ChatError::BadReply { reason: reason.into(), body: String::new() });
    let stream = |body: &str| Reply::raw(200, "text/event-stream", body);
    let cut = || bad("the stream stopped before the model did");
    let start = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    for (reply, texts, last) in [
        (Reply::cut("one two"), vec!["one ", "two"], cut()),
        (Reply::text("one").without_done(), vec!["one"], Ok(end("stop", Some((10, 1))))),
        (stream(""), vec![], cut()),
        (stream("data: [DONE]\n\n"), vec![], bad("it holds no choices")),
        (stream(&format!("{start}data: [DONE]\n\n")), vec!["a"], Ok(ChatChunk::default())),
        (stream(start), vec!["a"], cut()),
        (
            stream(&format!("{start}data: {{\"error\":{{\"message\":\"worker died\"}}}}\n\n")),
            vec!["a"],
            Err(ChatError::Api { status: 200, message: "worker died".into() }),
        ),
        (
            stream(&format!("{start}data: {{oops\n\n")),
            vec!["a"],
            Err(ChatError::BadReply {
                reason: "it is not JSON: key must be a string at line 1 column 2".into(),
                body: "{oops".into(),
            }),
        ),
        // A server that does not stream answers in one piece.
        (
            Reply::json(200, json!({"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]})),
            vec!["whole"],
            Ok(ChatChunk {
                text: "whole".into(),
                finish_reason: Some("stop".into()),
                usage: Some(TokenUsage::default()),
            }),
        ),
        (
            Reply::error(200, "over capacity"),
            vec![],
            Err(ChatError::Api { status: 200, message: "over capacity".into() }),
        ),
        (
            Reply::empty_choices(),
            vec![],
            Err(ChatError::BadReply {
                reason: "it holds no choices".into(),
                body: r#"{"id":"x","object":"chat.completion","created":0,"model":"m","choices":[]}"#.into(),
            }),
        ),
    ] {
        let shown = format!("{reply:?}");
        let fake = FakeChat::start(Script::always(reply)).await;
        let got = collect(&client(&fake)).await;
        assert_eq!(got, (texts.into_iter().map(str::to_owned).collect(), last), "{shown}");
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
