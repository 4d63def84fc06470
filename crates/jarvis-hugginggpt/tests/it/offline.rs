//! Without a chat model: the same stages, with a stand-in for each.

use jarvis_plan::{Effect, ErrorCode, Kind, Request, Resource, Source, Tool};
use jarvis_testing::chat::{Reply, Script};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Builder, Does, offline, with_conversation_model};

#[tokio::test]
async fn a_run_makes_no_call_and_answers_in_the_language_of_the_request() {
    for (request, word) in [
        ("find the edges of /images/a.png and describe /images/a.png", "All 2 tasks are done"),
        ("найди контуры на /images/a.png и опиши /images/a.png", "Выполнены все задачи"),
        ("提取 /images/a.png 的边缘，然后描述 /images/a.png", "全部完成"),
    ] {
        let fixture =
            offline().does("native/canny", Does::Gives(json!({"generated image": "/images/edges.png"}))).build().await;
        let went = fixture.run(request).await;
        let run = went.run.as_ref().expect("an answer");
        assert!(run.answer.text.contains(word), "{request}: {} {:?}", run.answer.text, went.lines());
        assert!(run.answer.text.contains("/images/edges.png"), "{}", run.answer.text);
        assert!(run.ok() && went.usage.calls.is_empty());
    }
}

#[tokio::test]
async fn what_has_no_native_model_fails_alone_with_what_to_configure() {
    let fixture = offline().build().await;
    let went = fixture.run("detect the objects in /images/a.png and find the edges of /images/a.png").await;
    let run = went.run.as_ref().expect("an answer");
    let failed = run.outcomes.iter().find(|outcome| outcome.task == "object-detection").expect("it was planned");
    let error = failed.error.as_ref().expect("it failed");
    assert_eq!(error.code, ErrorCode::NoModel);
    assert!(error.hint.as_ref().expect("a hint").contains("HF_TOKEN"));
    assert_eq!((run.ok(), run.reason()), (false, Some("partial")), "{:?}", went.lines());
    assert!(run.answer.text.contains("1 of 2") && run.answer.text.contains("HF_TOKEN"), "{}", run.answer.text);
}

#[tokio::test]
async fn a_request_that_fits_nothing_says_what_can_be_done() {
    let fixture = offline().build().await;
    let run = fixture.run("hm").await.run.expect("an answer");
    assert!(run.outcomes.is_empty() && !run.ok());
    assert!(run.answer.text.contains("`llm.model`"), "{}", run.answer.text);
}

#[tokio::test]
async fn what_fits_nothing_is_talked_about_by_a_model_that_does_not_plan() {
    let conversation_model = || with_conversation_model(Script::new().on("chitchat", Reply::text("It is Paris.")));
    let check = async |builder: Builder, request: Request, talks: bool| {
        let text = request.text.clone();
        let fixture = builder.build().await;
        let went = fixture.run_request(request, CancellationToken::new()).await;
        let run = went.run.as_ref().expect("an answer");
        assert_eq!(fixture.stages(), vec!["chitchat"; usize::from(talks)], "{text}");
        assert!(!talks || run.ok(), "{text}: {:?}", run.not_done);
        assert_eq!(
            (run.conversation, run.answer.text.contains("Paris")),
            (talks, talks),
            "{text}: {}",
            run.answer.text
        );
    };
    let question = || Request::new("What is the capital of France?");
    check(conversation_model(), question(), true).await;
    // What has a task is no talk, nor is what a model that sees nothing cannot answer.
    check(conversation_model(), Request::new("find the edges of /images/a.png"), false).await;
    let attached = Resource { kind: Kind::Image, source: Source::Public("/images/a.png".into()), name: None };
    check(conversation_model(), Request { attachments: vec![attached], ..question() }, false).await;
    // It could sound as if something had been changed.
    let writes = Tool::typed("mail", "Sends a mail", &[Kind::Text], &[]);
    check(conversation_model().tools(vec![Tool { effect: Effect::Writes, ..writes }]), question(), false).await;
}

#[tokio::test]
async fn a_request_for_help_is_answered_without_a_model() {
    for (request, says) in [("Help!", "Edges"), ("что ты умеешь?", "Контуры"), ("你能做什么？", "边缘")]
    {
        let run = offline().build().await.run(request).await.run.expect("an answer");
        assert!(run.ok() && run.conversation && run.answer.text.contains(says), "{request}: {}", run.answer.text);
    }
    let run = offline().build().await.run("help me with /images/a.png").await.run.expect("an answer");
    assert!(!run.conversation, "{}", run.answer.text);
}

#[tokio::test]
async fn the_same_request_gives_the_same_plan() {
    let fixture = offline().build().await;
    let request = Request::new("make /images/a.png grey, then find its edges");
    let first = fixture.run_request(request.clone(), Default::default()).await.run.expect("an answer");
    let second = fixture.run_request(request, Default::default()).await.run.expect("an answer");
    assert_eq!(first.plan, second.plan);
}
