//! Trials of prompts and the measuring of plans, by examples whose pipelines are known.

use std::sync::Mutex;

use jarvis_batch::{Ended, Summary, Watch};
use jarvis_engine::Events;
use jarvis_hugginggpt::decisions::evaluate::SampleLog;
use jarvis_hugginggpt::decisions::{Examples, Trial, TrialError};
use jarvis_plan::RunId;
use jarvis_testing::chat::{Reply, Script};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::service::{ServiceFixture, city, examples, plan, script, task, with_service};

async fn tried(fixture: &ServiceFixture, body: Value) -> Result<Value, (bool, String)> {
    let (events, _receiver) = Events::channel(RunId("t1".into()));
    let tried = match Trial::read(&body) {
        Ok(trial) => fixture.decisions.try_example(&trial, &events).await,
        Err(error) => Err(error),
    };
    tried.map_err(|error| (matches!(error, TrialError::Request(_)), error.to_string()))
}

fn loaded(value: &Value) -> Examples {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("examples.json");
    std::fs::write(&file, value.to_string()).expect("it is written");
    Examples::load(&file, None).expect("they are examples")
}

#[tokio::test]
async fn a_trial_plans_for_one_example_and_never_shows_its_answer() {
    let fixture = with_service(script(&plan()), city().examples(examples(3))).await;
    let body = json!({
        "few_shot_categories": [0, 1, 1], "num_few_shot_examples_per_category": 2, "test_category_index": 1, "test_example_index": 0,
    });
    let reply = tried(&fixture, body).await.expect("a trial");
    assert_eq!(
        reply["test_info"],
        json!({
            "test_category": "c1", "test_category_index": 1, "test_example_index": 0, "test_example_id": "c1-example-0",
            "few_shot_categories": [{"index": 0, "name": "c0"}, {"index": 1, "name": "c1"}], "num_few_shot_examples": 3,
        })
    );
    assert_eq!(reply["test_scenario"], json!({"objects_seen": ["x"], "description": "scene of c1-example-0"}));
    assert_eq!(reply["generated_tasks"], reply["ground_truth_tasks"]);
    assert_eq!(fixture.base.stages(), ["parse_task"]);
    let body = &fixture.base.chat.as_ref().expect("a chat model").requests()[0].body;
    let messages = body["messages"].as_array().expect("messages");
    assert_eq!(messages.len(), 2 + 2 * 3);
    let shots: String = messages[1..7].iter().map(|message| message["content"].to_string()).collect();
    assert!(shots.contains("c1-example-1") && !shots.contains("c1-example-0") && !shots.contains("sample-reasoning"));

    for (body, says) in [
        (json!({"test_category_index": 9}), "no category 9"),
        (json!({"test_category_index": 0, "few_shot_categories": [4]}), "no category 4"),
        (json!({"test_category_index": 0, "test_example_index": 2}), "out of range"),
    ] {
        let (is_request, text) = tried(&fixture, body).await.expect_err("it is wrong");
        assert!(is_request && text.contains(says), "{text}");
    }
    let none = crate::service::with_service(script(&plan()), city()).await;
    let (is_request, _) = tried(&none, json!({"test_category_index": 0})).await.expect_err("no examples");
    assert!(!is_request);
    let broken = crate::service::with_service(Script::always("no plan"), city().examples(examples(3))).await;
    let (is_request, text) = tried(&broken, json!({"test_category_index": 0})).await.expect_err("there is no plan");
    assert!(!is_request && text.contains("no plan"), "{text}");
}

#[tokio::test]
async fn planning_is_measured_on_what_was_not_shown() {
    let half = json!([
        task("source", &["none"], &["fire-detection"]),
        task("fire-detection", &["source"], &["pipeline-end"]),
        task("pipeline-end", &["fire-detection"], &["none"]),
    ]);
    let script = Script::new()
        .on_containing("parse_task", &["scene of c0-example-1"], Reply::text(plan().to_string()))
        .on_containing("parse_task", &["scene of c1-example-1"], Reply::text(half.to_string()))
        .on("parse_task", "nothing");
    let fixture = with_service(script, city()).await;
    let (examples, stop) = (loaded(&examples(3)), CancellationToken::new());
    let seen = Seen::default();
    let measured = fixture.decisions.evaluate(&examples, true, None, &seen, &stop).await;
    let (figures, summary) = measured.expect("figures");
    assert_eq!((figures.samples, figures.failed, figures.few_shots), (3, 1, 3));
    assert_eq!((summary.done, summary.failed, summary.failures["unreadable_plan"], summary.calls), (2, 1, 1, 4));
    let lines = seen.0.lock().expect("no poison").clone();
    assert_eq!(lines[..2], ["c0-example-1 right", "c1-example-1 1 of 2 paths right"]);
    assert!((figures.exact_match - 1.0 / 3.0).abs() < 1e-9, "{}", figures.exact_match);
    assert!((figures.path_recall - 0.5).abs() < 1e-9, "{}", figures.path_recall);
    assert!(fixture.prompts("parse_task").iter().all(|prompt| prompt.contains("scene of c2-example-0")));

    // With a log, samples that have a plan are not planned for again, and give the same figures.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("samples.jsonl");
    let mut calls = Vec::new();
    for _ in 0..2 {
        let mut log = SampleLog::open(&path, "by a model").expect("the log opens");
        let (again, summary) =
            fixture.decisions.evaluate(&examples, true, Some(&mut log), &(), &stop).await.expect("figures");
        assert_eq!(again, figures);
        calls.push((summary.already, summary.calls));
    }
    assert_eq!(calls, [(0, 4), (2, 2)]);
    let other = SampleLog::open(&path, "by another model").expect_err("samples do not mix");
    assert!(other.to_string().contains("another measurement: by a model; this one is: by another model"), "{other}");
    // What is stopped leaves samples, and nothing of them counts.
    stop.cancel();
    let (none, summary) = fixture.decisions.evaluate(&examples, true, None, &(), &stop).await.expect("figures");
    assert_eq!((none.samples, summary.left, summary.interrupted), (0, 3, true));
}

#[tokio::test]
async fn a_measurement_gives_up_when_nobody_answers() {
    let fixture = with_service(Script::new().on("parse_task", Reply::error(401, "no")), city()).await;
    let (examples, stop) = (loaded(&examples(5)), CancellationToken::new());
    let measured = fixture.decisions.evaluate(&examples, true, None, &(), &stop).await;
    let (figures, summary) = measured.expect("figures");
    assert_eq!((figures.failed, summary.left, summary.gave_up), (3, 2, true));
}

#[derive(Default)]
struct Seen(Mutex<Vec<String>>);

impl Watch for Seen {
    fn ended(&self, _: &Summary, ended: &Ended) {
        self.0.lock().expect("no poison").push(format!("{} {}", ended.id, ended.message));
    }
}
