//! Tools, tool graph, requests, alignment lists and split lists.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::{FileReport, GoldSeen, repeated, tally};
use crate::DataError;
use crate::data::{BenchTool, Domain, Requests, SampleId, ToolGraph, ToolList, normalised};
use crate::json::{Look, parse};

/// The words of the benchmark for kinds of things.
const KINDS: [&str; 5] = ["text", "image", "audio", "video", "url"];

pub(super) fn tools(domain: &Domain) -> (FileReport, Option<ToolList>) {
    let list = match domain.tools() {
        Ok(list) => list,
        Err(error) => return (FileReport::unread("tool_desc.json", &error), None),
    };
    let mut file = FileReport::new("tool_desc.json");
    let tools = &list.tools;
    file.count("tools", tools.len());
    file.counts("inputs", tally(tools.iter().flat_map(|tool| tool.inputs.iter().flatten().cloned())));
    file.counts("outputs", tally(tools.iter().flat_map(|tool| tool.outputs.iter().flatten().cloned())));
    if list.has_parameters() {
        file.count("parameters", tools.iter().map(|tool| tool.parameter_names().count()).sum());
    }
    let ids = || tools.iter().map(|tool| tool.id.as_str());
    file.odd("ids that are repeated", repeated(ids()), None);
    let distinct: HashSet<&str> = ids().collect();
    let same = repeated(distinct.iter().map(|id| normalised(id)));
    file.odd("names that are the same once `_` is a blank", sorted(same), None);
    let which = |test: &dyn Fn(&BenchTool) -> bool| -> Vec<String> {
        tools.iter().filter(|tool| test(tool)).map(|tool| tool.id.clone()).collect()
    };
    file.odd("tools without a description", which(&|tool| tool.desc.trim().is_empty()), None);
    let mut odd_words = Vec::new();
    for tool in tools {
        for (side, kinds) in [("in", &tool.inputs), ("out", &tool.outputs)] {
            let odd = kinds.iter().flatten().filter(|kind| !KINDS.contains(&kind.as_str()));
            odd_words.extend(odd.map(|kind| format!("{} ({side}: {kind})", tool.id)));
        }
    }
    file.odd("type words that are none of text, image, audio, video, url", odd_words, None);
    if list.is_typed() {
        file.odd("tools without types", which(&|tool| tool.inputs.is_none() || tool.outputs.is_none()), None);
        file.odd("tools that make nothing", which(&|tool| tool.outputs.as_ref().is_some_and(Vec::is_empty)), None);
    } else if list.has_parameters() {
        file.odd("tools without parameters", which(&|tool| tool.parameter_names().next().is_none()), None);
    }
    (file, Some(list))
}

pub(super) fn graph(domain: &Domain, tools: Option<&ToolList>) -> (FileReport, Option<ToolGraph>) {
    let graph = match domain.graph() {
        Ok(graph) => graph,
        Err(error) => return (FileReport::unread("graph_desc.json", &error), None),
    };
    let mut file = FileReport::new("graph_desc.json");
    file.count("links", graph.links.len());
    let distinct: HashSet<(&str, &str)> = ends(&graph).collect();
    file.count("pairs of tools", distinct.len());
    file.count("tools", graph.nodes.tools.len());
    let typed = tally(graph.links.iter().filter_map(|link| link.kind.clone()));
    let untyped = graph.links.iter().filter(|link| link.kind.is_none()).count();
    if untyped > 0 && !typed.is_empty() {
        file.odd_counted("links without a type", untyped, Vec::new(), Some(graph.links.len()));
    }
    file.counts("links by type", typed);
    let nodes: HashSet<&str> = graph.nodes.tools.iter().map(|tool| tool.id.as_str()).collect();
    file.odd("ids that are repeated", repeated(graph.nodes.tools.iter().map(|tool| tool.id.as_str())), None);
    if let Some(tools) = tools {
        let listed: HashSet<&str> = tools.tools.iter().map(|tool| tool.id.as_str()).collect();
        file.odd("tools that tool_desc.json lacks", names_outside(&graph.nodes, &listed), None);
        file.odd("tools of tool_desc.json that are not in the graph", names_outside(tools, &nodes), None);
    }
    let arrow = |(source, target): (&str, &str)| format!("{source} → {target}");
    let triples = graph.links.iter().map(|link| (link.source.as_str(), link.target.as_str(), link.kind.as_deref()));
    let again: IndexMap<_, _> = tally(triples).into_iter().filter(|(_, times)| *times > 1).collect();
    let more = again.values().map(|times| times - 1).sum();
    let which = again.keys().map(|(source, target, _)| arrow((source, target))).collect();
    file.odd_counted("links that are listed again", more, which, Some(graph.links.len()));
    let own = distinct_in_order(ends(&graph).filter(|(source, target)| source == target));
    file.odd("links from a tool to itself", own.into_iter().map(arrow).collect(), None);
    let lost = ends(&graph).filter(|(source, target)| !nodes.contains(source) || !nodes.contains(target));
    file.odd("links with an end outside the graph", distinct_in_order(lost).into_iter().map(arrow).collect(), None);
    let linked: HashSet<&str> = ends(&graph).flat_map(|(source, target)| [source, target]).collect();
    file.odd("tools without any link", names_outside(&graph.nodes, &linked), None);
    (file, Some(graph))
}

