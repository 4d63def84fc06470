//! Files of questions: FuncQA, RestBench, ToolBench; and the tools that are added to ToolBench's items.
//!
//! A file is a JSON list, or JSON Lines. Nothing here asks a model, and nothing is fetched.

mod prepare;
mod read;

use jarvis_prompt::literal::Literal;
use serde::{Deserialize, Serialize};

use crate::instructions::ToolInstruction;

pub use prepare::{Prepared, add_tool_dic, prepare_toolbench, to_text};
pub use read::{DataError, read_funcqa, read_restbench, read_rows, read_toolbench};

/// A question of FuncQA, multi-hop or one-hop.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FuncqaQuestion {
    pub question: String,
    /// The gold answer: a number, or a text that holds one.
    pub answer: Literal,
    /// How the answer comes about, one operation a text. Some are mistyped: the answer counts, never these.
    #[serde(default, alias = "func", deserialize_with = "read::one_or_many")]
    pub calculation: Vec<String>,
}

/// A question of RestBench.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RestQuestion {
    pub query: String,
    /// The endpoints that answer it, in order, as the file has them: some have stray blanks.
    pub solution: Vec<String>,
}

/// An API that a ToolBench item lists.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct ListedApi {
    /// The shelf of the tool.
    #[serde(default)]
    pub category_name: String,
    pub tool_name: String,
    #[serde(default)]
    pub api_name: String,
}

/// A tool as it is offered in a ToolBench item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedTool {
    /// Its number in the instruction file.
    #[serde(rename = "ID")]
    pub id: i64,
    #[serde(rename = "Description")]
    pub description: String,
}

/// A question of ToolBench.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ToolbenchItem {
    pub query: String,
    /// Its own id: a number or a text.
    #[serde(default = "no_id")]
    pub query_id: Literal,
    /// The APIs that the item lists.
    #[serde(default)]
    pub api_list: Vec<ListedApi>,
    /// The tools offered; empty before the data is prepared.
    #[serde(rename = "Tool_dic", default)]
    pub tool_dic: Vec<OfferedTool>,
    /// Tool and API of each call that a solution needs, where the file says.
    #[serde(rename = "relevant APIs", default)]
    pub relevant: Vec<Vec<String>>,
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
            id @ (Literal::Bool(_) | Literal::Int(_) | Literal::Float(_) | Literal::List(_) | Literal::Map(_)) => {
                id.to_string()
            }
        }
    }

    /// The names of the tools that answer the question: those of `relevant APIs`, or else of `api_list`. Each once.
    pub fn gold_tool_names(&self) -> Vec<&str> {
        let relevant = self.relevant.iter().filter_map(|pair| pair.first()).map(String::as_str);
        let listed = self.api_list.iter().map(|api| api.tool_name.as_str());
        let mut names: Vec<&str> = Vec::new();
        let from: Vec<&str> = if self.relevant.is_empty() { listed.collect() } else { relevant.collect() };
        for name in from {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The numbers of the tools that answer the question, in the order of their names; unknown tools are left out.
    pub fn gold_tools(&self, tools: &[ToolInstruction]) -> Vec<i64> {
        let id = |name: &str| tools.iter().find(|tool| tool.tool_name == name).map(|tool| tool.id);
        self.gold_tool_names().into_iter().filter_map(id).collect()
    }
}
