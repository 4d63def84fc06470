//! `tool_desc.json` and `graph_desc.json`.

use std::path::Path;

use serde_json::Value;

use super::{DependencyType, document};
use crate::DataError;
use crate::json::{Look, NotJson, parse};

#[derive(Debug, Clone, PartialEq)]
pub struct BenchTool {
    pub id: String,
    /// What it does; empty when the file does not say.
    pub desc: String,
    /// The kinds of its inputs (`text`, `image`, `audio`, `video`, `url`), repeated for two of a kind; `None` when the
    /// file does not say.
    pub inputs: Option<Vec<String>>,
    pub outputs: Option<Vec<String>>,
    /// Its named parameters (`{name, type, desc}`); `None` when the file does not say.
    pub parameters: Option<Vec<Value>>,
    /// The entry as it stands in the file.
    pub entry: Value,
}

impl BenchTool {
    fn of(entry: &Value, path: &Path, at: usize) -> Result<BenchTool, DataError> {
        let id = entry
            .get("id")
            .and_then(Value::as_str)
            .ok_or_else(|| DataError::shape(path, format!("node {at} has no text under `id`")))?;
        let words = |key: &str| -> Result<Option<Vec<String>>, DataError> {
            match entry.get(key) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::Array(items)) => {
                    Ok(Some(items.iter().filter_map(Value::as_str).map(str::to_owned).collect()))
                }
                Some(_) => Err(DataError::shape(path, format!("`{key}` of tool `{id}` is not a list"))),
            }
        };
        Ok(BenchTool {
            id: id.to_owned(),
            desc: entry.get("desc").and_then(Value::as_str).unwrap_or_default().to_owned(),
            inputs: words("input-type")?,
            outputs: words("output-type")?,
            parameters: entry.get("parameters").and_then(Value::as_array).cloned(),
            entry: entry.clone(),
        })
    }

    pub fn parameter_names(&self) -> impl Iterator<Item = &str> {
        self.parameters
            .iter()
            .flatten()
            .filter_map(|parameter| parameter.get("name").and_then(Value::as_str).or_else(|| parameter.as_str()))
    }
}

/// A tool's name as names are compared in resource mode: `_` is a blank.
pub fn normalised(name: &str) -> String {
    name.replace('_', " ")
}

/// The tools of a domain, in catalogue order. Ids may repeat.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolList {
    pub tools: Vec<BenchTool>,
}

impl ToolList {
    pub fn read(path: &Path) -> Result<ToolList, DataError> {
        Ok(ToolList { tools: nodes(&document(path)?.to_serde(), path)? })
    }

    pub fn parse(bytes: &[u8]) -> Result<ToolList, DataError> {
        let path = Path::new("the tool list");
        let not_json = |error: NotJson| DataError::NotJson { path: path.to_owned(), reason: error.to_string() };
        Ok(ToolList { tools: nodes(&parse(bytes).map_err(not_json)?.to_serde(), path)? })
    }

    /// The tool of that id; the last where it is repeated.
    pub fn get(&self, id: &str) -> Option<&BenchTool> {
        self.tools.iter().rev().find(|tool| tool.id == id)
    }

    pub fn is_typed(&self) -> bool {
        self.tools.iter().any(|tool| tool.inputs.is_some())
    }

    /// The dependency type unless one is given: resource where tools are typed, else temporal.
    pub fn dependency(&self) -> DependencyType {
        if self.is_typed() { DependencyType::Resource } else { DependencyType::Temporal }
    }

    pub fn has_parameters(&self) -> bool {
        self.tools.iter().any(|tool| tool.parameters.is_some())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct GraphLink {
    pub source: String,
    pub target: String,
    /// The kind that flows, or `complete` in temporal graphs; some graphs do not say.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<String>,
}

/// A tool graph. Links may repeat.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolGraph {
    pub nodes: ToolList,
    pub links: Vec<GraphLink>,
}

impl ToolGraph {
    pub fn read(path: &Path) -> Result<ToolGraph, DataError> {
        // Read as plans are, so that odd names are the same ones.
        let document = document(path)?.to_serde();
        let links = document
            .get("links")
            .ok_or_else(|| DataError::shape(path, "it has no `links`, so it is not a tool graph"))?;
        let links = serde_json::from_value(links.clone())
            .map_err(|error| DataError::shape(path, format!("`links`: {error}")))?;
        Ok(ToolGraph { nodes: ToolList { tools: nodes(&document, path)? }, links })
    }
}

fn nodes(document: &Value, path: &Path) -> Result<Vec<BenchTool>, DataError> {
    document
        .get("nodes")
        .and_then(Value::as_array)
        .ok_or_else(|| DataError::shape(path, "it has no list under `nodes`"))?
        .iter()
        .enumerate()
        .map(|(at, entry)| BenchTool::of(entry, path, at))
        .collect()
}
