//! Whole runs: the worked example, argument fallbacks, failures that stay alone, cancellation, hostile input.

use std::time::Duration;

use jarvis_hugginggpt::{RunError, results::results_map};
use jarvis_plan::EventKind;
use jarvis_testing::chat::{Reply, Script};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fixture::{Does, with_chat};

fn script(plan: &str) -> Script {
    Script::new()
        .on("parse_task", Reply::text(plan))
        .on("choose_model", Reply::text(r#"{"id":"nlpconnect/vit-gpt2-image-captioning","reason":"short captions"}"#))
        .on("response_results", Reply::text("Two zebras; listen at /audios/7c1e.wav"))
}

const EXAMPLE: &str = r#"[{"task":"image-to-text","id":0,"dep":[-1],"args":{"image":"/examples/b.jpg"}},
    {"task":"text-to-speech","id":1,"dep":[0],"args":{"text":"<GENERATED>-0"}}]"#;

#[tokio::test]
async fn the_worked_example() {
    let fixture = with_chat(script(EXAMPLE))
        .live("image-to-text", "Salesforce/blip nlpconnect/vit-gpt2-image-captioning microsoft/git-base")
        .live("text-to-speech", "espnet/kan-bayashi_ljspeech_vits")
        .does("image-to-text", Does::Gives(json!({"generated text": "two zebras on dry grass"})))
        .does("text-to-speech", Does::Gives(json!({"generated audio": "/audios/7c1e.wav"})))
        .build()
        .await;
    let went = fixture.run("caption /examples/b.jpg and read it to me").await;
    assert_eq!(
        serde_json::to_value(&went.usage.calls).expect("JSON"),
        json!({"parse_task": 1, "choose_model": 1, "response_results": 1})
    );
    let run = went.run.expect("an answer");
    assert_eq!(
        serde_json::Value::Object(results_map(&run.plan, &run.outcomes)),
        json!({
            "0": {"task": {"task": "image-to-text", "id": 0, "dep": [-1], "args": {"image": "/examples/b.jpg"}},
                  "inference result": {"generated text": "two zebras on dry grass"},
                  "choose model result": {"id": "nlpconnect/vit-gpt2-image-captioning", "reason": "short captions"}},
            "1": {"task": {"task": "text-to-speech", "id": 1, "dep": [0], "args": {"text": "two zebras on dry grass"}},
                  "inference result": {"generated audio": "/audios/7c1e.wav"},
                  "choose model result": {"id": "espnet/kan-bayashi_ljspeech_vits", "reason": "Only one model available."}},
        })
    );
    assert_eq!(run.answer.resources[0].url, "/audios/7c1e.wav");
    let log = fixture.log("log_success.jsonl");
    assert_eq!(log[0]["op"], "response");
    assert_eq!(log[0]["results"]["1"]["inference result"]["generated audio"], "/audios/7c1e.wav");
    assert!(log[0]["during"].is_number() && log[0]["request_id"] == "r");
    assert!(fixture.log("log_fail.jsonl").is_empty());
}

#[tokio::test]
async fn when_speech_is_down_the_caption_is_still_answered() {
    let fixture =
        with_chat(script(EXAMPLE)).live("image-to-text", "nlpconnect/vit-gpt2-image-captioning").build().await;
    let went = fixture.run("caption /examples/b.jpg and read it to me").await;
    let lines = went.lines();
    assert!(lines[0].contains("Succeeded") && lines[1].contains("Failed"), "{lines:?}");
    let run = went.run.expect("an answer");
    assert_eq!((run.ok(), run.reason()), (false, Some("partial")));
    let results = results_map(&run.plan, &run.outcomes);
    assert_eq!(results["1"]["choose model result"], "");
    assert!(
        results["1"]["inference result"]["error"]["message"].as_str().expect("a message").contains("text-to-speech")
    );
    assert_eq!(fixture.log("log_fail.jsonl")[0]["reason"], "no available models: text-to-speech");
}

#[tokio::test]
async fn a_question_about_a_caption_gets_the_captioned_picture() {
    let plan = r#"[{"task":"image-to-text","id":0,"dep":[-1],"args":{"image":"/images/b.jpg"}},
        {"task":"visual-question-answering","id":1,"dep":[0],"args":{"image":"<GENERATED>-0","text":"how many?"}}]"#;
    let fixture = with_chat(script(plan))
        .live("image-to-text", "org/caption")
        .live("visual-question-answering", "org/vqa")
        .build()
        .await;
    let went = fixture.run("how many are there?").await;
    let run = went.run.expect("an answer");
    assert_eq!(run.outcomes[1].args["image"], "/images/b.jpg");
    assert_eq!(run.outcomes[1].notes.len(), 1);
}

// Real sockets are at work, so time is not paused; the deadline is the shortest that leaves them room.
#[tokio::test]
async fn a_worker_that_hangs_is_ended_by_its_deadline_and_the_answer_stands() {
    let fixture = with_chat(script(EXAMPLE))
        .live("image-to-text", "org/caption")
        .live("text-to-speech", "org/tts")
        .does("org/caption", Does::Hangs)
        .settings(|settings| settings.engine.task_timeout = Duration::from_secs(2))
        .build()
        .await;
    let went = fixture.run("caption").await;
    let lines = went.lines();
    assert!(lines[0].contains("timeout"), "{lines:?}");
    assert!(lines[1].contains("Skipped"), "{lines:?}");
}

