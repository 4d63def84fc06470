//! Whatever a model writes becomes a pipeline; properties over random tasks, and the cases one by one.

use std::collections::BTreeSet;

use jarvis_testing::rows;
use proptest::prelude::*;

use super::super::{SOURCE, read};
use super::*;

const KNOWN: Known<'_> = Known { tasks: &[], max_tasks: 32 };

fn task(id: &str, before: &[&str], after: &[&str]) -> PipelineTask {
    let own = |list: &[&str]| list.iter().map(|item| (*item).to_owned()).collect();
    PipelineTask { id: id.to_owned(), upstreams: own(before), downstreams: own(after), ..PipelineTask::default() }
}

#[test]
fn links_are_made_mutual_or_left_out() {
    type Row = (String, Vec<String>, Vec<String>);
    for (tasks, edges) in rows::<(Vec<Row>, Vec<(String, String)>)>(include_str!("cases.yaml"), "links") {
        let given = format!("{tasks:?}");
        let of = |(id, upstreams, downstreams)| PipelineTask { id, upstreams, downstreams, ..PipelineTask::default() };
        let (pipeline, notes) = repair(tasks.into_iter().map(of).collect(), KNOWN);
        let got: Vec<(String, String)> =
            pipeline.edges().into_iter().map(|(from, to)| (from.to_owned(), to.to_owned())).collect();
        assert_eq!(got, edges, "{given}: {notes:?}");
        assert_sound(&pipeline);
    }
}

/// Everything that must hold of a pipeline.
fn assert_sound(pipeline: &Pipeline) {
    let tasks = &pipeline.tasks;
    if tasks.is_empty() {
        return;
    }
    assert_eq!((tasks[0].id.as_str(), tasks[tasks.len() - 1].id.as_str()), (SOURCE, END));
    let ids: BTreeSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids.len(), tasks.len(), "ids are unique");
    for task in tasks {
        for (list, is_end) in [(&task.upstreams, task.id == SOURCE), (&task.downstreams, task.id == END)] {
            assert_eq!(list.as_slice() == [NONE], is_end, "{task:?}");
        }
        for id in task.after() {
            assert!(pipeline.task(id).is_some_and(|other| other.upstreams.contains(&task.id)), "{} -> {id}", task.id);
        }
        for id in task.before() {
            assert!(pipeline.task(id).is_some_and(|other| other.downstreams.contains(&task.id)), "{id} -> {}", task.id);
        }
        assert!(task.sample_reasoning.keys().all(|id| task.downstreams.contains(id)));
        assert!(!task.inputs_from_upstreams.is_empty() && !task.outputs_for_downstreams.is_empty());
        assert!(!task.model_id.is_empty());
    }
    // Taking away what nothing precedes, again and again, leaves nothing: there is no cycle.
    let mut left: BTreeSet<&str> = ids;
    while !left.is_empty() {
        let free: Vec<&str> = left
            .iter()
            .copied()
            .filter(|id| pipeline.task(id).is_some_and(|task| task.before().all(|before| !left.contains(before))))
            .collect();
        assert!(!free.is_empty(), "a cycle among {left:?}");
        left.retain(|id| !free.contains(id));
    }
}

#[test]
fn a_task_that_comes_twice_is_joined() {
    let mut again = task("A", &["source"], &["c"]);
    again.model_id = "m".to_owned();
    let (pipeline, notes) =
        repair(vec![task("a", &["source"], &["b"]), task("b", &[], &[]), task("c", &[], &[]), again], KNOWN);
    assert_sound(&pipeline);
    assert_eq!(
        pipeline.edges(),
        [("source", "a"), ("a", "b"), ("a", "c"), ("b", "pipeline-end"), ("c", "pipeline-end")]
    );
    assert_eq!(pipeline.task("a").unwrap().model_id, "m");
    assert!(notes.iter().any(|note| note.contains("more than once")), "{notes:?}");
}

