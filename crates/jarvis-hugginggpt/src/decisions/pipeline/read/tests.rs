//! Replies in every shape that models have given.

use serde_json::json;

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
    check("[]", &[]);
    check(r#"{"tasks": []}"#, &[]);
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
fn models_come_in_the_task_or_beside_it() {
    check(r#"[{"id":"b","model_id":"m1"}]"#, &["b (m1):  -> "]);
    check(
        r#"{"models":[{"task_id":"b","id":"m1","reason":"r"},{"task_id":"c","id":"m2"}]}"#,
        &["b (m1):  -> ", "c (m2):  -> "],
    );
    check(r#"{"models":[{"task_id":"b","id":"m1","upstreams":["source"]}],"total":1}"#, &["b (m1): source -> "]);
    check(r#"[{"id":"b","model_id":null},{"id":"c","model_id":"None"}]"#, &["b (none):  -> ", "c (none):  -> "]);
    let read = reply(r#"{"models":[{"task_id":"b","id":"m1","reason":"it is quick"}]}"#).unwrap();
    assert_eq!(read.tasks[0].model_chosen_reason, "it is quick");
    let read = reply(r#"[{"id":"b","model_id":"m1","model_chosen_reason":"r"}]"#).unwrap();
    assert_eq!(read.tasks[0].model_chosen_reason, "r");
}

#[test]
fn fields_are_forgiven() {
    check(r#"[{"id":"b","upstreams":"source","downstreams":"c, d"}]"#, &["b (none): source -> c,d"]);
    check(r#"[{"id":"b","upstreams":null,"downstreams":[1,"c","c",null]}]"#, &["b (none):  -> c"]);
    check(
        r#"[{"task_id":"b"},{"no":"id"},7,{"id":""},{"id":"none"},{"id":"c"}]"#,
        &["b (none):  -> ", "c (none):  -> "],
    );
    for (value, want) in [
        (json!({"c": "why", "general": "x", "odd": 3}), json!({"c": "why", "odd": "3"})),
        (json!(["first", "second", "third"]), json!({"c": "first", "d": "second"})),
        (json!([{"c": "why"}, {"d": "so"}]), json!({"c": "why", "d": "so"})),
        (json!("one text for two"), json!({})),
        (json!(null), json!({})),
        (json!({"c": "a\nb\u{202e}"}), json!({"c": "a b"})),
    ] {
        let read = task(&json!({"id": "b", "downstreams": ["c", "d"], "sample-reasoning": value})).unwrap();
        assert_eq!(json!(read.sample_reasoning), want);
    }
}

#[test]
fn what_is_no_plan_is_refused_in_words_a_model_can_act_on() {
    for text in ["", "I cannot do that.", r#"{"id":"#, r#"["a","b"]"#, r#"[{"x":1}]"#, "7", "null", r#""text""#] {
        let error = reply(text).unwrap_err();
        assert!(!error.is_empty() && error.len() < 1_000, "{text}: {error}");
    }
    // An element of a list that is none is left out, and told.
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
