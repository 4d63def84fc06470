//! The pipeline form as an execution plan.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::Pipeline;
use crate::decisions::reply::{execution_order, levels};

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
    let id = |at: &usize| pipeline.tasks.get(*at).expect("a node is a place of the pipeline").id.as_str();
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
    json!({
        "user_request": request,
        "total_tasks": tasks.len(),
        "tasks": tasks,
        "dag": {"nodes": pipeline.tasks.iter().map(|task| &task.id).collect::<Vec<_>>(), "edges": edges},
        "execution_order": execution_order(&levels, id),
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

#[cfg(test)]
mod tests;
