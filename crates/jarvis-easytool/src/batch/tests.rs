//! Many questions: what is asked, what is left, when a run gives up.

use std::sync::Mutex;

use serde_json::json;

use super::*;
use crate::log::LogFile;
use crate::question::empty_record;

fn record(id: u64, status: Status, said: bool) -> SolveRecord {
    let stage = StageCall {
        stage: "task_decompose".into(),
        task_id: None,
        attempt: 1,
        parsed: said.then_some(jarvis_prompt::literal::Literal::Null),
        error: None,
        prompt_tokens: 0,
        completion_tokens: 0,
        ms: 0,
        hopeless: !said,
    };
    SolveRecord { status, stage_trace: vec![stage], ..empty_record(id, "q") }
}

async fn ran(outcomes: &[(Status, bool)], done: &[u64], stop_at: Option<u64>) -> (Summary, Vec<u64>) {
    let dir = tempfile::tempdir().unwrap();
    let mut log = LogFile::open(&dir.path().join("l.jsonl"), &json!({}), false).unwrap();
    for id in done {
        log.write(*id, &json!({"ID": id})).unwrap();
    }
    let asked = Mutex::new(Vec::new());
    let stop = CancellationToken::new();
    let questions = (1..).zip(outcomes.iter().copied()).collect();
    let answer = |id, (status, said): (Status, bool)| {
        asked.lock().unwrap().push(id);
        if stop_at == Some(id) {
            stop.cancel();
        }
        async move { record(id, status, said) }
    };
    let summary = run(questions, 1, answer, &mut log, &(), &stop).await.unwrap();
    (summary, asked.into_inner().unwrap())
}

#[tokio::test]
async fn what_is_in_the_log_is_not_asked_again() {
    let (summary, asked) =
        ran(&[(Status::Succeeded, true), (Status::Partial, true), (Status::Failed, true)], &[2], None).await;
    assert_eq!(asked, [1, 3]);
    let Summary { items, already, done, partial, failed, left, .. } = summary;
    assert_eq!([items, already, done, partial, failed, left], [3, 1, 1, 0, 1, 0]);
}

#[tokio::test]
async fn a_run_that_nobody_answers_gives_up() {
    let (silent, answered) = ((Status::Failed, false), (Status::Failed, true));
    let (summary, asked) = ran(&[silent, silent, silent, silent], &[], None).await;
    assert!(summary.gave_up && asked.len() == 3 && summary.left == 1, "{summary:?}");
    // Once somebody has answered, the rest is asked.
    let (summary, asked) = ran(&[silent, answered, silent, silent, silent, silent], &[], None).await;
    assert!(!summary.gave_up && asked.len() == 6, "{summary:?}");
}

#[tokio::test]
async fn a_stopped_run_says_what_is_left() {
    let good = (Status::Succeeded, true);
    let (summary, asked) = ran(&[good, good, good], &[], Some(2)).await;
    assert!(summary.interrupted && asked == [1, 2] && summary.left + summary.done == 3, "{summary:?}");
}
