//! What a plan says twice: the same task over again, and a tool that works on nothing but its own output.

use std::collections::HashMap;

use jarvis_plan::{Draft, DraftRef, DraftTask, Fault, Kind, Piece, Tool};

use super::Scope;

/// Leaves out tasks that are the same as one before them, and marks those that do to their tool's own output what was done
/// already: a summary of a summary. Two drawings of a cat are two.
pub(super) fn once(draft: &mut Draft, scope: Scope<'_>) {
    let draws = |task: &DraftTask| {
        let tool = scope.tools.find(&task.task);
        tool.is_none_or(|tool| {
            let media = tool.params.iter().any(|param| param.kind.is_media());
            let made = [Kind::Image, Kind::Video].iter().any(|kind| tool.gives(*kind)) || tool.name.contains("generat");
            tool.params.iter().any(|param| param.schema.is_some()) || made && !media
        })
    };
    let mut same: HashMap<i64, i64> = HashMap::new();
    let mut kept: Vec<DraftTask> = Vec::new();
    for task in std::mem::take(&mut draft.tasks) {
        let equal = |other: &&DraftTask| other.task == task.task && other.args == task.args && other.dep == task.dep;
        match kept.iter().find(equal).filter(|_| task.faults.is_empty() && !task.args.is_empty() && !draws(&task)) {
            Some(first) => {
                let note = format!("task {} is the same as task {} and was left out", task.id + 1, first.id + 1);
                draft.notes.push(note.into());
                same.insert(task.id, first.id);
            }
            None => kept.push(task),
        }
    }
    draft.tasks = kept;
    if !same.is_empty() {
        let first = |id: i64| same.get(&id).copied().unwrap_or(id);
        for task in &mut draft.tasks {
            task.dep.iter_mut().for_each(|id| *id = first(*id));
            for arg in task.args.values_mut() {
                *arg = arg.map(&mut |of: DraftRef| vec![Piece::Output(DraftRef(of.0.map(first)))]);
            }
        }
    }
    let mut found: Vec<(usize, Fault)> = Vec::new();
    for (at, task) in draft.tasks.iter().enumerate().filter(|(_, task)| task.faults.is_empty()) {
        let Some(tool) = scope.tools.find(&task.task).filter(|tool| retells(tool)) else { continue };
        let Some((arg, DraftRef(Some(of)))) = task.args.iter().find_map(|(name, arg)| Some((name, arg.as_output()?)))
        else {
            continue;
        };
        if draft.tasks.iter().any(|other| other.id == of && other.task == task.task) {
            let takes = format!("a text that is not yet what `{}` gives", tool.name);
            let value = format!("\"<GENERATED>-{of}\"");
            found.push((at, Fault::BadValue { arg: arg.clone(), value, takes }));
        }
    }
    for (at, fault) in found {
        if let Some(task) = draft.tasks.get_mut(at) {
            task.faults.push(fault);
        }
    }
}

/// Whether a tool takes one text and gives a text, so that nothing says how a second time differs from the first.
fn retells(tool: &Tool) -> bool {
    let takes = matches!(tool.params.as_slice(), [only] if only.kind == Kind::Text && only.schema.is_none());
    takes && tool.outputs == [Kind::Text]
}
