//! Replies in every shape that models have given.

use jarvis_testing::rows;
use serde_json::{Value, json};

use super::*;

/// Ids with their links and models, one line a task: `id (model): before -> after`.
fn lines(tasks: &[PipelineTask]) -> Vec<String> {
    let line = |task: &PipelineTask| {
        format!("{} ({}): {} -> {}", task.id, task.model_id, task.upstreams.join(","), task.downstreams.join(","))
    };
    tasks.iter().map(line).collect()
}

#[track_caller]
fn check(text: &str, want: &[&str]) {
    let read = reply(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(lines(&read.tasks), want, "{text}");
}

const A: &str = r#"{"id":"source","inputs_from_upstreams":["none"],"upstreams":["none"],"outputs_for_downstreams":["image"],"downstreams":["b"],"sample-reasoning":{"b":"why"}}"#;
const B: &str = r#"{"id":"b","inputs_from_upstreams":["image"],"upstreams":["source"],"outputs_for_downstreams":["boxes"],"downstreams":["pipeline-end"],"sample-reasoning":{}}"#;
const A_LINE: &str = "source (none): none -> b";
const B_LINE: &str = "b (none): source -> pipeline-end";

const CASES: &str = include_str!("cases.yaml");

#[test]
fn fields_are_forgiven() {
    for (text, want) in rows::<(String, Vec<String>)>(CASES, "replies") {
        check(&text, &want.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn the_list_is_found_wherever_it_stands() {
    check(&format!("[{A},{B}]"), &[A_LINE, B_LINE]);
    check(&format!(r#"{{"tasks":[{A},{B}]}}"#), &[A_LINE, B_LINE]);
    check(&format!(r#"{{"note":"as asked","tasks":[{A},{B}]}}"#), &[A_LINE, B_LINE]);
    check(&format!("```json\n[{A},\n{B},]\n```"), &[A_LINE, B_LINE]);
    check(&format!("<think>source first […]</think>Here it is:\n[{A}, {B}]\nDone."), &[A_LINE, B_LINE]);
    check(&format!("{A}\n{B}"), &[A_LINE, B_LINE]);
    check(&format!("{A},{B}"), &[A_LINE, B_LINE]);
    check(A, &[A_LINE]);
}

#[test]
fn of_a_reply_that_is_cut_off_the_whole_tasks_are_kept() {
    for end in [1, 20, 60, 130, B.len() - 1] {
        let part = &B[..end];
        check(&format!("[{A},{part}"), &[A_LINE]);
        check(&format!(r#"{{"tasks":[{A},{part}"#), &[A_LINE]);
        check(&format!("```json\n[{A},{part}"), &[A_LINE]);
    }
    let read = reply(&format!("[{A},{B},{}", &A[..30])).unwrap();
    assert_eq!(lines(&read.tasks), [A_LINE, B_LINE]);
    assert!(read.notes.iter().any(|note| note.contains("ends too early")), "{:?}", read.notes);
}

#[test]
fn the_reason_for_a_model_comes_under_two_names() {
    let read = reply(r#"{"models":[{"task_id":"b","id":"m1","reason":"it is quick"}]}"#).unwrap();
    assert_eq!(read.tasks[0].model_chosen_reason, "it is quick");
    let read = reply(r#"[{"id":"b","model_id":"m1","model_chosen_reason":"r"}]"#).unwrap();
    assert_eq!(read.tasks[0].model_chosen_reason, "r");
}

#[test]
fn reasons_come_in_every_shape() {
    for (value, want) in rows::<(Value, Value)>(CASES, "reasoning") {
        let read = task(&json!({"id": "b", "downstreams": ["c", "d"], "sample-reasoning": value})).unwrap();
        assert_eq!(json!(read.sample_reasoning), want, "{value}");
    }
}

#[test]
fn what_is_no_plan_is_refused_in_words_a_model_can_act_on() {
    for text in rows::<String>(CASES, "refused") {
        let error = reply(&text).unwrap_err();
        assert!(!error.is_empty() && error.len() < 1_000, "{text}: {error}");
    }
    // An element of a list that is none is left out, with a note.
    let read = reply(r#"[{"id":"a\nb"},{"id":"b"}]"#).unwrap();
    assert_eq!((read.tasks.len(), read.notes.len()), (1, 1));
}

#[test]
fn the_general_form_is_read_and_written() {
    let general = r#"[{"task":"face-detection","id":0,"dep":[-1],"args":{"image":"a.jpg"}},
        {"task":"age-classification","id":1,"dep":[0],"args":{"image":"<GENERATED>-0"}},
        {"task":"age-classification","id":2,"dep":[-1],"args":{"image":"<GENERATED-0>"}}]"#;
    check(
        general,
        &[
            "face-detection (none):  -> ",
            "age-classification (none): face-detection -> ",
            "age-classification-2 (none): face-detection -> ",
        ],
    );
    let read = reply(&format!("[{A},{B}]")).unwrap();
    let draft = to_draft(&read.tasks);
    assert_eq!(draft.tasks.len(), 1);
    let value = serde_json::from_str(&format!("[{A},{B}]")).unwrap();
    assert!(is_pipeline(&value) && !is_pipeline(&serde_json::from_str(general).unwrap()));
    let one_sided = r#"[{"id":"a","downstreams":["b"]},{"id":"b","upstreams":["none"]},{"id":"c","upstreams":["B"]}]"#;
    let draft = to_draft(&reply(one_sided).unwrap().tasks);
    let deps: Vec<(&str, &[i64])> = draft.tasks.iter().map(|task| (task.task.as_str(), task.dep.as_slice())).collect();
    assert_eq!(deps, [("a", &[][..]), ("b", &[0][..]), ("c", &[1][..])]);
}

#[test]
fn a_task_is_written_with_its_fields_in_order() {
    let read = reply(&format!("[{A}]")).unwrap();
    assert_eq!(
        serde_json::to_string(&read.tasks[0]).unwrap(),
        r#"{"id":"source","model_id":"none","inputs_from_upstreams":["none"],"upstreams":["none"],"outputs_for_downstreams":["image"],"downstreams":["b"],"model-chosen-reason":"","sample-reasoning":{"b":"why"}}"#
    );
    assert_eq!(serde_json::from_value::<PipelineTask>(json!(read.tasks[0])).unwrap(), read.tasks[0]);
}
