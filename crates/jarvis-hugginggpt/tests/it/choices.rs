//! Stage 2: who is chosen, at what cost in calls, and what is tried next.

use jarvis_catalogue::InferenceMode;
use jarvis_plan::ErrorCode;
use jarvis_testing::chat::{Reply, Script};

use crate::fixture::{Does, with_chat};

const CAPTION: &str = r#"[{"task":"image-to-text","id":0,"dep":[-1],"args":{"image":"/images/b.jpg"}}]"#;

fn script(plan: &str, choice: &str) -> Script {
    Script::new()
        .on("parse_task", Reply::text(plan))
        .on("choose_model", Reply::text(choice))
        .on("response_results", Reply::text("done"))
        .on("task_llm", Reply::text("served"))
        .on("chitchat", Reply::text("talk"))
}

#[tokio::test]
async fn two_models_cost_one_call_and_one_costs_none() {
    let two = with_chat(script(CAPTION, r#"{"id":"org/two","reason":"it is better"}"#))
        .live("image-to-text", "org/one org/two")
        .build()
        .await;
    let went = two.run("what is this?").await;
    assert_eq!(two.stages(), ["parse_task", "choose_model", "response_results"]);
    let outcome = &went.run.expect("an answer").outcomes[0];
    assert_eq!(outcome.performer().expect("somebody").id, "org/two");
    assert_eq!(outcome.selection.as_ref().expect("a choice").reason, "it is better");

    let one = with_chat(script(CAPTION, "{}")).live("image-to-text", "org/one").build().await;
    let went = one.run("what is this?").await;
    assert_eq!(one.stages(), ["parse_task", "response_results"]);
    let outcome = &went.run.expect("an answer").outcomes[0];
    assert_eq!(outcome.selection.as_ref().expect("a choice").reason, "Only one model available.");
}

#[tokio::test]
async fn nobody_available_is_a_failure_of_that_task_without_a_call() {
    let fixture = with_chat(script(CAPTION, "{}")).build().await;
    let went = fixture.run("what is this?").await;
    assert_eq!(fixture.stages(), ["parse_task", "response_results"]);
    let lines = went.lines();
    assert!(lines[0].contains("no_model"), "{lines:?}");
    let fail = fixture.log("log_fail.jsonl");
    assert_eq!((fail[0]["op"].as_str(), fail[0]["task"]["task"].as_str()), (Some("message"), Some("image-to-text")));
    assert_eq!(fixture.log("log_success.jsonl").len(), 1);
}

#[tokio::test]
async fn an_unknown_task_fails_alone_and_costs_nothing() {
    let plan = r#"[{"task":"time-travel","id":0,"dep":[-1],"args":{"text":"x"}},
                   {"task":"image-to-text","id":1,"dep":[-1],"args":{"image":"/images/b.jpg"}}]"#;
    let fixture = with_chat(script(plan, "{}")).live("image-to-text", "org/one").build().await;
    let went = fixture.run("what is this?").await;
    assert_eq!(fixture.stages(), ["parse_task", "response_results"]);
    let lines = went.lines();
    assert!(lines[0].starts_with("0 time-travel Failed"), "{lines:?}");
    assert!(lines[1].starts_with("1 image-to-text Succeeded org/one"), "{lines:?}");
}

#[tokio::test]
async fn tasks_of_the_chat_model_go_to_it() {
    let plan = r#"[{"task":"summarization","id":0,"dep":[-1],"args":{"text":"x"}},
                   {"task":"translation","id":1,"dep":[-1],"args":{"text":"y"}}]"#;
    let fixture = with_chat(script(plan, "{}")).build().await;
    let went = fixture.run("do both").await;
    let lines = went.lines();
    assert!(lines.iter().all(|line| line.contains("Succeeded ChatGPT")), "{lines:?}");
}

