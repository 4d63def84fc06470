//! What a domain's folder holds, and what is odd about it. Nothing odd is an error here: the published folders are full of
//! it, and scoring copes; but whoever wonders about a figure should be able to see why.

mod files;
mod plans;
mod predictions;

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value, json};

use super::{DependencyType, Domain, Gold, SampleId, ToolList};
use crate::DataError;
use crate::evaluate::strict::Catalogue;
use crate::json::Look;

/// What was found.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// The folder.
    pub dir: String,
    /// Its name without `data_`.
    pub name: String,
    /// What links of its plans mean, as far as its tools or else its gold plans tell.
    pub dependency: Option<DependencyType>,
    /// What told it.
    pub because: &'static str,
    /// The files in the order of the benchmark's description, prediction files last.
    pub files: Vec<FileReport>,
}

/// One file.
#[derive(Debug, Clone)]
pub struct FileReport {
    /// Its path inside the folder.
    pub file: String,
    /// Whether it could be read.
    pub state: State,
    /// What it holds.
    pub facts: Vec<Fact>,
    /// What is odd about it.
    pub odd: Vec<Oddity>,
}

/// Whether a file could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It could.
    Read,
    /// There is none.
    Missing,
    /// It is not what it should be: why.
    Unusable(String),
}

/// A number, or numbers by kind, under a plain name such as `plans by type`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What is counted.
    pub name: &'static str,
    /// How many.
    pub value: FactValue,
}

/// How many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactValue {
    /// So many.
    Count(usize),
    /// So many of each kind.
    Counts(IndexMap<String, usize>),
}

/// Something odd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// What, in words that follow a number: `tools that no gold plan uses`.
    pub what: &'static str,
    /// How many.
    pub count: usize,
    /// Of how many, where that says more.
    pub of: Option<usize>,
    /// Which: names, ids or lines; all of them.
    pub which: Vec<String>,
}

/// Looks at everything in the folder. Parts that are missing or unusable are told.
///
/// # Errors
/// When none of the benchmark's files is there.
pub fn inspect(domain: &Domain) -> Result<Inspection, DataError> {
    let (mut tool_list, tools) = files::tools(domain);
    let (mut tool_graph, graph) = files::graph(domain, tools.as_ref());
    let (mut request_list, requests) = files::requests(domain);
    // Without a tool list the graph's tools stand in.
    let known = tools.as_ref().or_else(|| graph.as_ref().map(|graph| &graph.nodes));
    let gold = domain.gold();
    let (dependency, because) = meaning(known, gold.as_ref().ok());
    let read_as = dependency.unwrap_or(DependencyType::Temporal);
    let empty = ToolList::default();
    let catalogue = Catalogue::new(known.unwrap_or(&empty), read_as);
    let against = plans::Against { catalogue: &catalogue, known, graph: graph.as_ref(), requests: requests.as_ref() };
    let (gold_file, gold) = match &gold {
        Ok(gold) => {
            let (file, seen) = plans::gold(gold, against);
            (file, Some(seen))
        }
        Err(error) => (FileReport::unread("data.json", error), None),
    };
    if let (Some(tools), Some(gold)) = (known, &gold) {
        let unused = tools.tools.iter().map(|tool| tool.id.clone());
        let unused = unused.filter(|id| !gold.used.contains(&super::normalised(id))).collect();
        let file = if tool_list.state == State::Read { &mut tool_list } else { &mut tool_graph };
        file.odd("tools that no gold plan uses", unused, None);
    }
    if let (Some(requests), Some(gold)) = (&requests, &gold) {
        let without = requests.requests.iter().filter(|request| !gold.ids.contains(&request.id));
        let without = without.map(|request| request.id.to_string()).collect();
        request_list.odd("requests without a gold plan", without, Some(requests.requests.len()));
    }
    let mut found = vec![tool_list, tool_graph, request_list, gold_file, files::alignment(domain, gold.as_ref())];
    found.extend(files::split_ids(domain, gold.as_ref()));
    let predictions = predictions::all(domain, &catalogue, gold.as_ref());
    if found.iter().all(|file| file.state == State::Missing) && predictions.is_empty() {
        let files: Vec<&str> = found.iter().map(|file| file.file.as_str()).collect();
        return Err(DataError::shape(domain.dir(), format!("nothing of a domain is here: no {}", files.join(", "))));
    }
    found.extend(predictions);
    Ok(Inspection { dir: domain.dir().display().to_string(), name: domain.name(), dependency, because, files: found })
}

