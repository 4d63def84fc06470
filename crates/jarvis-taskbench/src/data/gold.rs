//! `data.json`: the gold plans, in both released shapes and mixtures of them.
//!
//! Each field is looked at by itself: `task_X` or else `tool_X`; `user_request` or else `instruction`; nested values that
//! are text are read as JSON; a node list given as one bare node becomes a list.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use jiter::JsonValue;

use super::{BadLine, Lines, SampleId};
use crate::DataError;
use crate::json::{Json, Look, parse};
use crate::words::words;

#[derive(Debug, Clone)]
pub struct Gold {
    pub lines: Lines,
}

impl Gold {
    pub fn read(path: &Path) -> Result<Gold, DataError> {
        Ok(Gold { lines: Lines::read(path)? })
    }

    pub fn records(&self) -> impl Iterator<Item = Result<GoldRecord<'_>, BadLine>> {
        self.lines.iter().map(|(line, text)| GoldRecord::read(line, text))
    }
}

/// One gold plan. A field that the line lacks is `None`; nothing is checked beyond what the types say.
#[derive(Debug, Clone)]
pub struct GoldRecord<'a> {
    pub line: usize,
    pub id: SampleId,
    /// Its shape as the file says it: `single`, `chain` or `dag`.
    pub shape: Option<Cow<'a, str>>,
    /// How many tools were sampled; may differ from the number of nodes.
    pub n_tools: Option<Json<'a>>,
    pub sampled_nodes: Option<Json<'a>>,
    pub sampled_links: Option<Json<'a>>,
    pub user_request: Option<Json<'a>>,
    pub task_steps: Option<Json<'a>>,
    pub task_nodes: Option<Json<'a>>,
    pub task_links: Option<Json<'a>>,
    pub release: Release,
}

words! {
    pub enum Release {
        /// `task_*` fields of real JSON.
        A,
        /// `tool_*` fields of JSON as text, `instruction`.
        B,
        /// Some of each.
        Mixed = "mixed",
    }
}

impl<'a> GoldRecord<'a> {
    pub fn read(line: usize, text: &'a [u8]) -> Result<GoldRecord<'a>, BadLine> {
        let bad = |reason: String| BadLine { line, reason };
        let value = parse(text).map_err(|error| bad(format!("not JSON: {error}")))?;
        let JsonValue::Object(pairs) = value else {
            return Err(bad(format!("it is {}, not an object", value.what())));
        };
        let mut pairs = Arc::unwrap_or_clone(pairs);
        let (mut old, mut new) = (false, false);
        let mut take = |key: &str| -> Option<Json<'a>> {
            let at = pairs.iter().rposition(|(name, _)| name == key)?;
            pairs.get_mut(at).map(|(_, value)| std::mem::replace(value, JsonValue::Null))
        };
        let id = take("id").as_ref().and_then(SampleId::of).ok_or_else(|| bad("it has no `id`".into()))?;
        let mut either = |a: &str, b: &str| match take(a) {
            Some(value) => {
                new = true;
                Some(value)
            }
            None => take(b).inspect(|_| old = true),
        };
        let user_request = either("user_request", "instruction");
        let steps = either("task_steps", "tool_steps");
        let nodes = either("task_nodes", "tool_nodes");
        let links = either("task_links", "tool_links");
        let (sampled_nodes, sampled_links) = (take("sampled_nodes"), take("sampled_links"));
        let mut texts = false;
        let mut parsed = |value: Option<Json<'a>>| {
            value.map(|value| {
                let (value, was_text) = nested(value);
                texts |= was_text;
                value
            })
        };
        let task_steps = parsed(steps);
        let task_nodes = parsed(nodes).map(as_list);
        let task_links = parsed(links);
        let (sampled_nodes, sampled_links) = (parsed(sampled_nodes), parsed(sampled_links));
        let release = match (new, old || texts) {
            (_, false) => Release::A,
            (false, true) => Release::B,
            (true, true) => Release::Mixed,
        };
        Ok(GoldRecord {
            line,
            id,
            shape: take("type").or_else(|| take("method")).and_then(into_text),
            n_tools: take("n_tools"),
            sampled_nodes,
            sampled_links,
            user_request,
            task_steps,
            task_nodes,
            task_links,
            release,
        })
    }

    /// The number of nodes: what groups by size go by. `None` when there is no list of nodes.
    pub fn n(&self) -> Option<usize> {
        match self.task_nodes.as_ref()? {
            JsonValue::Array(items) => Some(items.len()),
            JsonValue::Object(pairs) => Some(pairs.len()),
            JsonValue::Str(text) => Some(text.chars().count()),
            JsonValue::Null | JsonValue::Bool(_) | JsonValue::Int(_) | JsonValue::BigInt(_) | JsonValue::Float(_) => {
                None
            }
        }
    }
}

fn into_text<'a>(value: Json<'a>) -> Option<Cow<'a, str>> {
    if let JsonValue::Str(text) = value { Some(text) } else { None }
}

/// The value that a text holds as JSON, or the value itself.
fn nested(value: Json<'_>) -> (Json<'_>, bool) {
    let JsonValue::Str(text) = &value else { return (value, false) };
    match parse(text.as_bytes()) {
        Ok(read) => (read.into_static(), true),
        Err(_) => (value, false),
    }
}

fn as_list(value: Json<'_>) -> Json<'_> {
    if value.look("task").is_some() { JsonValue::Array(Arc::new(vec![value])) } else { value }
}
