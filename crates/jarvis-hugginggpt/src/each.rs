//! Tasks that run once for each element of a list that another task gives.
//!
//! Such a task is one task of the plan: it is chosen for, asked about and retried as a whole. Its resolved arguments are the
//! arguments of all its calls, its output what they gave, each under [`EACH`].

use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt};
use indexmap::IndexMap;
use jarvis_catalogue::TaskOutput;
use jarvis_engine::{Gate, Job, Resolved, Unresolved, Worker};
use jarvis_plan::{Arg, EACH, Effect, ErrorCode, Task, TaskError};
use serde_json::{Value, json};

/// Makes the calls of a task that runs once for each element: several at once where they only read, else one after the other. Of
/// calls that only read, one that fails takes nothing from the others: its place is empty, and it is told as not done.
pub(crate) struct ForEach {
    pub(crate) worker: Arc<dyn Worker>,
    pub(crate) gate: Arc<dyn Gate>,
    /// Calls at the same time.
    pub(crate) concurrency: usize,
}

#[async_trait]
impl Worker for ForEach {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        if job.task.each().is_none() {
            return self.worker.perform(job).await;
        }
        let calls = calls(job)?;
        let reads = self.gate.effect(&job.task) == Effect::Reads;
        let at_once = if reads { self.concurrency.max(1) } else { 1 };
        let all = calls.len();
        let files: Vec<String> = calls.iter().map(|args| file_of(job, args)).collect();
        let files = &files;
        let one = |(at, args): (usize, IndexMap<String, Value>)| async move {
            let part = u32::try_from(at + 1).unwrap_or(u32::MAX);
            let job = Job { args, part, ..job.clone() };
            let file = files.get(at).map_or("", String::as_str);
            self.worker.perform(&job).await.map_err(|error| of_element(error, at, all, reads, file))
        };
        let made = futures::stream::iter(calls.into_iter().enumerate()).map(one).buffered(at_once);
        if !reads {
            return Ok(json!({ EACH: made.try_collect::<Vec<Value>>().await? }));
        }
        let (mut outputs, mut failed) = (Vec::with_capacity(all), Vec::new());
        for made in made.collect::<Vec<_>>().await {
            outputs.push(made.unwrap_or_else(|error| {
                failed.push(error);
                Value::Null
            }));
        }
        // What ends a run, and what fails alike for all, is no failure of one element.
        let ends =
            |error: &TaskError| matches!(error.code, ErrorCode::Budget | ErrorCode::Cancelled | ErrorCode::HandedBack);
        if let Some(end) = failed.iter().position(ends) {
            return Err(failed.swap_remove(end));
        }
        if failed.len() == all {
            return Err(failed.swap_remove(0));
        }
        let output = TaskOutput(json!({ EACH: outputs }));
        let not_done: Vec<String> = failed.into_iter().map(|error| error.message).collect();
        Ok(if not_done.is_empty() { output } else { output.with(TaskOutput::NOT_DONE, not_done) }.into())
    }
}

/// The arguments of the calls.
fn calls(job: &Job) -> Result<Vec<IndexMap<String, Value>>, TaskError> {
    let calls = job.args.get(EACH).cloned().unwrap_or_default();
    serde_json::from_value(calls).map_err(|_| {
        let message = format!("`{EACH}` must be the list of the arguments of all calls");
        TaskError::new(ErrorCode::InvalidInput, message)
    })
}

/// The attached file that a call is about, as ` (NAME)`.
fn file_of(job: &Job, args: &IndexMap<String, Value>) -> String {
    let named = |value: &Value| {
        let file = job.request.attachments.iter().find(|file| value.as_str() == Some(file.as_arg()))?;
        file.name.as_ref().map(|name| format!(" ({name})"))
    };
    args.values().find_map(named).unwrap_or_default()
}

/// The error of a call, with its place. Where calls before it were made, it must not look as if nothing was: nobody makes them
/// again.
fn of_element(error: TaskError, at: usize, all: usize, reads: bool, file: &str) -> TaskError {
    let place = format!("call {} of {all}{file}: {}", at + 1, error.message);
    if reads || at == 0 {
        return TaskError { message: place, ..error };
    }
    let code = if error.code.is_before_any_call() { ErrorCode::Upstream } else { error.code };
    TaskError { code, message: format!("{place}; the {at} before it were made"), ..error }
}

/// The arguments of all calls of a task that runs once for each element of `list`, made by `once` of the task for one element.
///
/// # Errors
/// When there is no list, nothing in it, or more than `most`.
pub(crate) fn resolved(
    task: &Task,
    list: &Value,
    most: usize,
    mut once: impl FnMut(&Task) -> Result<Resolved, Unresolved>,
) -> Result<Resolved, Unresolved> {
    let Value::Array(items) = list else {
        let shown = jarvis_plan::schema::shown(list);
        let message = format!("`{}` is to run once for each element of {shown}, which is no list", task.task);
        return Err(Unresolved::failed(ErrorCode::InvalidInput, message));
    };
    if items.is_empty() {
        let message = format!("`{}` is to run once for each element of a list, and the list is empty", task.task);
        return Err(Unresolved::skipped(ErrorCode::NoOutput, message));
    }
    if items.len() > most {
        let message =
            format!("`{}` would run {} times; the limit is {most} (`planning.max_each`)", task.task, items.len());
        return Err(Unresolved::failed(ErrorCode::TooLarge, message));
    }
    let (mut calls, mut notes) = (Vec::with_capacity(items.len()), Vec::new());
    for at in 0..items.len() {
        let args = task.args.iter().map(|(name, arg)| (name.clone(), Arg::element(arg, at))).collect();
        let resolved = once(&Task { args, ..task.clone() })?;
        calls.push(Value::Object(resolved.args.into_iter().collect()));
        notes.extend(resolved.notes);
    }
    notes.dedup();
    Ok(Resolved { args: IndexMap::from([(EACH.to_owned(), Value::Array(calls))]), notes })
}
