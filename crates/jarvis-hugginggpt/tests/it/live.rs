//! Tasks that start while their plan is being written.

use jarvis_plan::{ErrorCode, EventKind, Outcome};
use jarvis_testing::chat::{Reply, Script, Step};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Does, Fixture, with_chat, with_events};

const CAPTION: &str = r#"{"task":"image-to-text","id":0,"dep":[-1],"args":{"image":"/images/a.jpg"}}"#;
const SPEECH: &str = r#"{"task":"text-to-speech","id":1,"dep":[0],"args":{"text":"<GENERATED>-0"}}"#;
const DETECTION: &str = r#"{"task":"object-detection","id":0,"dep":[-1],"args":{"image":"/images/a.jpg"}}"#;

const REQUEST: &str = "describe /images/a.jpg and read it aloud";

/// A fixture whose planner writes these pieces one by one, and then whole replies.
async fn written(pieces: &[String], then: &[&str]) -> (Fixture, Step) {
    let (reply, step) = Reply::stepped(pieces.to_vec());
    let replies: Vec<Reply> = std::iter::once(reply).chain(then.iter().map(|reply| Reply::text(*reply))).collect();
    let script = Script::new().on("parse_task", replies).on("response_results", "Done.").on("chitchat", "Hello.");
    let fixture = with_chat(script)
        .live("image-to-text", "org/caption")
        .live("text-to-speech", "org/speech")
        .live("object-detection", "org/detect")
        .does("image-to-text", Does::Gives(json!({"generated text": "a cat"})))
        .does("text-to-speech", Does::Gives(json!({"generated audio": "/audios/1.wav"})))
        .does("object-detection", Does::Gives(json!({"generated text": "boxes"})))
        .settings(|settings| settings.last_resort = false)
        .build()
        .await;
    (fixture, step)
}

fn told(events: &[jarvis_plan::Event]) -> Vec<String> {
    let line = |kind: &EventKind| match kind {
        EventKind::PlanGrew { round, tasks, .. } => Some(format!("grew {round} by {}", tasks.len())),
        EventKind::Plan { plan } => Some(format!("plan of {}", plan.tasks().len())),
        EventKind::TaskStarted { id, task, .. } => Some(format!("started {id} {task}")),
        EventKind::TaskFinished { outcome } => Some(format!("finished {} {:?}", outcome.id, outcome.status)),
        EventKind::Note { message, .. } if message.contains("began while") => Some("told".to_owned()),
        _ => None,
    };
    events.iter().filter_map(|event| line(&event.kind)).collect()
}

