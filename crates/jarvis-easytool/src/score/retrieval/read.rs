//! What retrieval is scored on: ToolBench's questions, and logs.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::{Query, merged};

/// A file that cannot be scored.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read.
    #[error("cannot read {}", .path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// It is not what it should be.
    #[error("{}: {reason}", .path.display())]
    Shape { path: PathBuf, reason: String },
}

/// A question of ToolBench, as far as retrieval needs it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Item {
    pub query: String,
    #[serde(default)]
    api_list: Vec<Api>,
    #[serde(rename = "Tool_dic", default)]
    tool_dic: Vec<Offered>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Api {
    tool_name: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Offered {
    #[serde(rename = "ID")]
    id: Value,
}

/// The tools that a question names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gold {
    /// Their numbers, each once, in the data's order.
    pub ids: Vec<i64>,
    /// Tools that have no number.
    pub unknown: usize,
}

impl Item {
    /// The tools of `Tool_dic`; without it, those of `api_list`, whose numbers `id_of` knows by name.
    pub fn gold(&self, id_of: impl Fn(&str) -> Option<i64>) -> Gold {
        let mut gold = Gold::default();
        let mut add = |id: Option<i64>| match id {
            Some(id) if gold.ids.contains(&id) => {}
            Some(id) => gold.ids.push(id),
            None => gold.unknown += 1,
        };
        if self.tool_dic.is_empty() {
            let mut names: Vec<&str> = Vec::new();
            for Api { tool_name } in &self.api_list {
                if !names.contains(&tool_name.as_str()) {
                    names.push(tool_name);
                    add(id_of(tool_name));
                }
            }
        } else {
            for Offered { id } in &self.tool_dic {
                add(id.as_i64().or_else(|| id.as_str()?.trim().parse().ok()));
            }
        }
        gold
    }
}

/// Reads ToolBench's questions: a list.
///
/// # Errors
/// When the file cannot be read or is of another shape.
pub fn read_items(path: &Path) -> Result<Vec<Item>, ReadError> {
    serde_json::from_str(&text_of(path)?)
        .map_err(|error| ReadError::Shape { path: path.to_owned(), reason: error.to_string() })
}

/// Reads what a log says about retrieval: the records that have a question, without looking at the rest of them.
///
/// # Errors
/// When the file cannot be read, a line is no record, or no record tells of retrieval.
pub fn read_log(path: &Path) -> Result<Vec<Query>, ReadError> {
    #[derive(Deserialize)]
    struct Record {
        question: Option<String>,
        #[serde(default)]
        retrieved: Vec<Vec<i64>>,
        #[serde(default)]
        gold_tools: Vec<i64>,
    }
    let shape = |reason: String| ReadError::Shape { path: path.to_owned(), reason };
    let text = text_of(path)?;
    let mut queries = Vec::new();
    let mut told = false;
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let record: Record = serde_json::from_str(line).map_err(|error| shape(format!("line {}: {error}", at + 1)))?;
        if record.question.is_some() {
            told |= !record.retrieved.is_empty();
            queries.push(Query { found: merged(&record.retrieved), gold: record.gold_tools });
        }
    }
    if !told {
        return Err(shape(
            "no record says which tools were retrieved; it is no log of a run with retrieval".to_owned(),
        ));
    }
    Ok(queries)
}

fn text_of(path: &Path) -> Result<String, ReadError> {
    let text = fs::read_to_string(path).map_err(|source| ReadError::Read { path: path.to_owned(), source })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