/// What links mean: typed tools and references between nodes make resource plans, parameters and listed links temporal ones.
fn meaning(tools: Option<&ToolList>, gold: Option<&Gold>) -> (Option<DependencyType>, &'static str) {
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
        false => (None, "neither tools nor plans tell what links mean"),
    }
}

impl FileReport {
    fn new(file: impl Into<String>) -> FileReport {
        FileReport { file: file.into(), state: State::Read, facts: Vec::new(), odd: Vec::new() }
    }

    /// A file that could not be read, told from the error.
    fn unread(file: impl Into<String>, error: &DataError) -> FileReport {
        let state = match error {
            DataError::Read { source, .. } if source.kind() == std::io::ErrorKind::NotFound => State::Missing,
            DataError::Read { source, .. } | DataError::Write { source, .. } => State::Unusable(source.to_string()),
            DataError::Locked { .. } => State::Unusable(error.to_string()),
            DataError::NotJson { reason, .. } => State::Unusable(format!("not JSON: {reason}")),
            DataError::Shape { reason, .. } => State::Unusable(reason.clone()),
        };
        FileReport { state, ..FileReport::new(file) }
    }

    fn count(&mut self, name: &'static str, count: usize) {
        self.facts.push(Fact { name, value: FactValue::Count(count) });
    }

    /// Kinds and how often each occurs; none, no fact.
    fn counts(&mut self, name: &'static str, counts: IndexMap<String, usize>) {
        if !counts.is_empty() {
            self.facts.push(Fact { name, value: FactValue::Counts(counts) });
        }
    }

    /// Something odd by its examples; none, nothing odd.
    fn odd(&mut self, what: &'static str, which: Vec<String>, of: Option<usize>) {
        let count = which.len();
        self.odd_counted(what, count, which, of);
    }

    /// Something odd of which there is more than there are examples.
    fn odd_counted(&mut self, what: &'static str, count: usize, which: Vec<String>, of: Option<usize>) {
        if count > 0 {
            self.odd.push(Oddity { what, count, of, which });
        }
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
fn by_frequency(counts: HashMap<String, usize>) -> Vec<String> {
    let mut sorted: Vec<(String, usize)> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let shown = |name: &str| if name.trim().is_empty() { "(empty)".to_owned() } else { name.to_owned() };
    sorted.into_iter().map(|(name, times)| format!("{} ({times})", shown(&name))).collect()
}

/// What is known of the gold plans when other files are looked at.
#[derive(Debug, Default)]
struct GoldSeen {
    /// In file order.
    ids: IndexSet<SampleId>,
    /// The normalised names of the tools they use.
    used: HashSet<String>,
}

impl Inspection {
    /// The whole as one document: for each file `state`, its facts by their names with `_` for blanks, and `odd`: a list of
    /// `what`, `count`, `of`, and `which`, uncut.
    pub fn to_value(&self) -> Value {
        let files: Map<String, Value> = self.files.iter().map(|file| (file.file.clone(), file.to_value())).collect();
        json!({
            "dir": self.dir,
            "name": self.name,
            "dependency_type": self.dependency.map(DependencyType::as_str),
            "files": files,
        })
    }
}

impl FileReport {
    fn to_value(&self) -> Value {
        let mut out = Map::new();
        match &self.state {
            State::Read => out.insert("state".into(), "read".into()),
            State::Missing => out.insert("state".into(), "missing".into()),
            State::Unusable(why) => {
                out.insert("reason".into(), why.clone().into());
                out.insert("state".into(), "unusable".into())
            }
        };
        for fact in &self.facts {
            let value = match &fact.value {
                FactValue::Count(count) => json!(count),
                FactValue::Counts(counts) => json!(counts),
            };
            out.insert(fact.name.replace(' ', "_"), value);
        }
        if self.state == State::Read {
            let odd = self
                .odd
                .iter()
                .map(|odd| json!({"what": odd.what, "count": odd.count, "of": odd.of, "which": odd.which}));
            out.insert("odd".into(), odd.collect());
        }
        out.into()
    }
}
