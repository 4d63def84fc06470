//! Cases of the check: ids, names, references, unfolding, cycles.

use jarvis_plan::{Arg, Draft, DraftRef, DraftTask, Limits, Note, NoteKind, check as run_check};

use crate::{compact, planned, vocabulary};

#[track_caller]
fn check(json: &str, want: &str, notes: &[&str]) {
    let plan = planned(json);
    assert_eq!(compact(&plan), want, "notes: {:?}", plan.notes());
    let got: Vec<String> = plan.notes().iter().map(ToString::to_string).collect();
    for note in notes {
        assert!(got.iter().any(|have| have.contains(note)), "no note says {note:?}: {got:?}");
    }
    if notes.is_empty() {
        assert_eq!(got, Vec::<String>::new());
    }
}

#[test]
fn references_in_every_spelling_become_dependencies() {
    for tag in ["<GENERATED>-0", "<GENERATED-0>", "<generated> - 0", "< Generated - 0 >"] {
        check(
            &format!(
                r#"[{{"task":"image-to-text","id":0,"dep":[-1],"args":{{"image":"/a.jpg"}}}},
                    {{"task":"text-to-speech","id":1,"dep":[-1],"args":{{"text":"{tag}"}}}}]"#
            ),
            "0:image-to-text<>(image=/a.jpg)\n1:text-to-speech<0>(text=<GENERATED>-0)",
            &[],
        );
    }
}

#[test]
fn explicit_order_survives_and_references_are_added_to_it() {
    check(
        r#"[{"task":"image-to-text","id":0,"dep":[-1],"args":{"image":"/a.jpg"}},
            {"task":"image-to-text","id":1,"dep":[-1,0],"args":{"image":"/b.jpg"}},
            {"task":"translation","id":2,"dep":[1],"args":{"text":"say <GENERATED>-0 in French"}}]"#,
        "0:image-to-text<>(image=/a.jpg)\n1:image-to-text<0>(image=/b.jpg)\n\
         2:translation<1,0>(text=say <GENERATED>-0 in French)",
        &[],
    );
}

#[test]
fn a_bare_reference_binds_to_the_nearest_earlier_task_of_the_kind() {
    check(
        r#"[{"task":"image-to-text","id":0,"args":{"image":"/a.jpg"}},
            {"task":"object-detection","id":1,"args":{"image":"/a.jpg"}},
            {"task":"text-to-speech","id":2,"args":{"text":"<GENERATED>"}}]"#,
        "0:image-to-text<>(image=/a.jpg)\n1:object-detection<>(image=/a.jpg)\n2:text-to-speech<0>(text=<GENERATED>-0)",
        &["bound to task 1"],
    );
    check(
        r#"[{"task":"text-to-speech","id":0,"args":{"text":"<GENERATED>"}}]"#,
        "0:text-to-speech<>(text=<GENERATED>) !UnboundReference { arg: \"text\" }",
        &[],
    );
}

#[test]
fn a_list_of_references_unfolds_and_later_tasks_follow_all_copies() {
    check(
        r#"[{"task":"image-to-image","id":0,"args":{"image":"/a.jpg"}},
            {"task":"image-to-image","id":1,"args":{"image":"/b.jpg"}},
            {"task":"image-to-text","id":2,"dep":[0,1],"args":{"image":"<GENERATED>-0, <GENERATED>-1"}},
            {"task":"text-to-speech","id":3,"dep":[2],"args":{"text":"<GENERATED>-2"}}]"#,
        "0:image-to-image<>(image=/a.jpg)\n1:image-to-image<>(image=/b.jpg)\n2:image-to-text<0>(image=<GENERATED>-0)\n\
         4:image-to-text<1>(image=<GENERATED>-1)\n3:text-to-speech<2,4>(text=<GENERATED>-2\n<GENERATED>-4)",
        &["tasks 3, 5"],
    );
}

