//! One task for each of many attached files, in the place of as many copies of it.
//!
//! A planner that writes no `each` plans "make each picture grey" as one task for each picture. Where the request says `each`, the
//! copies become two tasks: one lists the files, the other runs once for each.

use indexmap::IndexMap;
use jarvis_plan::{Arg, Draft, DraftRef, DraftTask, FieldPath, Kind, Request, Source};
use jarvis_tools::local::ATTACHED_FILES;

/// Folds the copies of a task, if the draft consists of nothing else and they take all attached files of one kind.
pub(crate) fn folded(draft: Draft, request: &Request) -> Draft {
    let Some((kind, arg)) = copied(&draft.tasks, request) else { return draft };
    let Some(first) = draft.tasks.first() else { return draft };
    let list = DraftTask {
        args: IndexMap::from([("kind".to_owned(), Arg::literal(kind.as_str()))]),
        ..DraftTask::new(0, ATTACHED_FILES)
    };
    let mut each = DraftTask { id: 1, dep: vec![0], unfolded_from: None, ..first.clone() };
    each.args.insert(arg, Arg::literal("<EACH>").of_each(DraftRef(Some(0)), &FieldPath::default()));
    Draft { tasks: vec![list, each], ..draft }
}

/// The kind of the files that the tasks take, and the argument in which they do.
fn copied(tasks: &[DraftTask], request: &Request) -> Option<(Kind, String)> {
    if tasks.len() < 2 || !jarvis_planner::speaks_of_each(&request.text) {
        return None;
    }
    let first = tasks.first()?;
    let of_kind = |kind: Kind| {
        request.attachments.iter().filter(move |file| file.kind == kind && matches!(file.source, Source::Public(_)))
    };
    let (arg, kind) = first.args.iter().find_map(|(name, value)| {
        let path = value.as_literal()?;
        let file = request.attachments.iter().find(|file| file.as_arg() == path)?;
        Some((name.clone(), file.kind)).filter(|(_, kind)| kind.is_media())
    })?;
    let rest = |task: &DraftTask| {
        let mut args = task.args.clone();
        args.shift_remove(&arg);
        (task.task.clone(), args, task.dep.clone())
    };
    let is_copy = |task: &DraftTask| task.dep.is_empty() && task.faults.is_empty() && rest(task) == rest(first);
    let taken = tasks.iter().filter_map(|task| task.args.get(&arg)?.as_literal());
    let all = of_kind(kind).map(|file| file.as_arg());
    let takes_all = taken.eq(all);
    (takes_all && tasks.iter().all(is_copy)).then_some((kind, arg))
}
