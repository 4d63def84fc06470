//! One task for each of many attached files, in the place of as many copies of it.
//!
//! A planner that writes no `each` plans "make each picture grey and describe it" as two tasks for each picture. Where the request
//! says `each`, the copies become one task that lists the files, and one for each step, which runs once for each of them.

use indexmap::IndexMap;
use jarvis_plan::{Arg, Draft, DraftRef, DraftTask, FieldPath, Kind, Request, Source};
use jarvis_tools::local::ATTACHED_FILES;

/// The id of the task that lists the files; those of the steps follow.
const LIST: i64 = 0;

/// Folds the copies of tasks, if the draft consists of nothing else and they take all attached files of one kind.
pub(crate) fn folded(draft: Draft, request: &Request) -> Draft {
    if !jarvis_planner::speaks_of_each(&request.text) {
        return draft;
    }
    let Some((kind, steps)) = steps(&draft.tasks, request) else { return draft };
    let list = DraftTask {
        args: IndexMap::from([("kind".to_owned(), Arg::literal(kind.as_str()))]),
        ..DraftTask::new(LIST, ATTACHED_FILES)
    };
    Draft { tasks: std::iter::once(list).chain(steps).collect(), ..draft }
}

/// The kind of the files, and a task for each step.
fn steps(tasks: &[DraftTask], request: &Request) -> Option<(Kind, Vec<DraftTask>)> {
    let named = |value: &Arg<DraftRef>| {
        let name = value.as_literal()?;
        request.attachments.iter().find(|file| file.as_arg() == name)
    };
    let kind = tasks.first()?.args.values().find_map(named)?.kind;
    let of_kind = request.attachments.iter().filter(|file| file.kind == kind);
    let files: Vec<&str> =
        of_kind.filter(|file| matches!(file.source, Source::Public(_))).map(|file| file.as_arg()).collect();
    if !kind.is_media() || files.len() < 2 || !tasks.len().is_multiple_of(files.len()) {
        return None;
    }
    let copies: Vec<&[DraftTask]> = tasks.chunks(files.len()).collect();
    let mut steps: Vec<DraftTask> = Vec::new();
    for (at, step) in copies.iter().enumerate() {
        let (name, before) = taken(step, &files, copies.get(..at)?)?;
        let from = before.and_then(|before| steps.get(before)).map_or(LIST, |step| step.id);
        let id = steps.last().map_or(LIST, |step| step.id) + 1;
        let mut task = DraftTask { id, dep: vec![from], unfolded_from: None, ..step.first()?.clone() };
        task.args.insert(name, Arg::literal("<EACH>").of_each(DraftRef(Some(from)), &FieldPath::default()));
        steps.push(task);
    }
    Some((kind, steps))
}

/// The argument in which the copies of one step differ, and the place of the step before whose results it takes, if it takes no
/// files; `None` where they differ in anything else.
fn taken(step: &[DraftTask], files: &[&str], before: &[&[DraftTask]]) -> Option<(String, Option<usize>)> {
    let first = step.first()?;
    let (name, of) = first.args.iter().find_map(|(name, value)| match value.as_output() {
        Some(DraftRef(id)) => {
            let of = before.iter().position(|step| step.first().map(|task| task.id) == id)?;
            Some((name.clone(), Some(of)))
        }
        None => (value.as_literal()? == *files.first()?).then(|| (name.clone(), None)),
    })?;
    let rest = |task: &DraftTask| {
        let mut args = task.args.clone();
        args.shift_remove(&name);
        (task.task.clone(), args)
    };
    let is_copy = |(at, task): (usize, &DraftTask)| {
        let value = task.args.get(&name);
        // What else refers to a task would mean another one behind the list.
        let refers = task.args.iter().any(|(other, arg)| *other != name && arg.references().next().is_some());
        let takes = match of.map(|of| before.get(of).and_then(|step| step.get(at)).map(|task| task.id)) {
            Some(id) => {
                value.and_then(Arg::as_output) == Some(DraftRef(id)) && task.dep.iter().all(|dep| Some(*dep) == id)
            }
            None => value.and_then(Arg::as_literal).as_deref() == files.get(at).copied() && task.dep.is_empty(),
        };
        takes && !refers && task.faults.is_empty() && rest(task) == rest(first)
    };
    step.iter().enumerate().all(is_copy).then_some((name, of))
}
