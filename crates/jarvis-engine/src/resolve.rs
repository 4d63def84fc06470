//! Arguments of a ready task: references replaced by what the tasks before it gave. Nothing is performed here.

use indexmap::IndexMap;
use jarvis_plan::{
    Arg, ErrorCode, Fault, Inference, Kind, Outcome, Piece, Status, Task, TaskError, TaskId, Vocabulary,
};

/// The arguments a task runs with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resolved {
    /// The arguments by name, without references.
    pub args: IndexMap<String, String>,
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

/// The most bytes of an argument that is put together from texts and outputs.
const LONGEST: usize = 4 << 20;

impl Unresolved {
    pub(crate) fn failed(code: ErrorCode, message: String) -> Unresolved {
        Unresolved { status: Status::Failed, error: TaskError::new(code, message) }
    }

    pub(crate) fn skipped(code: ErrorCode, message: String) -> Unresolved {
        Unresolved { status: Status::Skipped, error: TaskError::new(code, message) }
    }
}

/// Replaces the references in a task's arguments.
///
/// A reference to task k in an argument of kind K stands for, in this order:
/// 1. the output of kind K of task k;
/// 2. the argument of kind K that task k itself was given, so that a question about a caption reaches the picture;
/// 3. when task k succeeded without giving that kind: the output of kind K of another dependency, the last one first, or
///    else the argument of kind K that one of them was given.
///
/// The second and third leave a note. A task that did not succeed has no output, whatever its error says; when its own
/// argument does not help either, the task that needs it is skipped. A task that only waits for a failed one can run.
///
/// # Errors
/// When the plan says that the task cannot run, or a reference stands for nothing.
pub fn resolve<'a>(
    task: &Task,
    outcome: impl Fn(TaskId) -> Option<&'a Outcome>,
    vocabulary: &Vocabulary,
) -> Result<Resolved, Unresolved> {
    if let Some(fault) = &task.fault {
        let code = match fault {
            Fault::UnknownTask => ErrorCode::UnsupportedTask,
            Fault::DanglingReference { .. } | Fault::UnboundReference { .. } | Fault::ReferenceCycle => {
                ErrorCode::BadPlan
            }
        };
        return Err(Unresolved::failed(code, format!("`{}` cannot run: {fault}", task.task)));
    }
    let resolver = Resolver { task, outcome, vocabulary };
    let mut resolved = Resolved { args: IndexMap::with_capacity(task.args.len()), notes: Vec::new() };
    for (name, arg) in &task.args {
        let value = resolver.argument(name, arg, &mut resolved.notes)?;
        resolved.args.insert(name.clone(), value);
    }
    Ok(resolved)
}

/// The arguments as planned, for tasks whose references were never replaced.
pub(crate) fn as_planned(task: &Task) -> IndexMap<String, String> {
    task.args.iter().map(|(name, arg)| (name.clone(), arg.to_string())).collect()
}

struct Resolver<'t, F> {
    task: &'t Task,
    outcome: F,
    vocabulary: &'t Vocabulary,
}

