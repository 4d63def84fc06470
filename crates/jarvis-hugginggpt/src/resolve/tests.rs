//! What arguments become, as a table.

use jarvis_plan::{DraftRef, Piece, TaskError, Tool};
use serde_json::json;

use std::collections::BTreeMap;

use super::*;

fn vocabulary() -> Vocabulary {
    use Kind::{Audio, Image, Json, Text};
    Vocabulary::new(vec![
        Tool::typed("caption", "", &[Image], &[Text]),
        Tool::typed("ask", "", &[Image, Text], &[Text]),
        Tool::typed("draw", "", &[Text], &[Image]),
        Tool::typed("speak", "", &[Text], &[Audio]),
        Tool::typed("detect", "", &[Image], &[Image, Json]),
        Tool {
            params: vec![jarvis_plan::Param::required("picture", Image), jarvis_plan::Param::required("rows", Json)],
            ..Tool::typed("named", "", &[], &[])
        },
    ])
}

fn arg(text: &str) -> Arg {
    Arg::parse(text).map(&mut |DraftRef(id)| vec![Piece::Output(TaskId(u32::try_from(id.unwrap()).unwrap()))])
}

fn ended(id: u32, task: &str, status: Status, args: &[(&str, &str)], inference: Option<TaskOutput>) -> Outcome {
    let failed = (status != Status::Succeeded).then(|| TaskError::new(ErrorCode::Upstream, "the secret of its error"));
    Outcome {
        id: TaskId(id),
        task: task.to_owned(),
        status,
        args: args.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect(),
        selection: None,
        attempts: Vec::new(),
        output: inference.map(Value::from),
        error: failed,
        notes: Vec::new(),
        ms: 0,
    }
}

/// The tasks that came before; each row of the table refers to them.
fn before() -> Vec<Outcome> {
    let good = |id, task, args: &[(&str, &str)], inference| ended(id, task, Status::Succeeded, args, Some(inference));
    vec![
        good(0, "caption", &[("image", "/images/zebras.png")], TaskOutput::text("two zebras")),
        good(1, "draw", &[("text", "a boat")], TaskOutput::image("/images/boat.png")),
        good(2, "speak", &[("text", "hello")], TaskOutput::audio("/audios/hello.wav")),
        good(
            3,
            "detect",
            &[("image", "/images/zebras.png")],
            TaskOutput(json!({"generated image": "/images/boxes.png", "predicted": [
                {"label": "dog", "score": 0.2}, {"label": "zebra", "score": 0.9}]})),
        ),
        ended(4, "caption", Status::Failed, &[("image", "/images/lost.png")], None),
        ended(5, "draw", Status::Failed, &[("image", "  ")], None),
        ended(6, "caption", Status::Skipped, &[("image", "<GENERATED>-5")], None),
        ended(7, "draw", Status::Cancelled, &[], None),
        good(8, "elsewhere", &[("audio", "/audios/in.wav")], TaskOutput(json!({"answer": 42, "score": 1.0}))),
    ]
}

fn show(result: Result<Resolved, Unresolved>) -> String {
    match result {
        Ok(Resolved { args, notes }) => {
            let mut lines: Vec<String> =
                args.iter().map(|(name, value)| format!("{name}={}", text_of(value))).collect();
            lines.extend(notes.iter().map(|note| format!("note: {note}")));
            lines.join("\n")
        }
        Err(Unresolved { status, error }) => format!("{status:?} {}: {}", error.code, error.message),
    }
}

fn check(task: &str, dep: &[u32], args: &[(&str, &str)], want: &str) {
    let task = Task {
        task: task.to_owned(),
        id: TaskId(20),
        dep: dep.iter().map(|dep| TaskId(*dep)).collect(),
        args: args.iter().map(|(name, value)| ((*name).to_owned(), arg(value))).collect(),
        unfolded_from: None,
        fault: None,
    };
    let before: BTreeMap<TaskId, Outcome> = before().into_iter().map(|outcome| (outcome.id, outcome)).collect();
    let got = show(ByKind(Arc::new(vocabulary())).resolve(&task, &before));
    assert_eq!(got, want, "{} with {args:?} after {dep:?}", task.task);
    assert!(!got.contains("secret"), "an error is no result");
}

