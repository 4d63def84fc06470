//! The figures by which each benchmark publishes, beside those that are the same for all.
//!
//! Each sample has a row of values whose means over the samples give the figures, so that they have bootstrap intervals
//! like the others. What a benchmark computes over sentences (WorFBench) is computed over tool names here.

mod chain;
mod edit_distance;
mod workflow;

pub use workflow::{Step, Workflow, Workflows};

use std::collections::BTreeSet;

use super::{Form, Sample};
use crate::evaluate::harmonic;
use crate::evaluate::strict::plan::Plan;

/// The most values of a sample, and the most figures of a form.
pub const OWN: usize = 6;

/// The values of a sample.
pub(crate) type Values = [f64; OWN];

/// A figure of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnFigure {
    /// Its name in JSON and CSV.
    pub key: &'static str,
    /// Its name in tables for people.
    pub header: &'static str,
    pub meaning: &'static str,
}

const fn figure(key: &'static str, header: &'static str, meaning: &'static str) -> OwnFigure {
    OwnFigure { key, header, meaning }
}

const ORCHESTRATION: [OwnFigure; 5] = [
    figure(
        "plan_score",
        "plan",
        "OrchestrationBench's plan score: the mean of both halves, a plan that is missing counted twice",
    ),
    figure(
        "structure",
        "structure",
        "its half for workflows, 1 - graph edit distance / largest; it reads `depends_on` alone",
    ),
    figure("component", "component", "its half for agents and their states; it reads `depends_on`, else `depend_on`"),
    figure("plan_score_both_keys", "plan*", "the plan score with `depend_on` read in both halves"),
    figure("structure_both_keys", "structure*", "the structure half with `depend_on` read too"),
];
const WORFBENCH: [OwnFigure; 2] = [
    figure("chain_f1", "chain", "WorFBench's f1_chain: the longest common sequence over all orders of the gold graph"),
    figure("graph_f1", "graph", "WorFBench's f1_graph: the largest connected common subgraph, START and END included"),
];
const COMPLEX: [OwnFigure; 3] = [
    figure("node_f1", "own n-F1", "ComplexTool-Plan's node F1, of mean precision and recall over the linked tools"),
    figure("edge_f1", "own e-F1", "ComplexTool-Plan's edge F1, of mean precision and recall"),
    figure("exact_match", "own exact", "ComplexTool-Plan's exact match of linked tools and edges"),
];
const SEAL: [OwnFigure; 3] = [
    figure(
        "api_precision",
        "api-P",
        "Seal-Tools' precision of tools: each predicted call whose tool the gold plan has counts",
    ),
    figure("api_recall", "api-R", "Seal-Tools' recall of tools"),
    figure("api_f1", "api-F1", "Seal-Tools' F1 of tools"),
];

/// The figures of a form, in the order of [`figures`].
pub fn named(form: Form) -> &'static [OwnFigure] {
    match form {
        Form::Neutral | Form::TaskBench | Form::UltraTool => &[],
        Form::OrchestrationBench => &ORCHESTRATION,
        Form::ComplexToolPlan => &COMPLEX,
        Form::SealTools => &SEAL,
        Form::WorfBench => &WORFBENCH,
    }
}

/// The values of a sample; an absent plan is an empty one.
pub(crate) fn values(form: Form, sample: &Sample, gold: &Plan, predicted: &Plan) -> Values {
    match form {
        Form::Neutral | Form::TaskBench | Form::UltraTool => [0.0; OWN],
        Form::OrchestrationBench => orchestration(sample, predicted),
        Form::ComplexToolPlan => complex(gold, predicted),
        Form::SealTools => {
            let known: BTreeSet<&String> = gold.nodes.iter().collect();
            let correct = predicted.nodes.iter().filter(|name| known.contains(name)).count();
            [correct as f64, predicted.nodes.len() as f64, gold.nodes.len() as f64, 0.0, 0.0, 0.0]
        }
        Form::WorfBench => [chain::chain_f1(gold, predicted), chain::graph_f1(gold, predicted), 0.0, 0.0, 0.0, 0.0],
    }
}

/// The figures of a form, from the means of its values.
pub(crate) fn figures(form: Form, means: Values) -> [Option<f64>; OWN] {
    let [a, b, c, d, e, _] = means;
    let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    match form {
        Form::Neutral | Form::TaskBench | Form::UltraTool => [None; OWN],
        // A failed plan adds a zero and a failure to the denominator.
        Form::OrchestrationBench => {
            let with_failures = |halves: f64| halves / 2.0 / (1.0 + e);
            [Some(with_failures(a + b)), Some(a), Some(b), Some(with_failures(c + b)), Some(c), None]
        }
        Form::ComplexToolPlan => [Some(harmonic(a, b)), Some(harmonic(c, d)), Some(e), None, None, None],
        Form::SealTools => {
            let (precision, recall) = (ratio(a, b), ratio(a, c));
            [Some(precision), Some(recall), Some(harmonic(precision, recall)), None, None, None]
        }
        Form::WorfBench => [Some(a), Some(b), None, None, None, None],
    }
}

/// The halves by the benchmark's rules, the structure half with both keys, and whether there is no plan.
fn orchestration(sample: &Sample, predicted: &Plan) -> Values {
    let Some(gold) = sample.workflows.as_deref().filter(|_| !predicted.nodes.is_empty()) else {
        return [0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    };
    let written = gold.with_plan(predicted);
    let (structure, both_keys) = (written.structure(gold, false), written.structure(gold, true));
    [structure, written.component(gold), both_keys, 0.0, 0.0, 0.0]
}

/// `accuracy.py` compares sets of texts: an edge is `a->b`, a tool without links is an edge too, and nodes are only those
/// with links. Nothing on either side is 1.
fn complex(gold: &Plan, predicted: &Plan) -> Values {
    let sets = |plan: &Plan| {
        let mut edges: BTreeSet<String> = plan.links.iter().map(|(from, to)| format!("{from}->{to}")).collect();
        let nodes: BTreeSet<String> = plan.links.iter().flat_map(|(from, to)| [from.clone(), to.clone()]).collect();
        edges.extend(plan.nodes.iter().filter(|name| !nodes.contains(*name)).cloned());
        (nodes, edges)
    };
    let share = |common: usize, of: usize, other: usize| match (of, other) {
        (0, 0) => 1.0,
        (0, _) => 0.0,
        (of, _) => common as f64 / of as f64,
    };
    let pair = |gold: &BTreeSet<String>, predicted: &BTreeSet<String>| {
        let common = gold.intersection(predicted).count();
        [share(common, predicted.len(), gold.len()), share(common, gold.len(), predicted.len())]
    };
    let ((gold_nodes, gold_edges), (nodes, edges)) = (sets(gold), sets(predicted));
    let ([node_p, node_r], [edge_p, edge_r]) = (pair(&gold_nodes, &nodes), pair(&gold_edges, &edges));
    let exact = f64::from(u8::from(gold_nodes == nodes && gold_edges == edges));
    [node_p, node_r, edge_p, edge_r, exact, 0.0]
}

#[cfg(test)]
mod tests;