impl<'a, F: Fn(TaskId) -> Option<&'a Outcome>> Resolver<'_, F> {
    fn argument(&self, name: &str, arg: &Arg, notes: &mut Vec<String>) -> Result<String, Unresolved> {
        let kind = kind_of(self.vocabulary, &self.task.task, name);
        if let Some(of) = arg.as_output() {
            return self.reference(name, kind, of, notes);
        }
        // No path is made of a path and words: the medium itself is what was meant.
        if kind.is_media()
            && let Some(of) = arg.references().next()
        {
            notes.push(format!("`{name}` is the output of task {of} alone; the words around it were left out"));
            return self.reference(name, kind, of, notes);
        }
        let mut whole = String::new();
        for piece in &arg.0 {
            match piece {
                Piece::Text(text) => whole.push_str(text),
                Piece::Output(of) => whole.push_str(&self.reference(name, kind, *of, notes)?),
            }
            if whole.len() > LONGEST {
                let message = format!("`{name}` comes to more than {LONGEST} bytes with the outputs it refers to");
                return Err(Unresolved::failed(ErrorCode::TooLarge, message));
            }
        }
        Ok(whole)
    }

    fn reference(&self, name: &str, kind: Kind, of: TaskId, notes: &mut Vec<String>) -> Result<String, Unresolved> {
        let Some(outcome) = (self.outcome)(of) else {
            let message = format!("`{name}` needs the output of task {of}, which has not run before this task");
            return Err(Unresolved::failed(ErrorCode::BadPlan, message));
        };
        if let Some(value) = output(outcome, kind) {
            return Ok(value);
        }
        let ended = ended(outcome, kind);
        if let Some(value) = self.own_argument(outcome, kind) {
            notes.push(format!("`{name}` is the {kind} that task {of} was given, since task {of} {ended}"));
            return Ok(value);
        }
        if !outcome.succeeded() {
            let message = format!("`{name}` needs the output of task {of} (`{}`), which {ended}", outcome.task);
            return Err(Unresolved::skipped(ErrorCode::NoOutput, message));
        }
        let others = || self.task.dep.iter().rev().filter(|dep| **dep != of).filter_map(|dep| (self.outcome)(*dep));
        if let Some((from, value)) = others().find_map(|other| Some((other.id, output(other, kind)?))) {
            notes.push(format!("`{name}` is the {kind} of task {from}, since task {of} {ended}"));
            return Ok(value);
        }
        if let Some((from, value)) = others().find_map(|other| Some((other.id, self.own_argument(other, kind)?))) {
            notes.push(format!("`{name}` is the {kind} that task {from} was given, since task {of} {ended}"));
            return Ok(value);
        }
        let message = format!("task {of} {ended}, which `{name}` needs");
        Err(Unresolved::failed(ErrorCode::NoOutput, message))
    }

    /// The first argument of that kind that a task was given, unless a reference still stands in it.
    fn own_argument(&self, outcome: &Outcome, kind: Kind) -> Option<String> {
        let usable = |value: &str| !value.trim().is_empty() && Arg::parse(value).references().next().is_none();
        outcome
            .args
            .iter()
            .find(|(name, value)| kind_of(self.vocabulary, &outcome.task, name) == kind && usable(value))
            .map(|(_, value)| value.clone())
    }
}

/// The kind of an argument: as the tool declares it, else what its name says, else text.
fn kind_of(vocabulary: &Vocabulary, task: &str, name: &str) -> Kind {
    vocabulary.find(task).map_or_else(|| name.parse().unwrap_or(Kind::Text), |tool| tool.arg_kind(name))
}

/// What a task that succeeded gives of a kind.
fn output(outcome: &Outcome, kind: Kind) -> Option<String> {
    let inference: &Inference = outcome.inference.as_ref().filter(|_| outcome.succeeded())?;
    match kind {
        Kind::Text => inference.as_text(),
        Kind::Image | Kind::Audio | Kind::Video => inference.media(kind).map(str::to_owned),
        // A result that is one text may be data written down; every other result is data.
        Kind::Json => match inference.0.as_object() {
            Some(fields) if fields.len() == 1 => inference.as_text().or_else(|| Some(inference.0.to_string())),
            _ if inference.0.is_null() => None,
            _ => Some(inference.0.to_string()),
        },
    }
}

/// How a task ended, as the end of a sentence.
fn ended(outcome: &Outcome, kind: Kind) -> String {
    match outcome.status {
        Status::Succeeded => format!("produced no {kind}"),
        Status::Failed => "failed".to_owned(),
        Status::Skipped => "was skipped".to_owned(),
        Status::Cancelled => "was cancelled".to_owned(),
    }
}

#[cfg(test)]
mod tests;
