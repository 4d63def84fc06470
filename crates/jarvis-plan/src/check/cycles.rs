//! Cycles: explicit order gives way before references do.

use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

use super::{Node, Notes};
use crate::Fault;

/// Breaks every cycle. While a cycle holds an explicit-only dependency, the last one of its newest task is dropped;
/// tasks whose references alone form a cycle get a fault, and their edges inside it are dropped.
pub(super) fn break_all(nodes: &mut [Node], notes: &mut Notes) {
    // A task that refers to its own output is the smallest cycle.
    for node in nodes.iter_mut() {
        if node.referenced().contains(&node.id) {
            notes.push(format!("task {} needs its own output", node.number()));
            node.fail(Fault::ReferenceCycle);
        }
    }
    while let Some(cycle) = find(nodes) {
        if !drop_explicit(nodes, &cycle, notes) {
            fail(nodes, &cycle, notes);
        }
    }
}

/// The ids of one strongly connected component of two or more tasks; the one with the lowest id first.
fn find(nodes: &[Node]) -> Option<Vec<i64>> {
    let mut graph: DiGraphMap<i64, ()> = DiGraphMap::new();
    for node in nodes {
        graph.add_node(node.id);
        for dep in &node.dep {
            graph.add_edge(*dep, node.id, ());
        }
    }
    tarjan_scc(&graph).into_iter().filter(|component| component.len() > 1).min_by_key(|c| c.iter().min().copied())
}

fn drop_explicit(nodes: &mut [Node], cycle: &[i64], notes: &mut Notes) -> bool {
    for node in nodes.iter_mut().rev().filter(|node| cycle.contains(&node.id)) {
        let referenced = node.referenced();
        if let Some(at) = node.dep.iter().rposition(|dep| cycle.contains(dep) && !referenced.contains(dep)) {
            let dep = node.dep.remove(at);
            notes.push(format!("task {}: dependency on task {} made a cycle and was dropped", node.number(), dep + 1));
            return true;
        }
    }
    false
}

fn fail(nodes: &mut [Node], cycle: &[i64], notes: &mut Notes) {
    let mut ids = cycle.to_vec();
    ids.sort_unstable();
    let list = ids.iter().map(|id| (id + 1).to_string()).collect::<Vec<_>>().join(", ");
    notes.push(format!("tasks {list} need each other's output; none of them can run"));
    for node in nodes.iter_mut().filter(|node| cycle.contains(&node.id)) {
        node.fail(Fault::ReferenceCycle);
        node.dep.retain(|dep| !cycle.contains(dep));
    }
}
