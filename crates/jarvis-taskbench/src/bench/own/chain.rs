//! WorFBench's two figures (`evaluator/graph_evaluator.py`), over tool names where it matches sentences by embeddings.
//!
//! Two further differences: the original tries the first twenty orders of the gold graph, here every order counts; and it
//! never finds less than one match, here there may be none.

use std::collections::BTreeSet;

use crate::evaluate::harmonic;
use crate::evaluate::strict::plan::Plan;

/// Each predicted task with the gold task of the same name: the first with the first, and so on.
fn matched(gold: &Plan, predicted: &Plan) -> Vec<(usize, usize)> {
    let mut free: BTreeSet<usize> = (0..gold.nodes.len()).collect();
    let mut pairs = Vec::new();
    for (at, name) in predicted.nodes.iter().enumerate() {
        if let Some(place) = free.iter().copied().find(|place| gold.nodes.get(*place) == Some(name)) {
            free.remove(&place);
            pairs.push((at, place));
        }
    }
    pairs
}

fn f1(common: usize, predicted: usize, gold: usize) -> f64 {
    let share = |of: usize| if of > 0 { common as f64 / of as f64 } else { 0.0 };
    harmonic(share(predicted), share(gold))
}

/// F1 of the longest sequence of predicted tasks that some order of the gold graph has too.
pub(super) fn chain_f1(gold: &Plan, predicted: &Plan) -> f64 {
    let pairs = matched(gold, predicted);
    let reaches = closure(gold);
    // Two tasks are at odds when the gold graph has them the other way round. That is a partial order, so the most tasks
    // without odds are as many as there are tasks less the largest matching of odds (Dilworth).
    let odds: Vec<Vec<usize>> = pairs
        .iter()
        .map(|(_, earlier)| {
            let later = pairs.iter().enumerate();
            later.filter(|(_, (_, later))| reaches.contains(&(*later, *earlier))).map(|(at, _)| at).collect()
        })
        .enumerate()
        .map(|(at, after): (usize, Vec<usize>)| after.into_iter().filter(|other| *other > at).collect())
        .collect();
    let mut taken: Vec<Option<usize>> = vec![None; pairs.len()];
    let found = (0..pairs.len()).filter(|at| augment(*at, &odds, &mut taken, &mut BTreeSet::new())).count();
    f1(pairs.len() - found, predicted.nodes.len(), gold.nodes.len())
}

/// Finds a partner for `at`, moving others where needed.
fn augment(at: usize, odds: &[Vec<usize>], taken: &mut [Option<usize>], seen: &mut BTreeSet<usize>) -> bool {
    for other in odds.get(at).into_iter().flatten().copied() {
        if !seen.insert(other) {
            continue;
        }
        let holder = taken.get(other).copied().flatten();
        if holder.is_none_or(|holder| augment(holder, odds, taken, seen)) {
            if let Some(place) = taken.get_mut(other) {
                *place = Some(at);
            }
            return true;
        }
    }
    false
}

/// From which task which one can be reached.
fn closure(plan: &Plan) -> BTreeSet<(usize, usize)> {
    let mut reaches: BTreeSet<(usize, usize)> = plan.edges.iter().copied().collect();
    for middle in 0..plan.nodes.len() {
        let into: Vec<usize> = reaches.iter().filter(|(_, to)| *to == middle).map(|(from, _)| *from).collect();
        let out: Vec<usize> = reaches.iter().filter(|(from, _)| *from == middle).map(|(_, to)| *to).collect();
        reaches.extend(into.iter().flat_map(|from| out.iter().map(move |to| (*from, *to))));
    }
    reaches
}

/// F1 of the largest connected part that both graphs have, with START before the first tasks and END after the last.
pub(super) fn graph_f1(gold: &Plan, predicted: &Plan) -> f64 {
    if gold.nodes.is_empty() || predicted.nodes.is_empty() {
        return 0.0;
    }
    let mut pairs = matched(gold, predicted);
    let ends = |plan: &Plan| [plan.nodes.len(), plan.nodes.len() + 1];
    pairs.extend(ends(predicted).into_iter().zip(ends(gold)));
    let (gold_edges, edges) = (with_ends(gold), with_ends(predicted));
    let place = |at: usize| pairs.iter().find(|(own, _)| *own == at).map(|(_, place)| *place);
    let common: Vec<(usize, usize)> = edges
        .into_iter()
        .filter(|(from, to)| place(*from).zip(place(*to)).is_some_and(|edge| gold_edges.contains(&edge)))
        .collect();
    let mut largest = 0;
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    for (start, _) in &pairs {
        let mut part = 0;
        let mut open = vec![*start];
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                part += 1;
                open.extend(common.iter().filter(|(from, _)| *from == at).map(|(_, to)| *to));
                open.extend(common.iter().filter(|(_, to)| *to == at).map(|(from, _)| *from));
            }
        }
        largest = largest.max(part);
    }
    f1(largest, predicted.nodes.len() + 2, gold.nodes.len() + 2)
}

/// The links with those of START (the place behind the last task) and END (the one behind it).
fn with_ends(plan: &Plan) -> BTreeSet<(usize, usize)> {
    let count = plan.nodes.len();
    let mut edges: BTreeSet<(usize, usize)> = plan.edges.iter().copied().collect();
    for at in 0..count {
        if !plan.edges.iter().any(|(_, to)| *to == at) {
            edges.insert((count, at));
        }
        if !plan.edges.iter().any(|(from, _)| *from == at) {
            edges.insert((at, count + 1));
        }
    }
    edges
}
