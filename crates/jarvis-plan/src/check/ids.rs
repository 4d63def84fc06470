//! Ids: unique, existing, dense.

use std::collections::{HashMap, HashSet};

use super::Node;
use crate::{DraftRef, Fault, Piece};

/// An id above every id in use and every id referred to, so that giving it out binds nothing by accident.
pub(super) fn fresh(nodes: &[Node]) -> i64 {
    let referred = nodes.iter().flat_map(|node| node.dep.iter().copied().chain(node.referenced()));
    nodes.iter().map(|node| node.id).chain(referred).max().unwrap_or(-1).max(-1) + 1
}

/// Gives later holders of a taken id a fresh one. References keep pointing at the first holder.
pub(super) fn unique(nodes: &mut [Node], notes: &mut Vec<String>) {
    let mut fresh = fresh(nodes);
    let mut taken = HashSet::new();
    for node in nodes {
        if node.id < 0 || !taken.insert(node.id) {
            notes.push(format!("id {} is used twice; the later `{}` became task {fresh}", node.id, node.task));
            node.id = fresh;
            taken.insert(fresh);
            fresh += 1;
        }
    }
}

/// Marks tasks that refer to a task that is not there.
pub(super) fn mark_dangling(nodes: &mut [Node], notes: &mut Vec<String>) {
    let known: HashSet<i64> = nodes.iter().map(|node| node.id).collect();
    for node in nodes {
        if let Some(to) = node.referenced().into_iter().find(|id| !known.contains(id)) {
            notes.push(format!("task {} needs the output of task {to}, which is not in the plan", node.id));
            node.fail(Fault::DanglingReference { to });
        }
    }
}

/// Renumbers to exactly `0..n`, keeping the order of ids. A dangling reference is moved out of the way, so that it
/// does not come to point at a task by accident.
pub(super) fn dense(nodes: &mut [Node], notes: &mut Vec<String>) {
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
            *arg = arg.map(|reference| vec![Piece::Output(DraftRef(reference.0.map(&mut renumber)))]);
        }
        if let Some(Fault::DanglingReference { to }) = &mut node.fault {
            *to = renumber(*to);
        }
        node.id = renumber(node.id);
        node.dep = node.dep.iter().map(|id| renumber(*id)).collect();
    }
    let changed: Vec<String> =
        ids.iter().zip(0..).filter(|(id, at)| **id != *at).map(|(id, at)| format!("{id} is now {at}")).collect();
    notes.push(format!("ids were renumbered without gaps: {}", changed.join(", ")));
}
