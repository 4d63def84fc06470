//! Scores and retrieval against figures of an independent implementation: of our own samples (`tests/data/README.md`), and
//! by `outside` of the published ones.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_catalogue::VectorIndex;
use jarvis_chat::Replay;
use jarvis_easytool::data::{FuncqaQuestion, RestQuestion, read_restbench};
use jarvis_easytool::instructions::read_endpoints;
use jarvis_easytool::log::{read_answers, read_paths};
use jarvis_easytool::restbench::Restbench;
use jarvis_easytool::score::numbers::Number;
use jarvis_easytool::score::{Rate, funcqa, restbench};
use jarvis_prompt::literal::Literal;
use serde_json::{Value, json};

use crate::converter::Case;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

pub(crate) fn rows(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Compares verdicts with those of a row, and counts those that hold.
fn compare(row: &Value, verdicts: &[(&str, bool)], counts: &mut [usize]) {
    for ((name, holds), count) in verdicts.iter().zip(counts) {
        assert_eq!(row["verdict"][name], *holds, "{} {name}", row["id"]);
        *count += usize::from(*holds);
    }
}

/// Checks the verdict of each row. How many there are, and how many are strict by the last number, by any, lenient, strict
/// and within 1 % by the last call.
pub(crate) fn funcqa_counts(path: &Path) -> [usize; 6] {
    let (log, rows) = (read_answers(path).unwrap(), rows(path));
    assert!(log.notes.is_empty(), "{:?}", log.notes);
    let mut counts = [rows.len(), 0, 0, 0, 0, 0];
    for (row, answer) in rows.iter().zip(&log.rows) {
        let verdict = funcqa::Verdict::of(&Number::of(&Literal::from(&row["gold"]["answer"])).unwrap(), answer);
        let verdicts = [
            ("strict_last_number", verdict.strict_last_number),
            ("strict_any_number", verdict.any),
            ("lenient_any_number", verdict.lenient),
            ("last_call_strict", verdict.last_call_strict),
            ("last_call_1pct", verdict.last_call_1pct),
        ];
        compare(row, &verdicts, &mut counts[1..]);
        assert_eq!(verdict.strict, verdict.strict_last_number, "there is no value beside the text");
        assert_eq!(answer.human_check, Some(row["human_check"] == 1));
    }
    counts
}

/// Checks the verdict of each row, and its path where it follows from the plan. How many are correct, exact, contiguous and
/// correct as they are written.
pub(crate) fn restbench_counts(path: &Path, tools: &Path) -> [usize; 4] {
    let tools: IndexMap<i64, String> =
        read_endpoints(tools).unwrap().into_iter().map(|tool| (tool.id, tool.tool_usage)).collect();
    let log = read_paths(path).unwrap();
    let mut counts = [0; 4];
    for (row, answer) in rows(path).iter().zip(&log.rows) {
        let gold: RestQuestion =
            serde_json::from_value(json!({"query": row["question"], "solution": row["gold_raw"]})).unwrap();
        let verdict = restbench::Verdict::of(&gold.solution, answer.path.as_ref().unwrap());
        let verdicts = [
            ("correct_path", verdict.correct_path),
            ("exact", verdict.exact),
            ("contiguous", verdict.contiguous),
            ("correct_path_untrimmed", verdict.untrimmed),
        ];
        compare(row, &verdicts, &mut counts);
        if row["extractable"] == true {
            let extracted = restbench::extract_path(&answer.task_path, &tools);
            assert_eq!(&extracted.path, answer.path.as_ref().unwrap(), "{}", row["id"]);
        }
    }
    counts
}

/// Lets the pipeline plan each case by its recorded reply: the path is that of the row. How many there are.
pub(crate) async fn planned(cases: &Path, tools: &Path) -> usize {
    let endpoints = read_endpoints(tools).unwrap();
    let mut checked = 0;
    for line in std::fs::read_to_string(cases).unwrap().lines() {
        let case = Case::read(line);
        let replay = Arc::new(Replay::parse("case", &case.restbench()).unwrap());
        let pipeline = Restbench::new(replay, endpoints.clone(), "a database of movies");
        let record = pipeline.answer(1, case.text("question")).await;
        let path: Vec<&str> = case.list("tool_path").iter().map(|step| step.as_text().unwrap()).collect();
        assert_eq!(record.tool_choice_ls, path, "{}", case.text("id"));
        checked += 1;
    }
    checked
}

/// Checks the nearest vectors of each row and their similarities. How many rows there are.
pub(crate) fn retrieved(path: &Path) -> usize {
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let cases = rows(path);
    for case in &cases {
        let rows = case["catalogue"].as_array().unwrap();
        let ids: Vec<i64> = rows.iter().map(|row| row["id"].as_i64().unwrap()).collect();
        let index = VectorIndex::build(rows.iter().map(|row| numbers(&row["vector"]))).unwrap();
        let k = usize::try_from(case["k"].as_u64().unwrap()).unwrap();
        let hits = index.top_k(&numbers(&case["query"]), k).unwrap();
        let found: Vec<i64> = hits.iter().map(|hit| ids[hit.row]).collect();
        assert_eq!(json!(found), case["result"], "{}", case["id"]);
        for (hit, similarity) in hits.iter().zip(numbers(&case["similarity"])) {
            assert!((hit.score - similarity).abs() < 1e-8, "{}: {hit:?}, not {similarity}", case["id"]);
        }
    }
    cases.len()
}

/// Checks that queries, calls, answers and functions of ToolBench's samples are read as they are written.
pub(crate) fn check_toolbench(path: &Path) {
    let log = read_answers(path).unwrap();
    for (row, answer) in rows(path).iter().zip(&log.rows) {
        assert_eq!(row["query_id"].as_str(), answer.query_id.as_deref());
        assert_eq!(row["calls"].as_array().unwrap().len(), answer.calls.len());
        assert_eq!(row["final_answer"].as_str().unwrap(), answer.final_answer);
        assert!(answer.finished && !answer.gave_up && answer.number.is_none());
        assert!(answer.functions.iter().all(|function| function.name != "Finish"));
    }
}

/// Compares rates with those of the independent implementation.
fn check_rates(expected: &Value, rates: &[(&str, Rate)]) {
    for (name, rate) in rates {
        let expected = &expected[name];
        assert_eq!((json!(rate.count), json!(rate.n)), (expected["count"].clone(), expected["n"].clone()), "{name}");
        for (figure, found) in [("rate", rate.rate), ("low", rate.low), ("high", rate.high)] {
            let off = (found.unwrap() - expected[figure].as_f64().unwrap()).abs();
            assert!(off < 1e-12, "{name} {figure}: off by {off}");
        }
    }
}

#[test]
fn answers_score_as_an_independent_implementation_says() {
    let expected: Value = serde_json::from_slice(&std::fs::read(data("expected.json")).unwrap()).unwrap();
    let path = data("funcqa_scores.jsonl");
    assert_eq!(funcqa_counts(&path), [8, 2, 4, 6, 4, 5]);
    let question = |question: &Value, answer: &Value| FuncqaQuestion {
        question: question.as_str().unwrap().to_owned(),
        answer: Literal::from(answer),
        calculation: Vec::new(),
    };
    let asked = rows(&path);
    let asked = asked.iter().map(|row| question(&row["question"], &row["gold"]["answer"]));
    let questions: Vec<FuncqaQuestion> = asked.chain([question(&json!("Not asked?"), &json!(1))]).collect();
    let score = funcqa::score(&questions, &read_answers(&path).unwrap().rows);
    let rates = [
        ("strict_last_number", score.strict_last_number),
        ("strict_any_number", score.any),
        ("lenient_any_number", score.lenient),
        ("last_call_strict", score.last_call_strict),
        ("last_call_1pct", score.last_call_1pct),
    ];
    check_rates(&expected["funcqa"], &rates);
    assert_eq!(score.coverage.missing, [9]);
}

#[tokio::test]
async fn paths_score_as_an_independent_implementation_says() {
    let expected: Value = serde_json::from_slice(&std::fs::read(data("expected.json")).unwrap()).unwrap();
    let (path, tools) = (data("restbench_replay.jsonl"), data("endpoints.json"));
    assert_eq!(restbench_counts(&path, &tools), [4, 1, 3, 2]);
    assert_eq!(planned(&path, &tools).await, 6);
    let questions = read_restbench(&data("restbench_questions.jsonl")).unwrap();
    let score = restbench::score(&questions, &read_paths(&path).unwrap().rows, None);
    let rates = [
        ("correct_path", score.correct_path),
        ("exact", score.exact),
        ("contiguous", score.contiguous),
        ("correct_path_untrimmed", score.untrimmed),
    ];
    check_rates(&expected["restbench"], &rates);
    assert_eq!(json!(score.mean_extra_calls), expected["restbench"]["mean_extra_calls"]);
    assert_eq!(score.coverage.missing, [7]);
}

#[test]
fn nearest_vectors_are_those_of_an_independent_implementation() {
    assert_eq!(retrieved(&data("retrieval_oracle.jsonl")), 5);
}

#[test]
fn toolbench_samples_are_read() {
    check_toolbench(&data("toolbench_replay.jsonl"));
}
