//! The neutral form on disk: `tools.json` and `plans.jsonl` in one folder.
//!
//! `tools.json` is `{"tools": [{"name", "description", "parameters": [{"name", "type", "description", "required"}],
//! "returns"}]}`; a tool may have `input_schema`, a JSON Schema, in place of `parameters`. A line of `plans.jsonl` is
//! `{"id", "request", "dialogue": [{"role", "content"}], "tools": [names], "plan": {"tasks": [{"tool", "arguments"}],
//! "links": [[0, 1]]}}`, where `dialogue` and `tools` may be absent.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use jarvis_plan::{Role, Turn};
use serde_json::Value;

use super::{each, id, records, text};
use crate::DataError;
use crate::bench::form::{name_of, named_tool, parameter, parameters_of_schema};
use crate::bench::{BenchError, Form, PlanGraph, PlanSet, Sample};
use crate::data::{BenchTool, DependencyType, ToolList};

pub(super) fn read(path: &Path) -> Result<PlanSet, BenchError> {
    let list = Arc::new(tools(&path.join("tools.json"))?);
    let mut parts: HashMap<Vec<String>, Arc<ToolList>> = HashMap::new();
    let records = records::all(&path.join("plans.jsonl"))?;
    let (read, mut notes) = each(records, "line", |_, record| {
        let names = record.get("tools").and_then(Value::as_array);
        let names = names.map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>());
        Ok((sample(record)?, names))
    });
    let mut unknown: Vec<String> = Vec::new();
    let mut samples = Vec::with_capacity(read.len());
    for (mut sample, names) in read {
        sample.tools = match names {
            None => Arc::clone(&list),
            Some(names) => {
                let part = parts.entry(names.clone()).or_insert_with(|| {
                    let tools = names.iter().filter_map(|name| list.get(name)).cloned().collect();
                    Arc::new(ToolList { tools })
                });
                Arc::clone(part)
            }
        };
        let missing = sample.gold.nodes.iter().find(|name| sample.tools.get(name).is_none());
        unknown.extend(missing.map(|name| format!("{name} of {}", sample.id)));
        samples.push(sample);
    }
    if let Some(first) = unknown.first() {
        notes.push(format!("{} gold plans name a tool that is not offered, such as {first}", unknown.len()));
    }
    Ok(PlanSet {
        name: name_of(path),
        path: path.to_owned(),
        form: Form::Neutral,
        dependency: DependencyType::Temporal,
        graph: None,
        samples,
        notes,
    })
}

fn tools(path: &Path) -> Result<ToolList, DataError> {
    let bytes = std::fs::read(path).map_err(|error| DataError::read(path, error))?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let document: Value = serde_json::from_slice(bytes)
        .map_err(|error| DataError::NotJson { path: path.to_owned(), reason: error.to_string() })?;
    let list = document
        .get("tools")
        .unwrap_or(&document)
        .as_array()
        .ok_or_else(|| DataError::shape(path, "it has no list under `tools`"))?;
    let read = |(at, entry): (usize, &Value)| {
        tool(entry).ok_or_else(|| DataError::shape(path, format!("tool {at} has no text under `name`")))
    };
    Ok(ToolList { tools: list.iter().enumerate().map(read).collect::<Result<_, _>>()? })
}

fn tool(entry: &Value) -> Option<BenchTool> {
    let name = text(entry, "name")?;
    let listed = entry.get("parameters").and_then(Value::as_array);
    let parameters = match (listed, entry.get("input_schema").or_else(|| entry.get("inputSchema"))) {
        (Some(listed), _) => listed
            .iter()
            .filter_map(|own| {
                let required = own.get("required").and_then(Value::as_bool).unwrap_or(true);
                let description = text(own, "description").unwrap_or_default();
                Some(parameter(text(own, "name")?, text(own, "type").unwrap_or("string"), description, required))
            })
            .collect(),
        (None, Some(schema)) => parameters_of_schema(schema),
        (None, None) => Vec::new(),
    };
    Some(named_tool(name, text(entry, "description").unwrap_or_default(), parameters, text(entry, "returns")))
}

fn sample(record: &Value) -> Result<Sample, String> {
    let tasks = record.pointer("/plan/tasks").and_then(Value::as_array).ok_or("it has no list under `plan.tasks`")?;
    let nodes = tasks
        .iter()
        .enumerate()
        .map(|(at, task)| text(task, "tool").map(str::to_owned).ok_or(format!("task {at} has no text under `tool`")))
        .collect::<Result<Vec<_>, _>>()?;
    let links = match record.pointer("/plan/links") {
        None => Vec::new(),
        Some(links) => serde_json::from_value::<Vec<(usize, usize)>>(links.clone())
            .map_err(|_| "`plan.links` is not a list of pairs of places".to_owned())?,
    };
    if let Some((from, to)) = links.iter().find(|(from, to)| from.max(to) >= &nodes.len()) {
        return Err(format!("link [{from}, {to}] leads to no task"));
    }
    Ok(Sample {
        id: id(record, "id").ok_or("it has no `id`")?,
        request: text(record, "request").ok_or("it has no text under `request`")?.to_owned(),
        dialogue: record.get("dialogue").map(dialogue).transpose()?.unwrap_or_default(),
        tools: Arc::default(),
        gold: PlanGraph { nodes, links },
        workflows: None,
    })
}

fn dialogue(turns: &Value) -> Result<Vec<Turn>, String> {
    let turns = turns.as_array().ok_or("`dialogue` is not a list")?;
    let turn = |turn: &Value| {
        let role = match text(turn, "role") {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some(other) => return Err(format!("a turn of the dialogue has the role `{other}`, not user or assistant")),
            None => return Err("a turn of the dialogue has no role".to_owned()),
        };
        Ok(Turn::said(role, text(turn, "content").unwrap_or_default()))
    };
    turns.iter().map(turn).collect()
}
