//! What a reference stands for in HuggingGPT: an output of the kind that the argument takes.

use std::borrow::Cow;
use std::sync::Arc;

use jarvis_catalogue::TaskOutput;
use jarvis_engine::{Outcomes, Resolved, Resolver, Unresolved, fill, finished, part, unavailable};
use jarvis_plan::{
    Arg, EACH, ErrorCode, FieldPath, Kind, Outcome, Status, Step, Task, TaskId, Vocabulary, schema, text_of,
};
use serde_json::Value;

use crate::each;

/// Resolves references by kind.
///
/// A reference to task k in an argument of kind K stands for, in this order:
/// 1. the output of kind K of task k;
/// 2. the argument of kind K that task k itself was given, so that a question about a caption reaches the picture, unless
///    task k failed to make just that kind: what was to be translated or turned is not the translation, and not turned;
/// 3. when task k succeeded without giving that kind: the output of kind K of another dependency, the last one first, or
///    else the argument of kind K that one of them was given.
///
/// The second and third leave a note. A task that did not succeed has no output, whatever its error says; when its own
/// argument does not help either, the task that needs it is skipped. A task that only waits for a failed one can run.
///
/// A path behind the reference leads into the result as data. An argument that no schema describes is text, whatever JSON
/// the planner wrote; one that comes of results must be what its schema takes.
#[derive(Debug, Clone)]
pub(crate) struct ByKind {
    pub(crate) vocabulary: Arc<Vocabulary>,
    /// The most calls of a task that runs once for each element of a list.
    pub(crate) max_each: usize,
}

impl Resolver for ByKind {
    fn resolve(&self, task: &Task, outcomes: &dyn Outcomes) -> Result<Resolved, Unresolved> {
        let resolution = Resolution { task, outcomes, vocabulary: &self.vocabulary };
        let Some((of, path)) = task.each() else { return resolution.all() };
        let list = resolution.part(EACH, of, &path)?;
        each::resolved(task, &list, self.max_each, |task| Resolution { task, ..resolution }.all())
    }
}

#[derive(Clone, Copy)]
struct Resolution<'t> {
    task: &'t Task,
    outcomes: &'t dyn Outcomes,
    vocabulary: &'t Vocabulary,
}

