//! The floors: plans that need no planner. A planner that does not beat both has learned nothing from the requests.

use std::collections::HashMap;

use super::{PlanGraph, Sample};
use crate::data::normalised;

/// Every tool that a sample is offered, each once, without links.
pub fn every_tool(sample: &Sample) -> PlanGraph {
    PlanGraph { nodes: sample.tools.tools.iter().map(|tool| tool.id.clone()).collect(), links: Vec::new() }
}

/// For each sample the constant plan: the tools that most gold plans of the *other* samples have, with the links of the
/// first plan that has them. Equally frequent ones are taken in the order of the file.
pub fn constant(samples: &[Sample]) -> Vec<PlanGraph> {
    // Of each multiset of tools the places of its samples.
    let mut of_tools: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
    let key = |sample: &Sample| {
        let mut names: Vec<String> = sample.gold.nodes.iter().map(|name| normalised(name)).collect();
        names.sort_unstable();
        names
    };
    for (at, sample) in samples.iter().enumerate() {
        of_tools.entry(key(sample)).or_default().push(at);
    }
    let mut groups: Vec<Vec<usize>> = of_tools.into_values().collect();
    let rank = |group: &[usize]| (std::cmp::Reverse(group.len()), group.first().copied());
    groups.sort_by_key(|group| rank(group));
    // Without a sample its group shrinks by one; the others stay, and the first two of them are enough to know.
    let mut plans: Vec<PlanGraph> = vec![PlanGraph::default(); samples.len()];
    for (own, group) in groups.iter().enumerate() {
        for at in group {
            let rest: Vec<usize> = group.iter().copied().filter(|other| other != at).collect();
            let others =
                groups.iter().enumerate().filter(|(other, _)| *other != own).map(|(_, group)| group.as_slice());
            let best = others
                .take(1)
                .chain([rest.as_slice()])
                .filter(|group| !group.is_empty())
                .min_by_key(|group| rank(group));
            let first = best.and_then(|group| group.first()).and_then(|first| samples.get(*first));
            if let (Some(plan), Some(first)) = (plans.get_mut(*at), first) {
                plan.clone_from(&first.gold);
            }
        }
    }
    plans
}