#[tokio::test]
async fn control_tasks_run_on_the_model_server_without_probing_or_asking() {
    let plan = r#"[{"task":"canny-control","id":0,"dep":[-1],"args":{"image":"/images/b.jpg"}},
                   {"task":"canny-text-to-image","id":1,"dep":[0],"args":{"image":"<GENERATED>-0","text":"a fox"}},
                   {"task":"depth-text-to-image","id":2,"dep":[-1],"args":{"image":"/images/b.jpg"}},
                   {"task":"hed-text-to-image","id":3,"dep":[-1],"args":{"image":"/images/b.jpg","text":" "}}]"#;
    let fixture = with_chat(script(plan, "{}"))
        .live("depth-estimation", "org/depth")
        .does("canny-control", Does::Gives(serde_json::json!({"generated image": "/images/e.png"})))
        .build()
        .await;
    let went = fixture.run("edges").await;
    assert_eq!(fixture.stages(), ["parse_task", "response_results"]);
    let seen: Vec<(String, String)> = {
        let mut seen: Vec<_> = fixture
            .worker
            .seen
            .lock()
            .expect("no poison")
            .iter()
            .map(|(id, task, _)| (id.clone(), task.clone()))
            .collect();
        seen.sort();
        seen
    };
    let pair = |id: &str, task: &str| (id.to_owned(), task.to_owned());
    assert_eq!(
        seen,
        [
            pair("canny-control", "canny-control"),
            pair("hed-control", "hed-control"),
            pair("lllyasviel/sd-controlnet-canny", "canny-text-to-image"),
            pair("org/depth", "depth-estimation"),
        ]
    );
    drop(went);

    let remote = with_chat(script(plan, "{}")).mode(InferenceMode::Huggingface).build().await;
    let went = remote.run("edges").await;
    assert!(went.lines()[0].contains("no_model"), "{:?}", went.lines());
    assert_eq!(
        jarvis_hugginggpt::results::result(None, &went.run.expect("an answer").outcomes[0])["choose model result"],
        ""
    );
}

#[tokio::test]
async fn a_choice_that_names_nobody_takes_the_first_with_a_note() {
    for reply in ["no idea", r#"{"id":"somebody/else"}"#, ""] {
        let fixture = with_chat(script(CAPTION, reply)).live("image-to-text", "org/one org/two").build().await;
        let went = fixture.run("what is this?").await;
        let outcome = went.run.expect("an answer").outcomes[0].clone();
        let selection = outcome.selection.expect("a choice");
        assert_eq!((selection.chosen.id.as_str(), selection.notes.len()), ("org/one", 1), "{reply}");
    }
}

#[tokio::test]
async fn a_choosing_call_that_fails_does_not_fail_the_task() {
    let script = Script::new()
        .on("parse_task", Reply::text(CAPTION))
        .on("choose_model", Reply::error(500, "down"))
        .on("response_results", Reply::text("done"));
    let fixture = with_chat(script).live("image-to-text", "org/one org/two").build().await;
    assert!(fixture.run("what is this?").await.lines()[0].contains("Succeeded org/one"));
}

#[tokio::test]
async fn the_next_candidate_is_tried_when_the_chosen_one_fails() {
    let fixture = with_chat(script(CAPTION, r#"{"id":"org/two","reason":"r"}"#))
        .live("image-to-text", "org/one org/two org/three")
        .does("org/two", Does::Fails(ErrorCode::Upstream, "out of memory"))
        .does("org/one", Does::Panics)
        .build()
        .await;
    let went = fixture.run("what is this?").await;
    let run = went.run.expect("an answer");
    let tried: Vec<(&str, bool)> = run.outcomes[0]
        .attempts
        .iter()
        .map(|attempt| (attempt.candidate.id.as_str(), attempt.error.is_none()))
        .collect();
    assert_eq!(tried, [("org/two", false), ("org/one", false), ("org/three", true)]);
}

#[tokio::test]
async fn what_no_other_model_can_mend_is_not_tried_again() {
    let fixture = with_chat(script(CAPTION, r#"{"id":"org/two","reason":"r"}"#))
        .live("image-to-text", "org/one org/two")
        .does("org/two", Does::Fails(ErrorCode::NotFound, "there is no such file"))
        .build()
        .await;
    let went = fixture.run("what is this?").await;
    let run = went.run.as_ref().expect("an answer");
    assert_eq!(run.outcomes[0].attempts.len(), 1);
    assert!(went.lines()[0].contains("not_found"));
}

#[tokio::test]
async fn the_choosing_model_sees_the_candidates_and_the_exact_format() {
    let fixture = with_chat(script(CAPTION, r#"{"id":"org/one","reason":"r"}"#))
        .live("image-to-text", "org/one org/two")
        .build()
        .await;
    fixture.run("what is this?").await.run.expect("an answer");
    let request = fixture.requests_of("choose_model")[0].clone();
    let prompt = request.prompt();
    assert!(prompt.contains(r#""inference endpoint":"huggingface""#), "{prompt}");
    assert!(prompt.find("org/one") < prompt.find("org/two"));
    assert_eq!(request.body["temperature"], 0.0);
    // The ids of `{"id": "reason"}` in cl100k_base.
    let mut ids: Vec<u32> =
        request.body["logit_bias"].as_object().expect("a bias").keys().map(|id| id.parse().expect("an id")).collect();
    ids.sort_unstable();
    assert_eq!(ids, [307, 330, 794, 5018, 9388, 20489]);
}