#[test]
fn a_good_plan_is_left_as_it_is_without_a_word() {
    let text = r#"[{"id":"source","inputs_from_upstreams":["none"],"upstreams":["none"],"outputs_for_downstreams":["image"],"downstreams":["fire-detection","object-detection-general"],"sample-reasoning":{"fire-detection":"flames","object-detection-general":"people"}},
      {"id":"fire-detection","inputs_from_upstreams":["image"],"upstreams":["source"],"outputs_for_downstreams":["fire boxes"],"downstreams":["pipeline-end"],"sample-reasoning":{"pipeline-end":"last"}},
      {"id":"object-detection-general","inputs_from_upstreams":["image"],"upstreams":["source"],"outputs_for_downstreams":["person boxes"],"downstreams":["human-pose-detection"],"sample-reasoning":{"human-pose-detection":"falls"}},
      {"id":"human-pose-detection","inputs_from_upstreams":["person boxes"],"upstreams":["object-detection-general"],"outputs_for_downstreams":["poses"],"downstreams":["pipeline-end"],"sample-reasoning":{"pipeline-end":"last"}},
      {"id":"pipeline-end","inputs_from_upstreams":["fire boxes","poses"],"upstreams":["fire-detection","human-pose-detection"],"outputs_for_downstreams":["none"],"downstreams":["none"],"sample-reasoning":{}}]"#;
    let tasks = read::reply(text).unwrap().tasks;
    let (pipeline, notes) = repair(tasks.clone(), KNOWN);
    assert_eq!((pipeline.tasks, notes), (tasks, Vec::new()));
}

#[test]
fn what_was_left_out_is_filled_from_the_catalogue() {
    let face = ServiceTask { outputs: vec!["face boxes".to_owned()], ..ServiceTask::named("face-detection") };
    let known = Known { tasks: &[face], max_tasks: 32 };
    let (pipeline, _) =
        repair(vec![task("face-detection", &[], &["age"]), task("age", &[], &[]), task("source", &[], &[])], known);
    let words: Vec<(&str, &[String], &[String])> = (pipeline.tasks.iter())
        .map(|task| (task.id.as_str(), task.inputs_from_upstreams.as_slice(), task.outputs_for_downstreams.as_slice()))
        .collect();
    let [none, image, face] = ["none", "image", "face boxes"].map(|text| vec![text.to_owned()]);
    assert_eq!(
        words,
        [
            ("source", &*none, &*image),
            ("face-detection", &*image, &*face),
            ("age", &*face, &*none),
            ("pipeline-end", &*none, &*none)
        ]
    );
}

#[test]
fn a_plan_that_is_too_long_is_cut() {
    let tasks: Vec<PipelineTask> = (0..50).map(|at| task(&format!("t{at}"), &[], &[&format!("t{}", at + 1)])).collect();
    let (pipeline, notes) = repair(tasks, Known { max_tasks: 3, ..KNOWN });
    assert_sound(&pipeline);
    assert_eq!(pipeline.tasks.len(), 5);
    assert!(notes.iter().any(|note| note.contains("50 tasks")), "{notes:?}");
}

/// Tasks over a few names, with links that may dangle, repeat, and run in circles.
fn any_tasks() -> impl Strategy<Value = Vec<PipelineTask>> {
    let name = prop::sample::select(
        "source|pipeline-end|a|b|c|d|e-f|E_F|none|ghost||Source|end|g".split('|').collect::<Vec<_>>(),
    );
    let names = prop::collection::vec(name.clone(), 0..4);
    let reasons = prop::collection::vec((name.clone(), "[a-z ]{0,6}"), 0..3);
    prop::collection::vec((name, names.clone(), names.clone(), names, reasons), 0..9).prop_map(|rows| {
        rows.into_iter()
            .map(|(id, before, after, words, reasons)| {
                let mut task = task(id, &before, &after);
                task.outputs_for_downstreams = words.iter().map(|word| (*word).to_owned()).collect();
                task.sample_reasoning = reasons.into_iter().map(|(id, why)| (id.to_owned(), why)).collect();
                task
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_plan_is_made_sound(tasks in any_tasks()) {
        let (pipeline, _) = repair(tasks, KNOWN);
        assert_sound(&pipeline);
    }

    #[test]
    fn what_is_sound_stays_as_it_is(tasks in any_tasks()) {
        let (once, _) = repair(tasks, KNOWN);
        let (twice, notes) = repair(once.tasks.clone(), KNOWN);
        prop_assert_eq!(twice, once);
        prop_assert_eq!(notes, Vec::<String>::new());
    }

    #[test]
    fn whatever_is_read_is_made_sound(tasks in any_tasks(), cut in 0_usize..4_000, text in "[\\[\\]{}\",:a-e \\\\]{0,40}") {
        let mut whole = serde_json::to_string(&tasks).unwrap();
        whole.truncate(cut.min(whole.len()));
        for text in [whole, text] {
            if let Ok(read) = read::reply(&text) {
                assert_sound(&repair(read.tasks, KNOWN).0);
            }
        }
    }
}
