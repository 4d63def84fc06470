//! Stage 2: who is chosen, at what cost in calls, and what is tried next.

use std::collections::BTreeMap;

use jarvis_catalogue::InferenceMode;
use jarvis_plan::Attempt;
use jarvis_testing::chat::{Reply, Script};
use jarvis_testing::rows;
use serde::Deserialize;
use serde_json::Value;

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

/// A request whose plan, choice and workers are scripted.
#[derive(Deserialize)]
struct Case {
    case: String,
    /// One caption unless given.
    plan: Option<Value>,
    choose: Option<Reply>,
    #[serde(default)]
    live: BTreeMap<String, String>,
    #[serde(default)]
    does: BTreeMap<String, Does>,
}

#[tokio::test]
async fn tasks_are_chosen_for_and_performed() {
    let mut went_as = String::new();
    for Case { case, plan, choose, live, does } in rows(include_str!("cases.yaml"), "runs") {
        let script = Script::new()
            .on("parse_task", plan.map_or(CAPTION.to_owned(), |plan| plan.to_string()))
            .on("choose_model", choose.unwrap_or_else(|| Reply::text("{}")))
            .on("response_results", "done")
            .on("task_llm", "served");
        let builder = live.iter().fold(with_chat(script), |builder, (task, ids)| builder.live(task, ids));
        let fixture = does.into_iter().fold(builder, |builder, (what, does)| builder.does(&what, does)).build().await;
        let went = fixture.run("what is this?").await;
        went_as.push_str(&format!("# {case}\ncalls: {}\n", fixture.stages().join(", ")));
        for (line, outcome) in went.lines().iter().zip(&went.run.expect("an answer").outcomes) {
            went_as.push_str(&format!("{line}\n"));
            if let Some(selection) = &outcome.selection {
                went_as.push_str(&format!("   chosen: {} {:?}\n", selection.reason, selection.notes));
            }
            let tried = |attempt: &Attempt| format!("{} {}", attempt.candidate.id, attempt.error.is_none());
            went_as.push_str(&format!("   tried: {:?}\n", outcome.attempts.iter().map(tried).collect::<Vec<_>>()));
        }
        let mut seen = fixture.worker.seen.lock().expect("no poison").clone();
        seen.sort_by_key(|(id, task, _)| (id.clone(), task.clone()));
        seen.iter().for_each(|(id, task, args)| went_as.push_str(&format!("worked: {id} {task} {args}\n")));
    }
    insta::assert_snapshot!(went_as);
}

#[tokio::test]
async fn nobody_available_is_a_failure_of_that_task_without_a_call() {
    let fixture = with_chat(script(CAPTION, "{}")).build().await;
    let went = fixture.run("what is this?").await;
    // Whether another task may do is asked, and nobody chooses.
    assert_eq!(fixture.stages(), ["parse_task", "replan", "response_results"]);
    let lines = went.lines();
    assert!(lines[0].contains("no_model"), "{lines:?}");
    let fail = fixture.log("log_fail.jsonl");
    assert_eq!((fail[0]["op"].as_str(), fail[0]["task"]["task"].as_str()), (Some("message"), Some("image-to-text")));
    assert_eq!(fixture.log("log_success.jsonl").len(), 1);
}

#[tokio::test]
async fn control_tasks_have_no_model_without_a_model_server() {
    let plan = r#"[{"task":"canny-control","id":0,"dep":[-1],"args":{"image":"/images/b.jpg"}}]"#;
    let remote = with_chat(script(plan, "{}")).mode(InferenceMode::Huggingface).build().await;
    let went = remote.run("edges").await;
    assert!(went.lines()[0].contains("no_model"), "{:?}", went.lines());
    assert_eq!(
        jarvis_hugginggpt::results::result(None, &went.run.expect("an answer").outcomes[0])["choose model result"],
        ""
    );
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
