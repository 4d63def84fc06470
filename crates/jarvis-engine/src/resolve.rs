//! Arguments of a ready task: references replaced by what the tasks before it gave. Nothing is performed here.

use indexmap::IndexMap;
use jarvis_plan::{Arg, ErrorCode, FieldPath, Outcome, Piece, Status, Task, TaskError, TaskId, text_of};
use serde_json::Value;

/// The arguments a task runs with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resolved {
    /// The arguments by name, without references.
    pub args: IndexMap<String, Value>,
    /// Where an argument is not what the plan named, and what it is instead.
    pub notes: Vec<String>,
}

/// Why a task cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// [`Status::Failed`], or [`Status::Skipped`] when a task that it needs did not succeed.
    pub status: Status,
    /// Why.
    pub error: TaskError,
}

impl Unresolved {
    /// The task fails.
    pub fn failed(code: ErrorCode, message: String) -> Unresolved {
        Unresolved { status: Status::Failed, error: TaskError::new(code, message) }
    }

    /// The task is skipped.
    pub fn skipped(code: ErrorCode, message: String) -> Unresolved {
        Unresolved { status: Status::Skipped, error: TaskError::new(code, message) }
    }
}

/// The outcomes of the tasks that have finished.
pub trait Outcomes {
    /// The outcome of a task, if it has finished.
    fn outcome(&self, id: TaskId) -> Option<&Outcome>;
}

impl Outcomes for std::collections::BTreeMap<TaskId, Outcome> {
    fn outcome(&self, id: TaskId) -> Option<&Outcome> {
        self.get(&id)
    }
}

/// Replaces the references in a task's arguments. A pipeline brings its own where a reference may stand for less or more
/// than the output of the task that it names.
pub trait Resolver: Send + Sync {
    /// The arguments that the task runs with. Tasks with a [`Fault`](jarvis_plan::Fault) do not come here.
    ///
    /// # Errors
    /// When a reference stands for nothing.
    fn resolve(&self, task: &Task, outcomes: &dyn Outcomes) -> Result<Resolved, Unresolved>;
}

/// The resolver without rules of its own: a reference stands for the whole output of its task, text around it makes it
/// text, and a task that needs the output of one that did not succeed is skipped.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByOutput;

impl Resolver for ByOutput {
    fn resolve(&self, task: &Task, outcomes: &dyn Outcomes) -> Result<Resolved, Unresolved> {
        let mut output = |name: &str, of: TaskId, path: &FieldPath| {
            let outcome = finished(name, of, outcomes)?;
            match (&outcome.output, outcome.succeeded()) {
                (Some(output), true) => part(name, outcome, output, path),
                _ => Err(unavailable(name, outcome)),
            }
        };
        let args = task.args.iter().map(|(name, arg)| Ok((name.clone(), fill(name, arg, &mut output)?)));
        Ok(Resolved { args: args.collect::<Result<_, Unresolved>>()?, notes: Vec::new() })
    }
}

/// The most bytes of a text that is put together from texts and outputs.
const LONGEST: usize = 4 << 20;

/// An argument with its references replaced: alone by the value itself, in text by its text.
///
/// # Errors
/// Those of `output`, and a text of more than 4 MiB.
pub fn fill(
    name: &str,
    arg: &Arg,
    output: &mut dyn FnMut(&str, TaskId, &FieldPath) -> Result<Value, Unresolved>,
) -> Result<Value, Unresolved> {
    match arg.as_reference() {
        Some(Piece::Output(of)) => return output(name, *of, &FieldPath::default()),
        Some(Piece::Part(of, path)) => return output(name, *of, path),
        Some(Piece::Text(_)) | None => {}
    }
    match arg {
        Arg::Value(value) => Ok(value.clone()),
        Arg::List(items) => items.iter().map(|item| fill(name, item, output)).collect(),
        Arg::Object(fields) => {
            fields.iter().map(|(key, field)| Ok((key.clone(), fill(name, field, output)?))).collect()
        }
        Arg::Text(pieces) => {
            let mut whole = String::new();
            for piece in pieces {
                match piece {
                    Piece::Text(text) => whole.push_str(text),
                    Piece::Output(of) => whole.push_str(&text_of(&output(name, *of, &FieldPath::default())?)),
                    Piece::Part(of, path) => whole.push_str(&text_of(&output(name, *of, path)?)),
                }
                if whole.len() > LONGEST {
                    let message = format!("`{name}` comes to more than {LONGEST} bytes with the outputs it refers to");
                    return Err(Unresolved::failed(ErrorCode::TooLarge, message));
                }
            }
            Ok(Value::String(whole))
        }
    }
}

/// The part of an output that a path leads to.
///
/// # Errors
/// When it leads nowhere.
pub fn part(name: &str, outcome: &Outcome, output: &Value, path: &FieldPath) -> Result<Value, Unresolved> {
    path.get(output).cloned().map_err(|missing| {
        let message =
            format!("`{name}` needs `{path}` of task {} (`{}`): {missing}", outcome.id.number(), outcome.task);
        Unresolved::failed(ErrorCode::NoOutput, message)
    })
}

/// The outcome of a task that an argument refers to.
///
/// # Errors
/// When it has not finished, which no checked plan brings about.
pub fn finished<'o>(name: &str, of: TaskId, outcomes: &'o dyn Outcomes) -> Result<&'o Outcome, Unresolved> {
    outcomes.outcome(of).ok_or_else(|| {
        let message = format!("`{name}` needs the output of task {}, which has not run before this task", of.number());
        Unresolved::failed(ErrorCode::BadPlan, message)
    })
}

/// What becomes of a task whose argument needs the output of one that has none.
pub fn unavailable(name: &str, outcome: &Outcome) -> Unresolved {
    let ended = match outcome.status {
        Status::Succeeded => "produced no output",
        Status::Failed => "failed",
        Status::Skipped => "was skipped",
        Status::Cancelled => "was cancelled",
    };
    let message =
        format!("`{name}` needs the output of task {} (`{}`), which {ended}", outcome.id.number(), outcome.task);
    Unresolved::skipped(ErrorCode::NoOutput, message)
}

/// Why a task cannot run, when the plan says so.
pub fn planned_fault(task: &Task) -> Option<Unresolved> {
    let first = task.faults.first()?;
    let all: Vec<String> = task.faults.iter().map(ToString::to_string).collect();
    let mut unresolved = Unresolved::failed(first.code(), format!("`{}` cannot run: {}", task.task, all.join("; ")));
    unresolved.error.hint = first.hint();
    Some(unresolved)
}

/// The arguments as planned, for tasks whose references were never replaced.
pub fn as_planned(task: &Task) -> IndexMap<String, Value> {
    task.args.iter().map(|(name, arg)| (name.clone(), arg.to_value())).collect()
}
