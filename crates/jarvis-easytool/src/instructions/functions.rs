//! The functions of the hub as tools: `functions_data.json`, `tool_dic.jsonl`, and those that come with jarvis.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Example, Parameter, Rows};
use crate::input::{InputError, read_json, read_lines, text_of};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionUsage {
    /// What must be given: one list, `input` (`args` in an older edition).
    pub required_parameters: Vec<Parameter>,
    #[serde(rename = "Example")]
    pub example: Example,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionInstruction {
    #[serde(rename = "ID")]
    pub id: i64,
    pub standardized_name: String,
    #[serde(rename = "API_description")]
    pub description: String,
    #[serde(rename = "Usage")]
    pub usage: FunctionUsage,
}

pub fn read_functions(path: &Path) -> Result<Vec<FunctionInstruction>, InputError> {
    Ok(read_json::<Rows<FunctionInstruction>>(path)?.0)
}

pub fn read_tool_dic(path: &Path) -> Result<Vec<(i64, String)>, InputError> {
    #[derive(Deserialize)]
    struct Row {
        #[serde(rename = "ID")]
        id: i64,
        #[serde(alias = "Description")]
        description: String,
    }
    let rows: Vec<Row> = read_lines(path, &text_of(path)?)?;
    Ok(rows.into_iter().map(|row| (row.id, row.description)).collect())
}

/// The thirteen functions that come with jarvis, numbered as published.
pub fn builtin_functions() -> Vec<FunctionInstruction> {
    let rows: Rows<FunctionInstruction> =
        serde_json::from_str(include_str!("functions.json")).expect("the functions that come with jarvis can be read");
    rows.0
}
