//! The agent as a pipeline: question, attachments, and runs that find nothing.

use std::sync::Arc;
use std::time::Duration;

use jarvis_ask::Ask;
use jarvis_chat::{Message, Scripted};
use jarvis_engine::{Engine, Events, Job};
use jarvis_pipeline::{Limits, Pipeline, Run, RunContext, RunError};
use jarvis_plan::{Kind, Request, Resource, Source, Turn};
use jarvis_testing::chat::{Reply, Script};
use tokio_util::sync::CancellationToken;

use crate::harness::{FRUITS, Harness, answer, plot, script};

fn attached(source: Source) -> Request {
    let resource = Resource { kind: Kind::Text, source, name: Some("fruits.txt".to_owned()) };
    Request { attachments: vec![resource], ..Request::new("Which fruit is most frequent?") }
}

async fn run(harness: &Harness, request: Request) -> Result<Run, RunError> {
    let events = Events::unread();
    let ask = harness.agent.chat.clone().map(|chat| Ask::new(chat, &events));
    let engine = Engine::new(|job: Job| async move { Ok(job.object()) });
    let cx = RunContext::new(ask, engine, Arc::default(), &events, CancellationToken::new(), Limits::default());
    harness.agent.run(Arc::new(request), &cx).await
}

#[tokio::test]
async fn the_attached_text_is_the_document() {
    let chart = plot(&serde_json::json!(["apple"]), &serde_json::json!([6]));
    let harness = Harness::new(script([&chart, &answer("apple, 6 times")])).await;
    let run = run(&harness, attached(Source::Inline(FRUITS.to_owned()))).await.unwrap();
    assert!(run.ok() && !run.conversation);
    assert_eq!((run.answer.text.as_str(), run.answer.resources.len()), ("apple, 6 times", 1));
    assert!(harness.prompts()[0].contains(FRUITS), "{}", harness.prompts()[0]);
}

#[tokio::test]
async fn what_is_no_text_or_finds_nothing_is_an_error() {
    let mut harness = Harness::new(script([&answer("unused")])).await;
    let ended = run(&harness, attached(Source::Public("/images/a.png".to_owned()))).await;
    assert!(matches!(&ended, Err(RunError::InvalidRequest(reason)) if reason.contains("fruits.txt")), "{ended:?}");
    harness.agent.chat = None;
    let ended =
        run(&harness, Request { text: "Who wrote it?".to_owned(), ..attached(Source::Inline(FRUITS.to_owned())) })
            .await;
    assert!(matches!(ended, Err(RunError::NoAnswer(_))), "{ended:?}");
    assert_eq!(harness.prompts().len(), 0);
}

#[tokio::test]
async fn a_deadline_is_told_with_the_settings_that_move_it() {
    let harness = Harness::with(Script::new().on("react", Reply::never()), |settings| {
        settings.deadline = Duration::ZERO;
    });
    let error = run(&harness.await, attached(Source::Inline(FRUITS.to_owned()))).await.unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), ("interrupted", "the run had no result within 0 s"));
    assert!(error.hint().is_some_and(|hint| hint.contains("`react.deadline_s`")), "{error:?}");
}

fn follow_up(turns: Vec<Turn>) -> Request {
    let asked = attached(Source::Inline(FRUITS.to_owned()));
    Request { text: "И на втором месте?".to_owned(), history: turns, ..asked }
}

#[tokio::test]
async fn earlier_turns_are_messages_before_the_question() {
    let harness = Harness::new(script([&answer("banana")])).await;
    let history = vec![Turn::user("哪种水果最多？"), Turn::assistant("apple\n<Action>: plot")];
    let run = run(&harness, follow_up(history)).await.unwrap();
    assert!(run.ok() && run.conversation);
    let request = &harness.chat.requests()[0];
    let messages = request.body["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(messages[1]["content"], "哪种水果最多？");
    let question = messages[3]["content"].as_str().unwrap();
    assert!(question.contains(FRUITS) && question.trim_end().ends_with("<Question>: И на втором месте?"), "{question}");
    // The prompt is in the language of the question, not in that of the first turn.
    assert!(question.contains("Call a tool only when"), "{question}");
}

#[tokio::test]
async fn the_oldest_turns_go_before_the_document() {
    let turn = |nth: usize| Turn::user(format!("turn-{nth:03} {}", "word ".repeat(600)));
    let mut harness = Harness::new(script([&answer("unused")])).await;
    let model = Arc::new(Scripted::new([answer("banana")]));
    harness.agent.chat = Some(model.clone());
    let run = run(&harness, follow_up((0..40).map(turn).collect())).await.unwrap();
    assert!(run.answer.notes.is_empty(), "{:?}", run.answer.notes);
    let prompt: String = model.requests()[0].messages.iter().map(Message::joined_text).collect();
    assert!(prompt.contains(FRUITS) && prompt.contains("turn-039") && !prompt.contains("turn-000"), "{prompt}");
}

#[tokio::test]
async fn without_a_model_and_a_text_nothing_can_be_answered() {
    let mut harness = Harness::new(script([&answer("unused")])).await;
    harness.agent.chat = None;
    let ended = run(&harness, Request::new("Which fruit is most frequent?")).await;
    assert!(matches!(&ended, Err(RunError::InvalidRequest(why)) if why.contains("none is attached")), "{ended:?}");
}
