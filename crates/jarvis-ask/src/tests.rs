//! Requests as they are sent, replies as they are read, and the events of both.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use jarvis_chat::{ChatChunk, ChatError, ChatReply, ChatRequest};
use jarvis_plan::{Event, EventKind, Role, RunId, TaskId};
use jarvis_prompt::reader::Want;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc::UnboundedReceiver;

use super::*;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Person {
    name: String,
}

fn ask(model: Scripted) -> (Arc<Scripted>, Ask, UnboundedReceiver<Event>) {
    let (events, reader) = Events::channel(RunId("run".into()));
    let model = Arc::new(model);
    (Arc::clone(&model), Ask::new(model, &events), reader)
}

fn user(text: &str) -> Vec<Message> {
    vec![Message::text(Role::User, text)]
}

fn emitted(reader: &mut UnboundedReceiver<Event>) -> Vec<EventKind> {
    std::iter::from_fn(|| reader.try_recv().ok()).map(|event| event.kind).collect()
}

fn texts(request: &ChatRequest) -> Vec<String> {
    request.messages.iter().map(Message::joined_text).collect()
}

#[tokio::test]
async fn a_reply_that_cannot_be_read_is_sent_back_with_the_reason() {
    let (model, ask, mut reader) = ask(Scripted::new(["I do not know", r#"{"name": "Ada"}"#]));
    let template = Template::parse("person", "## system\nBe brief.\n\n## user\n{{text}}", &["text"]).unwrap();
    let ask = ask.structured(true);
    let person: Person = ask.ask(Prompt::new("person", &template), &json!({"text": "Who?"})).await.unwrap();
    assert_eq!(person, Person { name: "Ada".into() });
    let requests = model.requests();
    insta::assert_debug_snapshot!(texts(&requests[1]), @r#"
    [
        "Be brief.",
        "Who?",
        "I do not know",
        "Your reply could not be used: the reply holds no JSON; a JSON object is wanted. Send it again in full as a JSON object: valid JSON, nothing before or after it.",
    ]
    "#);
    assert_eq!(requests.iter().map(|request| request.labels.attempt).collect::<Vec<_>>(), [Some(1), Some(2)]);
    assert!(requests.iter().all(|request| request.temperature == Some(0.0) && request.stage == "person"));
    assert_eq!(requests[0].schema.as_ref().unwrap().name, "Person");
    assert_eq!(requests[0].schema.as_ref().unwrap().schema["properties"]["name"]["type"], "string");
    assert_eq!(emitted(&mut reader).len(), 2);
    assert_eq!((ask.events().usage().total_calls(), ask.events().usage().calls["person"]), (2, 2));
}

#[tokio::test]
async fn attempts_are_bounded_and_the_last_reply_is_kept() {
    for attempts in [0, 1, 2, 5] {
        let (model, ask, mut reader) = ask(Scripted::new(["no"; 9]));
        let question = ask.stage("s").messages(user("Who?")).asking(attempts).noted_as("the reply");
        let error = question.typed::<Person>(Want::Object).await.unwrap_err();
        let made = attempts.max(1);
        assert_eq!(model.requests().len() as u32, made);
        let AskError::Unreadable { attempts, reply, stage: "s", .. } = error else { panic!("{error:?}") };
        assert_eq!((attempts, reply.as_str()), (made, "no"));
        let notes = emitted(&mut reader).into_iter().filter_map(|kind| match kind {
            EventKind::Note { message, .. } => Some(message),
            _ => None,
        });
        let note = "the reply could not be read (the reply holds no JSON; a JSON object is wanted); asking once more";
        assert_eq!(notes.collect::<Vec<_>>(), vec![note; made as usize - 1]);
    }
}

#[tokio::test]
async fn the_caller_may_change_how_to_ask_again() {
    let (model, ask, _reader) = ask(Scripted::new(["no", r#"{"name": "x"}"#]));
    let again = |messages: &mut Vec<Message>, refused: Refused<'_>| {
        *messages = user(&format!("{} is wrong: {}", refused.reply.text, refused.reason));
        Ok(())
    };
    let read = |reply: &ChatReply| if reply.text == "no" { Err("no JSON") } else { Ok(()) };
    ask.stage("s").messages(user("Who?")).asking(2).again(again).read(read).await.unwrap();
    assert_eq!(texts(&model.requests()[1]), ["no is wrong: no JSON"]);
}

#[tokio::test]
async fn a_failed_call_ends_the_question_unless_bad_replies_are_repeated() {
    let bad = || Err(ChatError::BadReply { reason: "empty".into(), body: String::new() });
    let down = || Err(ChatError::Timeout { after: Duration::from_secs(1) });
    let good = || Ok(ChatReply { text: "ok".into(), ..ChatReply::default() });
    for (replies, repeats, calls, well) in [
        (vec![down(), good()], true, 1, false),
        (vec![bad(), good()], false, 1, false),
        (vec![bad(), good()], true, 2, true),
        (vec![bad(), bad(), bad()], true, 2, false),
    ] {
        let (model, ask, _reader) = ask(Scripted::answering(replies));
        let question = ask.stage("s").asking(2);
        let question = if repeats { question.repeating_bad_replies() } else { question };
        let ended = question.read(|_| Ok::<_, String>(())).await;
        assert_eq!((model.requests().len(), ended.is_ok()), (calls, well), "{ended:?}");
        assert_eq!(ask.events().usage().total_calls() as usize, calls, "failed calls are reported too");
    }
}

#[tokio::test]
async fn settings_and_labels_reach_the_request_and_the_event() {
    let (model, ask, mut reader) = ask(Scripted::new([" x\n", " x\n"]).with_context(1_000));
    let question = || ask.stage("s").task(7).named(Some("other")).temperature(None).favour("a", Some(1.0));
    assert_eq!(question().messages(user(&"x".repeat(400))).tokens_left(5_000).call().await.unwrap().text, "x");
    assert_eq!(question().messages(user("x")).tokens_left(5).verbatim().call().await.unwrap().text, " x\n");
    let [first, second] = model.requests().try_into().unwrap();
    assert_eq!((first.labels.task, first.labels.name, first.temperature), (Some(7), Some("other"), None));
    // 100 tokens and a tenth are used.
    assert_eq!((first.max_tokens, second.max_tokens), (Some(890), Some(5)));
    let calls = emitted(&mut reader);
    assert!(matches!(&calls[0], EventKind::ModelCall { task: Some(TaskId(7)), prompt_tokens: 7, ok: true, .. }));
}

#[tokio::test]
async fn streamed_replies_come_in_pieces_and_are_reported_once() {
    let (_, ask, mut reader) = ask(Scripted::new(["one two three"]));
    let pieces = Mutex::new(Vec::new());
    let reply = ask.stage("s").stream(|piece| pieces.lock().unwrap().push(piece.to_owned())).await.unwrap();
    assert_eq!(pieces.into_inner().unwrap(), ["one ", "two ", "three"]);
    assert_eq!((reply.text.as_str(), reply.usage.prompt), ("one two three", 7));
    assert!(matches!(emitted(&mut reader)[..], [EventKind::ModelCall { ok: true, .. }]));
}

/// Never answers.
struct Silent;

#[async_trait]
impl ChatModel for Silent {
    fn model_name(&self, _: &str) -> String {
        "silent".into()
    }

    fn context_tokens(&self, _: &str) -> usize {
        4096
    }

    fn count_tokens(&self, _: &str, text: &str) -> usize {
        text.len()
    }

    fn token_ids(&self, _: &str, _: &str) -> Vec<u32> {
        Vec::new()
    }

    fn provider(&self, _stage: &str, _model: &str) -> String {
        String::new()
    }

    async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
        std::future::pending().await
    }

    async fn stream(&self, _: &ChatRequest) -> Result<BoxStream<'static, Result<ChatChunk, ChatError>>, ChatError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_is_reported() {
    let (events, mut reader) = Events::channel(RunId("run".into()));
    let ask = Ask::new(Arc::new(Silent), &events);
    assert!(tokio::time::timeout(Duration::ZERO, ask.stage("s").call()).await.is_err());
    assert!(tokio::time::timeout(Duration::ZERO, ask.stage("s").stream(|_| ())).await.is_err());
    let calls = emitted(&mut reader);
    let given_up =
        |kind: &EventKind| matches!(kind, EventKind::ModelCall { ok: false, reply, .. } if reply.contains("given up"));
    assert!(calls.len() == 2 && calls.iter().all(given_up), "{calls:?}");
    assert_eq!(events.usage().calls["s"], 2);
}
