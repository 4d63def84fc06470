//! The rows of a plan file, in whichever form it is: found, and read field by field.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::{Faults, PlanFileError};
use crate::decisions::pipeline::{END, SOURCE};
use crate::decisions::reply::NO_MODEL;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) id: &'static str,
    pub(super) task: &'static str,
    pub(super) dependencies: &'static str,
    pub(super) model: &'static str,
}

/// An execution plan's.
const CONFIG: Names = Names { id: "task_id", task: "task_type", dependencies: "dependencies", model: "model_id" };
/// A task list's.
const LIST: Names = Names { id: "id", task: "task", dependencies: "dep", model: "model_id" };

/// One task as a file writes it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) names: Names,
    pub(super) id: String,
    pub(super) task: String,
    pub(super) args: IndexMap<String, Value>,
    /// The list that the task runs once for each element of.
    pub(super) each: Option<Value>,
    pub(super) dependencies: Vec<String>,
    /// `None` leaves the choice open.
    pub(super) model: Option<String>,
    pub(super) hosted_on: Option<String>,
    pub(super) reason: String,
    pub(super) alternatives: Vec<(String, Option<String>)>,
}

/// A plan file: its rows, and the request it was made for.
#[derive(Debug)]
pub(super) struct File {
    pub(super) request: Option<String>,
    pub(super) rows: Vec<Value>,
    /// Whether it is a first part, to be planned on when its results are known.
    pub(super) more: bool,
}

pub(super) fn find(value: &Value) -> Result<File, PlanFileError> {
    let not_a_plan = || PlanFileError::of_plan("tasks", "there is no list of tasks");
    match value {
        Value::Array(rows) => Ok(File { request: None, rows: rows.clone(), more: false }),
        Value::Object(fields) => {
            if let Some(inner) = fields.get("execution_config") {
                return find(inner);
            }
            if let Some(Value::Array(rows)) = fields.get("tasks") {
                let request = fields.get("user_request").and_then(Value::as_str).map(str::to_owned);
                // The two ends of a pipeline are no work.
                let rows = rows.iter().filter(|row| !is_pipeline_end(row)).cloned().collect();
                let more = fields.get("more").is_some_and(|more| more == true);
                return Ok(File { request, rows, more });
            }
            if let Some(inner) =
                fields.get("message").and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok())
            {
                return find(&inner);
            }
            fields.get("decisions").and_then(Value::as_object).and_then(decided).ok_or_else(not_a_plan)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(not_a_plan()),
    }
}

/// True for `source` and `pipeline-end` of a pipeline that was written as an execution plan.
fn is_pipeline_end(row: &Value) -> bool {
    let is_end = |field: &str| row.get(field).and_then(Value::as_str).is_some_and(|id| [SOURCE, END].contains(&id));
    is_end(CONFIG.id) && is_end(CONFIG.task)
}

/// The rows of `decisions`: the planned tasks, each with the model selected for it.
fn decided(decisions: &Map<String, Value>) -> Option<File> {
    let selections = decisions.get("model_selections").and_then(Value::as_object);
    let rows = decisions.get("planned_tasks")?.as_array()?.iter().map(|row| {
        let mut row = row.clone();
        let id = row.get("id").map(ToString::to_string).unwrap_or_default();
        if let (Some(fields), Some(selection)) = (row.as_object_mut(), selections.and_then(|all| all.get(&id))) {
            for (from, to) in [("selected_model", "model_id"), ("hosted_on", "hosted_on"), ("reason", "model_reason")] {
                fields.insert(to.into(), selection.get(from).cloned().unwrap_or_default());
            }
        }
        row
    });
    let request = decisions.get("input").and_then(Value::as_str).map(str::to_owned);
    Some(File { request, rows: rows.collect(), more: false })
}

