//! Files of questions: FuncQA, RestBench, ToolBench; and the tools that are added to ToolBench's items.
//!
//! A file is a JSON list, or JSON Lines, see [`read_rows`](crate::input::read_rows).

use std::path::Path;

use indexmap::IndexSet;
use jarvis_prompt::literal::Literal;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::input::{InputError, read_rows};
use crate::instructions::ToolInstruction;
use crate::solve::Offer;

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

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prepared {
    pub items: usize,
    pub added: usize,
    /// The tools that have no instruction, each once, with how many items name it, in order of appearance.
    pub skipped: Vec<(String, usize)>,
}

/// The tools of some APIs: the first of each number, in the order of the APIs; and the names that have no instruction.
/// Names are compared exactly.
pub fn add_tool_dic<'a>(apis: &'a [ListedApi], tools: &[ToolInstruction]) -> (Vec<Offer>, Vec<&'a str>) {
    let mut offered: Vec<Offer> = Vec::new();
    let mut unknown: Vec<&str> = Vec::new();
    for api in apis {
        match tools.iter().find(|tool| tool.tool_name == api.tool_name) {
            Some(tool) if offered.iter().all(|there| there.id != tool.id) => {
                offered.push(Offer::from(tool));
            }
            Some(_) => {}
            None if unknown.contains(&api.tool_name.as_str()) => {}
            None => unknown.push(&api.tool_name),
        }
    }
    (offered, unknown)
}

/// Reads a ToolBench file and gives every item `Tool_dic`; everything else in it stays as it is.
///
/// # Errors
/// When the file cannot be read, has no rows, or a row is not an object with a list `api_list` of named tools.
pub fn prepare_toolbench(path: &Path, tools: &[ToolInstruction]) -> Result<(Vec<Value>, Prepared), InputError> {
    let rows: Vec<Map<String, Value>> = read_rows(path)?;
    let mut done = Prepared { items: rows.len(), ..Prepared::default() };
    let mut items = Vec::with_capacity(rows.len());
    for (at, mut row) in rows.into_iter().enumerate() {
        let shape = |reason: String| InputError::Line { path: path.to_owned(), line: at + 1, reason };
        let listed = row.get("api_list").ok_or_else(|| shape(format!("item {} has no `api_list`", at + 1)))?;
        let apis: Vec<ListedApi> = serde::Deserialize::deserialize(listed)
            .map_err(|error| shape(format!("item {}: `api_list`: {error}", at + 1)))?;
        let (offered, unknown) = add_tool_dic(&apis, tools);
        done.added += offered.len();
        for name in unknown {
            match done.skipped.iter_mut().find(|(known, _)| known == name) {
                Some((_, items)) => *items += 1,
                None => done.skipped.push((name.to_owned(), 1)),
            }
        }
        let offered = offered.iter().map(|tool| json!({"ID": tool.id, "Description": tool.description}));
        row.insert("Tool_dic".to_owned(), Value::Array(offered.collect()));
        items.push(Value::Object(row));
    }
    Ok((items, done))
}

/// The items as the original writes them: a JSON list, four blanks deep, letters of every script as they are.
pub fn to_text(items: &[Value]) -> String {
    let mut text = Vec::new();
    let form = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut writer = serde_json::Serializer::with_formatter(&mut text, form);
    serde::Serialize::serialize(items, &mut writer).expect("values can be written into memory");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<ToolInstruction> {
        serde_json::from_str(
            r#"[{"ID":7,"tool_name":"Weather","tool_description":"天气"},{"ID":9,"tool_name":"Maps","tool_description":"maps"},
                {"ID":7,"tool_name":"Weather 2","tool_description":"the same number"}]"#,
        )
        .unwrap()
    }

    #[test]
    fn items_get_the_first_of_each_tool_and_keep_the_rest() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("g3.json");
        let item = r#"{"query":"q","extra":{"b":1,"a":[]},"query_id":12,"api_list":[{"tool_name":"Maps","api_name":"x"},
            {"tool_name":"Weather"},{"tool_name":"Maps"},{"tool_name":"Weather 2"},{"tool_name":"weather"},{"tool_name":"weather"}]}"#;
        std::fs::write(&path, format!("[{item},{item}]")).unwrap();
        let (items, done) = prepare_toolbench(&path, &tools()).unwrap();
        assert_eq!(done, Prepared { items: 2, added: 4, skipped: vec![("weather".into(), 2)] });
        let dic = json!([{"ID": 9, "Description": "maps"}, {"ID": 7, "Description": "天气"}]);
        assert_eq!(items[1]["Tool_dic"], dic);
        let text = to_text(&items);
        assert!(
            text.starts_with("[\n    {\n        \"query\": \"q\",\n        \"extra\": {\n            \"b\": 1,"),
            "{text}"
        );
        assert!(text.contains("\"天气\""));
    }

    #[test]
    fn an_item_without_its_list_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("g2.jsonl");
        std::fs::write(&path, "{\"api_list\":[]}\n{\"query\":\"q\"}\n").unwrap();
        let error = prepare_toolbench(&path, &tools()).unwrap_err().to_string();
        assert!(error.ends_with("line 2: item 2 has no `api_list`"), "{error}");
    }
}