#[test]
fn a_reference_is_the_output_of_its_kind() {
    check("speak", &[], &[("text", "good day")], "text=good day");
    check("speak", &[0], &[("text", "<GENERATED>-0")], "text=two zebras");
    check("speak", &[0], &[("text", " <generated-0> ")], "text=two zebras");
    check("caption", &[1], &[("image", "<GENERATED>-1")], "image=/images/boat.png");
    check("anything", &[2], &[("audio", "<GENERATED>-2")], "audio=/audios/hello.wav");
    check("caption", &[3], &[("image", "<GENERATED>-3")], "image=/images/boxes.png");
    check("speak", &[3], &[("text", "<GENERATED>-3")], "text=zebra, dog");
    check("speak", &[8], &[("text", "<GENERATED>-8")], "text=42");
    check("named", &[1], &[("picture", "<GENERATED>-1")], "picture=/images/boat.png");
    check("named", &[8], &[("rows", "<GENERATED>-8")], r#"rows={"answer":42,"score":1.0}"#);
    check("named", &[0], &[("rows", "<GENERATED>-0")], "rows=two zebras");
    check(
        "ask",
        &[0, 1],
        &[("image", "<GENERATED>-1"), ("text", "<GENERATED>-0")],
        "image=/images/boat.png\ntext=two zebras",
    );
}

#[test]
fn references_inside_text_are_replaced_in_place() {
    check("speak", &[0], &[("text", "Seen: <GENERATED>-0!")], "text=Seen: two zebras!");
    check("speak", &[0, 3], &[("text", "<GENERATED>-0\n<GENERATED>-3")], "text=two zebras\nzebra, dog");
    check("speak", &[0], &[("text", "<GENERATED>-0 and <GENERATED>-0")], "text=two zebras and two zebras");
    check(
        "caption",
        &[1],
        &[("image", "/images/<GENERATED>-1.png")],
        "image=/images/boat.png\nnote: `image` is the output of task 1 alone; the words around it were left out",
    );
}

#[test]
fn a_task_without_that_kind_lends_what_it_was_given() {
    check(
        "ask",
        &[0],
        &[("image", "<GENERATED>-0"), ("text", "how many?")],
        "image=/images/zebras.png\ntext=how many?\nnote: `image` is the image that task 0 was given, since task 0 produced no image",
    );
    check(
        "speak",
        &[1],
        &[("text", "<GENERATED>-1")],
        "text=a boat\nnote: `text` is the text that task 1 was given, since task 1 produced no text",
    );
    check(
        "ask",
        &[4],
        &[("image", "<GENERATED>-4")],
        "image=/images/lost.png\nnote: `image` is the image that task 4 was given, since task 4 failed",
    );
}

#[test]
fn another_dependency_helps_only_a_task_that_succeeded() {
    check(
        "caption",
        &[3, 1, 2],
        &[("image", "<GENERATED>-2")],
        "image=/images/boat.png\nnote: `image` is the image of task 1, since task 2 produced no image",
    );
    check(
        "caption",
        &[0, 2],
        &[("image", "<GENERATED>-2")],
        "image=/images/zebras.png\nnote: `image` is the image that task 0 was given, since task 2 produced no image",
    );
    check(
        "caption",
        &[1, 7],
        &[("image", "<GENERATED>-7")],
        "Skipped no_output: `image` needs the output of task 7 (`draw`), which was cancelled",
    );
}

#[test]
fn nothing_to_give_ends_the_task() {
    check(
        "caption",
        &[2],
        &[("image", "<GENERATED>-2")],
        "Failed no_output: task 2 produced no image, which `image` needs",
    );
    check("x", &[0], &[("audio", "<GENERATED>-0")], "Failed no_output: task 0 produced no audio, which `audio` needs");
    check(
        "speak",
        &[4],
        &[("text", "<GENERATED>-4")],
        "Skipped no_output: `text` needs the output of task 4 (`caption`), which failed",
    );
    check(
        "speak",
        &[4],
        &[("text", "say <GENERATED>-4")],
        "Skipped no_output: `text` needs the output of task 4 (`caption`), which failed",
    );
    check(
        "caption",
        &[5],
        &[("image", "<GENERATED>-5")],
        "Skipped no_output: `image` needs the output of task 5 (`draw`), which failed",
    );
    check(
        "ask",
        &[6],
        &[("image", "<GENERATED>-6")],
        "Skipped no_output: `image` needs the output of task 6 (`caption`), which was skipped",
    );
    check(
        "speak",
        &[],
        &[("text", "<GENERATED>-11")],
        "Failed bad_plan: `text` needs the output of task 11, which has not run before this task",
    );
}

#[test]
fn waiting_for_a_failed_task_is_no_reason_not_to_run() {
    check("speak", &[4, 5, 6, 7], &[("text", "all the same")], "text=all the same");
    check("speak", &[4, 0], &[("text", "<GENERATED>-0")], "text=two zebras");
}
