//! What a tool graph is like, and what is odd about it.

use std::collections::{BTreeSet, HashSet};

use indexmap::IndexMap;
use petgraph::algo::{connected_components, kosaraju_scc};
use petgraph::graph::{DiGraph, NodeIndex};
use serde::Serialize;

use super::build::{BuildOptions, build};
use super::sample::Sampler;
use crate::data::{DependencyType, ToolGraph};

const KINDS: [&str; 5] = ["text", "image", "audio", "video", "url"];
/// The longest chain that generation asks for.
const LONGEST: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Degrees {
    pub min: usize,
    pub mean: f64,
    pub max: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct TypeUse {
    pub inputs: usize,
    pub outputs: usize,
    /// Links of that kind, as listed.
    pub links: usize,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct GraphStats {
    pub tools: usize,
    pub links: usize,
    /// Links, repeated ones counted once.
    pub distinct_links: usize,
    pub types: IndexMap<String, TypeUse>,
    pub in_degree: Degrees,
    pub out_degree: Degrees,
    /// Tools that nothing leads to, but that lead on.
    pub sources: Vec<String>,
    /// Tools that lead nowhere, but that something leads to.
    pub sinks: Vec<String>,
    pub isolated: Vec<String>,
    pub components: usize,
    /// Tools of the largest set in which every tool can be reached from every other.
    pub largest_circle: usize,
    /// The most links that the shortest way between two tools takes.
    pub longest_shortest_path: usize,
    /// Whether there is a chain of 1, 2, … 10 distinct tools; `None` when the search gave up.
    pub chains: Vec<Option<bool>>,
    pub odd: Vec<String>,
}

pub fn stats(graph: &ToolGraph) -> GraphStats {
    let mut stats =
        GraphStats { tools: graph.nodes.tools.len(), links: graph.links.len(), odd: odd(graph), ..Default::default() };
    // Two inputs of one kind are one use.
    for word in graph.nodes.tools.iter().flat_map(|tool| tool.inputs.iter().flatten().collect::<BTreeSet<_>>()) {
        stats.types.entry(word.clone()).or_default().inputs += 1;
    }
    for word in graph.nodes.tools.iter().flat_map(|tool| tool.outputs.iter().flatten().collect::<BTreeSet<_>>()) {
        stats.types.entry(word.clone()).or_default().outputs += 1;
    }
    for kind in graph.links.iter().filter_map(|link| link.kind.as_ref()) {
        stats.types.entry(kind.clone()).or_default().links += 1;
    }

    let (net, names) = network(graph);
    stats.distinct_links = net.edge_count();
    let degree = |direction| -> Vec<usize> {
        net.node_indices().map(|node| net.neighbors_directed(node, direction).count()).collect()
    };
    let into = degree(petgraph::Incoming);
    let out = degree(petgraph::Outgoing);
    stats.in_degree = degrees(&into);
    stats.out_degree = degrees(&out);
    for ((name, into), out) in names.iter().zip(&into).zip(&out) {
        match (into, out) {
            (0, 0) => stats.isolated.push((*name).to_owned()),
            (0, _) => stats.sources.push((*name).to_owned()),
            (_, 0) => stats.sinks.push((*name).to_owned()),
            (_, _) => {}
        }
    }
    stats.components = connected_components(&net);
    stats.largest_circle = kosaraju_scc(&net).iter().map(Vec::len).max().unwrap_or(0);
    stats.longest_shortest_path = net.node_indices().map(|node| farthest(&net, node)).max().unwrap_or(0);
    let sampler = Sampler::new(graph);
    stats.chains = (1..=LONGEST).map(|n| sampler.has_chain(n)).collect();
    stats
}

fn degrees(counts: &[usize]) -> Degrees {
    let total: usize = counts.iter().sum();
    Degrees {
        min: counts.iter().min().copied().unwrap_or(0),
        mean: if counts.is_empty() { 0.0 } else { total as f64 / counts.len() as f64 },
        max: counts.iter().max().copied().unwrap_or(0),
    }
}

/// The graph without repeated links and links to unknown tools, and the names of its tools.
fn network(graph: &ToolGraph) -> (DiGraph<(), ()>, Vec<&str>) {
    let mut net = DiGraph::new();
    let mut places: IndexMap<&str, NodeIndex> = IndexMap::new();
    for tool in &graph.nodes.tools {
        places.entry(&tool.id).or_insert_with(|| net.add_node(()));
    }
    for link in &graph.links {
        if let (Some(&from), Some(&to)) = (places.get(link.source.as_str()), places.get(link.target.as_str())) {
            net.update_edge(from, to, ());
        }
    }
    (net, places.into_keys().collect())
}

/// Links to the tool that is farthest away.
fn farthest(net: &DiGraph<(), ()>, start: NodeIndex) -> usize {
    let (mut level, mut seen, mut far) = (vec![start], HashSet::from([start]), 0);
    loop {
        let next: Vec<NodeIndex> =
            level.iter().flat_map(|node| net.neighbors(*node)).filter(|node| seen.insert(*node)).collect();
        if next.is_empty() {
            return far;
        }
        far += 1;
        level = next;
    }
}

fn odd(graph: &ToolGraph) -> Vec<String> {
    let mut odd = Vec::new();
    let tools = &graph.nodes.tools;
    let ids: HashSet<&str> = tools.iter().map(|tool| tool.id.as_str()).collect();
    let plural = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });

    if ids.len() < tools.len() {
        let repeated = tools.len() - ids.len();
        odd.push(format!("{} the id of another", plural(repeated, "tool repeats", "tools repeat")));
    }
    let taken: BTreeSet<&str> =
        tools.iter().flat_map(|tool| tool.inputs.iter().flatten()).map(String::as_str).collect();
    for tool in tools {
        let words = tool.inputs.iter().flatten().chain(tool.outputs.iter().flatten());
        for word in words.map(String::as_str).collect::<BTreeSet<_>>() {
            if KINDS.contains(&word) {
                continue;
            }
            match KINDS.into_iter().find(|kind| kind.eq_ignore_ascii_case(word)) {
                Some(kind) => odd.push(format!(
                    "`{}` says `{word}` where others say `{kind}`; `graph build --ignore-case` takes them for the same",
                    tool.id
                )),
                None => odd.push(format!("`{}` has the unknown kind `{word}`", tool.id)),
            }
        }
        if tool.inputs.is_some() && tool.id.contains('_') {
            odd.push(format!(
                "`{}` has an underscore, which the original evaluator turns into a blank: it can never match",
                tool.id
            ));
        }
    }
    for kind in tools.iter().flat_map(|tool| tool.outputs.iter().flatten()).map(String::as_str).collect::<BTreeSet<_>>()
    {
        if !taken.contains(kind) && graph.nodes.is_typed() {
            odd.push(format!("no tool takes `{kind}`, though some give it"));
        }
    }

    let distinct: HashSet<(&str, &str)> =
        graph.links.iter().map(|link| (link.source.as_str(), link.target.as_str())).collect();
    let repeated = graph.links.len() - distinct.len();
    if repeated > 0 {
        odd.push(format!(
            "{} listed more than once: {} listed, {} distinct",
            plural(repeated, "link is", "links are"),
            graph.links.len(),
            distinct.len()
        ));
    }
    let unknown: BTreeSet<&str> =
        distinct.iter().flat_map(|(a, b)| [*a, *b]).filter(|name| !ids.contains(name)).collect();
    for name in unknown {
        odd.push(format!("links name `{name}`, which is no tool of the graph"));
    }
    let selves = distinct.iter().filter(|(a, b)| a == b).count();
    if selves > 0 {
        odd.push(format!("{} from a tool to itself", plural(selves, "link leads", "links lead")));
    }
    if graph.nodes.is_typed()
        && let Ok(built) = build(&graph.nodes, DependencyType::Resource, BuildOptions::default())
    {
        let made: HashSet<(&str, &str)> =
            built.links.iter().map(|link| (link.source.as_str(), link.target.as_str())).collect();
        let (missing, surplus) = (made.difference(&distinct).count(), distinct.difference(&made).count());
        if missing + surplus > 0 {
            odd.push(format!(
                "the links are not those that the kinds imply: {} missing, {} more than implied",
                missing, surplus
            ));
        }
    }
    odd
}
