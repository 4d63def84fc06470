//! Ids: unique, existing, dense.

use std::collections::{HashMap, HashSet};

use super::{Node, Notes};
use crate::{DraftRef, DraftTask, Fault, Piece};

/// True for what can be the id of a drafted task.
pub(super) fn is_usable(id: i64) -> bool {
    (0..=DraftTask::MAX_ID).contains(&id)
}

/// Every id that a task has, waits for or refers to.
fn mentioned(nodes: &[Node]) -> HashSet<i64> {
    let referred = nodes.iter().flat_map(|node| node.dep.iter().copied().chain(node.referenced()));
    nodes.iter().map(|node| node.id).chain(referred).collect()
}

/// Ids above every usable one that is mentioned, and mentioned nowhere, so that giving them out binds nothing by
/// accident.
pub(super) fn fresh(nodes: &[Node]) -> impl Iterator<Item = i64> + use<> {
    let mentioned = mentioned(nodes);
    let first = mentioned.iter().copied().filter(|id| is_usable(*id)).max().map_or(0, |id| id + 1);
    (first..).filter(move |id| !mentioned.contains(id))
}

/// Turns references to ids that no task can have into references to small ids that no task has, so that they dangle
/// and can be written down and read again.
pub(super) fn tame_references(nodes: &mut [Node], notes: &mut Notes) {
    let mentioned = mentioned(nodes);
    let mut free = (0..).filter(|id| !mentioned.contains(id));
    let mut tamed: HashMap<i64, i64> = HashMap::new();
    for node in nodes {
        let Some(wild) = node.referenced().into_iter().find(|id| !is_usable(*id)) else { continue };
        notes.push(format!("task {}: no task can have the id {wild}, which its arguments refer to", node.number()));
        for arg in node.args.values_mut() {
            *arg = arg.map(&mut |reference| {
                let id = reference.0.map(|id| match is_usable(id) {
                    true => id,
                    false => *tamed.entry(id).or_insert_with(|| free.next().unwrap_or(DraftTask::MAX_ID)),
                });
                vec![Piece::Output(DraftRef(id))]
            });
        }
    }
}

/// Gives later holders of a taken id, and holders of one that is none, a fresh one. References keep pointing at the
/// first holder.
pub(super) fn unique(nodes: &mut [Node], notes: &mut Notes) {
    let mut fresh = fresh(nodes);
    let mut taken = HashSet::new();
    for node in nodes {
        let note = match (is_usable(node.id), taken.contains(&node.id)) {
            (true, false) => None,
            (true, true) => Some(format!("id {} is used twice; the later `{}` became task", node.id, node.task)),
            (false, _) => Some(format!("no task can have the id {}; `{}` became task", node.id, node.task)),
        };
        // Fresh ids do not end.
        if let Some(note) = note
            && let Some(id) = fresh.next()
        {
            notes.push(format!("{note} {id}"));
            node.id = id;
        }
        taken.insert(node.id);
    }
}

/// Marks tasks that refer to a task that is not there.
pub(super) fn mark_dangling(nodes: &mut [Node], notes: &mut Notes) {
    let known: HashSet<i64> = nodes.iter().map(|node| node.id).collect();
    for node in nodes {
        if let Some(to) = node.referenced().into_iter().find(|id| !known.contains(id)) {
            notes.push(format!(
                "task {} refers to `<GENERATED>-{to}`, and no task of the plan has that id",
                node.number()
            ));
            node.fail(Fault::DanglingReference { to });
        }
    }
}

/// Renumbers to exactly `0..n`, keeping the order of ids. A dangling reference is moved out of the way, so that it
/// does not come to point at a task by accident.
pub(super) fn dense(nodes: &mut [Node], notes: &mut Notes) {
    let mut ids: Vec<i64> = nodes.iter().map(|node| node.id).collect();
    ids.sort_unstable();
    if ids.iter().zip(0..).all(|(id, at)| *id == at) {
        return;
    }
    let new: HashMap<i64, i64> = ids.iter().copied().zip(0..).collect();
    let mut beyond = i64::try_from(ids.len()).unwrap_or(i64::MAX);
    let mut dangling: HashMap<i64, i64> = HashMap::new();
    let mut renumber = |id: i64| {
        new.get(&id).copied().unwrap_or_else(|| {
            *dangling.entry(id).or_insert_with(|| {
                beyond += 1;
                beyond - 1
            })
        })
    };
    for node in nodes {
        for arg in node.args.values_mut() {
            *arg = arg.map(&mut |reference| vec![Piece::Output(DraftRef(reference.0.map(&mut renumber)))]);
        }
        for fault in &mut node.faults {
            if let Fault::DanglingReference { to }
            | Fault::NotGiven { unused: to, .. }
            | Fault::NoSuchField { of: to, .. } = fault
            {
                *to = renumber(*to);
            }
        }
        node.id = renumber(node.id);
        node.dep = node.dep.iter().map(|id| renumber(*id)).collect();
    }
    let changed: Vec<String> =
        ids.iter().zip(0..).filter(|(id, at)| **id != *at).map(|(id, at)| format!("{id} is now {at}")).collect();
    notes.push(format!("ids were renumbered without gaps: {}", changed.join(", ")));
}
