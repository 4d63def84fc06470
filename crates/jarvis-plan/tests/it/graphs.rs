//! Order and levels.

use jarvis_plan::{TaskId, graph};

use crate::planned;

const DIAMOND: &str = r#"[
    {"task":"text-to-speech","id":3,"dep":[1,2],"args":{"text":"d"}},
    {"task":"text-to-speech","id":1,"dep":[0],"args":{"text":"b"}},
    {"task":"text-to-speech","id":2,"dep":[0],"args":{"text":"c"}},
    {"task":"text-to-speech","id":0,"dep":[-1],"args":{"text":"a"}},
    {"task":"text-to-speech","id":4,"dep":[-1],"args":{"text":"e"}}]"#;

fn ids(ids: &[TaskId]) -> Vec<u32> {
    ids.iter().map(|id| id.0).collect()
}

#[test]
fn order_and_levels_of_a_diamond() {
    let plan = planned(DIAMOND);
    assert_eq!(ids(&graph::topological_order(&plan)), [0, 1, 2, 3, 4]);
    let stages: Vec<Vec<u32>> = graph::stages(&plan).iter().map(|stage| ids(stage)).collect();
    assert_eq!(stages, [vec![0, 4], vec![1, 2], vec![3]]);
}

#[test]
fn an_empty_plan_has_no_levels() {
    let plan = planned("[]");
    assert!(graph::stages(&plan).is_empty());
}
