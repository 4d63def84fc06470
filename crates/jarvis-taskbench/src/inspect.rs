//! What a domain's folder holds, and what is odd about it.
//!
//! Oddities are no errors: the published folders are full of them, and scoring copes. The report shows where an unexpected
//! figure may come from.

mod plans;

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use serde_json::{Map, Value, json};

use self::plans::GoldPlans;
use crate::DataError;
use crate::data::{
    AlignmentIds, BenchTool, DependencyType, Domain, Gold, Lines, Requests, SampleId, ToolGraph, ToolList, normalised,
};
use crate::evaluate::strict::Catalogue;
use crate::json::Look;

/// The benchmark's words for kinds of resources.
const KINDS: [&str; 5] = ["text", "image", "audio", "video", "url"];

#[derive(Debug, Clone, Serialize)]
pub struct Inspection {
    pub dir: String,
    pub name: String,
    /// What links of its plans mean, `resource` or `temporal`, as far as its tools or else its gold plans say.
    pub dependency_type: Option<&'static str>,
    #[serde(skip)]
    pub because: &'static str,
    /// By path inside the folder: the files of the benchmark in its own order, then prediction files.
    pub files: IndexMap<String, FileReport>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum FileReport {
    Read(Contents),
    Missing,
    Unusable { reason: String },
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct Contents {
    /// Numbers, and numbers by kind, under names such as `plans_by_type`.
    #[serde(flatten)]
    pub facts: Map<String, Value>,
    pub odd: Vec<Oddity>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Oddity {
    /// Words that follow a number: `tools that no gold plan uses`.
    pub what: &'static str,
    pub count: usize,
    /// Of how many, where that says more.
    pub of: Option<usize>,
    /// Names, ids or lines, all of them; empty where only the number is known.
    pub which: Vec<String>,
}

/// Inspects everything in the folder; parts that are missing or unusable are reported.
///
/// # Errors
/// When none of the benchmark's files is there.
pub fn inspect(domain: &Domain) -> Result<Inspection, DataError> {
    let (tools, graph, requests) = (domain.tools(), domain.graph(), domain.requests());
    // Without a tool list the graph's tools stand in.
    let known = tools.as_ref().ok().or_else(|| graph.as_ref().ok().map(|graph| &graph.nodes));
    let gold = domain.gold();
    let (dependency, because) = dependency(known, gold.as_ref().ok());
    let read_as = dependency.unwrap_or(DependencyType::Temporal);
    let catalogue = Catalogue::new(known.unwrap_or(&ToolList::default()), read_as);
    let gold = gold.map(|gold| {
        let against =
            plans::Against { catalogue: &catalogue, graph: graph.as_ref().ok(), requests: requests.as_ref().ok() };
        GoldPlans::inspect(&gold, against)
    });
    let plans = gold.as_ref().ok();
    let mut unused =
        known.zip(plans).map(|(tools, plans)| names(tools, |tool| !plans.used.contains(&normalised(&tool.id))));
    let mut files = IndexMap::new();
    let mut put = |name: &str, report: FileReport| files.insert(name.to_owned(), report);
    put("tool_desc.json", FileReport::of(&tools, |tools| tool_list(tools, unused.take())));
    put("graph_desc.json", FileReport::of(&graph, |graph| tool_graph(graph, tools.as_ref().ok(), unused.take())));
    put("user_requests.json", FileReport::of(&requests, |requests| request_list(requests, plans)));
    put("data.json", FileReport::of(&gold, |plans| plans.contents.clone()));
    put("alignment_ids.json", FileReport::of(&domain.alignment(), |lists| alignment(lists, plans)));
    match domain.test_ids() {
        Err(error) if error.is_missing() => {}
        read => {
            put("split_ids.json", FileReport::of(&read, |methods| split_ids(methods, plans)));
        }
    }
    let nothing_read = files.values().all(|file| matches!(file, FileReport::Missing));
    let wanted = files.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    for file in domain.prediction_files() {
        let name = file.strip_prefix(domain.dir()).expect("it is in the folder").display().to_string();
        files.insert(name, FileReport::of(&Lines::read(&file), |lines| plans::predictions(lines, &catalogue, plans)));
    }
    if nothing_read && files.values().all(|file| matches!(file, FileReport::Missing)) {
        return Err(DataError::shape(domain.dir(), format!("this folder holds no domain: no {wanted}")));
    }
    let dependency_type = dependency.map(DependencyType::as_str);
    Ok(Inspection { dir: domain.dir().display().to_string(), name: domain.name(), dependency_type, because, files })
}

/// What links mean: typed tools and references between nodes make resource plans, parameters and listed links temporal ones.
fn dependency(tools: Option<&ToolList>, gold: Option<&Gold>) -> (Option<DependencyType>, &'static str) {
    use DependencyType::{Resource, Temporal};
    match tools.map(|tools| (tools.is_typed(), tools.has_parameters())) {
        Some((true, _)) => return (Some(Resource), "tools say what they take and give"),
        Some((false, true)) => return (Some(Temporal), "tools have named parameters"),
        Some((false, false)) | None => {}
    }
    let mut listed = false;
    for record in gold.into_iter().flat_map(Gold::records).filter_map(Result::ok) {
        listed |= record.task_links.as_ref().and_then(Look::list).is_some_and(|links| !links.is_empty());
        let arguments =
            record.task_nodes.iter().filter_map(Look::list).flatten().filter_map(|node| node.look("arguments"));
        for argument in arguments.filter_map(Look::list).flatten() {
            match (argument.text(), argument.look("name")) {
                (Some(_), _) => return (Some(Resource), "arguments of plans are plain values"),
                (None, Some(_)) => return (Some(Temporal), "arguments of plans have names"),
                (None, None) => {}
            }
        }
    }
    match listed {
        true => (Some(Temporal), "plans list their links, and no arguments"),
        false => (None, "neither tools nor plans show what links mean"),
    }
}

impl FileReport {
    fn of<T>(read: &Result<T, DataError>, inspect: impl FnOnce(&T) -> Contents) -> FileReport {
        let reason = match read {
            Ok(read) => return FileReport::Read(inspect(read)),
            Err(error) if error.is_missing() => return FileReport::Missing,
            Err(DataError::Read { source, .. } | DataError::Write { source, .. }) => source.to_string(),
            Err(error @ DataError::Locked { .. }) => error.to_string(),
            Err(DataError::NotJson { reason, .. }) => format!("not JSON: {reason}"),
            Err(DataError::Shape { reason, .. }) => reason.clone(),
        };
        FileReport::Unusable { reason }
    }
}

impl Contents {
    fn count(&mut self, name: &str, count: usize) {
        self.facts.insert(name.to_owned(), count.into());
    }

    /// Kinds and how often each occurs; no fact where there is none.
    fn counts(&mut self, name: &str, counts: IndexMap<String, usize>) {
        if !counts.is_empty() {
            self.facts.insert(name.to_owned(), json!(counts));
        }
    }

    fn odd(&mut self, what: &'static str, which: Vec<String>, of: Option<usize>) {
        self.odd_counted(what, which.len(), which, of);
    }

    /// Something odd that occurs more often than it has examples.
    fn odd_counted(&mut self, what: &'static str, count: usize, which: Vec<String>, of: Option<usize>) {
        if count > 0 {
            self.odd.push(Oddity { what, count, of, which });
        }
    }

    fn repeated_ids<T: Hash + Eq + ToString>(&mut self, ids: impl IntoIterator<Item = T>) {
        self.odd("ids that are repeated", repeated(ids), None);
    }
}

/// How often each occurs, in the order of their first.
fn tally<T: Hash + Eq>(items: impl IntoIterator<Item = T>) -> IndexMap<T, usize> {
    let mut counts = IndexMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    counts
}

/// Those that occur more than once, in the order of their first.
fn repeated<T: Hash + Eq + ToString>(items: impl IntoIterator<Item = T>) -> Vec<String> {
    tally(items).into_iter().filter(|(_, times)| *times > 1).map(|(item, _)| item.to_string()).collect()
}

/// The most frequent first, as `name (times)`.
fn by_frequency(counts: &HashMap<String, usize>) -> Vec<String> {
    let mut sorted: Vec<(&String, &usize)> = counts.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
    let written = |name: &str| if name.trim().is_empty() { "(empty)".to_owned() } else { name.to_owned() };
    sorted.into_iter().map(|(name, times)| format!("{} ({times})", written(name))).collect()
}

fn names(tools: &ToolList, fits: impl Fn(&BenchTool) -> bool) -> Vec<String> {
    tools.tools.iter().filter(|tool| fits(tool)).map(|tool| tool.id.clone()).collect()
}

fn tool_list(list: &ToolList, unused: Option<Vec<String>>) -> Contents {
    let mut file = Contents::default();
    let tools = &list.tools;
    file.count("tools", tools.len());
    file.counts("inputs", tally(tools.iter().flat_map(|tool| tool.inputs.iter().flatten().cloned())));
    file.counts("outputs", tally(tools.iter().flat_map(|tool| tool.outputs.iter().flatten().cloned())));
    if list.has_parameters() {
        file.count("parameters", tools.iter().map(|tool| tool.parameter_names().count()).sum());
    }
    file.repeated_ids(tools.iter().map(|tool| &tool.id));
    let distinct: IndexSet<&String> = tools.iter().map(|tool| &tool.id).collect();
    let mut same = repeated(distinct.into_iter().map(|id| normalised(id)));
    same.sort();
    file.odd("names that are the same once `_` is a blank", same, None);
    file.odd("tools without a description", names(list, |tool| tool.desc.trim().is_empty()), None);
    let mut words = Vec::new();
    for tool in tools {
        for (side, kinds) in [("in", &tool.inputs), ("out", &tool.outputs)] {
            let odd = kinds.iter().flatten().filter(|kind| !KINDS.contains(&kind.as_str()));
            words.extend(odd.map(|kind| format!("{} ({side}: {kind})", tool.id)));
        }
    }
    file.odd("type words that are none of text, image, audio, video, url", words, None);
    if list.is_typed() {
        file.odd("tools without types", names(list, |tool| tool.inputs.is_none() || tool.outputs.is_none()), None);
        file.odd("tools that make nothing", names(list, |tool| tool.outputs.as_ref().is_some_and(Vec::is_empty)), None);
    } else if list.has_parameters() {
        file.odd("tools without parameters", names(list, |tool| tool.parameter_names().next().is_none()), None);
    }
    file.odd("tools that no gold plan uses", unused.into_iter().flatten().collect(), None);
    file
}

fn tool_graph(graph: &ToolGraph, tools: Option<&ToolList>, unused: Option<Vec<String>>) -> Contents {
    let mut file = Contents::default();
    let links = graph.links.len();
    let pairs: IndexSet<(&str, &str)> =
        graph.links.iter().map(|link| (link.source.as_str(), link.target.as_str())).collect();
    file.count("links", links);
    file.count("pairs_of_tools", pairs.len());
    file.count("tools", graph.nodes.tools.len());
    let typed = tally(graph.links.iter().filter_map(|link| link.kind.clone()));
    let untyped = graph.links.iter().filter(|link| link.kind.is_none()).count();
    if !typed.is_empty() {
        file.odd_counted("links without a type", untyped, Vec::new(), Some(links));
    }
    file.counts("links_by_type", typed);
    file.repeated_ids(graph.nodes.tools.iter().map(|tool| &tool.id));
    let ids = |tools: &ToolList| tools.tools.iter().map(|tool| tool.id.clone()).collect::<HashSet<String>>();
    let nodes = ids(&graph.nodes);
    if let Some(tools) = tools {
        let listed = ids(tools);
        file.odd("tools that tool_desc.json lacks", names(&graph.nodes, |tool| !listed.contains(&tool.id)), None);
        file.odd(
            "tools of tool_desc.json that are not in the graph",
            names(tools, |tool| !nodes.contains(&tool.id)),
            None,
        );
    }
    let arrow = |source: &str, target: &str| format!("{source} → {target}");
    let again: IndexMap<_, _> = tally(&graph.links).into_iter().filter(|(_, times)| *times > 1).collect();
    let more = again.values().map(|times| times - 1).sum();
    let which = again.keys().map(|link| arrow(&link.source, &link.target)).collect();
    file.odd_counted("links that are listed again", more, which, Some(links));
    let which = |fits: &dyn Fn(&str, &str) -> bool| -> Vec<String> {
        pairs
            .iter()
            .filter(|(source, target)| fits(source, target))
            .map(|(source, target)| arrow(source, target))
            .collect()
    };
    file.odd("links from a tool to itself", which(&|source, target| source == target), None);
    let outside = which(&|source, target| !nodes.contains(source) || !nodes.contains(target));
    file.odd("links with an end outside the graph", outside, None);
    let linked: HashSet<&str> = pairs.iter().flat_map(|(source, target)| [*source, *target]).collect();
    file.odd("tools without any link", names(&graph.nodes, |tool| !linked.contains(tool.id.as_str())), None);
    file.odd("tools that no gold plan uses", unused.into_iter().flatten().collect(), None);
    file
}

fn request_list(requests: &Requests, plans: Option<&GoldPlans>) -> Contents {
    let mut file = Contents::default();
    let list = &requests.requests;
    file.count("requests", list.len());
    file.odd("lines that cannot be used", requests.bad.iter().map(ToString::to_string).collect(), None);
    file.repeated_ids(list.iter().map(|request| &request.id));
    let mut texts: HashMap<&str, HashSet<&SampleId>> = HashMap::new();
    for request in list {
        texts.entry(request.text.trim()).or_default().insert(&request.id);
    }
    let which = |fits: &dyn Fn(&str, &SampleId) -> bool| -> Vec<String> {
        list.iter()
            .filter(|request| fits(request.text.trim(), &request.id))
            .map(|request| request.id.to_string())
            .collect()
    };
    file.odd("requests without words", which(&|text, _| text.is_empty()), None);
    let shared = which(&|text, _| texts.get(text).is_some_and(|ids| ids.len() > 1));
    file.odd("requests in the words of another", shared, Some(list.len()));
    let numbers = which(&|_, id| matches!(id, SampleId::Number(_))).len();
    if numbers < list.len() {
        file.odd_counted("ids that are numbers, not text", numbers, Vec::new(), Some(list.len()));
    }
    if let Some(plans) = plans {
        file.odd("requests without a gold plan", which(&|_, id| !plans.ids.contains(id)), Some(list.len()));
    }
    file
}

fn alignment(read: &AlignmentIds, plans: Option<&GoldPlans>) -> Contents {
    let mut file = Contents::default();
    let critic = |kind: &str| kind.trim_end_matches("_alignment_id").to_owned();
    let total = |methods: &IndexMap<String, Vec<SampleId>>| methods.values().map(Vec::len).sum();
    file.counts("ids_by_critic", read.lists.iter().map(|(kind, methods)| (critic(kind), total(methods))).collect());
    let all: IndexSet<&SampleId> = read.lists.values().flat_map(IndexMap::values).flatten().collect();
    file.count("distinct_ids", all.len());
    let twice = read.lists.iter().flat_map(|(kind, methods)| {
        repeated(methods.values().flatten()).into_iter().map(move |id| format!("{id} ({})", critic(kind)))
    });
    file.odd("ids that are repeated in a list", twice.collect(), None);
    if let Some(plans) = plans {
        let unknown: Vec<String> = all.iter().filter(|id| !plans.ids.contains(**id)).map(ToString::to_string).collect();
        file.count("of_them_gold_plans", all.len() - unknown.len());
        file.odd("ids without a gold plan", unknown, Some(all.len()));
        let unlisted = plans.ids.iter().filter(|id| !all.contains(id)).map(ToString::to_string).collect();
        file.odd("gold plans in none of the lists", unlisted, Some(plans.ids.len()));
    }
    file
}

fn split_ids(methods: &IndexMap<String, Vec<SampleId>>, plans: Option<&GoldPlans>) -> Contents {
    let mut file = Contents::default();
    file.counts("test_ids", methods.iter().map(|(method, ids)| (method.clone(), ids.len())).collect());
    let ids: Vec<&SampleId> = methods.values().flatten().collect();
    file.repeated_ids(&ids);
    if let Some(plans) = plans {
        let unknown = ids.iter().filter(|id| !plans.ids.contains(**id)).map(ToString::to_string).collect();
        file.odd("ids without a gold plan", unknown, Some(ids.len()));
    }
    file
}
