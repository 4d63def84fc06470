//! Decoding: one choice of tools for all clauses together, by beam search. What a clause alone would take may give way to
//! what fits the tools before and after it, and a tool that no clause names may stand between two that do.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use rustc_hash::FxHashMap;

use crate::candidate::{Candidate, Step};
use crate::retrieval::ToolIndex;
use crate::weights::Weights;

#[derive(Clone)]
struct Path {
    score: f32,
    tools: Vec<usize>,
    /// Clause, candidate, and the tool put before it.
    chosen: Vec<(usize, usize, Option<usize>)>,
}

/// The steps of each clause. `whole` is what the whole request says for each tool.
pub(crate) fn decode(
    lattice: &[Vec<Candidate>],
    whole: &[f32],
    links: &FxHashMap<(usize, usize), f32>,
    index: &ToolIndex,
    weights: &Weights,
) -> Vec<Vec<Step>> {
    let mut likely: Vec<usize> =
        (0..whole.len()).filter(|tool| whole.get(*tool).is_some_and(|score| *score > 0.0)).collect();
    let score = |tool: &usize| whole.get(*tool).copied().expect("the tools are places in the list");
    likely.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.cmp(b)));
    likely.truncate(MOST_LIKELY);
    let decoder = Decoder { whole, links, index, weights, likely, alike: RefCell::default() };
    let mut beam = vec![Path { score: 0.0, tools: Vec::new(), chosen: Vec::new() }];
    for (clause, candidates) in lattice.iter().enumerate() {
        let mut next: Vec<Path> = beam.clone();
        for path in &beam {
            for (at, candidate) in candidates.iter().enumerate() {
                decoder.extend(path, clause, at, candidate, &mut next);
            }
        }
        beam = best(next, weights.beam);
    }
    let mut steps: Vec<Vec<Step>> = vec![Vec::new(); lattice.len()];
    let Some((path, last)) = decoder.end(&beam) else { return steps };
    for (clause, at, before) in path.chosen {
        let Some(candidate) = lattice.get(clause).and_then(|candidates| candidates.get(at)) else { continue };
        if let Some(entry) = steps.get_mut(clause) {
            entry.extend(before.map(Step::of_tool));
            entry.extend(candidate.steps.iter().cloned());
        }
    }
    if let Some(tool) = last
        && let Some(entry) = steps.iter_mut().rev().find(|steps| !steps.is_empty())
    {
        entry.push(Step::of_tool(tool));
    }
    steps
}

/// The best paths, each list of tools once.
fn best(mut paths: Vec<Path>, beam: usize) -> Vec<Path> {
    paths.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut seen: HashSet<Vec<usize>> = HashSet::new();
    paths.retain(|path| seen.len() < beam && seen.insert(path.tools.clone()));
    paths
}

/// So many tools are looked at as steps that no clause names: those for which the whole request says most.
const MOST_LIKELY: usize = 48;

struct Decoder<'a> {
    likely: Vec<usize>,
    whole: &'a [f32],
    /// What plans from before say of a tool behind another.
    links: &'a FxHashMap<(usize, usize), f32>,
    index: &'a ToolIndex,
    weights: &'a Weights,
    alike: RefCell<HashMap<(usize, usize), bool>>,
}

