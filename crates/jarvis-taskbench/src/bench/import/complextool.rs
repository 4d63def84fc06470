//! ComplexTool-Plan (weixiaolong94-hub/Beyond-React, `ComplexTool-Plan/evaluate/evaluate_easy.json` and
//! `evaluate_hard.json`): a list of `{"instruction", "input", "output"}`.
//!
//! `input` is JSON as text, `{"query", "tool_sequence": {"1": {"name", "description", "inputSchema"}}}`; `output` holds
//! `{"DAG": "1->2, 1->3"}`, mostly between fences, where a tool that is linked with none stands alone. Tools are named by
//! number there and by name here; where one list has a name twice, the later one gets its number: `search (4)`.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_prompt::reader::{Want, read_json};
use serde_json::Value;

use super::{each, id, records, text};
use crate::bench::form::{name_of, named_tool, parameters_of_schema};
use crate::bench::{BenchError, Form, PlanGraph, PlanSet, Sample};
use crate::data::{DependencyType, ToolList};

/// Whether a record with the keys of instruction tuning is one of these.
pub(super) fn is_sample(record: &Value) -> bool {
    text(record, "input").is_some_and(|input| input.contains("\"tool_sequence\""))
}

pub(super) fn read(path: &Path) -> Result<PlanSet, BenchError> {
    let (samples, notes) = each(records::all(path)?, "record", sample);
    let name = match name_of(path).as_str() {
        // The folders are called after the difficulty where the files are not.
        "evaluate" => path.parent().map(name_of).unwrap_or_default(),
        name => name.strip_prefix("evaluate_").unwrap_or(name).to_owned(),
    };
    Ok(PlanSet {
        name: format!("complextool-plan {name}"),
        path: path.to_owned(),
        form: Form::ComplexToolPlan,
        dependency: DependencyType::Temporal,
        graph: None,
        samples,
        notes,
    })
}

fn sample(at: usize, record: &Value) -> Result<Sample, String> {
    let input = text(record, "input").ok_or("it has no text under `input`")?;
    let input: Value = serde_json::from_str(input).map_err(|error| format!("`input` is not JSON: {error}"))?;
    let listed = input.get("tool_sequence").and_then(Value::as_object).ok_or("`input` has no `tool_sequence`")?;
    let mut names: IndexMap<&str, String> = IndexMap::new();
    let mut tools = Vec::new();
    for (number, tool) in listed {
        let name = text(tool, "name").ok_or_else(|| format!("tool {number} has no text under `name`"))?;
        let is_taken = names.values().any(|other| other == name);
        let name = if is_taken { format!("{name} ({number})") } else { name.to_owned() };
        let schema = tool.get("inputSchema").or_else(|| tool.get("parameters")).unwrap_or(&Value::Null);
        let description = text(tool, "description").unwrap_or_default();
        tools.push(named_tool(&name, description, parameters_of_schema(schema), None));
        names.insert(number, name);
    }
    let output = text(record, "output").ok_or("it has no text under `output`")?;
    let output = read_json(output, Want::Object).map_err(|error| format!("`output`: {}", error.fault))?.value;
    let dag = text(&output, "DAG").ok_or("`output` has no text under `DAG`")?;
    Ok(Sample {
        id: id(record, "id").unwrap_or_else(|| at.to_string()),
        request: text(&input, "query").ok_or("`input` has no text under `query`")?.to_owned(),
        dialogue: Vec::new(),
        tools: Arc::new(ToolList { tools }),
        gold: graph(dag, &names)?,
        workflows: None,
    })
}

fn graph(dag: &str, names: &IndexMap<&str, String>) -> Result<PlanGraph, String> {
    let mut nodes: Vec<&str> = Vec::new();
    let mut links = Vec::new();
    for part in dag.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let mut before = None;
        for number in part.split("->").map(str::trim) {
            let place = nodes.iter().position(|node| *node == number).unwrap_or_else(|| {
                nodes.push(number);
                nodes.len() - 1
            });
            links.extend(before.map(|before| (before, place)));
            before = Some(place);
        }
    }
    let name = |number: &&str| {
        names.get(*number).cloned().ok_or_else(|| format!("the DAG names tool {number}, which is not listed"))
    };
    Ok(PlanGraph { nodes: nodes.iter().map(name).collect::<Result<_, _>>()?, links })
}
