//! Plans: checked task graphs. Only the check makes and grows them, see [`Plan::grow`].

use std::borrow::Cow;
use std::fmt;

use indexmap::IndexMap;
use serde::ser::{SerializeSeq, SerializeStruct};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{Arg, Fault, FieldPath, TaskId};

/// A checked task graph: no cycle, no dangling reference, ids exactly `0..tasks().len()`. Serialises as `tasks`, the texts of its
/// `notes`, those of them that say what was `left_out`, if any do, and `more: true` where it is a first part.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    pub(crate) tasks: Vec<Task>,
    pub(crate) notes: Vec<Note>,
    pub(crate) more: bool,
    /// Names that a builder gave to tasks.
    pub(crate) names: IndexMap<String, TaskId>,
}

impl Plan {
    /// The tasks, in the planner's order (which need not be the order of ids).
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// What was mended, what is still odd, and what was left out.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Whether it is a first part only: it is to be planned on when its results are known.
    pub fn may_grow(&self) -> bool {
        self.more
    }

    /// Says whether it is a first part only.
    pub fn set_may_grow(&mut self, more: bool) {
        self.more = more;
    }

    /// Adds what should be known about the plan.
    pub fn note(&mut self, note: impl Into<Note>) {
        self.notes.push(note.into());
    }

    /// The task of that id.
    pub fn task(&self, id: TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// Whether some task can run: it has no fault and needs the output of none that has.
    pub fn can_begin(&self) -> bool {
        let faulty: Vec<TaskId> =
            self.tasks.iter().filter(|task| !task.faults.is_empty()).map(|task| task.id).collect();
        let depends = |task: &Task| task.args.values().flat_map(Arg::references).any(|of| faulty.contains(&of));
        self.tasks.iter().any(|task| task.faults.is_empty() && !depends(task))
    }

    /// Keeps every task from running when one has a fault: for plans that change the world, half of which may be worse than
    /// nothing.
    pub fn withhold_beside_faults(&mut self) {
        let Some(because) = self.tasks.iter().find(|task| !task.faults.is_empty()).map(|task| task.id) else { return };
        for task in self.tasks.iter_mut().filter(|task| task.faults.is_empty()) {
            task.faults.push(Fault::Withheld { because: because.0.into() });
        }
    }

    /// Keeps every task from running when part of the request was left out, for the same plans: what was not understood may
    /// have been the ground of the rest.
    pub fn withhold_beside_left_out(&mut self) {
        let left_out = self.notes.iter().find(|note| note.kind == NoteKind::LeftOut);
        let Some(note) = left_out.map(ToString::to_string) else { return };
        for task in self.tasks.iter_mut().filter(|task| task.faults.is_empty()) {
            task.faults.push(Fault::WithheldBeside { note: note.clone() });
        }
    }

    /// The names of tasks, for plans that [`Plan::builder`] made.
    pub fn names(&self) -> &IndexMap<String, TaskId> {
        &self.names
    }

    /// Replaces arguments by values without references, where `replace` gives one. Dependencies stay.
    pub fn set_values(&mut self, mut replace: impl FnMut(&str, &str, &Arg) -> Option<Value>) {
        for task in &mut self.tasks {
            for (name, arg) in &mut task.args {
                if let Some(value) = replace(&task.task, name, arg) {
                    *arg = Arg::Value(value);
                }
            }
        }
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let left_out: Vec<&Note> = self.notes.iter().filter(|note| note.kind == NoteKind::LeftOut).collect();
        let mut plan =
            serializer.serialize_struct("Plan", 2 + usize::from(!left_out.is_empty()) + usize::from(self.more))?;
        plan.serialize_field("tasks", &self.tasks)?;
        plan.serialize_field("notes", &self.notes)?;
        if left_out.is_empty() {
            plan.skip_field("left_out")?;
        } else {
            plan.serialize_field("left_out", &left_out)?;
        }
        if self.more {
            plan.serialize_field("more", &self.more)?;
        } else {
            plan.skip_field("more")?;
        }
        plan.end()
    }
}

/// One node of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    /// The tool or task type, in its proper spelling when the vocabulary knows it.
    pub task: String,
    /// Its id.
    pub id: TaskId,
    /// What must have finished first; written `[-1]` when empty, as the original does.
    #[serde(serialize_with = "dep_or_minus_one")]
    pub dep: Vec<TaskId>,
    /// Its arguments, in the planner's order.
    pub args: IndexMap<String, Arg>,
    /// The id, as drafted, of the task that this one is a copy of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfolded_from: Option<i64>,
    /// Why this task cannot run, if it cannot. It is kept so that its failure is told, and fails without being tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

/// The only argument that a task runs with that runs once for each element of a list: the arguments of all its calls, in order.
/// The field of its result, too: what the calls gave, in the same order.
pub const EACH: &str = "each";

impl Task {
    /// Whether no tool has its name.
    pub fn is_unknown(&self) -> bool {
        self.faults.iter().any(|fault| matches!(fault, Fault::UnknownTask { .. } | Fault::AmbiguousTask { .. }))
    }

    /// The list for each element of which the task runs once: the task that gives it, and where in its output it is.
    pub fn each(&self) -> Option<(TaskId, FieldPath)> {
        self.args.values().find_map(|arg| arg.lists().next())
    }

    /// The argument as text: `None` when it is missing or refers to another task.
    pub fn literal(&self, name: &str) -> Option<Cow<'_, str>> {
        self.args.get(name).and_then(Arg::as_literal)
    }
}

fn dep_or_minus_one<S: Serializer>(dep: &[TaskId], serializer: S) -> Result<S::Ok, S::Error> {
    let mut seq = serializer.serialize_seq(Some(dep.len().max(1)))?;
    if dep.is_empty() {
        seq.serialize_element(&-1)?;
    }
    for id in dep {
        seq.serialize_element(id)?;
    }
    seq.end()
}

/// What a note of a plan is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoteKind {
    /// Something was mended, or is odd.
    Mended,
    /// A part of what was asked for is not in the plan: the person should hear of it.
    LeftOut,
}

/// Something the planner or the check mended, left out or found odd. Serialises as its text alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// One sentence, without a full stop.
    pub text: String,
}

impl Note {
    /// A note that a part of what was asked for is not in the plan.
    pub fn left_out(text: impl Into<String>) -> Note {
        Note { kind: NoteKind::LeftOut, text: text.into() }
    }
}

impl From<String> for Note {
    /// A note of something mended or odd.
    fn from(text: String) -> Note {
        Note { kind: NoteKind::Mended, text }
    }
}

impl From<&str> for Note {
    /// A note of something mended or odd.
    fn from(text: &str) -> Note {
        Note::from(text.to_owned())
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl Serialize for Note {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}
