//! Seal-Tools (fairyshine/Seal-Tools, `Seal-Tools_Dataset`), in its three releases:
//!
//! - `dev.jsonl`, `test_*_domain.jsonl`: `{"id", "query", "calling": [{"api", "parameters", "responses"}]}`;
//! - `dataset_in_old_format`: `[[{"api", "parameters"}], "query"]`, one bare call where there is only one;
//! - `dataset_for_finetune`: a list of `{"id", "conversations": [{"from", "value"}]}`, whose first turn lists the tools of
//!   the sample after `api_list = ` and the request after `task_instruction = `, both as Python literals.
//!
//! The tools of the first two are in `tool.jsonl` beside them or above them, all of which are offered. A parameter
//! `API_call_K` is what the call with that name among its `responses` gives. Without `responses`, as in the old release, each
//! call takes as many numbers as its tool has responses.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jarvis_prompt::literal::Literal;
use serde_json::Value;

use super::{each, id, records, text};
use crate::DataError;
use crate::bench::form::{name_of, named_tool, parameter};
use crate::bench::{BenchError, Form, PlanGraph, PlanSet, Sample};
use crate::data::{BenchTool, DependencyType, ToolList};

/// Whether a record is one of the old release: calls and the request.
pub(super) fn is_old(record: &Value) -> bool {
    let call = record.get(0).map(|calls| calls.get(0).unwrap_or(calls));
    call.is_some_and(|call| call.get("api").is_some()) && record.get(1).is_some_and(Value::is_string)
}

pub(super) fn read(path: &Path) -> Result<PlanSet, BenchError> {
    let records = records::all(path)?;
    let is_chat = records
        .first()
        .is_some_and(|(_, first)| first.as_ref().is_ok_and(|first| first.get("conversations").is_some()));
    let (shared, results) = if is_chat { Default::default() } else { tools_beside(path)? };
    let shared = Arc::new(shared);
    let (samples, notes) = each(records, "record", |at, record| {
        let sample = if is_chat { of_conversation(record) } else { of_calls(record, &results) }?;
        let id = id(record, "id").unwrap_or_else(|| at.to_string());
        Ok(if is_chat { Sample { id, ..sample } } else { Sample { id, tools: Arc::clone(&shared), ..sample } })
    });
    Ok(PlanSet {
        name: format!("seal-tools {}", name_of(path)),
        path: path.to_owned(),
        form: Form::SealTools,
        dependency: DependencyType::Temporal,
        graph: None,
        samples,
        notes,
    })
}

/// How many results each tool gives.
pub(super) type Results = HashMap<String, usize>;

/// The tools of `tool.jsonl`, one a line, or one list for each field on a line.
fn tools_beside(path: &Path) -> Result<(ToolList, Results), BenchError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let places: Vec<PathBuf> =
        [Some(folder), folder.parent()].into_iter().flatten().map(|dir| dir.join("tool.jsonl")).collect();
    let Some(file) = places.iter().find(|file| file.is_file()) else {
        let reason = "the tools of Seal-Tools are missing: there is no tool.jsonl beside this file";
        return Err(DataError::shape(path, reason).into());
    };
    let mut entries: Vec<Value> = Vec::new();
    for (_, record) in records::all(file)? {
        let Ok(record) = record else { continue };
        match record {
            Value::Object(fields) if !fields.contains_key("api_name") => {
                entries.extend(fields.values().filter_map(Value::as_array).flatten().cloned());
            }
            record => entries.push(record),
        }
    }
    let list = ToolList { tools: entries.iter().filter_map(tool).collect() };
    if list.tools.is_empty() {
        return Err(DataError::shape(file, "no line is a tool with `api_name`").into());
    }
    let count = |entry: &Value| {
        let gives = entry.get("responses").and_then(Value::as_object).map_or(1, |results| results.len().max(1));
        Some((text(entry, "api_name")?.to_owned(), gives))
    };
    Ok((list, entries.iter().filter_map(count).collect()))
}