#[test]
fn unfolding_spreads_through_media_arguments() {
    check(
        r#"[{"task":"image-to-image","id":0,"args":{"image":"/a.jpg"}},
            {"task":"image-to-image","id":1,"args":{"image":"/b.jpg"}},
            {"task":"image-to-image","id":2,"args":{"image":"<GENERATED>-0,<GENERATED>-1"}},
            {"task":"object-detection","id":3,"args":{"image":"<GENERATED>-2"}}]"#,
        "0:image-to-image<>(image=/a.jpg)\n1:image-to-image<>(image=/b.jpg)\n2:image-to-image<0>(image=<GENERATED>-0)\n\
         4:image-to-image<1>(image=<GENERATED>-1)\n3:object-detection<2>(image=<GENERATED>-2)\n\
         5:object-detection<4>(image=<GENERATED>-4)",
        &["tasks 3, 5", "tasks 3, 5"],
    );
}

#[test]
fn prose_with_references_is_a_template_and_does_not_unfold() {
    check(
        r#"[{"task":"image-to-text","id":0,"args":{"image":"/a.jpg"}},
            {"task":"image-to-text","id":1,"args":{"image":"/b.jpg"}},
            {"task":"translation","id":2,"args":{"text":"compare <GENERATED>-0, <GENERATED>-1"}}]"#,
        "0:image-to-text<>(image=/a.jpg)\n1:image-to-text<>(image=/b.jpg)\n\
         2:translation<0,1>(text=compare <GENERATED>-0, <GENERATED>-1)",
        &[],
    );
}

#[test]
fn forward_references_are_legal() {
    check(
        r#"[{"task":"text-to-speech","id":0,"args":{"text":"<GENERATED>-1"}},
            {"task":"image-to-text","id":1,"args":{"image":"/a.jpg"}}]"#,
        "0:text-to-speech<1>(text=<GENERATED>-1)\n1:image-to-text<>(image=/a.jpg)",
        &[],
    );
}

#[test]
fn cycles_lose_explicit_edges_first_and_newest_first() {
    check(
        r#"[{"task":"image-to-text","id":0,"dep":[2],"args":{"image":"/a.jpg"}},
            {"task":"translation","id":1,"dep":[0],"args":{"text":"<GENERATED>-0"}},
            {"task":"text-to-speech","id":2,"dep":[1],"args":{"text":"hello"}}]"#,
        "0:image-to-text<2>(image=/a.jpg)\n1:translation<0>(text=<GENERATED>-0)\n2:text-to-speech<>(text=hello)",
        &["task 3: dependency on task 2 made a cycle"],
    );
}

#[test]
fn a_cycle_of_references_fails_its_tasks_only() {
    check(
        r#"[{"task":"translation","id":0,"args":{"text":"<GENERATED>-1"}},
            {"task":"translation","id":1,"args":{"text":"<GENERATED>-0"}},
            {"task":"translation","id":2,"args":{"text":"<GENERATED>-2"}},
            {"task":"text-to-speech","id":3,"args":{"text":"hello"}}]"#,
        "0:translation<>(text=<GENERATED-1>) !ReferenceCycle\n1:translation<>(text=<GENERATED-0>) !ReferenceCycle\n\
         2:translation<>(text=<GENERATED-2>) !ReferenceCycle\n3:text-to-speech<>(text=hello)",
        &["tasks 1, 2 need each other's output", "task 3 needs its own output"],
    );
}

#[test]
fn ids_become_unique_and_dense() {
    check(
        r#"[{"task":"image-to-text","id":3,"args":{"image":"/a.jpg"}},
            {"task":"image-to-text","id":3,"args":{"image":"/b.jpg"}},
            {"task":"text-to-speech","id":9,"args":{"text":"<GENERATED>-3"}}]"#,
        "0:image-to-text<>(image=/a.jpg)\n2:image-to-text<>(image=/b.jpg)\n1:text-to-speech<0>(text=<GENERATED>-0)",
        &["used twice", "renumbered"],
    );
}

