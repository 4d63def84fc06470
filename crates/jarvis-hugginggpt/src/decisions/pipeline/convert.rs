//! The pipeline form as an execution plan, and back. There and back keeps every task and every link.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::read::unique;
use super::repair::{Known, repair};
use super::{NONE, Pipeline, PipelineTask, is_none};
use crate::decisions::levels;
use crate::decisions::service::MAX_TASKS;
use crate::untrusted::{clean, clean_id};

/// The inner object of an execution plan: `user_request`, `total_tasks`, `tasks`, `dag`, `execution_order`. Task ids are
/// those of the pipeline; `source` and `pipeline-end` are among the tasks, so that the graph is the whole one. Beside the
/// agreed fields each task has `pipeline`, which holds what only the pipeline form says. Nodes stand in the pipeline's
/// order.
pub fn to_execution_config(pipeline: &Pipeline, request: &str) -> Value {
    let places: IndexMap<&str, usize> =
        pipeline.tasks.iter().enumerate().map(|(at, task)| (task.id.as_str(), at)).collect();
    let graph: BTreeMap<usize, Vec<usize>> = pipeline
        .tasks
        .iter()
        .enumerate()
        .map(|(at, task)| (at, task.before().filter_map(|id| places.get(id).copied()).collect()))
        .collect();
    let levels = levels(&graph);
    let id = |at: &usize| pipeline.tasks.get(*at).map(|task| task.id.as_str()).unwrap_or_default();
    let tasks: Vec<Value> = pipeline
        .tasks
        .iter()
        .enumerate()
        .map(|(at, task)| {
            json!({
                "task_id": task.id,
                "task_type": type_of(&task.id, pipeline),
                "model_id": task.model_id,
                "model_reason": task.model_chosen_reason,
                "args": {},
                "dependencies": graph.get(&at).into_iter().flatten().map(id).collect::<Vec<_>>(),
                "execution_level": levels.of.get(&at),
                "pipeline": {
                    "inputs_from_upstreams": task.inputs_from_upstreams,
                    "outputs_for_downstreams": task.outputs_for_downstreams,
                    "downstreams": task.downstreams,
                    "sample-reasoning": task.sample_reasoning,
                },
            })
        })
        .collect();
    let edges: Vec<Value> = graph
        .iter()
        .flat_map(|(to, deps)| deps.iter().map(move |from| json!({"from": id(from), "to": id(to)})))
        .collect();
    let order: Vec<Value> = levels
        .nodes
        .iter()
        .enumerate()
        .map(|(level, nodes)| {
            json!({"level": level, "parallel": nodes.len() > 1, "tasks": nodes.iter().map(id).collect::<Vec<_>>()})
        })
        .collect();
    json!({
        "user_request": request,
        "total_tasks": tasks.len(),
        "tasks": tasks,
        "dag": {"nodes": pipeline.tasks.iter().map(|task| &task.id).collect::<Vec<_>>(), "edges": edges},
        "execution_order": order,
    })
}

/// The task type of an id: the id, without the number that it has when the pipeline holds the same type twice.
fn type_of<'a>(id: &'a str, pipeline: &Pipeline) -> &'a str {
    let counted = |count: &str| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
    match id.rsplit_once('-') {
        Some((name, count)) if counted(count) && pipeline.task(name).is_some() => name,
        _ => id,
    }
}

/// A pipeline from an execution plan: the object with `tasks`, or what wraps it in `execution_config`. Ids may be numbers
/// or names; where they are numbers the tasks are called by their types. `source` and `pipeline-end` are added where they
/// are missing. Also says what had to be mended.
///
/// # Errors
/// When the value is no execution plan.
pub fn from_execution_config(value: &Value) -> Result<(Pipeline, Vec<String>), String> {
    let value = value.get("execution_config").unwrap_or(value);
    let rows = value.get("tasks").and_then(Value::as_array).ok_or("`execution_config.tasks` must be a list")?;
    if rows.len() > MAX_TASKS {
        return Err(format!("`execution_config.tasks` has more than {MAX_TASKS} elements"));
    }
    let mut names: IndexMap<String, String> = IndexMap::new();
    for (at, row) in rows.iter().enumerate() {
        let fail = |field: &str| format!("element {at} of `execution_config.tasks` has no usable `{field}`");
        let id = written(row.get("task_id")).ok_or_else(|| fail("task_id"))?;
        let name = match row.get("task_id") {
            Some(Value::String(id)) if id.parse::<i64>().is_err() => id.as_str(),
            _ => row.get("task_type").and_then(Value::as_str).ok_or_else(|| fail("task_type"))?,
        };
        let name = clean_id(name).filter(|name| !is_none(name)).ok_or_else(|| fail("task_type"))?;
        let name = unique(&name, |name| names.values().any(|taken| taken == name));
        if names.insert(id.clone(), name).is_some() {
            return Err(format!("the id {id} stands in `execution_config.tasks` twice"));
        }
    }
    let mut tasks = Vec::with_capacity(rows.len());
    for (row, (_, name)) in rows.iter().zip(&names) {
        let own = row.get("pipeline").and_then(Value::as_object);
        let mut fields: Map<String, Value> = own.cloned().unwrap_or_default();
        let dependencies = row.get("dependencies").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let upstreams: Vec<&str> =
            dependencies.iter().filter_map(|id| names.get(&written(Some(id))?)).map(String::as_str).collect();
        fields.insert("id".into(), name.as_str().into());
        fields.insert("upstreams".into(), upstreams.into());
        // An edited plan says its links by its dependencies; what stood at the other end may be out of date.
        let told = fields.shift_remove("downstreams");
        let mut task = super::read::task(&Value::Object(fields))?;
        task.downstreams =
            told.iter().filter_map(Value::as_array).flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        let model = row.get("model_id").and_then(Value::as_str).and_then(clean_id);
        task.model_id = model.filter(|id| !is_none(id)).unwrap_or_else(|| NONE.to_owned());
        task.model_chosen_reason =
            row.get("model_reason").and_then(Value::as_str).map(|reason| clean(reason, 1_000)).unwrap_or_default();
        tasks.push(task);
    }
    by_dependencies(&mut tasks);
    let count = tasks.len();
    Ok(repair(tasks, Known { tasks: &[], max_tasks: count }))
}

/// Writes the downstreams that the upstreams imply, in the order that was told where it still holds.
fn by_dependencies(tasks: &mut [PipelineTask]) {
    let links: Vec<(String, Vec<String>)> =
        tasks.iter().map(|task| (task.id.clone(), task.before().map(str::to_owned).collect())).collect();
    for task in tasks {
        let implied: Vec<&String> =
            links.iter().filter(|(_, before)| before.contains(&task.id)).map(|(id, _)| id).collect();
        let mut downstreams: Vec<String> = task.downstreams.iter().filter(|id| implied.contains(id)).cloned().collect();
        for id in implied {
            if !downstreams.contains(id) {
                downstreams.push(id.clone());
            }
        }
        task.downstreams = downstreams;
    }
}

/// An id as it is written.
fn written(id: Option<&Value>) -> Option<String> {
    match id? {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests;
