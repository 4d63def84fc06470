//! Checked plans as they are kept, to go on with them in another process: every reference stays a reference, text that only looks
//! like one stays text, and faults and notes stay what they are. What people and models read is the serialisation of [`Plan`].

use indexmap::IndexMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::graph::topological_order;
use crate::{Arg, Fault, FieldPath, Note, NoteKind, Piece, Plan, Step, Task, TaskId};

/// Why what was kept is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tasks are no plan: their ids or dependencies have gaps, repeats or cycles")]
pub struct NotAPlan;

impl Plan {
    /// A plan that was checked before, from its parts.
    ///
    /// # Errors
    /// When the ids of the tasks are not the first numbers, each once, or what they refer to is not what they wait for, does not exist or
    /// waits for them.
    pub fn restored(tasks: Vec<Task>, notes: Vec<Note>, more: bool) -> Result<Plan, NotAPlan> {
        let mut ids: Vec<usize> = tasks.iter().map(|task| task.id.index()).collect();
        ids.sort_unstable();
        let waits = |task: &Task| task.args.values().flat_map(Arg::references).all(|of| task.dep.contains(&of));
        let plan = Plan { tasks, notes, more, names: IndexMap::new() };
        let sound = ids.into_iter().eq(0..plan.tasks.len()) && plan.tasks.iter().all(waits);
        // What waits for itself, or for nothing that there is, has no place in the order.
        match sound && topological_order(&plan).len() == plan.tasks.len() {
            true => Ok(plan),
            false => Err(NotAPlan),
        }
    }
}

/// Plans: `#[serde(with = "jarvis_plan::kept::plan")]`.
pub mod plan {
    use super::*;

    /// Writes a plan.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(plan: &Plan, serializer: S) -> Result<S::Ok, S::Error> {
        let (tasks, notes) = (plan.tasks().iter().map(WireTask::of).collect(), plan.notes().to_vec());
        WirePlan { tasks, notes, more: plan.may_grow() }.serialize(serializer)
    }

    /// Reads a plan.
    ///
    /// # Errors
    /// Those of the deserializer, and [`NotAPlan`].
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Plan, D::Error> {
        let WirePlan { tasks, notes, more } = WirePlan::deserialize(deserializer)?;
        Plan::restored(tasks.into_iter().map(Task::from).collect(), notes, more).map_err(D::Error::custom)
    }
}

/// Tasks of plans: `#[serde(with = "jarvis_plan::kept::task")]`.
pub mod task {
    use super::*;

    /// Writes a task.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(task: &Task, serializer: S) -> Result<S::Ok, S::Error> {
        WireTask::of(task).serialize(serializer)
    }

    /// Reads a task.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Task, D::Error> {
        WireTask::deserialize(deserializer).map(Task::from)
    }
}

/// Notes of plans: `#[serde(with = "jarvis_plan::kept::notes")]`.
pub mod notes {
    use super::*;

    /// Writes notes.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(notes: &[Note], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            notes
                .iter()
                .map(|Note { kind, text }| WireNote { text: text.clone(), left_out: *kind == NoteKind::LeftOut }),
        )
    }

    /// Reads notes.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Note>, D::Error> {
        let notes = Vec::<WireNote>::deserialize(deserializer)?.into_iter();
        let kind = |left_out| if left_out { NoteKind::LeftOut } else { NoteKind::Mended };
        Ok(notes.map(|WireNote { text, left_out }| Note { kind: kind(left_out), text }).collect())
    }
}

#[derive(Serialize, Deserialize)]
struct WirePlan {
    tasks: Vec<WireTask>,
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "notes")]
    notes: Vec<Note>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    more: bool,
}