#[test]
fn a_dangling_reference_fails_its_task_and_never_meets_another_by_renumbering() {
    check(
        r#"[{"task":"image-to-text","id":0,"args":{"image":"/a.jpg"}},
            {"task":"text-to-speech","id":9,"args":{"text":"<GENERATED>-1"}}]"#,
        "0:image-to-text<>(image=/a.jpg)\n1:text-to-speech<>(text=<GENERATED-2>) !DanglingReference { to: 2 }",
        &["`<GENERATED>-1`, and no task", "renumbered"],
    );
}

#[test]
fn names_are_found_by_alias_and_unknown_ones_are_kept() {
    check(
        r#"[{"task":"TTS","id":0,"args":{"text":"a"}},{"task":"Text to Speech","id":1,"args":{"text":"b"}},
            {"task":"time-travel","id":2,"args":{"text":"c"}}]"#,
        "0:text-to-speech<>(text=a)\n1:text-to-speech<>(text=b)\n2:time-travel<>(text=c) !UnknownTask { nearest: [] }",
        &[],
    );
}

#[test]
fn dependencies_on_nothing_and_on_oneself_are_left_out() {
    check(
        r#"[{"task":"text-to-speech","id":0,"dep":[0,7,-1],"args":{"text":"a"}}]"#,
        "0:text-to-speech<>(text=a)",
        &["dependency on 0 (itself)", "dependency on 7 (not in the plan)"],
    );
}

#[test]
fn a_plan_has_a_limit() {
    let draft = Draft {
        tasks: (0..50).map(|id| DraftTask::new(id, "text-to-speech").arg("text", "a")).collect(),
        ..Draft::default()
    };
    let plan = run_check(&draft, &vocabulary(), Limits { max_tasks: 8 });
    assert_eq!(plan.tasks().len(), 8);
    assert!(plan.notes().iter().any(|note| note.kind == NoteKind::LeftOut && note.text.contains("only the first 8")));

    let mut draft =
        Draft { tasks: (0..6).map(|id| DraftTask::new(id, "image-to-image")).collect(), ..Draft::default() };
    let list = (0..6).map(|id| format!("<GENERATED>-{id}")).collect::<Vec<_>>().join(",");
    draft.tasks.push(DraftTask::new(6, "image-to-text").arg("image", list));
    let plan = run_check(&draft, &vocabulary(), Limits { max_tasks: 8 });
    assert_eq!(plan.tasks().len(), 8);
    assert!(plan.notes().iter().any(|note| note.kind == NoteKind::LeftOut && note.text.contains("leaves room for 2")));
}

#[test]
fn notes_of_a_planner_keep_their_kind_and_are_written_as_text() {
    let notes = vec![Note::left_out("no tool fits \"sing\""), Note::from("a comma was missing")];
    let draft = Draft { tasks: vec![DraftTask::new(-3, "text-to-speech").arg("text", "a")], notes, ..Draft::default() };
    let plan = run_check(&draft, &vocabulary(), Limits::default());
    let kinds: Vec<NoteKind> = plan.notes().iter().map(|note| note.kind).collect();
    assert_eq!(kinds, [NoteKind::LeftOut, NoteKind::Mended, NoteKind::Mended]);
    let written = serde_json::to_value(plan.notes()).expect("notes are JSON");
    let want =
        ["no tool fits \"sing\"", "a comma was missing", "no task can have the id -3; `text-to-speech` became task 0"];
    assert_eq!(written, serde_json::json!(want));
}

#[test]
fn ids_beyond_all_plans_bind_nothing() {
    for id in [i64::MIN, -2, 1_000_001, i64::MAX] {
        let mut first = DraftTask::new(0, "translation").after(id);
        first.args.insert("text".to_owned(), Arg::output(DraftRef(Some(id))));
        let draft = Draft { tasks: vec![first, DraftTask::new(id, "translation")], ..Draft::default() };
        let plan = run_check(&draft, &vocabulary(), Limits::default());
        let want = "0:translation<>(text=<GENERATED-2>) !DanglingReference { to: 2 }\n\
             1:translation<>() !MissingArgument { arg: \"text\", takes: \"text\" }";
        assert_eq!(compact(&plan), want, "{id}");
    }
}
