//! From raw samples to gold plans: `data_raw.json` to `data.json`, `user_requests.json` and `data_error.json`.
//!
//! Tools and steps stay in the reply's order, so that they still belong together. An argument becomes a reference only
//! when it is, wholly, the name of another tool of the plan.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use indexmap::IndexMap;
use jarvis_store::files;
use serde_json::{Map, Value, json};

use super::critics::{teacher, write_alignment};
use crate::DataError;
use crate::data::{DependencyType, Domain, Lines, normalised};
use crate::words::words;

/// The most arguments of a typed tool.
const MOST_ARGUMENTS: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FormatOptions {
    /// What links mean; `None` goes by the sampled tools: those with parameters are temporal.
    pub dependency: Option<DependencyType>,
    /// Reject samples without a teacher's judgement.
    pub require_check: bool,
    /// Write over a `data.json` and a `user_requests.json` that hold lines which formatting does not make.
    pub overwrite: bool,
}

words! {
    pub enum Reject {
        NotJson = "not a JSON object",
        Incomplete = "no id, result or invoking graph",
        Request = "the request is not text",
        Steps = "the steps are not a list of text",
        Nodes = "the nodes are not a list",
        Lengths = "steps and nodes differ in number",
        Node = "a node without id or arguments",
        Arguments = "arguments that are not a list",
        /// A typed tool has more than two arguments.
        ManyArguments = "more than two arguments",
        /// An argument of a typed tool is a number, a boolean or null.
        Argument = "an argument that is a number, a boolean or null",
        Link = "a link without source or target",
        /// The teacher's judgement is required, and missing or not text.
        Teacher = "no judgement of a teacher",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    pub line: usize,
    pub id: Option<String>,
    pub reason: Reject,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Formatted {
    pub total: usize,
    pub accepted: usize,
    pub rejected: Vec<Rejected>,
    /// Ids that more than one accepted sample has.
    pub repeated_ids: usize,
    /// `alignment_ids.json` was missing and has been written.
    pub wrote_alignment: bool,
}

impl Formatted {
    /// How many lines were rejected for each reason, the commonest first.
    pub fn reasons(&self) -> IndexMap<&'static str, usize> {
        let mut counts: IndexMap<&'static str, usize> = IndexMap::new();
        for rejected in &self.rejected {
            *counts.entry(rejected.reason.as_str()).or_default() += 1;
        }
        counts.sort_by(|a, m, b, n| n.cmp(m).then(a.cmp(b)));
        counts
    }
}

#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("{} holds {}, which would be lost", .path.display(), samples(*.count, "that is not in data_raw.json", "that are not in data_raw.json"))]
    Foreign { path: PathBuf, count: usize },
    #[error("{} differs in {} from what formatting data_raw.json gives, and the change would be lost", .path.display(), samples(*.count, "", ""))]
    Edited { path: PathBuf, count: usize },
}

fn samples(count: usize, one: &str, more: &str) -> String {
    let text = if count == 1 { format!("1 sample {one}") } else { format!("{count} samples {more}") };
    text.trim_end().to_owned()
}

impl FormatError {
    pub fn hint(&self) -> &'static str {
        match self {
            FormatError::Data(error) => error.hint(),
            FormatError::Foreign { .. } => "generate into a folder of its own, or add --overwrite",
            FormatError::Edited { .. } => "keep a copy of it elsewhere, then add --overwrite",
        }
    }
}