/// A tool as Seal-Tools describes it; WorFBench takes it over, with `name` in some of its sources.
pub(super) fn tool(entry: &Value) -> Option<BenchTool> {
    let name = text(entry, "api_name").or_else(|| text(entry, "name"))?;
    let description = text(entry, "api_description").or_else(|| text(entry, "description")).unwrap_or_default();
    let schema = entry.get("parameters").unwrap_or(&Value::Null);
    let parameters = match schema.get("properties") {
        Some(_) => crate::bench::form::parameters_of_schema(schema),
        None => {
            let required = entry.get("required").and_then(Value::as_array);
            let is_required = |name: &str| required.is_none_or(|names| names.iter().any(|one| one == name));
            let fields = schema.as_object().into_iter().flatten();
            fields
                .map(|(name, own)| {
                    let description = text(own, "description").or(own.as_str()).unwrap_or_default();
                    parameter(name, kind(text(own, "type").unwrap_or_default()), description, is_required(name))
                })
                .collect()
        }
    };
    Some(named_tool(name, description, parameters, None))
}

/// A Python type as JSON Schema names it.
fn kind(python: &str) -> &str {
    match python {
        "int" => "integer",
        "float" => "number",
        "bool" => "boolean",
        "list" => "array",
        "dict" => "object",
        "str" | "" => "string",
        other => other,
    }
}

fn of_calls(record: &Value, results: &Results) -> Result<Sample, String> {
    let (calls, request) = match record {
        Value::Array(_) => (record.get(0), record.get(1)),
        record => (record.get("calling"), record.get("query")),
    };
    let request = request.and_then(Value::as_str).ok_or("it has no text of a request")?;
    sample(calls.unwrap_or(&Value::Null), request, Arc::default(), results)
}

fn of_conversation(record: &Value) -> Result<Sample, String> {
    let turn = |at: usize| record.pointer(&format!("/conversations/{at}/value")).and_then(Value::as_str);
    let (asked, answer) = (turn(0).ok_or("it has no first turn")?, turn(1).ok_or("it has no second turn")?);
    let (before, rest) = asked.rsplit_once("task_instruction = ").ok_or("its first turn has no `task_instruction`")?;
    let (_, list) = before.rsplit_once("api_list = ").ok_or("its first turn has no `api_list`")?;
    let list = literal(list)?;
    let tools = list.as_array().into_iter().flatten().filter_map(tool).collect();
    let request = rest.rsplit_once("\nOutput").or_else(|| rest.rsplit_once("\noutput")).map_or(rest, |(text, _)| text);
    let request = request.trim().trim_matches('"');
    sample(&literal(answer)?, request, Arc::new(ToolList { tools }), &Results::new())
}

/// A Python literal.
pub(super) fn literal(text: &str) -> Result<Value, String> {
    let read = Literal::parse(text.trim()).map_err(|error| format!("a list is no literal: {error}"))?;
    Ok(read.to_json())
}

fn sample(calls: &Value, request: &str, tools: Arc<ToolList>, results: &Results) -> Result<Sample, String> {
    let one = std::slice::from_ref(calls);
    let calls = calls.as_array().map_or(one, Vec::as_slice);
    Ok(Sample {
        id: String::new(),
        request: request.to_owned(),
        dialogue: Vec::new(),
        tools,
        gold: graph(calls, results)?,
        workflows: None,
    })
}

/// The graph of calls.
pub(super) fn graph(calls: &[Value], gives: &Results) -> Result<PlanGraph, String> {
    let name = |call: &Value| text(call, "api").map(str::to_owned).ok_or("a call has no text under `api`".to_owned());
    let nodes = calls.iter().map(name).collect::<Result<Vec<_>, _>>()?;
    let gives_it = |call: &Value, result: &str| {
        call.get("responses").and_then(Value::as_array).is_some_and(|names| names.iter().any(|name| name == result))
    };
    let named = calls.iter().any(|call| call.get("responses").is_some());
    let numbered = |number: usize| {
        let mut end = 0;
        nodes.iter().position(|name| {
            end += gives.get(name).copied().unwrap_or(1);
            number < end
        })
    };
    let mut links = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let mut used = Vec::new();
        uses(call.get("parameters").unwrap_or(&Value::Null), &mut used);
        for result in used {
            let number = result.strip_prefix("API_call_").and_then(|number| number.parse::<usize>().ok());
            let source =
                if named { calls.iter().position(|call| gives_it(call, result)) } else { number.and_then(numbered) };
            if let Some(source) = source.filter(|source| *source < nodes.len() && *source != at)
                && !links.contains(&(source, at))
            {
                links.push((source, at));
            }
        }
    }
    Ok(PlanGraph { nodes, links })
}

/// The texts in a value that name the result of a call.
fn uses<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if text.starts_with("API_call_") => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| uses(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| uses(item, found)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
