//! From a tool list to a tool graph, and its file. The published graphs come out byte for byte.

use std::path::{Path, PathBuf};

use jarvis_store::files;
use serde_json::{Map, Value, json};

use crate::DataError;
use crate::data::{BenchTool, DependencyType, GraphLink, ToolGraph, ToolList, same_file};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BuildOptions {
    /// Take kinds that differ only in case for the same, such as `Image` and `image`. The published graphs do not.
    pub ignore_case: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("tool `{tool}` does not say which kinds it takes and gives, so its followers are unknown")]
    Untyped { tool: String },
    #[error("{} is the tool list itself; the graph needs a file of its own", .out.display())]
    OverItself { out: PathBuf },
    #[error("{} is there and {}", .out.display(), holds(*.found, *.links))]
    Differs {
        out: PathBuf,
        /// The links of the graph that is there; `None` when it holds no graph.
        found: Option<usize>,
        links: usize,
    },
    #[error(transparent)]
    Data(#[from] DataError),
}

/// What a file that is there holds in place of a graph with so many links.
fn holds(found: Option<usize>, links: usize) -> String {
    match found {
        Some(found) if found == links => format!("has other tools or links, though {links} of them too"),
        Some(1) => format!("has 1 link, not {links}"),
        Some(found) => format!("has {found} links, not {links}"),
        None => "holds something else".into(),
    }
}

impl BuildError {
    pub fn hint(&self) -> &'static str {
        match self {
            BuildError::Untyped { .. } => "tools with named parameters make a graph with `--dependency-type temporal`",
            BuildError::OverItself { .. } => "name another file, such as graph_desc.json in the same folder",
            BuildError::Differs { .. } => "--out FILE writes elsewhere, --overwrite replaces it",
            BuildError::Data(error) => error.hint(),
        }
    }
}

/// The graph of these tools. Resource: a link wherever a kind that one tool gives is one that another takes; the link's
/// kind is the first such in the order of the outputs. Temporal: a link between every two tools, both ways.
///
/// # Errors
/// [`BuildError::Untyped`] in resource mode when a tool lacks its kinds.
pub fn build(tools: &ToolList, dependency: DependencyType, options: BuildOptions) -> Result<ToolGraph, BuildError> {
    let nodes = ToolList { tools: tools.tools.iter().map(node).collect() };
    let mut links = Vec::new();
    for (i, from) in tools.tools.iter().enumerate() {
        for (j, to) in tools.tools.iter().enumerate() {
            let kind = match dependency {
                DependencyType::Temporal => Some("complete".to_owned()),
                DependencyType::Resource => shared_kind(from, to, options)?,
            };
            if let Some(kind) = kind.filter(|_| i != j) {
                links.push(GraphLink { source: from.id.clone(), target: to.id.clone(), kind: Some(kind) });
            }
        }
    }
    Ok(ToolGraph { nodes, links })
}

fn shared_kind(from: &BenchTool, to: &BenchTool, options: BuildOptions) -> Result<Option<String>, BuildError> {
    let untyped = |tool: &BenchTool| BuildError::Untyped { tool: tool.id.clone() };
    let outputs = from.outputs.as_ref().ok_or_else(|| untyped(from))?;
    let inputs = to.inputs.as_ref().ok_or_else(|| untyped(to))?;
    let same = |a: &str, b: &str| a == b || options.ignore_case && a.to_lowercase() == b.to_lowercase();
    // The kind as the taker spells it.
    Ok(outputs.iter().find_map(|output| inputs.iter().find(|input| same(output, input))).cloned())
}

/// The tool as a node: name, description, parameters and kinds first, then whatever else its entry has.
fn node(tool: &BenchTool) -> BenchTool {
    const FIRST: [&str; 5] = ["id", "desc", "parameters", "input-type", "output-type"];
    let mut entry = Map::new();
    if let Value::Object(given) = &tool.entry {
        let first = FIRST.into_iter().filter_map(|key| given.get_key_value(key));
        let rest = given.iter().filter(|(key, _)| !FIRST.contains(&key.as_str()));
        entry.extend(first.chain(rest).map(|(key, value)| (key.clone(), value.clone())));
    }
    BenchTool { entry: Value::Object(entry), ..tool.clone() }
}

/// The graph as its file holds it: two blanks of indent, no line end after the last bracket.
pub fn to_json(graph: &ToolGraph) -> String {
    let nodes: Vec<&Value> = graph.nodes.tools.iter().map(|tool| &tool.entry).collect();
    serde_json::to_string_pretty(&json!({"nodes": nodes, "links": graph.links})).expect("keys are text")
}

/// Writes the graph, at once and whole. What is there already stays unless it is the same or `overwrite` is set.
///
/// # Errors
/// [`BuildError::OverItself`] when `out` is the file at `made_from`, by whatever path; [`BuildError::Differs`] when something
/// else is there; or when it cannot be written.
pub fn write(graph: &ToolGraph, made_from: &Path, out: &Path, overwrite: bool) -> Result<(), BuildError> {
    if same_file(made_from, out) {
        return Err(BuildError::OverItself { out: out.to_owned() });
    }
    let text = to_json(graph);
    if !overwrite && let Ok(there) = std::fs::read(out) {
        if there.trim_ascii() == text.as_bytes() {
            return Ok(());
        }
        // An empty file, such as one made to hold the place, has nothing to lose.
        if !there.trim_ascii().is_empty() {
            let found = ToolGraph::read(out).ok().map(|graph| graph.links.len());
            return Err(BuildError::Differs { out: out.to_owned(), found, links: graph.links.len() });
        }
    }
    Ok(files::replace(out, text.as_bytes()).map_err(DataError::from)?)
}