#[tokio::test]
async fn a_task_starts_when_its_object_closes() {
    let (fixture, step) = written(&[format!("[{CAPTION}"), format!(", {SPEECH}]")], &[]).await;
    step.step();
    let (went, ()) = tokio::join!(fixture.run(REQUEST), async {
        // The second task is not written before the first has started.
        fixture.worker.started(1).await;
        step.step();
    });
    let run = went.run.as_ref().unwrap();
    assert!(run.ok() && run.outcomes.iter().all(Outcome::succeeded), "{run:?}");
    insta::assert_snapshot!(told(&went.events).join("\n"), @"
    grew 0 by 1
    started 0 image-to-text
    finished 0 Succeeded
    grew 0 by 1
    started 1 text-to-speech
    finished 1 Succeeded
    plan of 2
    ");
}

#[tokio::test]
async fn what_ran_is_kept_or_told() {
    let both = format!("[{CAPTION}, {SPEECH}]");
    // Each case: what is written in two steps, the replies after it, and how the run ends.
    let cases: [(&str, [String; 2], &[&str], &str); 6] = [
        (
            "the first reply is cut off, and the second says the same",
            [format!("[{CAPTION}"), ", {\"ta".into()],
            &[&both],
            "ok, 2 done, caption once",
        ),
        (
            "the second reply says otherwise",
            [format!("[{CAPTION}"), ", {\"ta".into()],
            &[&format!("[{DETECTION}]")],
            "ok, 1 done, told",
        ),
        (
            "a later task is faulty, and mended",
            [
                format!("[{CAPTION}"),
                r#", {"task":"text-to-speach","id":1,"dep":[0],"args":{"txt":"<GENERATED>-7"}}]"#.into(),
            ],
            &[&both],
            "ok, 2 done, caption once",
        ),
        (
            "both replies are cut off",
            [format!("[{CAPTION}"), ", {\"ta".into()],
            &["[{"],
            "Some(\"partial\"), 1 done, caption once",
        ),
        (
            "a second list takes its place",
            [format!("[{CAPTION}]"), format!("\nNo, better: [{CAPTION}, {SPEECH}]")],
            &[],
            "ok, 2 done, caption once",
        ),
        ("the stream breaks off", [format!("[{CAPTION}"), String::new()], &[&both], "ok, 2 done, caption once"),
    ];
    for (what, pieces, then, want) in cases {
        let (fixture, step) = written(&pieces, then).await;
        step.step();
        let (went, ()) = tokio::join!(fixture.run(REQUEST), async {
            fixture.worker.started(1).await;
            step.step();
        });
        let run = went.run.as_ref().unwrap_or_else(|error| panic!("{what}: {error}"));
        let mut got = vec![if run.conversation {
            "conversation".to_owned()
        } else if run.ok() {
            "ok".to_owned()
        } else {
            format!("{:?}", run.reason())
        }];
        if !run.conversation {
            got.push(format!("{} done", run.outcomes.iter().filter(|outcome| outcome.succeeded()).count()));
        }
        let captions = fixture.worker.seen.lock().unwrap().iter().filter(|(id, ..)| id == "org/caption").count();
        if told(&went.events).contains(&"told".to_owned()) {
            got.push("told".to_owned());
        } else if captions == 1 {
            got.push("caption once".to_owned());
        }
        assert_eq!(got.join(", "), want, "{what}: {:?}", told(&went.events));
    }
}

#[tokio::test]
async fn only_sound_tasks_start_early_and_no_more_than_a_plan_may_have() {
    let faulty = r#"{"task":"image-to-text","id":0,"dep":[-1],"args":{"image":"/images/none.jpg"}}"#;
    let talk = r#"{"task":"conversational","id":0,"dep":[-1],"args":{"text":"hello"}}"#;
    let cases: [(&str, Vec<String>, usize); 4] = [
        ("a faulty task", vec![format!("[{faulty}"), "]".into()], 0),
        ("talk alone", vec![format!("[{talk}"), "]".into()], 0),
        (
            "a task behind a faulty one",
            vec![format!("[{faulty}, {}", DETECTION.replace("\"id\":0", "\"id\":1")), "]".into()],
            0,
        ),
        ("more tasks than a plan may have", vec![format!("[{CAPTION}, {SPEECH}"), "]".into()], 1),
    ];
    for (what, pieces, early) in cases {
        let (reply, step) = Reply::stepped(pieces.clone());
        step.step();
        step.step();
        let script = Script::new()
            .on("parse_task", vec![reply, Reply::text("[]")])
            .on("chitchat", "Hello.")
            .on("response_results", "Done.");
        let fixture = with_chat(script)
            .live("image-to-text", "org/caption")
            .live("text-to-speech", "org/speech")
            .live("object-detection", "org/detect")
            .nothing_beside()
            .settings(|settings| {
                settings.last_resort = false;
                settings.reask = false;
                settings.plan.max_tasks = 1;
            })
            .build()
            .await;
        let request = if early > 0 { REQUEST.to_owned() } else { "hello, describe /images/a.jpg".to_owned() };
        let went = fixture.run(&request).await;
        let grown: usize = went
            .events
            .iter()
            .map(|event| match &event.kind {
                EventKind::PlanGrew { tasks, .. } => tasks.len(),
                _ => 0,
            })
            .sum();
        assert_eq!(grown, early, "{what}: {:?}", told(&went.events));
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_in_the_middle_of_its_plan_ends_what_runs() {
    let (reply, step) = Reply::stepped([format!("[{CAPTION}"), format!(", {SPEECH}]")]);
    let script = Script::new().on("parse_task", reply);
    let fixture =
        with_chat(script).live("image-to-text", "org/caption").does("image-to-text", Does::Hangs).build().await;
    let cancel = CancellationToken::new();
    step.step();
    let run = async |events: &jarvis_engine::Events| {
        let run = fixture.pipeline.run(std::sync::Arc::new(jarvis_plan::Request::new(REQUEST)), events, cancel.clone());
        let (run, ()) = tokio::join!(run, async {
            fixture.worker.started(1).await;
            cancel.cancel();
        });
        run
    };
    let (run, events) = with_events("r", run).await;
    assert_eq!(run.unwrap_err().code(), "cancelled");
    let ends: Vec<ErrorCode> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::TaskFinished { outcome } => outcome.error.as_ref().map(|error| error.code),
            _ => None,
        })
        .collect();
    assert_eq!(ends, [ErrorCode::Cancelled]);
}
