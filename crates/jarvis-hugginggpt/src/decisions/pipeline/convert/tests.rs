//! Levels and edges are what they must be.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::decisions::pipeline::PipelineTask;
use crate::decisions::pipeline::repair::{Known, repair};

fn task(id: &str, before: &[&str], model: &str) -> PipelineTask {
    PipelineTask {
        id: id.to_owned(),
        model_id: model.to_owned(),
        upstreams: before.iter().map(|id| (*id).to_owned()).collect(),
        ..PipelineTask::default()
    }
}

fn pipeline(tasks: Vec<PipelineTask>) -> Pipeline {
    repair(tasks, Known { tasks: &[], max_tasks: 100 }).0
}

/// What must hold of every execution plan.
fn assert_sound(config: &Value) {
    let tasks = config["tasks"].as_array().unwrap();
    assert_eq!(config["total_tasks"], tasks.len());
    let level: BTreeMap<&str, u64> = tasks
        .iter()
        .map(|task| {
            (task["task_id"].as_str().unwrap(), task["execution_level"].as_u64().expect("every task has a level"))
        })
        .collect();
    let mut edges = BTreeSet::new();
    for edge in config["dag"]["edges"].as_array().unwrap() {
        let (from, to) = (edge["from"].as_str().unwrap(), edge["to"].as_str().unwrap());
        assert!(level[from] < level[to], "{from} -> {to}");
        assert!(edges.insert((from, to)), "an edge stands twice");
    }
    let mut seen = BTreeSet::new();
    for (at, entry) in config["execution_order"].as_array().unwrap().iter().enumerate() {
        let nodes = entry["tasks"].as_array().unwrap();
        assert!(!nodes.is_empty());
        assert_eq!((entry["level"].as_u64(), entry["parallel"].as_bool()), (Some(at as u64), Some(nodes.len() > 1)));
        for node in nodes {
            assert_eq!(level[node.as_str().unwrap()], at as u64);
            assert!(seen.insert(node.as_str().unwrap()), "a node stands in two levels");
        }
    }
    assert_eq!(seen.len(), tasks.len());
}

#[test]
fn a_pipeline_is_written_as_an_execution_plan() {
    let made = pipeline(vec![
        task("age", &["face"], "m-age"),
        task("face", &["source"], "m-face"),
        task("fire", &["source"], "none"),
    ]);
    let config = to_execution_config(&made, "who is there?");
    assert_sound(&config);
    assert_eq!(
        config["execution_order"],
        json!([
            {"level": 0, "parallel": false, "tasks": ["source"]},
            {"level": 1, "parallel": true, "tasks": ["face", "fire"]},
            {"level": 2, "parallel": false, "tasks": ["age"]},
            {"level": 3, "parallel": false, "tasks": ["pipeline-end"]},
        ])
    );
    let keys: Vec<&String> = config["tasks"][1].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["task_id", "task_type", "model_id", "model_reason", "args", "dependencies", "execution_level", "pipeline"]
    );
    assert_eq!(config["tasks"][1]["model_id"], "m-age");
    assert_eq!(config["user_request"], "who is there?");
    assert_eq!(config.to_string(), to_execution_config(&made, "who is there?").to_string());
    let empty = to_execution_config(&Pipeline::default(), "");
    assert_eq!(empty["dag"], json!({"nodes": [], "edges": []}));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_execution_plan_is_sound(links in prop::collection::vec((0_usize..10, 0_usize..10), 0..25), count in 0_usize..10) {
        let tasks = (0..count).map(|at| {
            let before: Vec<String> = links
                .iter()
                .filter(|(from, to)| *to == at && *from < count)
                .map(|(from, _)| format!("t{from}"))
                .collect();
            task(&format!("t{at}"), &before.iter().map(String::as_str).collect::<Vec<_>>(), "m")
        });
        let made = pipeline(tasks.collect());
        assert_sound(&to_execution_config(&made, "text"));
    }
}