impl Decoder<'_> {
    /// Adds to `next` the path with the candidate behind it, alone and with a tool that no clause names before it.
    fn extend(&self, path: &Path, clause: usize, at: usize, candidate: &Candidate, next: &mut Vec<Path>) {
        let (index, weights) = (self.index, self.weights);
        let mut grown = path.clone();
        let Some(first) = candidate.steps.first().map(|step| step.tool) else { return };
        let price = weights.cost;
        grown.score += candidate.score;
        for step in &candidate.steps {
            grown.score += self.transition(&grown.tools, step.tool) - price;
            if grown.tools.contains(&step.tool) && !step.own {
                grown.score -= weights.repeat;
            } else if grown.tools.iter().any(|tool| *tool != step.tool && self.alike(*tool, step.tool)) {
                grown.score -= weights.alike;
            }
            grown.tools.push(step.tool);
        }
        grown.chosen.push((clause, at, None));
        if index.is_ordered() {
            let link = weights.link * index.graph.surprise();
            let mut put = |middle: usize, worth: f32| {
                if self.alike(middle, first) || path.tools.iter().any(|tool| self.alike(*tool, middle)) {
                    return;
                }
                let mut with = grown.clone();
                with.tools.insert(path.tools.len(), middle);
                with.score += worth + self.unnamed(middle, first);
                if let Some(chosen) = with.chosen.last_mut() {
                    chosen.2 = Some(middle);
                }
                next.push(with);
            };
            match path.tools.last() {
                Some(last) if !index.graph.links(*last, first) => {
                    let gap = self.transition(&path.tools, first);
                    for middle in &self.likely {
                        let between = index.graph.links(*last, *middle) && index.graph.links(*middle, first);
                        if between && !path.tools.contains(middle) && *middle != first {
                            put(*middle, 2.0 * link - gap - weights.bridge_cost);
                        }
                    }
                }
                Some(_) => {}
                None => {
                    for middle in self.likely.iter().filter(|middle| index.graph.links(**middle, first)) {
                        put(*middle, link - weights.edge_cost);
                    }
                }
            }
        }
        next.push(grown);
    }

    fn transition(&self, before: &[usize], tool: usize) -> f32 {
        let graph = &self.index.graph;
        let Some(last) = before.last() else { return 0.0 };
        if *last == tool {
            return 0.0;
        }
        let follow = self.weights.past_link * self.links.get(&(*last, tool)).copied().unwrap_or_default();
        if graph.is_empty() {
            return follow;
        }
        follow
            + match graph.links(*last, tool) {
                true => self.weights.link * graph.surprise(),
                // What flows between typed tools may come from any earlier one, or from the request.
                false if self.index.is_ordered() => -self.weights.gap * graph.surprise(),
                false => 0.0,
            }
    }

    /// What a tool is worth that no clause names, beside one that is: what the request says for it, and that it looks up
    /// what the other works on. What changes something and was not asked for is not done.
    fn unnamed(&self, tool: usize, beside: usize) -> f32 {
        let score = self.whole.get(tool).copied().unwrap_or_default();
        let score = self.weights.bridge * self.index.graph.sparsity() * score;
        match (self.index.fields.looks_up(tool), self.index.fields.share_a_thing(tool, beside)) {
            (true, true) => score + self.weights.lookup,
            (true, false) => score,
            (false, _) => score - self.weights.unasked,
        }
    }

    /// The best path that does something, with the tool put after its last. Some guess is better than none, but not any
    /// guess.
    fn end(&self, beam: &[Path]) -> Option<(Path, Option<usize>)> {
        let (graph, weights) = (&self.index.graph, self.weights);
        let mut found: Option<(f32, &Path, Option<usize>)> = None;
        let mut offer = |score: f32, path, last| {
            if found.as_ref().is_none_or(|(best, _, _)| score > *best) {
                found = Some((score, path, last));
            }
        };
        for path in beam.iter().filter(|path| !path.tools.is_empty() && path.score > -weights.guess) {
            offer(path.score, path, None);
            let [only] = path.tools.as_slice() else { continue };
            for after in self.likely.iter().filter(|after| self.index.is_ordered() && graph.links(*only, **after)) {
                if after != only && !self.alike(*only, *after) {
                    let link = weights.link * graph.surprise();
                    offer(path.score + link + self.unnamed(*after, *only) - weights.tail_cost, path, Some(*after));
                }
            }
        }
        found.map(|(_, path, last)| (path.clone(), last))
    }

    fn alike(&self, one: usize, two: usize) -> bool {
        let pair = (one.min(two), one.max(two));
        *self.alike.borrow_mut().entry(pair).or_insert_with(|| self.index.fields.alike(pair.0, pair.1))
    }
}

#[cfg(test)]
mod tests;