fn ends(graph: &ToolGraph) -> impl Iterator<Item = (&str, &str)> {
    graph.links.iter().map(|link| (link.source.as_str(), link.target.as_str()))
}

fn names_outside(tools: &ToolList, inside: &HashSet<&str>) -> Vec<String> {
    tools.tools.iter().filter(|tool| !inside.contains(tool.id.as_str())).map(|tool| tool.id.clone()).collect()
}

fn distinct_in_order<T: std::hash::Hash + Eq>(items: impl Iterator<Item = T>) -> Vec<T> {
    tally(items).into_keys().collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

pub(super) fn requests(domain: &Domain) -> (FileReport, Option<Requests>) {
    let requests = match domain.requests() {
        Ok(requests) => requests,
        Err(error) => return (FileReport::unread("user_requests.json", &error), None),
    };
    let mut file = FileReport::new("user_requests.json");
    let list = &requests.requests;
    file.count("requests", list.len());
    file.odd("lines that cannot be used", requests.bad.iter().map(ToString::to_string).collect(), None);
    file.odd("ids that are repeated", repeated(list.iter().map(|request| &request.id)), None);
    let empty = list.iter().filter(|request| request.text.trim().is_empty());
    file.odd("requests without words", empty.map(|request| request.id.to_string()).collect(), None);
    let mut texts: HashMap<&str, HashSet<&SampleId>> = HashMap::new();
    for request in list {
        texts.entry(request.text.trim()).or_default().insert(&request.id);
    }
    let shared = list.iter().filter(|request| texts.get(request.text.trim()).is_some_and(|ids| ids.len() > 1));
    let shared = shared.map(|request| request.id.to_string()).collect();
    file.odd("requests in the words of another", shared, Some(list.len()));
    let numbers = list.iter().filter(|request| matches!(request.id, SampleId::Number(_))).count();
    if numbers < list.len() {
        file.odd_counted("ids that are numbers, not text", numbers, Vec::new(), Some(list.len()));
    }
    (file, Some(requests))
}

pub(super) fn alignment(domain: &Domain, gold: Option<&GoldSeen>) -> FileReport {
    let lists = match domain.alignment() {
        Ok(read) => read.lists,
        Err(error) => return FileReport::unread("alignment_ids.json", &error),
    };
    let mut file = FileReport::new("alignment_ids.json");
    let short = |kind: &str| kind.trim_end_matches("_alignment_id").to_owned();
    let total = |methods: &IndexMap<String, Vec<SampleId>>| methods.values().map(Vec::len).sum();
    file.counts("ids by critic", lists.iter().map(|(kind, methods)| (short(kind), total(methods))).collect());
    let all: IndexMap<&SampleId, usize> = tally(lists.values().flat_map(IndexMap::values).flatten());
    file.count("distinct ids", all.len());
    let mut twice = Vec::new();
    for (kind, methods) in &lists {
        twice.extend(repeated(methods.values().flatten()).into_iter().map(|id| format!("{id} ({})", short(kind))));
    }
    file.odd("ids that are repeated in a list", twice, None);
    against_gold(&mut file, all.into_keys().collect(), gold);
    file
}

/// The ids that gold plans lack, and the other way round.
fn against_gold(file: &mut FileReport, ids: Vec<&SampleId>, gold: Option<&GoldSeen>) {
    let Some(gold) = gold else { return };
    let total = ids.len();
    file.count("of them gold plans", ids.iter().filter(|id| gold.ids.contains(**id)).count());
    let unknown = ids.iter().filter(|id| !gold.ids.contains(**id)).map(ToString::to_string).collect();
    file.odd("ids without a gold plan", unknown, Some(total));
    let listed: HashSet<&SampleId> = ids.into_iter().collect();
    let unlisted = gold.ids.iter().filter(|id| !listed.contains(id)).map(ToString::to_string).collect();
    file.odd("gold plans in none of the lists", unlisted, Some(gold.ids.len()));
}

/// `split_ids.json` of GNN4TaskPlan, where it is.
pub(super) fn split_ids(domain: &Domain, gold: Option<&GoldSeen>) -> Option<FileReport> {
    const NAME: &str = "split_ids.json";
    let path = domain.path(NAME);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => return Some(FileReport::unread(NAME, &DataError::read(&path, error))),
    };
    let unusable = |reason: String| Some(FileReport::unread(NAME, &DataError::shape(&path, reason)));
    let value = match parse(&bytes) {
        Ok(value) => value,
        Err(error) => return unusable(format!("not JSON: {error}")),
    };
    let Some(methods) = value.look("test_ids").and_then(Look::pairs) else {
        return unusable("it has no object under `test_ids`".into());
    };
    let mut file = FileReport::new(NAME);
    let mut counts = IndexMap::new();
    let mut ids = Vec::new();
    for (method, list) in methods {
        let list: Vec<SampleId> = list.list().unwrap_or_default().iter().filter_map(SampleId::of).collect();
        counts.insert(method.to_string(), list.len());
        ids.extend(list);
    }
    file.counts("test ids", counts);
    file.odd("ids that are repeated", repeated(&ids), None);
    if let Some(gold) = gold {
        let unknown = ids.iter().filter(|id| !gold.ids.contains(*id)).map(ToString::to_string).collect();
        file.odd("ids without a gold plan", unknown, Some(ids.len()));
    }
    Some(file)
}