#[derive(Serialize, Deserialize)]
struct WireNote {
    text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    left_out: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct WireFault(#[serde(with = "Fault")] Fault);

#[derive(Serialize, Deserialize)]
struct WireTask {
    id: TaskId,
    task: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dep: Vec<TaskId>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    args: IndexMap<String, WireArg>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unfolded_from: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    faults: Vec<WireFault>,
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

impl WireTask {
    fn of(task: &Task) -> WireTask {
        let args = task.args.iter().map(|(name, arg)| (name.clone(), arg_out(arg))).collect();
        let faults = task.faults.iter().cloned().map(WireFault).collect();
        let (name, dep) = (task.task.clone(), task.dep.clone());
        WireTask { id: task.id, task: name, dep, args, unfolded_from: task.unfolded_from, faults }
    }
}

impl From<WireTask> for Task {
    fn from(WireTask { id, task, dep, args, unfolded_from, faults }: WireTask) -> Task {
        let args = args.into_iter().map(|(name, arg)| (name, arg_in(arg))).collect();
        let faults = faults.into_iter().map(|WireFault(fault)| fault).collect();
        Task { task, id, dep, args, unfolded_from, faults }
    }
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
    use serde_json::json;

    use super::*;
    use crate::{Vocabulary, out};

    #[derive(Serialize, Deserialize, PartialEq, Debug)]
    struct Wrapped(#[serde(with = "plan")] Plan);

    fn check(plan: &Plan) {
        let text = serde_json::to_string(&Wrapped(plan.clone())).expect("a plan is JSON");
        let kept: Wrapped = serde_json::from_str(&text).expect("it was written above");
        assert_eq!(kept, Wrapped(Plan { names: IndexMap::new(), ..plan.clone() }), "{text}");
    }

    #[test]
    fn a_plan_comes_back_as_it_was() {
        let args = json!({
            "whole": out("a"),
            "looks": "a <GENERATED> that is none",
            "list": [out("a"), 1, {"deep": out("a")}],
            "none": null,
        });
        let plan = Plan::builder().task("a", json!({})).task_after("b", ["a"], args);
        let mut plan = plan.check(&Vocabulary::named(["a", "b"])).expect("a valid plan");
        check(&plan);
        let part = Piece::Part(TaskId(0), FieldPath(vec![Step::Field("x".to_owned()), Step::Index(1), Step::Each]));
        let arg = Arg::text([Piece::Text("see ".to_owned()), part]);
        plan.tasks[1].args.insert("part".to_owned(), arg);
        plan.tasks[1].args.insert("text".to_owned(), Arg::Value(json!("<GENERATED>-0")));
        plan.tasks[1].unfolded_from = Some(7);
        plan.tasks[0].faults = vec![
            Fault::UnknownTask { nearest: vec!["ab".to_owned()] },
            Fault::Withheld { because: 1 },
            Fault::WithheldBeside { note: "half of it".to_owned() },
            Fault::ReferenceCycle,
        ];
        plan.note("mended");
        plan.note(Note::left_out("the rest"));
        plan.set_may_grow(true);
        check(&plan);
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        let plan = Plan::builder().task("a", json!({})).task_after("b", ["a"], json!({}));
        let plan = plan.check(&Vocabulary::named(["a", "b"])).expect("a valid plan");
        let changed = |change: &dyn Fn(&mut Vec<Task>)| {
            let mut tasks = plan.tasks().to_vec();
            change(&mut tasks);
            Plan::restored(tasks, Vec::new(), false)
        };
        assert_eq!(changed(&|_| {}).map(|plan| plan.tasks().len()), Ok(2));
        assert_eq!(changed(&|tasks| tasks[1].id = TaskId(2)), Err(NotAPlan));
        assert_eq!(changed(&|tasks| tasks[1].id = TaskId(0)), Err(NotAPlan));
        assert_eq!(changed(&|tasks| tasks[1].dep = vec![TaskId(5)]), Err(NotAPlan));
        assert_eq!(changed(&|tasks| tasks[0].dep = vec![TaskId(1)]), Err(NotAPlan));
        assert_eq!(
            changed(&|tasks| tasks[0].args = [("x".to_owned(), Arg::Text(vec![Piece::Output(TaskId(1))]))].into()),
            Err(NotAPlan)
        );
    }
}