/// Formats a folder's `data_raw.json`. `data.json`, `user_requests.json` and `data_error.json` are written anew, each at
/// once and whole; `alignment_ids.json` is written when there is none.
///
/// # Errors
/// When the raw file cannot be read or another cannot be written; unless they may be overwritten, [`FormatError::Foreign`]
/// when `data.json` or `user_requests.json` holds samples that are not in the raw file, and [`FormatError::Edited`] when a
/// line of theirs is none that formatting a raw sample gives, whatever the options.
pub fn format(domain: &Domain, options: FormatOptions) -> Result<Formatted, FormatError> {
    let raw = Lines::read(&domain.path("data_raw.json"))?;
    let (mut gold, mut requests, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    let mut formatted = Formatted::default();
    let (mut ids, mut records, mut kinds) = (HashSet::new(), Vec::new(), Vec::new());
    for (number, bytes) in raw.iter() {
        formatted.total += 1;
        let record = serde_json::from_slice::<Value>(bytes).unwrap_or(Value::Null);
        let dependency = options.dependency.unwrap_or_else(|| guess(&record));
        match format_line(&record, dependency, options.require_check) {
            Ok(sample) => {
                formatted.accepted += 1;
                let id = sample.get("id").expect("a formatted sample has its id");
                formatted.repeated_ids += usize::from(!ids.insert(id.to_string()));
                push(&mut gold, sample.to_string().as_bytes());
                push(&mut requests, request_of(&sample).to_string().as_bytes());
            }
            Err(reason) => {
                let id = record.get("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
                formatted.rejected.push(Rejected { line: number, id, reason });
                push(&mut errors, bytes);
            }
        }
        if record.is_object() {
            kinds.push(dependency);
            records.push(record);
        }
    }
    if !options.overwrite {
        refuse_loss(domain, &records)?;
    }
    files::replace(&domain.path("data_error.json"), &errors).map_err(DataError::from)?;
    files::replace(&domain.path("user_requests.json"), &requests).map_err(DataError::from)?;
    files::replace(&domain.path("data.json"), &gold).map_err(DataError::from)?;
    let alignment = domain.path("alignment_ids.json");
    if let Some(dependency) = kinds.first().filter(|_| !alignment.exists()) {
        write_alignment(&alignment, &records, *dependency)?;
        formatted.wrote_alignment = true;
    }
    Ok(formatted)
}

/// Lines that came from elsewhere or were changed by hand are not written over.
fn refuse_loss(domain: &Domain, records: &[Value]) -> Result<(), FormatError> {
    // For each id the lines that some choice of options makes of it.
    let mut ours: HashMap<String, Vec<(Value, Value)>> = HashMap::new();
    for record in records {
        let Some(id) = record.get("id") else { continue };
        let made = ours.entry(id.to_string()).or_default();
        for dependency in [DependencyType::Resource, DependencyType::Temporal] {
            if let Ok(sample) = format_line(record, dependency, false) {
                let request = request_of(&sample);
                made.push((sample, request));
            }
        }
    }
    refuse_loss_of(domain.path("data.json"), &ours, |(sample, _), line| sample == line)?;
    refuse_loss_of(domain.path("user_requests.json"), &ours, |(_, request), line| request == line)
}

fn refuse_loss_of(
    path: PathBuf,
    ours: &HashMap<String, Vec<(Value, Value)>>,
    same: impl Fn(&(Value, Value), &Value) -> bool,
) -> Result<(), FormatError> {
    if !path.exists() {
        return Ok(());
    }
    let (mut foreign, mut edited) = (0, 0);
    for (_, line) in Lines::read(&path)?.iter() {
        let line = serde_json::from_slice::<Value>(line).unwrap_or(Value::Null);
        match line.get("id").and_then(|id| ours.get(&id.to_string())) {
            None => foreign += 1,
            Some(made) if made.iter().any(|made| same(made, &line)) => {}
            Some(_) => edited += 1,
        }
    }
    match (foreign, edited) {
        (0, 0) => Ok(()),
        (0, count) => Err(FormatError::Edited { path, count }),
        (count, _) => Err(FormatError::Foreign { path, count }),
    }
}

fn request_of(sample: &Value) -> Value {
    json!({"id": sample.get("id"), "user_request": sample.get("user_request")})
}

fn push(lines: &mut Vec<u8>, line: &[u8]) {
    lines.extend_from_slice(line);
    lines.push(b'\n');
}

/// What the links of a raw sample mean, by its sampled tools.
fn guess(record: &Value) -> DependencyType {
    let node = record.pointer("/sampled_nodes/0");
    let temporal = node.is_some_and(|node| node.get("parameters").or_else(|| node.get("arguments")).is_some());
    if temporal { DependencyType::Temporal } else { DependencyType::Resource }
}

pub fn format_line(record: &Value, dependency: DependencyType, require_check: bool) -> Result<Value, Reject> {
    if !record.is_object() {
        return Err(Reject::NotJson);
    }
    let resource = dependency == DependencyType::Resource;
    let name = |name: &str| if resource { normalised(name) } else { name.to_owned() };
    let id = record.get("id").filter(|id| id.is_string() || id.is_number()).ok_or(Reject::Incomplete)?;
    let result = record.get("result").ok_or(Reject::Incomplete)?;
    let graph = result.get("invoking_graph").ok_or(Reject::Incomplete)?;
    let request = result.get("user_request").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let request = request.ok_or(Reject::Request)?;
    let steps = result.get("task_steps").and_then(Value::as_array).ok_or(Reject::Steps)?;
    if !steps.iter().all(Value::is_string) {
        return Err(Reject::Steps);
    }
    let nodes = graph.get("nodes").and_then(Value::as_array).ok_or(Reject::Nodes)?;
    if nodes.len() != steps.len() {
        return Err(Reject::Lengths);
    }
    let names: Vec<String> = nodes
        .iter()
        .map(|node| node.get("id").and_then(Value::as_str).map(name).ok_or(Reject::Node))
        .collect::<Result<_, _>>()?;
    let nodes: Vec<Value> =
        nodes.iter().enumerate().map(|(at, node)| format_node(node, at, &names, resource)).collect::<Result<_, _>>()?;
    let end = |link: &Value, key: &str| link.get(key).and_then(Value::as_str).map(name).ok_or(Reject::Link);
    let links: Vec<Value> = graph
        .get("links")
        .and_then(Value::as_array)
        .ok_or(Reject::Link)?
        .iter()
        .map(|link| Ok(json!({"source": end(link, "source")?, "target": end(link, "target")?})))
        .collect::<Result<_, Reject>>()?;
    let check = teacher(record).and_then(Value::as_str);
    if require_check && check.is_none() {
        return Err(Reject::Teacher);
    }
    let mut sample = Map::new();
    let mut put = |key: &str, value: Value| sample.insert(key.to_owned(), value);
    put("id", id.clone());
    put("seed", record.get("seed").cloned().unwrap_or_default());
    put("type", record.get("method").or_else(|| record.get("type")).cloned().unwrap_or_default());
    put("n_tools", record.get("number_of_tools").or_else(|| record.get("n_tools")).cloned().unwrap_or_default());
    put("sampled_nodes", sampled_nodes(record, resource));
    put("sampled_links", sampled_links(record, &name));
    put("user_request", request.into());
    put("task_steps", steps.clone().into());
    put("task_nodes", nodes.into());
    put("task_links", links.into());
    if let Some(check) = check {
        put("check_by_teacher", check.into());
    }
    Ok(Value::Object(sample))
}

fn format_node(node: &Value, at: usize, names: &[String], resource: bool) -> Result<Value, Reject> {
    let node = node.as_object().ok_or(Reject::Node)?;
    let key = if node.contains_key("arguments") || !resource { "arguments" } else { "input" };
    let given = node.get(key).ok_or(Reject::Node)?;
    let arguments: Vec<Value> = match given {
        Value::Array(items) => items.clone(),
        Value::String(text) if text.starts_with("<node-") => vec![given.clone()],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            return Err(Reject::Arguments);
        }
    };
    let arguments = if resource {
        if arguments.len() > MOST_ARGUMENTS {
            return Err(Reject::ManyArguments);
        }
        let argument = |argument: Value| match &argument {
            Value::Null | Value::Bool(_) | Value::Number(_) => Err(Reject::Argument),
            Value::String(_) | Value::Array(_) | Value::Object(_) => {
                Ok(reference(&argument, at, names).map_or(argument, |to| format!("<node-{to}>").into()))
            }
        };
        arguments.into_iter().map(argument).collect::<Result<_, _>>()?
    } else {
        arguments
    };
    let mut out = Map::new();
    out.insert("task".into(), names.get(at).cloned().expect("every node has a name").into());
    out.insert("arguments".into(), Value::Array(arguments));
    let rest = node.iter().filter(|(name, _)| !["id", "input", "arguments"].contains(&name.as_str()));
    out.extend(rest.map(|(name, value)| (name.clone(), value.clone())));
    Ok(Value::Object(out))
}

/// The place of the other tool whose name an argument is: the name alone, in angle brackets, as `<output_of_NAME>`, or as
/// the only item of a list or object. A tool never refers to itself.
fn reference(argument: &Value, at: usize, names: &[String]) -> Option<usize> {
    let text = match argument {
        Value::String(text) => text,
        Value::Array(items) => match items.as_slice() {
            [Value::String(text)] => text,
            _ => return None,
        },
        Value::Object(pairs) => {
            let mut pairs = pairs.iter();
            let (Some((key, value)), None) = (pairs.next(), pairs.next()) else { return None };
            return place(key, at, names).or_else(|| place(value.as_str()?, at, names));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    place(text, at, names)
}

fn place(text: &str, at: usize, names: &[String]) -> Option<usize> {
    let text = text.trim();
    let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(text);
    let plain = normalised(inner);
    let plain = plain.trim();
    let tagged = ["output of ", "output from "].iter().find_map(|tag| {
        let (start, rest) = plain.split_at_checked(tag.len())?;
        start.eq_ignore_ascii_case(tag).then_some(rest).filter(|_| inner.len() < text.len())
    });
    let wanted = tagged.unwrap_or(plain).trim();
    names.iter().enumerate().find(|(other, name)| *other != at && name.as_str() == wanted).map(|(other, _)| other)
}

fn sampled_nodes(record: &Value, resource: bool) -> Value {
    let nodes = record.get("sampled_nodes").and_then(Value::as_array).into_iter().flatten();
    let renamed = |node: &Value| -> Value {
        let Some(node) = node.as_object() else { return node.clone() };
        let mut out = Map::new();
        for (key, value) in node {
            let key = match key.as_str() {
                "id" => "task",
                "input" if resource => "input-type",
                "output" if resource => "output-type",
                "parameters" if !resource => "arguments",
                key => key,
            };
            let value = match value {
                Value::String(text) if key == "task" && resource => normalised(text).into(),
                value => value.clone(),
            };
            out.insert(key.to_owned(), value);
        }
        Value::Object(out)
    };
    nodes.map(renamed).collect()
}

fn sampled_links(record: &Value, name: &dyn Fn(&str) -> String) -> Value {
    let links = record.get("sampled_links").and_then(Value::as_array).into_iter().flatten();
    let renamed = |link: &Value| -> Value {
        let mut link = link.clone();
        for key in ["source", "target"] {
            if let Some(Value::String(text)) = link.get_mut(key) {
                *text = name(text);
            }
        }
        link
    };
    links.map(renamed).collect()
}
