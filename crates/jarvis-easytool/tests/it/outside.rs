//! The published samples, where they are: they are not ours to copy. A test says so when it is skipped.

mod score;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use jarvis_catalogue::VectorIndex;
use jarvis_chat::Replay;
use jarvis_easytool::funcqa::Kind;
use jarvis_easytool::instructions::{EndpointInstruction, read_endpoints};
use jarvis_easytool::restbench::{Restbench, Scenario};
use jarvis_easytool::stage::Untraced;
use jarvis_prompt::literal::Literal;
use serde_json::Value;

use crate::converter::Case;
use crate::instruct;
use crate::mock_api::check_examples;
use crate::replays::check_file;

/// A file of the published samples; `None`, with a note, where they are not.
#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) fn published(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/easytool").join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

#[tokio::test]
async fn published_clean_cases_come_out_the_same() {
    for (name, kind, clean) in [
        ("funcqa_multihop_replay.sample.jsonl", Kind::MultiHop, 6),
        ("funcqa_onehop_replay.sample.jsonl", Kind::OneHop, 6),
    ] {
        if let Some(path) = published(name) {
            assert_eq!(check_file(&path, kind).await, clean, "{name}");
        }
    }
}

#[tokio::test]
async fn published_paths_come_out_the_same() {
    let (Some(cases), Some(tools)) = (published("restbench_replay.sample.jsonl"), published("tmdb_tool.json")) else {
        return;
    };
    let endpoints: Vec<EndpointInstruction> = read_endpoints(&tools).unwrap();
    let mut checked = 0;
    for line in std::fs::read_to_string(cases).unwrap().lines() {
        let case = Case::read(line);
        let replay = Arc::new(Replay::parse("case", &case.restbench()).unwrap());
        let pipeline = Restbench::new(replay, Arc::new(Untraced), endpoints.clone(), Scenario::Tmdb.service()).unwrap();
        let record = pipeline.answer(1, case.text("question")).await;
        let path: Vec<&str> = case.list("tool_path").iter().filter_map(Literal::as_text).collect();
        assert_eq!(record.tool_choice_ls, path, "{}", case.text("id"));
        checked += 1;
    }
    assert_eq!(checked, 20);
}

#[test]
fn published_retrievals_hold() {
    let Some(path) = published("retrieval_oracle.sample.jsonl") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    for line in text.lines().filter(|line| !line.is_empty()) {
        let case: Value = serde_json::from_str(line).unwrap();
        let rows = case["catalogue"].as_array().unwrap();
        let ids: Vec<i64> = rows.iter().map(|row| row["id"].as_i64().unwrap()).collect();
        let index = VectorIndex::build(rows.iter().map(|row| numbers(&row["vector"]))).unwrap();
        let k = usize::try_from(case["k"].as_u64().unwrap()).unwrap();
        let hits = index.top_k(&numbers(&case["query"]), k).unwrap();
        let found: Vec<i64> = hits.iter().map(|hit| ids[hit.row]).collect();
        assert_eq!(serde_json::json!(found), case["result"], "{}", case["id"]);
        for (hit, similarity) in hits.iter().zip(numbers(&case["similarity"])) {
            assert!((hit.score - similarity).abs() < 1e-8, "{}: {hit:?}, not {similarity}", case["id"]);
        }
    }
}

#[tokio::test]
async fn tmdb_becomes_small_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(path) = unpacked(folder.path(), "tmdb_oas.json.gz") else { return };
    let (usages, report) = instruct::check(&path).await;
    eprintln!("{report:?}");
    assert!(report.saved_percent >= 95.0, "{report:?}");
    for known in read_endpoints(&published("tmdb_tool.json").unwrap()).unwrap() {
        assert!(usages.contains(&known.tool_usage), "{}", known.tool_usage);
    }
    assert_eq!(usages.len(), 54);
}

#[tokio::test]
async fn spotify_becomes_small_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(path) = unpacked(folder.path(), "spotify_oas.json.gz") else { return };
    let (usages, report) = instruct::check(&path).await;
    eprintln!("{report:?}");
    assert_eq!(usages.len(), 40);
    assert!(report.saved_percent >= 80.0, "{report:?}");
}

/// A published document unpacked into a folder; `None`, with a note, where it or `gzip` is not.
pub(crate) fn unpacked(folder: &Path, name: &str) -> Option<PathBuf> {
    let path = published(name)?;
    let Ok(unpacked) = Command::new("gzip").arg("-dc").arg(&path).output() else {
        eprintln!("skipped: there is no gzip");
        return None;
    };
    let to = folder.join("document.json");
    std::fs::write(&to, unpacked.stdout).unwrap();
    Some(to)
}

#[tokio::test]
async fn every_published_example_can_be_executed() {
    let folder = tempfile::tempdir().unwrap();
    for (name, executed, untested) in [("tmdb_oas.json.gz", 54, 0), ("spotify_oas.json.gz", 23, 17)] {
        if let Some(path) = unpacked(folder.path(), name) {
            check_examples(&path, executed, untested).await;
        }
    }
}
