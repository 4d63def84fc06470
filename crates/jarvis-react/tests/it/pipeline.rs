//! The agent as a pipeline: question, attachments, and runs that find nothing.

use std::sync::Arc;

use jarvis_ask::Ask;
use jarvis_engine::{Engine, Events, Job};
use jarvis_pipeline::{Limits, Pipeline, Run, RunContext, RunError};
use jarvis_plan::{Kind, Request, Resource, Source};
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
