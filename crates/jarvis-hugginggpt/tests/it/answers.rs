//! Stage 4: what the answer is made from, what is flagged, and what stands when the model is gone.

use std::sync::Arc;

use jarvis_pipeline::Shelf;
use jarvis_plan::{AnswerResource, EventKind, Request, Resource, Source};
use jarvis_testing::chat::{Reply, Script};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Does, with_chat};

const PLAN: &str = r#"[{"task":"image-to-image","id":0,"dep":[-1],"args":{"image":"/images/a.jpg"}}]"#;

fn fixture(answer: impl Into<jarvis_testing::chat::Replies>) -> crate::fixture::Builder {
    let script = Script::new().on("parse_task", Reply::text(PLAN)).on("response_results", answer);
    with_chat(script)
        .live("image-to-image", "org/edit")
        .does("org/edit", Does::Gives(json!({"generated image": "/images/made.png"})))
}

#[tokio::test]
async fn paths_that_nobody_made_are_flagged() {
    let fixture =
        fixture(Reply::text("See /images/made.png from /images/a.jpg, and also /images/dream.png.")).build().await;
    let run = fixture.run("change /images/a.jpg").await.run.expect("an answer");
    assert_eq!(run.answer.notes, ["the answer names `/images/dream.png`, which no task made"]);
}

/// Puts files nowhere, and says that they are on a desk.
#[derive(Debug)]
struct Desk;

impl Shelf for Desk {
    fn put(&self, resource: &mut AnswerResource) -> std::io::Result<()> {
        resource.path = Some(format!("/home/ada/desk/{}", resource.name).into());
        Ok(())
    }
}

#[tokio::test]
async fn a_model_is_told_names_of_files_and_not_where_on_this_machine_they_are() {
    let mut fixture = fixture(Reply::text("It is in a-edited.png.")).build().await;
    Arc::get_mut(&mut fixture.pipeline).expect("the only owner").shelf = Some(Arc::new(Desk));
    let photo = Resource {
        kind: jarvis_plan::Kind::Image,
        source: Source::Public("/images/a.jpg".into()),
        name: Some("a.jpg".into()),
    };
    let request = Request { attachments: vec![photo], ..Request::new("change /images/a.jpg") };
    let run = fixture.run_request(request, CancellationToken::new()).await.run.expect("an answer");
    let [made] = run.answer.resources.as_slice() else { panic!("{:?}", run.answer.resources) };
    assert_eq!((made.name.as_str(), made.url.as_str()), ("a-edited.png", "/images/made.png"));
    assert_eq!(made.path.as_deref(), Some(std::path::Path::new("/home/ada/desk/a-edited.png")));
    let prompt = fixture.prompt("response_results");
    assert!(prompt.contains("a-edited.png") && !prompt.contains("made.png"), "{prompt}");
    assert!(!prompt.contains("/home/ada"), "{prompt}");
    assert_eq!(run.answer.notes, Vec::<String>::new());
}

#[tokio::test]
async fn when_the_answering_call_fails_the_template_answers() {
    let fixture = fixture(Reply::error(500, "down")).build().await;
    let went = fixture.run("change /images/a.jpg").await;
    let run = went.run.expect("an answer all the same");
    assert!(run.answer.text.contains("/images/made.png"), "{}", run.answer.text);
    assert!(
        went.events
            .iter()
            .any(|event| matches!(&event.kind, EventKind::Note { message, .. } if message.contains("down")))
    );
}

#[tokio::test]
async fn the_answer_streams_as_tokens() {
    let fixture =
        fixture(Reply::pieces(["All ", "done", "."])).settings(|settings| settings.stream_answer = true).build().await;
    let went = fixture.run("change it").await;
    let tokens: Vec<String> = went
        .events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::Token { text } => Some(text.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(tokens.concat(), "All done.");
    assert_eq!(went.run.expect("an answer").answer.text, "All done.");
}

#[tokio::test]
async fn an_answer_that_breaks_off_or_says_nothing_is_written_by_template() {
    for reply in [Reply::cut("All is"), Reply::text(""), Reply::text("<think>hm</think>")] {
        for stream in [true, false] {
            let fixture =
                fixture(vec![reply.clone()]).settings(|settings| settings.stream_answer = stream).build().await;
            let run = fixture.run("change it").await.run.expect("an answer");
            assert!(run.answer.text.contains("/images/made.png"), "{}", run.answer.text);
        }
    }
}

#[tokio::test]
async fn thoughts_of_a_model_are_not_part_of_the_answer() {
    for stream in [true, false] {
        let reply = Reply::pieces(["<thi", "nk>the user wants", "</think>\n", "Done", "."]);
        let fixture = fixture(reply).settings(|settings| settings.stream_answer = stream).build().await;
        assert_eq!(fixture.run("change it").await.run.expect("an answer").answer.text, "Done.");
    }
}

#[tokio::test]
async fn a_huge_request_is_cut_where_results_are_told() {
    let fixture = fixture(Reply::text("fine")).build().await;
    let request = format!("change it {}", "and again ".repeat(500));
    fixture.run(&request).await.run.expect("an answer");
    let prompt = fixture.prompt("response_results");
    assert!(prompt.contains("/images/made.png"));
}

#[tokio::test]
async fn huge_results_are_shortened_to_fit() {
    let fixture = fixture(Reply::text("fine"))
        .does("org/edit", Does::Gives(json!({"generated image": "/images/made.png", "mask": "QUJD".repeat(100_000)})))
        .build()
        .await;
    fixture.run("change it").await.run.expect("an answer");
    let prompt = fixture.prompt("response_results");
    assert!(prompt.contains("/images/made.png") && prompt.contains("left out"));
    assert!(prompt.len() < 40_000, "{}", prompt.len());
}

#[tokio::test]
async fn an_attached_text_is_named_in_the_plan_and_read_by_the_worker() {
    let plan = r#"[{"task":"token-classification","id":0,"dep":[-1],"args":{"text":"notes.txt"}}]"#;
    let script = Script::new().on("parse_task", Reply::text(plan)).on("response_results", Reply::text("ok"));
    let fixture = with_chat(script).live("token-classification", "org/ner").build().await;
    let mut request = Request::new("names in notes.txt");
    request.attachments.push(Resource {
        kind: jarvis_plan::Kind::Text,
        source: Source::Inline("Ada met Grace in London.".into()),
        name: Some("notes.txt".into()),
    });
    let run = fixture.run_request(request, Default::default()).await.run.expect("an answer");
    assert_eq!(run.plan.tasks()[0].literal("text").as_deref(), Some("notes.txt"));
    let seen = fixture.worker.seen.lock().expect("no poison").clone();
    assert_eq!(seen[0].2["text"], "Ada met Grace in London.");
}
