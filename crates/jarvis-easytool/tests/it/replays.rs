//! Questions answered again from what a model once said: calls, results, answers and verdict come out the same.

use std::path::Path;
use std::sync::Arc;

use jarvis_chat::Replay;
use jarvis_easytool::funcqa::{Funcqa, Kind};
use jarvis_easytool::log::{SolveRecord, Status};
use jarvis_easytool::stage::Limits;
use jarvis_prompt::literal::Literal;
use jarvis_tools::hub::Mode;
use jarvis_tools::local::HubFunction;

use crate::converter::Case;

async fn answered(case: &Case, kind: Kind) -> SolveRecord {
    let replay = Replay::parse("case", &case.funcqa()).unwrap();
    let mut pipeline = Funcqa::new(Arc::new(replay), Arc::new(HubFunction::registry(Mode::Compat)));
    pipeline.limits = Limits { concurrency: 1, ..Limits::default() };
    Arc::new(pipeline).answer(1, case.text("question"), kind).await
}

/// Everything that a clean case must reproduce.
async fn check(case: &Case, kind: Kind) {
    let id = case.text("id").to_owned();
    let record = answered(case, kind).await;
    assert_eq!((record.status, record.errors.len()), (Status::Succeeded, 0), "{id}: {:?}", record.errors);
    let steps = case.list("steps");
    let field = |step: &Literal, name: &str| step.field(name).cloned().unwrap();
    let text = |step: &Literal, name: &str| field(step, name).as_text().unwrap().to_owned();

    let calls: Vec<(String, String)> =
        record.calls.iter().map(|call| (call.arguments.to_string(), call.result.clone().unwrap_or_default())).collect();
    let expected: Vec<(String, String)> = steps
        .iter()
        .flat_map(|step| {
            let parameters = field(step, "parameters");
            let sets: Vec<Literal> = parameters.as_list().map_or_else(|| vec![parameters.clone()], <[Literal]>::to_vec);
            let calls = step.field("calls").and_then(Literal::as_list).unwrap().to_vec();
            sets.into_iter().zip(calls).map(|(set, call)| {
                (set.to_string(), call.field("result").and_then(Literal::as_text).unwrap_or_default().to_owned())
            })
        })
        .collect();
    assert_eq!(calls, expected, "{id}: calls");

    let log = &record.execute_log;
    let results: Vec<String> = steps.iter().map(|step| text(step, "logged_result")).collect();
    assert_eq!(log.call_result_ls, results, "{id}: results");
    let apis: Vec<(String, Literal)> =
        log.api_result_ls.iter().map(|apis| (apis[0].api_name.clone(), apis[0].parameters.clone())).collect();
    let expected: Vec<(String, Literal)> =
        steps.iter().map(|step| (text(&field(step, "tool"), "name"), field(step, "parameters"))).collect();
    assert_eq!(apis, expected, "{id}: APIs");
    let answers: Vec<(&str, &str)> =
        record.answer_subtask.iter().map(|one| (one.task.as_str(), one.answer.as_str())).collect();
    let expected: Vec<(String, String)> = steps.iter().map(|step| (text(step, "task"), text(step, "answer"))).collect();
    let expected: Vec<(&str, &str)> = expected.iter().map(|(task, answer)| (task.as_str(), answer.as_str())).collect();
    assert_eq!(answers, expected, "{id}: accepted answers");
    assert_eq!(record.final_answer, case.text("final_answer"), "{id}");
    assert_eq!(record.check_index, if case.text("answer_check") == "Yes" { 1 } else { -1 }, "{id}: verdict");
    if let Some(topology) = case.row.field("topology").and_then(Literal::as_list) {
        let said: Vec<(i64, Vec<i64>)> = topology
            .iter()
            .map(|row| {
                let dep = field(row, "dep").as_list().unwrap().iter().filter_map(Literal::id).collect();
                (field(row, "id").id().unwrap(), dep)
            })
            .collect();
        let ours: Vec<(i64, Vec<i64>)> = record.subtask.iter().map(|task| (task.id, task.dep.clone())).collect();
        assert_eq!(ours, said, "{id}: topology");
    }
}

/// Checks the clean cases of a file, and that the others end with a record all the same. Returns how many were clean.
pub(crate) async fn check_file(path: &Path, kind: Kind) -> usize {
    let mut clean = 0;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let case = Case::read(line);
        if case.is_clean() {
            check(&case, kind).await;
            clean += 1;
        }
    }
    clean
}

#[tokio::test]
async fn our_own_cases_come_out_the_same() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    assert_eq!(check_file(&data.join("multihop_replay.jsonl"), Kind::MultiHop).await, 2);
    assert_eq!(check_file(&data.join("onehop_replay.jsonl"), Kind::OneHop).await, 1);
}
