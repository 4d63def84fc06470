//! The figures, counted by hand.

use serde_json::json;

use super::*;

fn tasks(rows: &[(&str, &[&str], &[&str])]) -> Vec<PipelineTask> {
    let own = |list: &[&str]| list.iter().map(|id| (*id).to_owned()).collect();
    let task = |(id, before, after): &(&str, &[&str], &[&str])| PipelineTask {
        id: (*id).to_owned(),
        upstreams: own(before),
        downstreams: own(after),
        ..PipelineTask::default()
    };
    rows.iter().map(task).collect()
}

/// source → a → b → end, source → c → end.
fn truth() -> Example {
    let tasks = tasks(&[
        ("source", &["none"], &["a", "c"]),
        ("a", &["source"], &["b"]),
        ("b", &["a"], &["pipeline-end"]),
        ("c", &["source"], &["pipeline-end"]),
        ("pipeline-end", &["b", "c"], &["none"]),
    ]);
    Example { id: "x-example-1".to_owned(), base_pipeline_id: "x".to_owned(), tasks, ..Example::default() }
}

#[test]
fn the_same_plan_is_all_right_whatever_the_order() {
    let mut planned = truth().tasks;
    planned.reverse();
    for task in &mut planned {
        task.upstreams.reverse();
        task.downstreams.reverse();
        task.sample_reasoning.insert("z".to_owned(), "other words".to_owned());
    }
    let sample = compare(&truth(), &planned);
    assert!(sample.all_match);
    assert_eq!((sample.tasks_matched, sample.tasks_true, sample.tasks_extra), (5, 5, 0));
    assert_eq!((sample.paths_matched, sample.paths_true, sample.paths_extra), (2, 2, 0));
}

#[test]
fn half_the_paths_are_half_a_point() {
    // Without `b`: source → a → end and source → c → end.
    let planned = tasks(&[
        ("source", &["none"], &["a", "c"]),
        ("a", &["source"], &["pipeline-end"]),
        ("c", &["source"], &["pipeline-end"]),
        ("pipeline-end", &["a", "c"], &["none"]),
    ]);
    let half = compare(&truth(), &planned);
    assert!(!half.all_match);
    assert_eq!((half.tasks_matched, half.tasks_extra), (2, 2));
    assert_eq!((half.paths_matched, half.paths_true, half.paths_extra), (1, 2, 1));
    let none = Sample { error: Some("no plan".to_owned()), ..compare(&truth(), &[]) };
    assert_eq!((none.all_match, none.paths_matched), (false, 0));
    let right = compare(&truth(), &truth().tasks);
    let other = Sample { category: "y".to_owned(), ..right.clone() };
    let figures = Evaluation::of(vec![half, none, right, other], 3);
    assert_eq!((figures.samples, figures.failed, figures.few_shots), (4, 1, 3));
    assert_eq!((figures.exact_match, figures.path_recall), (0.5, 0.625));
    assert_eq!(json!(figures.categories["y"]), json!({"samples": 1, "exact_match": 1.0, "path_recall": 1.0}));
    assert_eq!(Evaluation::of(Vec::new(), 0).exact_match, 0.0);
    insta::assert_snapshot!(figures.tasks_report());
    insta::assert_snapshot!(figures.paths_report());
}

#[test]
fn one_wrong_word_is_a_wrong_task_but_not_a_wrong_path() {
    let mut planned = truth().tasks;
    planned[1].outputs_for_downstreams.push("boxes".to_owned());
    let sample = compare(&truth(), &planned);
    assert!(!sample.all_match);
    assert_eq!((sample.tasks_matched, sample.tasks_extra, sample.paths_matched), (4, 1, 2));
}

#[test]
fn graphs_that_are_none_end_too() {
    let circle = tasks(&[("source", &[], &["a"]), ("a", &[], &["b"]), ("b", &[], &["a", "ghost"])]);
    assert_eq!(paths(&circle).len(), 0);
    assert_eq!(paths(&[]).len(), 0);
    // Twenty layers of four tasks: more paths than anybody counts.
    let mut wide = tasks(&[("source", &[], &["0-0", "0-1", "0-2", "0-3"]), ("pipeline-end", &[], &[])]);
    for layer in 0..20 {
        let after: Vec<String> = match layer {
            19 => vec!["pipeline-end".to_owned()],
            _ => (0..4).map(|at| format!("{}-{at}", layer + 1)).collect(),
        };
        wide.extend((0..4).map(|at| PipelineTask {
            id: format!("{layer}-{at}"),
            downstreams: after.clone(),
            ..PipelineTask::default()
        }));
    }
    assert_eq!(paths(&wide).len(), MAX_PATHS);
}
