//! The published samples, where they are: they are not ours to copy. A test says so when it is skipped; each has a sister on
//! data of our own.

use std::path::{Path, PathBuf};
use std::process::Command;

use jarvis_easytool::data::read_restbench;
use jarvis_easytool::funcqa::Kind;
use jarvis_easytool::instructions::read_endpoints;
use jarvis_easytool::log::read_paths;
use jarvis_easytool::score::restbench;

use crate::instruct;
use crate::mock_api::check_examples;
use crate::replays::check_file;
use crate::scores::{check_toolbench, funcqa_counts, planned, restbench_counts, retrieved};

/// A file of the published samples; `None`, with a note, where they are not.
fn published(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/easytool").join(name);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

fn both(one: &str, other: &str) -> Option<(PathBuf, PathBuf)> {
    Some((published(one)?, published(other)?))
}

/// A published document unpacked into a folder; `None`, with a note, where it or `gzip` is not.
fn unpacked(folder: &Path, name: &str) -> Option<PathBuf> {
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

#[test]
fn funcqa_samples_get_their_verdicts() {
    for (name, expected) in [
        ("funcqa_multihop_replay.sample.jsonl", [14, 0, 1, 1, 1, 1]),
        ("funcqa_onehop_replay.sample.jsonl", [12, 7, 8, 8, 6, 7]),
    ] {
        if let Some(path) = published(name) {
            assert_eq!(funcqa_counts(&path), expected, "{name}");
        }
    }
}

#[tokio::test]
async fn restbench_samples_get_their_paths_and_verdicts() {
    let Some((cases, tools)) = both("restbench_replay.sample.jsonl", "tmdb_tool.json") else { return };
    assert_eq!(planned(&cases, &tools).await, 20);
    assert_eq!(restbench_counts(&cases, &tools), [9, 7, 7, 7]);
}

#[test]
fn a_published_log_is_scored_against_the_published_questions() {
    let Some((log, data)) = both("restbench_replay.sample.jsonl", "restbench_tmdb.json") else { return };
    let questions = read_restbench(&data).unwrap();
    let rows: Vec<_> = read_paths(&log).unwrap().rows.into_iter().take(10).collect();
    let score = restbench::score(&questions, &rows, None);
    assert_eq!(
        (score.coverage.n, score.coverage.missing.len(), score.coverage.unmatched.len(), score.coverage.repeated),
        (100, 90, 0, 0)
    );
    assert_eq!((score.correct_path.count, score.exact.count, score.untrimmed.count), (7, 6, 6));
    assert_eq!(score.mean_extra_calls, Some(1.0 / 7.0));
}

#[test]
fn toolbench_samples_are_read() {
    if let Some(path) = published("toolbench_replay.sample.jsonl") {
        check_toolbench(&path);
    }
}

#[test]
fn published_retrievals_hold() {
    if let Some(path) = published("retrieval_oracle.sample.jsonl") {
        assert!(retrieved(&path) > 0);
    }
}

#[tokio::test]
async fn published_documents_become_small_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (name, endpoints, least, executed, untested) in
        [("tmdb_oas.json.gz", 54, 95.0, 54, 0), ("spotify_oas.json.gz", 40, 80.0, 23, 17)]
    {
        let Some(path) = unpacked(folder.path(), name) else { continue };
        let (usages, report) = instruct::check(&path).await;
        assert_eq!(usages.len(), endpoints, "{name}");
        assert!(report.saved_percent >= least, "{name}: {report:?}");
        check_examples(&path, executed, untested).await;
        if name.starts_with("tmdb") {
            for known in read_endpoints(&published("tmdb_tool.json").unwrap()).unwrap() {
                assert!(usages.contains(&known.tool_usage), "{}", known.tool_usage);
            }
        }
    }
}
