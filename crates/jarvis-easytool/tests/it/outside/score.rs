//! Scores of the published samples: the verdicts that came with them, and what files of them score.

use std::path::Path;

use indexmap::IndexMap;
use jarvis_easytool::data::{FuncqaQuestion, RestQuestion};
use jarvis_easytool::instructions::read_endpoints;
use jarvis_easytool::log::{read_answers, read_paths};
use jarvis_easytool::score::{funcqa, numbers::Number, restbench};
use serde_json::Value;

use super::published;

/// The rows of a sample as they are written.
fn rows(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn funcqa_samples_get_their_verdicts() {
    // File, rows, and how many are strict by the last number, by any, lenient, strict and within 1 % by the last call.
    for (name, expected) in [
        ("funcqa_multihop_replay.sample.jsonl", [14, 0, 1, 1, 1, 1]),
        ("funcqa_onehop_replay.sample.jsonl", [12, 7, 8, 8, 6, 7]),
    ] {
        let Some(path) = published(name) else { continue };
        let log = read_answers(&path).unwrap();
        let rows = rows(&path);
        assert!(log.notes.is_empty(), "{:?}", log.notes);
        let mut counts = [rows.len(), 0, 0, 0, 0, 0];
        for (row, answer) in rows.iter().zip(&log.rows) {
            let gold = row["gold"]["answer"].to_string();
            let question = format!("{{\"question\":\"\",\"answer\":{gold}}}");
            let question: FuncqaQuestion = serde_json::from_str(&question).unwrap();
            let gold = Number::of(&question.answer).unwrap();
            let verdict = funcqa::Verdict::of(&gold, answer);
            let found = [
                ("strict_last_number", verdict.strict_last_number),
                ("strict_any_number", verdict.any),
                ("lenient_any_number", verdict.lenient),
                ("last_call_strict", verdict.last_call_strict),
                ("last_call_1pct", verdict.last_call_1pct),
            ];
            for (at, (name, yes)) in found.into_iter().enumerate() {
                assert_eq!(row["verdict"][name], yes, "{} {name}", row["id"]);
                counts[at + 1] += usize::from(yes);
            }
            assert_eq!(verdict.strict, verdict.strict_last_number, "there is no value beside the text");
            assert_eq!(answer.human_check, Some(row["human_check"] == 1));
        }
        assert_eq!(counts, expected, "{name}");
    }
}

#[test]
fn restbench_samples_get_their_verdicts() {
    let (Some(path), Some(tools)) = (published("restbench_replay.sample.jsonl"), published("tmdb_tool.json")) else {
        return;
    };
    let tools: IndexMap<i64, String> =
        read_endpoints(&tools).unwrap().into_iter().map(|tool| (tool.id, tool.tool_usage)).collect();
    let log = read_paths(&path).unwrap();
    let rows = rows(&path);
    assert_eq!((rows.len(), log.rows.len()), (20, 20));
    let mut counts = [0; 4];
    for (row, answer) in rows.iter().zip(&log.rows) {
        let gold: RestQuestion =
            serde_json::from_value(serde_json::json!({"query": row["question"], "solution": row["gold_raw"]})).unwrap();
        let verdict = restbench::Verdict::of(&gold.solution, answer.path.as_ref().unwrap());
        let found = [
            ("correct_path", verdict.correct_path),
            ("exact", verdict.exact),
            ("contiguous", verdict.contiguous),
            ("correct_path_untrimmed", verdict.untrimmed),
        ];
        for (at, (name, yes)) in found.into_iter().enumerate() {
            assert_eq!(row["verdict"][name], yes, "{} {name}", row["id"]);
            counts[at] += usize::from(yes);
        }
        if row["extractable"] == true {
            let extracted = restbench::extract_path(&answer.task_path, &tools);
            assert_eq!(&extracted.path, answer.path.as_ref().unwrap(), "{}", row["id"]);
        }
    }
    assert_eq!(counts, [9, 7, 7, 7]);
}

#[test]
fn a_published_log_is_scored_against_the_published_questions() {
    let (Some(log), Some(data)) = (published("restbench_replay.sample.jsonl"), published("restbench_tmdb.json")) else {
        return;
    };
    let questions = jarvis_easytool::data::read_restbench(&data).unwrap();
    let rows: Vec<_> = read_paths(&log).unwrap().rows.into_iter().take(10).collect();
    let score = restbench::score(&questions, &rows, None);
    assert_eq!((score.n, score.missing.len(), score.unmatched.len(), score.repeated), (100, 90, 0, 0));
    assert_eq!((score.correct_path.count, score.exact.count, score.untrimmed.count), (7, 6, 6));
    assert_eq!(score.mean_extra_calls, Some(1.0 / 7.0));
}

#[test]
fn toolbench_samples_are_read() {
    let Some(path) = published("toolbench_replay.sample.jsonl") else { return };
    let log = read_answers(&path).unwrap();
    for (row, answer) in rows(&path).iter().zip(&log.rows) {
        assert_eq!(row["query_id"].as_str(), answer.query_id.as_deref());
        assert_eq!(row["calls"].as_array().unwrap().len(), answer.calls.len());
        assert_eq!(row["final_answer"].as_str().unwrap(), answer.final_answer);
        assert!(answer.finished && !answer.gave_up && answer.number.is_none());
        assert!(answer.functions.iter().all(|function| function.name != "Finish"));
    }
}
