//! Files of questions: FuncQA, RestBench, ToolBench; and the tools that are added to ToolBench's items.
//!
//! A file is a JSON list, or JSON Lines, see [`read_rows`](crate::input::read_rows).

mod prepare;

use std::path::Path;

use indexmap::IndexSet;
use jarvis_prompt::literal::Literal;
use serde::{Deserialize, Deserializer};

use crate::input::{InputError, read_rows};
use crate::solve::Offer;

pub use prepare::{Prepared, add_tool_dic, prepare_toolbench, to_text};

pub fn read_funcqa(path: &Path) -> Result<Vec<FuncqaQuestion>, InputError> {
    read_rows(path)
}

pub fn read_restbench(path: &Path) -> Result<Vec<RestQuestion>, InputError> {
    read_rows(path)
}

pub fn read_toolbench(path: &Path) -> Result<Vec<ToolbenchItem>, InputError> {
    read_rows(path)
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FuncqaQuestion {
    pub question: String,
    /// The gold answer: a number, or a text that holds one.
    pub answer: Literal,
    /// How the answer comes about, one operation a text. Some are mistyped: the answer counts, never these.
    #[serde(default, alias = "func", deserialize_with = "one_or_many")]
    pub calculation: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RestQuestion {
    pub query: String,
    /// The endpoints that answer it, in order, as the file has them: some have stray blanks.
    pub solution: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct ListedApi {
    #[serde(default)]
    pub category_name: String,
    pub tool_name: String,
    #[serde(default)]
    pub api_name: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ToolbenchItem {
    pub query: String,
    /// Its own id: a number or a text.
    #[serde(default = "no_id")]
    pub query_id: Literal,
    #[serde(default)]
    pub api_list: Vec<ListedApi>,
    /// The tools offered; empty before the data is prepared.
    #[serde(rename = "Tool_dic", default)]
    pub tool_dic: Vec<Offer>,
    /// Tool and API of each call that a solution needs, where the file says.
    #[serde(rename = "relevant APIs", default)]
    pub relevant: Vec<Vec<String>>,
}

fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(from)? {
        OneOrMany::One(text) => vec![text],
        OneOrMany::Many(texts) => texts,
    })
}

fn no_id() -> Literal {
    Literal::Null
}

impl ToolbenchItem {
    /// The id as a text: `588`; empty when there is none.
    pub fn id_text(&self) -> String {
        match &self.query_id {
            Literal::Null => String::new(),
            Literal::Text(text) => text.clone(),
            id => id.to_string(),
        }
    }

    /// The numbers of the tools that answer the question, each once in the data's order, and how many have no number: those
    /// of `Tool_dic`; without it, those of `api_list`, whose numbers `id_of` knows by name.
    pub fn gold_tools(&self, id_of: impl Fn(&str) -> Option<i64>) -> (Vec<i64>, usize) {
        let offered = self.tool_dic.iter().map(|tool| tool.id).collect::<IndexSet<i64>>();
        if !offered.is_empty() {
            return (offered.into_iter().collect(), 0);
        }
        let names: IndexSet<&str> = self.api_list.iter().map(|api| api.tool_name.as_str()).collect();
        let known: IndexSet<i64> = names.iter().filter_map(|name| id_of(name)).collect();
        let unknown = names.iter().filter(|name| id_of(name).is_none()).count();
        (known.into_iter().collect(), unknown)
    }
}
