//! Checked tasks as they travel: every reference is kept as a reference, and text that only looks like one stays text.

use indexmap::IndexMap;
use jarvis_plan::{Arg, FieldPath, Piece, Step, Task, TaskId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
struct WireTask {
    id: TaskId,
    task: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dep: Vec<TaskId>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    args: IndexMap<String, WireArg>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireArg {
    Value(Value),
    Text(Vec<WirePiece>),
    List(Vec<WireArg>),
    Object(IndexMap<String, WireArg>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WirePiece {
    Text(String),
    Output(TaskId),
    Part(TaskId, Vec<WireStep>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireStep {
    Field(String),
    Index(usize),
    Each,
}

/// Writes a task. Its faults are left out: [`crate::PlannedTask`] has them as an error.
pub(crate) fn serialize<S: Serializer>(task: &Task, serializer: S) -> Result<S::Ok, S::Error> {
    let args = task.args.iter().map(|(name, arg)| (name.clone(), arg_out(arg))).collect();
    WireTask { id: task.id, task: task.task.clone(), dep: task.dep.clone(), args }.serialize(serializer)
}

/// Reads a task.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Task, D::Error> {
    let WireTask { id, task, dep, args } = WireTask::deserialize(deserializer)?;
    let args = args.into_iter().map(|(name, arg)| (name, arg_in(arg))).collect();
    Ok(Task { task, id, dep, args, unfolded_from: None, faults: Vec::new() })
}

fn arg_out(arg: &Arg) -> WireArg {
    match arg {
        Arg::Value(value) => WireArg::Value(value.clone()),
        Arg::Text(pieces) => WireArg::Text(pieces.iter().map(piece_out).collect()),
        Arg::List(items) => WireArg::List(items.iter().map(arg_out).collect()),
        Arg::Object(fields) => {
            WireArg::Object(fields.iter().map(|(name, field)| (name.clone(), arg_out(field))).collect())
        }
    }
}

fn arg_in(arg: WireArg) -> Arg {
    match arg {
        WireArg::Value(value) => Arg::Value(value),
        WireArg::Text(pieces) => Arg::text(pieces.into_iter().map(piece_in)),
        WireArg::List(items) => Arg::list(items.into_iter().map(arg_in).collect()),
        WireArg::Object(fields) => Arg::object(fields.into_iter().map(|(name, field)| (name, arg_in(field))).collect()),
    }
}

fn piece_out(piece: &Piece<TaskId>) -> WirePiece {
    let step = |step: &Step| match step {
        Step::Field(name) => WireStep::Field(name.clone()),
        Step::Index(index) => WireStep::Index(*index),
        Step::Each => WireStep::Each,
    };
    match piece {
        Piece::Text(text) => WirePiece::Text(text.clone()),
        Piece::Output(of) => WirePiece::Output(*of),
        Piece::Part(of, path) => WirePiece::Part(*of, path.0.iter().map(step).collect()),
    }
}

fn piece_in(piece: WirePiece) -> Piece<TaskId> {
    let step = |step: WireStep| match step {
        WireStep::Field(name) => Step::Field(name),
        WireStep::Index(index) => Step::Index(index),
        WireStep::Each => Step::Each,
    };
    match piece {
        WirePiece::Text(text) => Piece::Text(text),
        WirePiece::Output(of) => Piece::Output(of),
        WirePiece::Part(of, path) => Piece::Part(of, FieldPath(path.into_iter().map(step).collect())),
    }
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Plan, Vocabulary, out};
    use serde_json::json;

    use super::*;

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Wrapped(#[serde(with = "super")] Task);

    #[test]
    fn a_task_comes_back_as_it_was() {
        let args = json!({
            "whole": out("a"),
            "looks": "a <GENERATED> that is none",
            "list": [out("a"), 1, {"deep": out("a")}],
            "none": null,
        });
        let plan = Plan::builder().task("a", json!({})).task_after("b", ["a"], args);
        let plan = plan.check(&Vocabulary::named(["a", "b"])).expect("a valid plan");
        for task in plan.tasks() {
            let text = serde_json::to_string(&Wrapped(task.clone())).expect("a task is JSON");
            assert_eq!(serde_json::from_str::<Wrapped>(&text).expect("it was written above").0, *task);
        }
        let part = Piece::Part(TaskId(0), FieldPath(vec![Step::Field("x".to_owned()), Step::Index(1), Step::Each]));
        let mut literal = plan.tasks()[0].clone();
        literal.args.insert("part".to_owned(), Arg::text([Piece::Text("see ".to_owned()), part]));
        literal.args.insert("text".to_owned(), Arg::Value(json!("<GENERATED>-0")));
        let text = serde_json::to_string(&Wrapped(literal.clone())).expect("a task is JSON");
        assert_eq!(serde_json::from_str::<Wrapped>(&text).expect("it was written above").0, literal);
    }
}
