//! What arguments become, as a table.

use jarvis_plan::{DraftRef, Piece, TaskError, Tool};
use jarvis_testing::rows;
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
        made_up_for: false,
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
        good(
            9,
            "draw",
            &[],
            TaskOutput(
                json!({EACH: [{"generated image": "/images/one.png", "operations": ["grey"]}, {"generated text": "two"}, null]}),
            ),
        ),
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

/// Who refers to one call of a task that ran once for each gets what it gave of the kind that is wanted.
#[test]
fn an_element_of_results_is_taken_by_its_kind() {
    let before: BTreeMap<TaskId, Outcome> = before().into_iter().map(|outcome| (outcome.id, outcome)).collect();
    for (task, arg, at, want) in [
        ("caption", "image", 0, "image=/images/one.png"),
        ("speak", "text", 1, "text=two"),
        ("speak", "text", 3, "Failed"),
    ] {
        let path = jarvis_plan::FieldPath(vec![Step::Index(at)]);
        let args = [(arg.to_owned(), Arg::Text(vec![Piece::Part(TaskId(9), path)]))].into();
        let task =
            Task { task: task.into(), id: TaskId(20), dep: vec![TaskId(9)], args, unfolded_from: None, faults: vec![] };
        let got = show(ByKind { vocabulary: Arc::new(vocabulary()), max_each: 3 }.resolve(&task, &before));
        assert!(got.starts_with(want), "{arg} {at}: {got}");
    }
}

#[test]
fn arguments_become_values() {
    type Args = Vec<(String, String)>;
    let cases: Vec<(String, Vec<u32>, Args, String)> = rows(include_str!("cases.yaml"), "arguments");
    for (task, dep, args, want) in cases {
        let given = format!("{task} with {args:?} after {dep:?}");
        let task = Task {
            task,
            id: TaskId(20),
            dep: dep.into_iter().map(TaskId).collect(),
            args: args.into_iter().map(|(name, value)| (name, arg(&value))).collect(),
            unfolded_from: None,
            faults: Vec::new(),
        };
        let before: BTreeMap<TaskId, Outcome> = before().into_iter().map(|outcome| (outcome.id, outcome)).collect();
        let got = show(ByKind { vocabulary: Arc::new(vocabulary()), max_each: 3 }.resolve(&task, &before));
        assert_eq!(got, want, "{given}");
        assert!(!got.contains("secret"), "an error is no result");
    }
}
