//! What a model wrote, taken apart: thought, calls of tools, final answer. Nothing is carried out here.

mod json;
mod tags;

use jarvis_prompt::reader::{Want, read_json};
use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use json::parse_json;
pub(crate) use tags::{is_tag_line, parse_tags};

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Parsed {
    pub thought: String,
    /// The tools that it calls. The formats in words have one at most.
    pub actions: Vec<Action>,
    /// Its final answer, where there is one.
    pub answer: Option<String>,
    /// Whether the answer is that none was found; only the agent without a model says so for sure.
    pub nothing_found: bool,
    /// Whether it made up an observation; what followed was left out.
    pub invented: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Action {
    pub tool: String,
    /// What it is called with; `None` when nothing was said.
    pub input: Option<String>,
    #[serde(skip)]
    pub id: Option<String>,
}

impl Action {
    /// A call as it stands in one or two lines: `plot` and its input, or `plot {"x": …}` in one.
    fn of(name: &str, input: Option<String>) -> Option<Action> {
        let (name, inline) = match name.find('{') {
            Some(at) => {
                let (name, input) = name.split_at(at);
                (name, Some(input))
            }
            None => (name, None),
        };
        let name = name.trim().trim_end_matches(['(', '[', ':', '：']).trim();
        let bare = name.trim_matches(|c: char| c.is_whitespace() || "'\"`[]().。".contains(c));
        let none = ["", "none", "null", "n/a", "no action", "no tool", "-", "无", "没有", "不需要", "нет", "никакое"];
        if none.contains(&bare.to_lowercase().as_str()) {
            return None;
        }
        let input = input.or_else(|| inline.map(str::to_owned)).filter(|input| !input.trim().is_empty());
        Some(Action { tool: name.to_owned(), input, id: None })
    }

    /// The input as a JSON object; an error says what is wrong in words that a model can act on.
    pub(crate) fn object(&self) -> Result<Map<String, Value>, String> {
        let Some(input) = &self.input else { return Err("it is missing".to_owned()) };
        match read_json(input, Want::Object) {
            Ok(read) => match read.value {
                Value::Object(fields) => Ok(fields),
                other => Err(format!("{other} is not an object")),
            },
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
