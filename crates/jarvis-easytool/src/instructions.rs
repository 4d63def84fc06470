//! Tool instructions: the published files, read and written.
//!
//! A tool instruction says in few words what a tool is for, which APIs it has, which parameters each takes, and shows one
//! Example. [`ToolInstruction`] is a tool with APIs (ToolBench), [`EndpointInstruction`] one endpoint (RestBench), and
//! [`FunctionInstruction`] a function of the hub (FuncQA).

use std::path::Path;

use indexmap::IndexMap;
use jarvis_prompt::literal::Literal;
use jarvis_tools::names::standardize;
use serde::{Deserialize, Deserializer, Serialize};

use crate::input::{InputError, read_json, read_lines, text_of};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// A sentence that tells when one would call it.
    #[serde(rename = "Scenario", default)]
    pub scenario: String,
    #[serde(rename = "Parameters", default = "no_parameters")]
    pub parameters: Literal,
    /// How the Example came about, where no model wrote it: `default`, `specification`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated_by: Option<String>,
}

fn no_parameters() -> Literal {
    Literal::Map(IndexMap::new())
}

impl Default for Example {
    fn default() -> Example {
        Example { scenario: String::new(), parameters: no_parameters(), generated_by: None }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    pub name: String,
    /// Its type in the document's own word, in any case: `STRING`, `integer`, `List`, …
    #[serde(rename = "type", default)]
    pub kind: String,
    #[serde(default)]
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Literal>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Guideline {
    pub name: String,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub required_parameters: Vec<Parameter>,
    #[serde(default)]
    pub optional_parameters: Vec<Parameter>,
    #[serde(rename = "Example", default)]
    pub example: Example,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolInstruction {
    #[serde(rename = "ID")]
    pub id: i64,
    pub tool_name: String,
    /// The name of its directory; derived from the name where the file has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub standardized_name: String,
    /// Its category at RapidAPI; empty where unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub category_name: String,
    pub tool_description: String,
    #[serde(default)]
    pub tool_guidelines: IndexMap<String, Guideline>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndpointInstruction {
    #[serde(rename = "ID")]
    pub id: i64,
    /// Its path: `/movie/{movie_id}/keywords`.
    pub tool_name: String,
    pub tool_description: String,
    /// Method and path: `GET /movie/{movie_id}/keywords`.
    pub tool_usage: String,
    /// One use: `{"input": "GET /movie/456/keywords"}`.
    #[serde(rename = "Example", default)]
    pub example: Example,
}

/// Reads tools with APIs: an object keyed by number, or a list. In file order; a missing `standardized_name` is derived.
pub fn read_tools(path: &Path) -> Result<Vec<ToolInstruction>, InputError> {
    let Rows(mut tools) = read_json::<Rows<ToolInstruction>>(path)?;
    for tool in &mut tools {
        if tool.standardized_name.is_empty() {
            tool.standardized_name = standardize(&tool.tool_name);
        }
    }
    Ok(tools)
}

pub fn read_endpoints(path: &Path) -> Result<Vec<EndpointInstruction>, InputError> {
    Ok(read_json::<Rows<EndpointInstruction>>(path)?.0)
}

/// A list, or the values of an object in file order.
struct Rows<T>(Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Rows<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rows<T>, D::Error> {
        struct Visit<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for Visit<T> {
            type Value = Vec<T>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of tools, or an object of them")
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut rows: A) -> Result<Vec<T>, A::Error> {
                std::iter::from_fn(|| rows.next_element().transpose()).collect()
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut rows: A) -> Result<Vec<T>, A::Error> {
                let mut next = || rows.next_entry::<serde::de::IgnoredAny, T>().transpose();
                std::iter::from_fn(|| Some(next()?.map(|(_, row)| row))).collect()
            }
        }
        deserializer.deserialize_any(Visit(std::marker::PhantomData)).map(Rows)
    }
}

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
    let rows: Rows<FunctionInstruction> = serde_json::from_str(include_str!("instructions/functions.json"))
        .expect("the functions that come with jarvis can be read");
    rows.0
}
