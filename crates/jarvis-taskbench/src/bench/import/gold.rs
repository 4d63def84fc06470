//! Gold plans that stand apart from the tools and requests they are for: a domain folder of TaskBench, and a file of plans by id.
//!
//! A record of the file is TaskBench's own, or `{"id", "nodes": [name], "links": [[name, name]]}`. Its request is its own
//! `user_request`, or that with its id in the folder's `user_requests.json`.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::{each, find, free_name, id, read, records, taskbench, text};
use crate::bench::form::{name_of, unique_ids};
use crate::bench::{BenchError, PlanGraph, PlanSet, Sample};
use crate::data::{Domain, GoldRecord, same_file};
use crate::evaluate::strict::Catalogue;

/// Where gold plans are: a folder or file of sets, or a domain folder and a file with plans for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldSource {
    /// The folder or file.
    pub path: PathBuf,
    /// The file with the plans; those beside the tools unless given.
    pub gold: Option<PathBuf>,
}

/// Reads `PATH` or `PATH=FILE`; a path that exists as it is written is a path.
pub(crate) fn pair(written: &Path) -> (PathBuf, Option<PathBuf>) {
    let parts = written.to_str().filter(|_| !written.exists()).and_then(|written| written.rsplit_once('='));
    match parts {
        Some((path, file)) => (path.into(), Some(file.into())),
        None => (written.into(), None),
    }
}

impl GoldSource {
    /// Reads `DIR` or `DIR=FILE`; a path that exists as it is written is a path.
    pub fn parse(written: &Path) -> GoldSource {
        let (path, gold) = pair(written);
        GoldSource { path, gold }
    }

    /// Reads the sets of several sources, with names that differ. A plan for a request of a folder that an earlier source has a
    /// plan for is left out, so that no request is in two sets.
    ///
    /// # Errors
    /// When a file cannot be used, or none of its records can.
    pub fn read_all(sources: &[GoldSource]) -> Result<Vec<PlanSet>, BenchError> {
        let mut sets: Vec<PlanSet> = Vec::new();
        for source in sources {
            let found = match &source.gold {
                Some(gold) => vec![beside(&source.path, gold)?],
                None => find(&source.path, None)?.iter().map(read).collect::<Result<_, _>>()?,
            };
            for mut set in found {
                let before = sets.iter().filter(|other| same_file(&other.path, &set.path));
                let known: HashSet<&str> = before.flat_map(|set| &set.samples).map(|one| one.id.as_str()).collect();
                let all = set.samples.len();
                set.samples.retain(|sample| !known.contains(sample.id.as_str()));
                match all - set.samples.len() {
                    0 => {}
                    repeated => {
                        set.notes.push(format!("{repeated} of its requests have a plan already; they are left out"))
                    }
                }
                if set.samples.is_empty() {
                    continue;
                }
                set.name = free_name(&sets, set.name, source.gold.as_deref().unwrap_or(&set.path));
                sets.push(set);
            }
        }
        Ok(sets)
    }
}

impl fmt::Display for GoldSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.gold {
            Some(gold) => write!(f, "{}={}", self.path.display(), gold.display()),
            None => write!(f, "{}", self.path.display()),
        }
    }
}

/// The tools, the graph and the requests of a domain folder with the plans of a file.
fn beside(path: &Path, gold: &Path) -> Result<PlanSet, BenchError> {
    let domain = Domain::open(path)?;
    let tools = Arc::new(domain.tools()?);
    let dependency = tools.dependency();
    let catalogue = Catalogue::new(&tools, dependency);
    let mut notes = Vec::new();
    let graph = taskbench::graph(&domain, &mut notes);
    let asked: HashMap<String, String> = match domain.requests() {
        Ok(requests) => requests.requests.into_iter().map(|one| (one.id.to_string(), one.text)).collect(),
        Err(error) if error.is_missing() => HashMap::new(),
        Err(error) => return Err(error.into()),
    };
    let (mut samples, bad) = each(records::all(gold)?, "line", |at, record| {
        let asked = id(record, "id").and_then(|id| asked.get(&id)).map(String::as_str);
        let sample = match record.get("nodes") {
            Some(nodes) => compact(record, nodes, asked),
            None => {
                let bytes = record.to_string();
                let gold = GoldRecord::read(at, bytes.as_bytes()).map_err(|bad| bad.reason)?;
                taskbench::sample(&gold, &catalogue, asked)
            }
        }?;
        Ok(Sample { tools: Arc::clone(&tools), ..sample })
    });
    notes.extend(bad);
    if samples.is_empty() {
        let reason = notes.first().map_or_else(String::new, |note| format!(": {note}"));
        return Err(BenchError::NoSamples { path: gold.to_owned(), reason });
    }
    unique_ids(&mut samples, &mut notes);
    let form = taskbench::form(path);
    Ok(PlanSet { name: name_of(path), path: path.to_owned(), form, dependency, graph, samples, notes })
}

fn compact(record: &Value, nodes: &Value, asked: Option<&str>) -> Result<Sample, String> {
    let nodes: Option<Vec<String>> =
        nodes.as_array().and_then(|nodes| nodes.iter().map(|node| node.as_str().map(str::to_owned)).collect());
    let nodes = nodes.filter(|nodes| !nodes.is_empty()).ok_or("`nodes` is no list of names")?;
    let ends = |link: &Value| -> Option<(usize, usize)> {
        let end = |place: usize, key: &str| {
            let name = link.get(place).or_else(|| link.get(key))?.as_str()?;
            nodes.iter().position(|node| node == name)
        };
        Some((end(0, "source")?, end(1, "target")?))
    };
    let links = record.get("links").and_then(Value::as_array).into_iter().flatten();
    let links = links.map(|link| ends(link).ok_or_else(|| format!("the link {link} is not between its nodes")));
    let links = links.collect::<Result<_, _>>()?;
    Ok(Sample {
        id: id(record, "id").ok_or("it has no `id`")?,
        request: text(record, "user_request").or(asked).ok_or("no request has its id")?.to_owned(),
        dialogue: Vec::new(),
        tools: Arc::default(),
        gold: PlanGraph { nodes, links },
        workflows: None,
    })
}
