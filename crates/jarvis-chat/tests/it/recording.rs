//! Recordings on disk: what a client and a recorder wrote, a replay answers, without the endpoint.

use std::sync::Arc;

use futures::StreamExt;
use jarvis_chat::{ChatError, ChatModel, ChatReply, OpenAi, Recorder, Replay};
use jarvis_testing::chat::{FakeChat, Reply, Script};

use crate::{KEY, config, request};

/// A run as the stages make it: a plan, choices at the same time, a streamed answer. Parameters depend on the model.
async fn run(model: Arc<dyn ChatModel>) -> (Vec<ChatReply>, String) {
    let mut plan = request("parse_task", "Draw a cat");
    plan.logit_bias = model.token_ids("parse_task", "task").into_iter().map(|id| (id, 0.1)).collect();
    let mut replies = vec![model.complete(&plan).await.unwrap()];
    let (first, second) = (request("choose_model", "task 0"), request("choose_model", "task 1"));
    let (first, second) = tokio::join!(model.complete(&first), model.complete(&second));
    replies.extend([first.unwrap(), second.unwrap()]);
    let mut stream = model.stream(&request("response_results", "sum up")).await.unwrap();
    let mut text = String::new();
    while let Some(chunk) = stream.next().await {
        text.push_str(&chunk.unwrap().text);
    }
    (replies, text)
}

#[tokio::test]
async fn a_recording_replays_the_same_run() {
    let script = Script::new()
        .on("parse_task", Reply::text("[]").usage(100, 2))
        .on_containing("choose_model", &["task 0"], "first")
        .on_containing("choose_model", &["task 1"], Reply::text("second").finish("length"))
        .on("response_results", "Here it is, a cat.");
    let fake = FakeChat::start(script).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    // A line that someone wrote by hand, without its newline.
    std::fs::write(&path, r#"{"stage":"other","reply":"x"}"#).unwrap();

    let mut settings = config(fake.url());
    settings.context_tokens = Some(5000);
    let recorder = Recorder::open(OpenAi::new(settings).unwrap(), &path).unwrap();
    let live = run(Arc::new(recorder)).await;
    assert_eq!(fake.requests().len(), 4);
    drop(fake);

    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written.lines().count(), 5);
    assert!(written.ends_with('\n') && !written.contains(KEY), "{written}");
    let replay = Replay::open(&path).unwrap();
    let known = (replay.model_name("parse_task"), replay.context_tokens("parse_task"), replay.unused());
    assert_eq!(known, ("gpt-4o-mini".to_owned(), 5000, 5));
    let replay = Arc::new(replay);
    assert_eq!(run(replay.clone()).await, live);
    assert_eq!(replay.unused(), 1);

    // A second run over the same recording finds no line left, and nothing else is tried.
    match replay.complete(&request("choose_model", "task 0")).await.unwrap_err() {
        ChatError::ReplayMiss { stage, prompt } => {
            assert_eq!((stage.as_str(), prompt.as_str()), ("choose_model", "Be brief.\ntask 0"))
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_recording_answers_for_other_files_but_not_for_other_wishes() {
    let fake = FakeChat::start(Script::always("a cat")).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let recorder = Recorder::open(OpenAi::new(config(fake.url())).unwrap(), &path).unwrap();
    recorder.complete(&request("response_results", "Describe /images/ab12.png in short")).await.unwrap();
    let replay = Replay::open(&path).unwrap();
    let other = replay.complete(&request("response_results", "Translate /images/ab12.png in short")).await;
    assert!(matches!(other, Err(ChatError::ReplayMiss { .. })), "{other:?}");
    let same = replay.complete(&request("response_results", "Describe /images/cd34.png in short")).await.unwrap();
    assert_eq!(same.text, "a cat");
}

#[tokio::test]
async fn failed_and_abandoned_calls_are_not_recorded() {
    let (stepped, step) = Reply::stepped(["one ", "two"]);
    let script =
        Script::new().on("a", Reply::error(400, "no")).on("b", Reply::cut("one two")).on("c", stepped).on("d", "kept");
    let fake = FakeChat::start(script).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let recorder = Recorder::open(OpenAi::new(config(fake.url())).unwrap(), &path).unwrap();
    recorder.complete(&request("a", "x")).await.unwrap_err();
    let chunks: Vec<_> = recorder.stream(&request("b", "x")).await.unwrap().collect().await;
    assert!(chunks.last().unwrap().is_err());
    let mut stream = recorder.stream(&request("c", "x")).await.unwrap();
    step.step();
    stream.next().await.unwrap().unwrap();
    drop(stream);
    recorder.complete(&request("d", "x")).await.unwrap();
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written.lines().count(), 1);
    assert!(written.contains(r#""stage":"d""#) && written.contains("kept"), "{written}");
}

#[tokio::test]
async fn many_writers_never_mix_their_lines() {
    let fake = FakeChat::start(Script::always("x".repeat(2000))).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let client = Arc::new(OpenAi::new(config(fake.url())).unwrap());
    let recorders: Vec<_> = (0..4).map(|_| Recorder::open(client.clone(), &path).unwrap()).collect();
    let call = |at: usize| {
        let recorder = &recorders[at % recorders.len()];
        async move { recorder.complete(&request("s", &at.to_string())).await.unwrap() }
    };
    futures::future::join_all((0..40).map(call)).await;
    assert_eq!(Replay::open(&path).unwrap().unused(), 40);
}

#[test]
fn files_that_cannot_be_used_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such.jsonl");
    let error = Replay::open(&missing).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("the recording {}: it cannot be read: ", missing.display())), "{error}");
    let replay = Replay::parse("r.jsonl", "").unwrap();
    let error = Recorder::open(replay, &missing).map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("the recording {}: it cannot be written: ", missing.display())), "{error}");
}