/// Reads one row. What is wrong goes to the faults; a row that cannot be read at all is none.
pub(super) fn read(row: &Value, at: usize, faults: &mut Faults) -> Option<Row> {
    let Some(fields) = row.as_object() else {
        faults.push(&format!("at position {at}"), "tasks", "it is not an object");
        return None;
    };
    let names = if fields.contains_key(CONFIG.task) || fields.contains_key(CONFIG.id) { CONFIG } else { LIST };
    let id = match fields.get(names.id) {
        Some(Value::String(id)) if !id.trim().is_empty() => one_spelling(id),
        Some(Value::Number(id)) => one_spelling(&id.to_string()),
        None | Some(Value::Null) => at.to_string(),
        Some(other) => {
            faults.push(&format!("at position {at}"), names.id, format!("{other} is not an id"));
            return None;
        }
    };
    if let Some((field, message)) = too_much(fields, names, &id) {
        let shown: String = id.chars().take(LONGEST_NAME).collect();
        faults.push(&shown, field, message);
        return None;
    }
    let task = match fields.get(names.task) {
        Some(Value::String(task)) if !task.trim().is_empty() => task.trim().to_owned(),
        Some(_) | None => {
            if fields.contains_key("upstreams") {
                let hint = "this is the pipeline form, which describes vision pipelines; it is not executed here";
                faults.advise(&id, names.task, "it is missing", hint);
            } else {
                faults.push(&id, names.task, "it is missing");
            }
            return None;
        }
    };
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let model = text(names.model).filter(|model| ![NO_MODEL, "none"].contains(model)).map(str::to_owned);
    Some(Row {
        names,
        args: args(fields.get("args"), &id, faults),
        each: fields.get("each").filter(|each| !each.is_null()).cloned(),
        dependencies: dependencies(fields.get(names.dependencies), &id, names, faults),
        model,
        hosted_on: text("hosted_on").map(str::to_owned),
        reason: text("model_reason").unwrap_or_default().to_owned(),
        alternatives: alternatives(fields.get("alternatives")),
        id,
        task,
    })
}

/// The most characters of an id, a task type or a model's id.
const LONGEST_NAME: usize = 200;
/// The most dependencies, arguments and alternatives of a task, each.
const MOST: usize = 200;

/// What of a row is more than any plan needs, as its field and the limit.
fn too_much(fields: &Map<String, Value>, names: Names, id: &str) -> Option<(&'static str, String)> {
    let long = |text: &str| text.chars().count() > LONGEST_NAME;
    let long_field = |name: &str| fields.get(name).and_then(Value::as_str).is_some_and(long);
    let many = |name: &str| match fields.get(name) {
        Some(Value::Array(items)) => items.len() > MOST,
        Some(Value::Object(items)) => items.len() > MOST,
        _ => false,
    };
    let name = [names.task, names.model].into_iter().find(|name| long_field(name));
    match (long(id), name, [names.dependencies, "args", "alternatives"].into_iter().find(|name| many(name))) {
        (true, _, _) => Some((names.id, format!("it is longer than {LONGEST_NAME} characters"))),
        (false, Some(name), _) => Some((name, format!("it is longer than {LONGEST_NAME} characters"))),
        (false, None, Some(name)) => Some((name, format!("it has more than {MOST} entries"))),
        (false, None, None) => None,
    }
}

/// An id in the one spelling in which ids are compared: `3` for ` 3`, `03` and `3.0`.
fn one_spelling(id: &str) -> String {
    let id = id.trim();
    let digits = id.strip_suffix(".0").unwrap_or(id);
    digits.parse::<i64>().map_or_else(|_| id.to_owned(), |number| number.to_string())
}

/// Arguments by name.
fn args(value: Option<&Value>, id: &str, faults: &mut Faults) -> IndexMap<String, Value> {
    match value {
        None | Some(Value::Null) => IndexMap::new(),
        Some(Value::Object(fields)) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        Some(_) => {
            faults.push(id, "args", "it is not an object of names and values");
            IndexMap::new()
        }
    }
}

fn dependencies(value: Option<&Value>, id: &str, names: Names, faults: &mut Faults) -> Vec<String> {
    let items = match value {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Array(items)) => items.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    let mut found: Vec<String> = Vec::new();
    for item in items {
        let dependency = match item {
            Value::Number(number) => one_spelling(&number.to_string()),
            Value::String(text) => one_spelling(text),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
                faults.push(id, names.dependencies, format!("{item} is not the id of a task"));
                continue;
            }
        };
        if dependency != "-1" && !found.contains(&dependency) {
            found.push(dependency);
        }
    }
    found
}

/// The alternatives that can be read; what cannot is no fault, since the first choice stands without them.
fn alternatives(value: Option<&Value>) -> Vec<(String, Option<String>)> {
    let rows = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    rows.iter()
        .filter_map(|row| match row {
            Value::String(id) => Some((id.clone(), None)),
            _ => {
                let id = row.get("id")?.as_str()?.to_owned();
                Some((id, row.get("hosted_on").and_then(Value::as_str).map(str::to_owned)))
            }
        })
        .collect()
}
