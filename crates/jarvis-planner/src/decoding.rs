//! Decoding: one choice of tools for all clauses together, by beam search. What a clause alone would take may give way to
//! what fits the tools before and after it, and a tool that no clause names may stand between two that do.

use std::collections::HashSet;

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
    /// What it must be worth more for each e-fold of the number of tools: among many, one fits by chance.
    pub crowd: f32,
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
    /// Standing behind the best tool of the clause.
    pub behind: f32,
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
            cost: 0.35,
            crowd: 0.05,
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
            telling: 0.35,
            guess: 0.2,
            behind: 0.5,
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

    /// What a step must be worth among so many tools.
    pub fn price(&self, tools: usize) -> f32 {
        self.cost + self.crowd * (tools.max(1) as f32).ln()
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

#[derive(Clone)]
struct Path {
    score: f32,
    tools: Vec<usize>,
    /// Clause, candidate, and the tool put before it.
    chosen: Vec<(usize, usize, Option<usize>)>,
}

/// The steps of each clause. `whole` is what the whole request says for each tool.
pub fn decode(lattice: &[Vec<Candidate>], whole: &[f32], index: &ToolIndex, weights: &Weights) -> Vec<Vec<Step>> {
    let price = weights.price(index.tools().len());
    let mut beam = vec![Path { score: 0.0, tools: Vec::new(), chosen: Vec::new() }];
    for (clause, candidates) in lattice.iter().enumerate() {
        let mut next: Vec<Path> = beam.clone();
        for path in &beam {
            for (at, candidate) in candidates.iter().enumerate() {
                extend(path, clause, at, candidate, whole, index, weights, price, &mut next);
            }
        }
        beam = best(next, weights.beam);
    }
    let mut steps: Vec<Vec<Step>> = vec![Vec::new(); lattice.len()];
    let Some(path) = ends(beam, whole, index, weights) else { return steps };
    let (path, last) = path;
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

#[allow(clippy::too_many_arguments)]
fn extend(
    path: &Path,
    clause: usize,
    at: usize,
    candidate: &Candidate,
    whole: &[f32],
    index: &ToolIndex,
    weights: &Weights,
    price: f32,
    next: &mut Vec<Path>,
) {
    let mut grown = path.clone();
    let mut gain = candidate.score;
    let Some(first) = candidate.steps.first().map(|step| step.tool) else { return };
    for step in &candidate.steps {
        gain -= price;
        gain += transition(&grown.tools, step.tool, index, weights);
        if grown.tools.contains(&step.tool) && !step.own {
            gain -= weights.repeat;
        } else if grown.tools.iter().any(|tool| *tool != step.tool && index.alike(*tool, step.tool)) {
            gain -= weights.alike;
        }
        grown.tools.push(step.tool);
    }
    grown.score += gain;
    grown.chosen.push((clause, at, None));
    let graph = index.graph();
    if index.is_ordered() {
        let worth = |tool: usize| unnamed(tool, first, whole, index, weights);
        let mut put = |middle: usize, worth: f32| {
            if index.alike(middle, first) || path.tools.iter().any(|tool| index.alike(*tool, middle)) {
                return;
            }
            let mut with = grown.clone();
            with.tools.insert(path.tools.len(), middle);
            with.score += worth;
            if let Some(chosen) = with.chosen.last_mut() {
                chosen.2 = Some(middle);
            }
            next.push(with);
        };
        let link = weights.link * graph.surprise();
        match path.tools.last() {
            Some(last) if !graph.links(*last, first) => {
                for middle in graph.after(*last) {
                    if graph.links(*middle, first) && !path.tools.contains(middle) && *middle != first {
                        let gap = transition(&path.tools, first, index, weights);
                        put(*middle, 2.0 * link - gap + worth(*middle) - weights.bridge_cost);
                    }
                }
            }
            Some(_) => {}
            None => {
                for middle in graph.before(first).iter().filter(|middle| **middle != first) {
                    put(*middle, link + worth(*middle) - weights.edge_cost);
                }
            }
        }
    }
    next.push(grown);
}

/// What a tool is worth that no clause names, beside one that is: what the request says for it, and that it looks up what
/// the other works on. What changes something and was not asked for is not done.
fn unnamed(tool: usize, beside: usize, whole: &[f32], index: &ToolIndex, weights: &Weights) -> f32 {
    let said = weights.bridge * index.graph().sparsity() * whole.get(tool).copied().unwrap_or_default();
    match (index.looks_up(tool), index.share_a_thing(tool, beside)) {
        (true, true) => said + weights.lookup,
        (true, false) => said,
        (false, _) => said - weights.unasked,
    }
}

/// What the graph says for a tool after those before it.
fn transition(before: &[usize], tool: usize, index: &ToolIndex, weights: &Weights) -> f32 {
    let graph = index.graph();
    let Some(last) = before.last() else { return 0.0 };
    if graph.is_empty() || *last == tool {
        return 0.0;
    }
    match graph.links(*last, tool) {
        true => weights.link * graph.surprise(),
        // What flows between typed tools may come from any earlier one, or from the request.
        false if index.is_ordered() => -weights.gap * graph.surprise(),
        false => 0.0,
    }
}

/// The best paths, each list of tools once.
fn best(mut paths: Vec<Path>, beam: usize) -> Vec<Path> {
    paths.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut seen: HashSet<Vec<usize>> = HashSet::new();
    paths.retain(|path| seen.len() < beam && seen.insert(path.tools.clone()));
    paths
}

/// The best path that does something, with the tool put after its last.
fn ends(beam: Vec<Path>, whole: &[f32], index: &ToolIndex, weights: &Weights) -> Option<(Path, Option<usize>)> {
    let graph = index.graph();
    let mut found: Option<(f32, Path, Option<usize>)> = None;
    let mut offer = |score: f32, path: &Path, last: Option<usize>| {
        if found.as_ref().is_none_or(|(best, _, _)| score > *best) {
            found = Some((score, path.clone(), last));
        }
    };
    // Some guess is better than none, but not any guess.
    for path in beam.iter().filter(|path| !path.tools.is_empty() && path.score > -weights.guess) {
        offer(path.score, path, None);
        if let Some(last) = path.tools.last().filter(|_| index.is_ordered() && path.tools.len() == 1) {
            for after in graph
                .after(*last)
                .iter()
                .filter(|after| !path.tools.iter().any(|tool| tool == *after || index.alike(*tool, **after)))
            {
                let worth = unnamed(*after, *last, whole, index, weights);
                offer(path.score + weights.link * graph.surprise() + worth - weights.tail_cost, path, Some(*after));
            }
        }
    }
    found.map(|(_, path, last)| (path, last))
}
