//! Decoding: one choice of tools for all clauses together, by beam search. What a clause alone would take may give way to
//! what fits the tools before and after it, and a tool that no clause names may stand between two that do.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::matching::Step;
use crate::retrieval::{Kinship, ToolIndex};

/// What each piece of evidence counts. One configuration serves every catalogue; the figures come from looking at
/// development requests, not from fitting (`docs/offline-planner.md`).
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Weights {
    /// The share of a tool's name that is spoken.
    pub name: f32,
    /// The share of the clause that the tool's fields explain.
    pub text: f32,
    /// Agreement or disagreement on what is done.
    pub action: f32,
    /// A phrase of the lexicon that the tool serves.
    pub phrase: f32,
    /// What another tool whose own words fit takes from such a phrase.
    pub rival: f32,
    /// What words alone must say for a tool, whatever its inputs.
    pub spoken: f32,
    /// Inputs at hand, or not.
    pub inputs: f32,
    /// A word of the same sense beside the word itself.
    pub sense: f32,
    /// A word of an earlier clause beside one of the clause's own.
    pub context: f32,
    /// A word of a description or parameter beside one of the name.
    pub description: f32,
    /// A word that no tool knows, in the unit of word weights.
    pub unknown: f32,
    /// What keeps a clause of one rare word from counting as explained in full.
    pub smooth: f32,
    /// What a step must be worth.
    pub cost: f32,
    /// A link of the graph, per nat.
    pub link: f32,
    /// A missing link, per nat.
    pub gap: f32,
    /// Doing again what has been done.
    pub repeat: f32,
    /// Doing with another tool what has been done.
    pub alike: f32,
    /// The whole request's evidence for a tool that no clause names.
    pub bridge: f32,
    /// That such a tool looks up what its neighbour works on.
    pub lookup: f32,
    /// That such a tool may change something.
    pub unasked: f32,
    /// What such a tool costs between two that are named.
    pub bridge_cost: f32,
    /// What it costs before the first.
    pub edge_cost: f32,
    /// What it costs after the last.
    pub tail_cost: f32,
    /// A clause that tells how things are, beside one that orders.
    pub telling: f32,
    /// How far below its price a plan may be that is the only one.
    pub guess: f32,
    /// How many plans are kept on the way.
    pub beam: usize,
    /// How many tools each clause may choose from.
    pub choices: usize,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            name: 0.7,
            text: 0.8,
            action: 0.15,
            phrase: 1.0,
            rival: 0.12,
            spoken: 0.3,
            inputs: 1.0,
            sense: 0.6,
            context: 0.4,
            description: 0.8,
            unknown: 0.4,
            smooth: 1.5,
            cost: 0.5,
            link: 0.04,
            gap: 0.12,
            repeat: 0.3,
            alike: 0.3,
            bridge: 0.6,
            lookup: 0.15,
            unasked: 0.3,
            bridge_cost: 0.6,
            edge_cost: 0.6,
            tail_cost: 0.6,
            telling: 0.2,
            guess: 0.2,
            beam: 32,
            choices: 10,
        }
    }
}

impl Weights {
    /// How much words that are not the tool's own count.
    pub fn kinship(&self) -> Kinship {
        Kinship {
            sense: self.sense,
            context: self.context,
            description: self.description,
            unknown: self.unknown,
            smooth: self.smooth,
        }
    }
}

/// One way to serve a clause.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The tools, in the order they run; not empty.
    pub steps: Vec<Step>,
    /// What the clause alone says for it.
    pub score: f32,
}

/// The candidate for which its clause alone says most.
pub fn likeliest(found: &[Candidate]) -> Option<&Candidate> {
    found.iter().max_by(|a, b| a.score.total_cmp(&b.score))
}

#[derive(Clone)]
struct Path {
    score: f32,
    tools: Vec<usize>,
    /// Clause, candidate, and the tool put before it.
    chosen: Vec<(usize, usize, Option<usize>)>,
}

/// The steps of each clause. `whole` is what the whole request says for each tool.
pub fn decode(lattice: &[Vec<Candidate>], whole: &[f32], index: &ToolIndex, weights: &Weights) -> Vec<Vec<Step>> {
    let mut likely: Vec<usize> =
        (0..whole.len()).filter(|tool| whole.get(*tool).is_some_and(|said| *said > 0.0)).collect();
    let said = |tool: &usize| whole.get(*tool).copied().unwrap_or_default();
    likely.sort_by(|a, b| said(b).total_cmp(&said(a)).then(a.cmp(b)));
    likely.truncate(MOST_LIKELY);
    let decoder = Decoder { whole, index, weights, likely, alike: RefCell::default() };
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
    /// Those tools, the likeliest first.
    likely: Vec<usize>,
    whole: &'a [f32],
    index: &'a ToolIndex,
    weights: &'a Weights,
    /// What was found out about pairs of tools.
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
            let link = weights.link * index.graph().surprise();
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
                Some(last) if !index.graph().links(*last, first) => {
                    let gap = self.transition(&path.tools, first);
                    for middle in &self.likely {
                        let between = index.graph().links(*last, *middle) && index.graph().links(*middle, first);
                        if between && !path.tools.contains(middle) && *middle != first {
                            put(*middle, 2.0 * link - gap - weights.bridge_cost);
                        }
                    }
                }
                Some(_) => {}
                None => {
                    for middle in self.likely.iter().filter(|middle| index.graph().links(**middle, first)) {
                        put(*middle, link - weights.edge_cost);
                    }
                }
            }
        }
        next.push(grown);
    }

    /// What the graph says for a tool after those before it.
    fn transition(&self, before: &[usize], tool: usize) -> f32 {
        let graph = self.index.graph();
        let Some(last) = before.last() else { return 0.0 };
        if graph.is_empty() || *last == tool {
            return 0.0;
        }
        match graph.links(*last, tool) {
            true => self.weights.link * graph.surprise(),
            // What flows between typed tools may come from any earlier one, or from the request.
            false if self.index.is_ordered() => -self.weights.gap * graph.surprise(),
            false => 0.0,
        }
    }

    /// What a tool is worth that no clause names, beside one that is: what the request says for it, and that it looks up
    /// what the other works on. What changes something and was not asked for is not done.
    fn unnamed(&self, tool: usize, beside: usize) -> f32 {
        let said = self.whole.get(tool).copied().unwrap_or_default();
        let said = self.weights.bridge * self.index.graph().sparsity() * said;
        match (self.index.looks_up(tool), self.index.share_a_thing(tool, beside)) {
            (true, true) => said + self.weights.lookup,
            (true, false) => said,
            (false, _) => said - self.weights.unasked,
        }
    }

    /// The best path that does something, with the tool put after its last. Some guess is better than none, but not any
    /// guess.
    fn end(&self, beam: &[Path]) -> Option<(Path, Option<usize>)> {
        let (graph, weights) = (self.index.graph(), self.weights);
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
        *self.alike.borrow_mut().entry(pair).or_insert_with(|| self.index.alike(pair.0, pair.1))
    }
}

#[cfg(test)]
mod tests;
