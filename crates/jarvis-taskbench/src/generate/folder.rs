//! The folder of a generation run: its own description files, and what was generated before.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::DataError;
use crate::data::{BenchTool, DependencyType, Lines, ToolGraph, ToolList};
use jarvis_store::files;

#[derive(Debug)]
pub struct Folder {
    pub dir: PathBuf,
    pub graph: ToolGraph,
    /// Its tools by name, as prompts describe them.
    pub tools: HashMap<String, BenchTool>,
    pub dependency: DependencyType,
    pub notes: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("{}: {what}", .dir.display())]
    Missing { dir: PathBuf, what: String },
    #[error("{}: {what}", .dir.display())]
    Mixed { dir: PathBuf, what: String },
    #[error(transparent)]
    Data(#[from] DataError),
}

impl FolderError {
    pub fn hint(&self) -> &'static str {
        match self {
            FolderError::Missing { .. } => {
                "give --graph-desc and --tool-desc; `jarvis taskbench graph build` makes a graph of a tool list"
            }
            FolderError::Mixed { .. } => "name another --data-dir, or leave it out for a new folder",
            FolderError::Data(error) => error.hint(),
        }
    }
}

/// Makes a folder ready. One that has its description files keeps them, and others that are given are not used; one that is
/// not there yet, or empty, gets copies of the given ones. Files that do not belong together are refused.
pub fn prepare(
    dir: &Path,
    graph_desc: Option<&Path>,
    tool_desc: Option<&Path>,
    dependency: Option<DependencyType>,
) -> Result<Folder, FolderError> {
    let missing = |what: &str| FolderError::Missing { dir: dir.to_owned(), what: what.to_owned() };
    let mixed = |what: String| FolderError::Mixed { dir: dir.to_owned(), what };
    let (own_graph, own_tools) = (dir.join("graph_desc.json"), dir.join("tool_desc.json"));
    let mut notes = Vec::new();
    let exists = own_graph.exists();
    if !exists && (own_tools.exists() || dir.join("data_raw.json").exists()) {
        return Err(missing("the folder has no graph_desc.json, but other files of a run"));
    }
    let (graph_from, tools_from) = if exists {
        if graph_desc.is_some() || tool_desc.is_some() {
            notes.push(format!("{} has its own description files; the given ones are not used", dir.display()));
        }
        (own_graph.as_path(), Some(own_tools.as_path()).filter(|path| path.exists()))
    } else {
        match (graph_desc, tool_desc) {
            (Some(graph), Some(tools)) => (graph, Some(tools)),
            (None, None) => return Err(missing("a new folder needs a tool graph and a tool list")),
            (Some(_), None) => return Err(missing("a new folder needs a tool list beside the graph")),
            (None, Some(_)) => return Err(missing("a new folder needs a tool graph beside the tool list")),
        }
    };
    let graph = ToolGraph::read(graph_from)?;
    let list = match tools_from {
        Some(path) => ToolList::read(path)?,
        None => graph.nodes.clone(),
    };
    let dependency = dependency.unwrap_or_else(|| graph.nodes.dependency());
    let tools: HashMap<String, BenchTool> = list.tools.into_iter().map(|tool| (tool.id.clone(), tool)).collect();
    if let Some(node) = graph.nodes.tools.iter().find(|node| !tools.contains_key(&node.id)) {
        return Err(mixed(format!("the tool list lacks `{}` of the tool graph", node.id)));
    }
    if graph.nodes.tools.is_empty() {
        return Err(mixed("the tool graph has no tools".into()));
    }
    if dependency == DependencyType::Resource
        && let Some(node) = graph.nodes.tools.iter().find(|node| tools.get(&node.id).is_none_or(|t| t.inputs.is_none()))
    {
        return Err(mixed(format!("tool `{}` has no kinds; this is a temporal domain", node.id)));
    }
    let folder = Folder { dir: dir.to_owned(), graph, tools, dependency, notes };
    if exists {
        folder.check_earlier()?;
    } else {
        std::fs::create_dir_all(dir).map_err(|error| DataError::write(dir, error))?;
        for (from, to) in [(graph_desc, &own_graph), (tool_desc, &own_tools)] {
            let Some(from) = from else { continue };
            let bytes = std::fs::read(from).map_err(|error| DataError::read(from, error))?;
            files::replace(to, &bytes).map_err(DataError::from)?;
        }
    }
    Ok(folder)
}

impl Folder {
    pub fn raw(&self) -> PathBuf {
        self.dir.join("data_raw.json")
    }

    /// Where failures are kept: a line each with `id`, `kind`, `message` and, where there was one, the `raw` reply. What was
    /// made later stays in it.
    pub fn errors(&self) -> PathBuf {
        self.dir.join("data_raw.errors.jsonl")
    }

    /// The samples that were generated, in file order; other lines are left out.
    pub(super) fn records(&self) -> Result<Vec<Value>, DataError> {
        let read = |(_, line): (usize, &[u8])| serde_json::from_slice::<Value>(line).ok();
        Ok(Lines::read(&self.raw())?.iter().filter_map(read).filter(|record| record.get("id").is_some()).collect())
    }

    fn check_earlier(&self) -> Result<(), FolderError> {
        let mixed = |what: String| Err(FolderError::Mixed { dir: self.dir.clone(), what });
        if !self.raw().exists() {
            return Ok(());
        }
        for (line, bytes) in Lines::read(&self.raw())?.iter() {
            let Ok(record) = serde_json::from_slice::<Value>(bytes) else { continue };
            for node in record.get("sampled_nodes").and_then(Value::as_array).into_iter().flatten() {
                let id = node.get("id").and_then(Value::as_str).unwrap_or("a tool without an id");
                if !self.tools.contains_key(id) {
                    return mixed(format!("line {line} of data_raw.json was drawn from another graph: it has `{id}`"));
                }
                let temporal = node.get("parameters").is_some();
                if temporal != (self.dependency == DependencyType::Temporal) {
                    return mixed(format!("line {line} of data_raw.json was not generated as {}", self.dependency));
                }
            }
        }
        Ok(())
    }
}