impl Resolution<'_> {
    fn all(self) -> Result<Resolved, Unresolved> {
        let mut resolved = Resolved::default();
        for (name, arg) in &self.task.args {
            let value = self.argument(name, arg, &mut resolved.notes)?;
            resolved.args.insert(name.clone(), value);
        }
        Ok(resolved)
    }

    fn argument(&self, name: &str, arg: &Arg, notes: &mut Vec<String>) -> Result<Value, Unresolved> {
        let kind = kind_of(self.vocabulary, &self.task.task, name);
        // No path is made of a path and words: the medium itself is what was meant.
        if kind.is_media()
            && arg.as_reference().is_none()
            && let Some(of) = arg.references().next()
        {
            notes.push(format!(
                "`{name}` is the output of task {} alone; the words around it were left out",
                of.number()
            ));
            return self.reference(name, kind, of, notes).map(Value::String);
        }
        let schema = self.schema(name);
        let value = fill(name, arg, &mut |name, of, path| {
            if let [Step::Index(at)] = path.0.as_slice()
                && let Some(value) = self.element(of, *at, kind)
            {
                return Ok(Value::String(value));
            }
            if !path.is_empty() {
                return self.part(name, of, path);
            }
            // Alone, data stays data where the tool takes data.
            if let (Some(schema), Some(_)) = (schema, arg.as_output())
                && let Some(data) = self.data(of).filter(|data| schema::takes(schema, data))
            {
                return Ok(data);
            }
            self.reference(name, kind, of, notes).map(Value::String)
        })?;
        match schema {
            None => Ok(Value::String(text_of(&value).into_owned())),
            Some(_) if arg.as_value().is_some() => Ok(value),
            Some(schema) => self.typed(name, value, schema),
        }
    }

    fn schema(&self, name: &str) -> Option<&Value> {
        self.vocabulary.find(&self.task.task)?.param(name)?.schema.as_ref()
    }

    /// A value that came of results, as the tool takes it.
    fn typed(&self, name: &str, value: Value, schema: &Value) -> Result<Value, Unresolved> {
        let value = schema::coerced(value, schema);
        if schema::takes(schema, &value) {
            return Ok(value);
        }
        let (shown, takes) = (schema::shown(&value), schema::in_words(schema));
        let message = format!("`{name}` became {shown} of `{}`, but must be {takes}", self.task.task);
        Err(Unresolved::failed(ErrorCode::InvalidInput, message))
    }

    /// The result of a task as data, where it is more than a text.
    fn data(&self, of: TaskId) -> Option<Value> {
        let outcome = self.outcomes.outcome(of).filter(|outcome| outcome.succeeded())?;
        TaskOutput::of(outcome)?.data().filter(|data| !data.is_string())
    }

    /// What one call gave of a kind, of a task that ran once for each element of a list.
    fn element(&self, of: TaskId, at: usize, kind: Kind) -> Option<String> {
        let outcome = self.outcomes.outcome(of).filter(|outcome| outcome.succeeded())?;
        let element = TaskOutput::of(outcome)?.0.get(EACH)?.as_array()?.get(at).cloned()?;
        of_kind(&TaskOutput(element), kind)
    }

    /// A part of what a task gave.
    fn part(&self, name: &str, of: TaskId, path: &FieldPath) -> Result<Value, Unresolved> {
        let outcome = finished(name, of, self.outcomes)?;
        match (TaskOutput::of(outcome), outcome.succeeded()) {
            (Some(output), true) => part(name, outcome, &output.data().unwrap_or(output.0), path),
            _ => Err(unavailable(name, outcome)),
        }
    }

    fn reference(&self, name: &str, kind: Kind, of: TaskId, notes: &mut Vec<String>) -> Result<String, Unresolved> {
        let outcome = finished(name, of, self.outcomes)?;
        if let Some(value) = output(outcome, kind) {
            return Ok(value);
        }
        let (ended, number) = (ended(outcome, kind), of.number());
        let was_to_make_it = || self.vocabulary.find(&outcome.task).is_some_and(|tool| tool.outputs.contains(&kind));
        if (outcome.succeeded() || !was_to_make_it())
            && let Some(value) = self.own_argument(outcome, kind)
        {
            notes.push(format!("`{name}` is the {kind} that task {number} was given, since task {number} {ended}"));
            return Ok(value);
        }
        if !outcome.succeeded() {
            let message = format!("`{name}` needs the output of task {number} (`{}`), which {ended}", outcome.task);
            return Err(Unresolved::skipped(ErrorCode::NoOutput, message));
        }
        let others =
            || self.task.dep.iter().rev().filter(|dep| **dep != of).filter_map(|dep| self.outcomes.outcome(*dep));
        if let Some((from, value)) = others().find_map(|other| Some((other.id, output(other, kind)?))) {
            let from = from.number();
            notes.push(format!("`{name}` is the {kind} of task {from}, since task {number} {ended}"));
            return Ok(value);
        }
        if let Some((from, value)) = others().find_map(|other| Some((other.id, self.own_argument(other, kind)?))) {
            let from = from.number();
            notes.push(format!("`{name}` is the {kind} that task {from} was given, since task {number} {ended}"));
            return Ok(value);
        }
        let message = format!("task {number} {ended}, which `{name}` needs");
        Err(Unresolved::failed(ErrorCode::NoOutput, message))
    }

    /// The first argument of that kind that a task was given, unless a reference still stands in it.
    fn own_argument(&self, outcome: &Outcome, kind: Kind) -> Option<String> {
        let usable = |value: &str| !value.trim().is_empty() && Arg::parse(value).references().next().is_none();
        outcome
            .args
            .iter()
            // The arguments of several calls are those of none.
            .filter(|(name, value)| *name != EACH || !value.is_array())
            .filter(|(name, _)| kind_of(self.vocabulary, &outcome.task, name) == kind)
            .map(|(_, value)| text_of(value))
            .find(|value| usable(value))
            .map(Cow::into_owned)
    }
}

/// The kind of an argument: as the tool declares it, else what its name says, else text.
fn kind_of(vocabulary: &Vocabulary, task: &str, name: &str) -> Kind {
    vocabulary.find(task).map_or_else(|| name.parse().unwrap_or(Kind::Text), |tool| tool.arg_kind(name))
}

/// What a task that succeeded gives of a kind.
fn output(outcome: &Outcome, kind: Kind) -> Option<String> {
    TaskOutput::of(outcome).filter(|_| outcome.succeeded()).and_then(|output| of_kind(&output, kind))
}

fn of_kind(output: &TaskOutput, kind: Kind) -> Option<String> {
    match kind {
        Kind::Text => output.as_text(),
        Kind::Image | Kind::Audio | Kind::Video => output.media(kind).map(str::to_owned),
        // A result that is one text may be data written down; every other result is data.
        Kind::Json => match output.0.as_object() {
            Some(fields) if fields.len() == 1 => output.as_text().or_else(|| Some(output.0.to_string())),
            _ if output.0.is_null() => None,
            _ => Some(output.0.to_string()),
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