#[tokio::test]
async fn cancelling_ends_a_run_that_waits_for_a_model() {
    let script = Script::new().on("parse_task", Reply::never());
    let fixture = with_chat(script).build().await;
    let cancel = CancellationToken::new();
    let run = fixture.run_request(jarvis_plan::Request::new("hello"), cancel.clone());
    let chat = fixture.chat.as_ref().expect("a chat");
    let (went, ()) = tokio::join!(run, async {
        assert!(chat.wait_requests(1).await);
        cancel.cancel();
    });
    assert_eq!(went.run, Err(RunError::Cancelled));
    assert!(chat.wait_aborted(1).await, "the call was dropped");
}

#[tokio::test]
async fn cancelling_while_tasks_run_loses_nothing_that_was_done() {
    let plan = r#"[{"task":"text-to-speech","id":0,"dep":[-1],"args":{"text":"a"}},
        {"task":"image-to-text","id":1,"dep":[0],"args":{"image":"/images/b.jpg"}}]"#;
    let fixture = with_chat(script(plan))
        .live("text-to-speech", "org/tts")
        .live("image-to-text", "org/caption")
        .does("org/tts", Does::Gives(json!({"generated audio": "/audios/a.wav"})))
        .does("org/caption", Does::Hangs)
        .build()
        .await;
    let cancel = CancellationToken::new();
    let run = fixture.run_request(jarvis_plan::Request::new("do both"), cancel.clone());
    let worker = std::sync::Arc::clone(&fixture.worker);
    let (went, ()) = tokio::join!(run, async {
        worker.started(2).await;
        cancel.cancel();
    });
    let lines = went.lines();
    assert!(lines[0].contains("Succeeded") && lines[1].contains("Cancelled"), "{lines:?}");
    let run = went.run.expect("what was done is told");
    assert!(run.cancelled && !run.ok() && run.answer.text.contains("/audios/a.wav"), "{run:?}");
    assert_eq!(fixture.stages(), ["parse_task"], "nobody is asked after a cancellation");
}

#[tokio::test]
async fn unfolded_tasks_each_have_a_result() {
    let plan = r#"[{"task":"image-to-image","id":0,"dep":[-1],"args":{"image":"/images/a.jpg"}},
        {"task":"image-to-image","id":1,"dep":[-1],"args":{"image":"/images/b.jpg"}},
        {"task":"image-to-text","id":2,"dep":[0,1],"args":{"image":"<GENERATED>-0,<GENERATED>-1"}}]"#;
    let fixture = with_chat(script(plan))
        .live("image-to-image", "org/edit")
        .live("image-to-text", "org/caption")
        .does("org/edit", Does::Gives(json!({"generated image": "/images/new.png"})))
        .build()
        .await;
    let went = fixture.run("change and describe both").await;
    let run = went.run.expect("an answer");
    let results = results_map(&run.plan, &run.outcomes);
    assert_eq!(results.keys().map(String::as_str).collect::<Vec<_>>(), ["0", "1", "2", "3"]);
    assert!(run.outcomes.iter().all(jarvis_plan::Outcome::succeeded));
}

#[tokio::test]
async fn input_that_looks_like_a_template_stays_as_it_is() {
    let input = r#"say {{task}} and {{ input }} with a \ backslash, a " quote and a <GENERATED>-0"#;
    let fixture = with_chat(script(EXAMPLE))
        .live("image-to-text", "org/one nlpconnect/vit-gpt2-image-captioning")
        .live("text-to-speech", "org/tts")
        .build()
        .await;
    fixture.run(input).await.run.expect("an answer");
    for stage in ["parse_task", "choose_model", "response_results"] {
        assert!(fixture.prompt(stage).contains(input), "{stage}");
    }
}

#[tokio::test]
async fn events_tell_the_run_in_order() {
    let fixture =
        with_chat(script(EXAMPLE)).live("image-to-text", "org/caption").live("text-to-speech", "org/tts").build().await;
    let went = fixture.run("caption").await;
    let names: Vec<&str> = went.events.iter().map(|event| event.kind.name()).collect();
    assert_eq!(names.first(), Some(&"run_started"));
    assert_eq!(&names[names.len() - 2..], ["answer", "done"]);
    assert!(went.events.iter().enumerate().all(|(at, event)| event.seq == at as u64));
    let chosen = names.iter().filter(|name| **name == "model_chosen").count();
    let finished = names.iter().filter(|name| **name == "task_finished").count();
    assert_eq!((chosen, finished), (2, 2));
    // The second task is chosen for as soon as it is written, whether its input exists or not.
    let place = |wanted: &dyn Fn(&EventKind) -> bool| went.events.iter().position(|event| wanted(&event.kind));
    let written = place(&|kind| matches!(kind, EventKind::PlanGrew { tasks, .. } if tasks[0].id.0 == 1));
    let chosen = place(&|kind| matches!(kind, EventKind::ModelChosen { selection, .. } if selection.task.0 == 1));
    assert!(written.is_some() && written < chosen, "{names:?}");
}
