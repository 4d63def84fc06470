//! UltraTool as published (JoeYing1019/UltraTool, `data/*/test.json` and `dev.json`): JSON Lines of `{"question", "plan":
//! [{"step", "tool"}], "tools": [{"name", "description", "arguments", "results"}], "domain"}`.
//!
//! `tools` of a sample are those of its gold plan, so every sample is offered the tools of the whole file. The gold plan is
//! the calls of `plan` (`name(argument=…)`), or `tools` in their order where no step is a call, each after the one before
//! it, as GNN4TaskPlan's `raw_process_ultratool.py` takes them.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value;

use super::{each, id, records, text};
use crate::bench::form::{name_of, named_tool, parameters_of_schema};
use crate::bench::{BenchError, Form, PlanGraph, PlanSet, Sample};
use crate::data::{BenchTool, DependencyType, ToolList};

pub(super) fn read(path: &Path) -> Result<PlanSet, BenchError> {
    let (read, notes) = each(records::all(path)?, "line", |at, record| {
        let tools: Vec<BenchTool> =
            record.get("tools").and_then(Value::as_array).into_iter().flatten().filter_map(tool).collect();
        Ok((sample(at, record, &tools)?, tools))
    });
    let mut offered: IndexMap<String, BenchTool> = IndexMap::new();
    for tool in read.iter().flat_map(|(_, tools)| tools) {
        offered.entry(tool.id.clone()).or_insert_with(|| tool.clone());
    }
    let tools = Arc::new(ToolList { tools: offered.into_values().collect() });
    let samples = read.into_iter().map(|(sample, _)| Sample { tools: Arc::clone(&tools), ..sample }).collect();
    Ok(PlanSet {
        name: format!("ultratool {}", name_of(path)),
        path: path.to_owned(),
        form: Form::UltraTool,
        dependency: DependencyType::Temporal,
        graph: None,
        samples,
        notes,
    })
}

fn tool(entry: &Value) -> Option<BenchTool> {
    let schema = entry.get("arguments").unwrap_or(&Value::Null);
    let description = text(entry, "description").unwrap_or_default();
    Some(named_tool(text(entry, "name")?, description, parameters_of_schema(schema), None))
}

fn sample(at: usize, record: &Value, tools: &[BenchTool]) -> Result<Sample, String> {
    let steps = record.get("plan").and_then(Value::as_array).into_iter().flatten();
    let called = steps.filter_map(|step| text(step, "tool")?.split_once('(').map(|(name, _)| name.trim().to_owned()));
    let mut nodes: Vec<String> = called.filter(|name| tools.iter().any(|tool| tool.id == *name)).collect();
    if nodes.is_empty() {
        nodes = tools.iter().map(|tool| tool.id.clone()).collect();
    }
    if nodes.is_empty() {
        return Err("it has no tools".into());
    }
    let links = (1..nodes.len()).map(|at| (at - 1, at)).collect();
    Ok(Sample {
        id: id(record, "id").unwrap_or_else(|| at.to_string()),
        request: text(record, "question").ok_or("it has no text under `question`")?.trim().to_owned(),
        dialogue: Vec::new(),
        tools: Arc::default(),
        gold: PlanGraph { nodes, links },
        workflows: None,
    })
}
