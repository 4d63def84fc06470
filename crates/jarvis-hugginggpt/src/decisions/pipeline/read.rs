//! Pipelines as models write them, in all their shapes. Reading forgives; judging is left to [`super::repair`].

use indexmap::IndexMap;
use jarvis_plan::{Draft, DraftTask, dialect};
use jarvis_prompt::reader::{Want, read_json};
use serde_json::{Map, Value};

use super::{NONE, PipelineTask, is_none, some};
use crate::untrusted::{clean, clean_id, folded};

/// The longest text of a reason, in characters.
const REASON: usize = 1_000;
const ITEM: usize = 200;
const LIST: usize = 64;
/// The most tasks that are read; a plan keeps fewer.
const TASKS: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tasks {
    /// The tasks, in the order written, unchecked.
    pub tasks: Vec<PipelineTask>,
    pub notes: Vec<String>,
}

/// Reads a model's reply: a list of tasks, bare or wrapped in `tasks` or `models`, in pipeline fields or in those of the
/// general form, complete or cut off (then the complete tasks are kept).
///
/// # Errors
/// Says what is wrong in words that the model can act on.
pub fn reply(text: &str) -> Result<Tasks, String> {
    let read = read_json(text, Want::Array).map_err(|error| error.to_string())?;
    let mut tasks = value(&read.value)?;
    tasks.notes.splice(0..0, read.mended.iter().map(|mend| format!("the reply was mended: {mend}")));
    Ok(tasks)
}

/// Reads tasks from a value in the shapes of [`reply`].
///
/// # Errors
/// When there is nothing that could be a task.
pub fn value(value: &Value) -> Result<Tasks, String> {
    let rows = rows(value).ok_or("expected a JSON array of tasks")?;
    if rows.iter().any(is_general) {
        return general(rows);
    }
    let mut read = Tasks::default();
    for (at, row) in rows.iter().enumerate().take(TASKS) {
        match task(row) {
            Ok(task) => read.tasks.push(task),
            Err(reason) => read.notes.push(format!("element {at} was left out: {reason}")),
        }
    }
    if read.tasks.is_empty() && !rows.is_empty() {
        return Err(format!("no element of the array is a task: {}", read.notes.concat()));
    }
    Ok(read)
}

/// The list of tasks, wherever it stands.
fn rows(value: &Value) -> Option<&[Value]> {
    const WRAPPERS: [&str; 4] = ["tasks", "models", "pipeline", "plan"];
    match value {
        Value::Object(fields) => WRAPPERS.iter().find_map(|name| fields.get(*name)?.as_array()).map(Vec::as_slice),
        Value::Array(items) => match items.as_slice() {
            [Value::Object(fields)] if !fields.contains_key("id") && !fields.contains_key("task") => {
                WRAPPERS.iter().find_map(|name| fields.get(*name)?.as_array()).or(Some(items)).map(Vec::as_slice)
            }
            items => Some(items),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// True for a task in the fields of the general form.
fn is_general(row: &Value) -> bool {
    row.get("task").is_some_and(Value::is_string)
        && !row.get("id").is_some_and(Value::is_string)
        && row.get("upstreams").is_none()
        && row.get("downstreams").is_none()
}

fn general(rows: &[Value]) -> Result<Tasks, String> {
    let draft = dialect::read(&Value::Array(rows.to_vec())).map_err(|error| error.to_string())?;
    let mut notes = vec!["the plan was written in the fields of the general form".to_owned()];
    notes.extend(draft.notes.iter().map(ToString::to_string));
    Ok(Tasks { tasks: from_draft(&draft), notes })
}

/// Tasks of the general form by name; a name that comes again gets a number. References count as dependencies.
pub fn from_draft(draft: &Draft) -> Vec<PipelineTask> {
    let mut names: Vec<(i64, String)> = Vec::new();
    for task in &draft.tasks {
        let name = unique(&task.task, |name| names.iter().any(|(_, taken)| taken == name));
        names.push((task.id, name));
    }
    let upstreams = |task: &DraftTask| {
        let referenced = task.args.values().flat_map(|arg| arg.references().filter_map(|reference| reference.0));
        let mut upstreams: Vec<String> = Vec::new();
        for id in task.dep.iter().copied().chain(referenced) {
            if let Some((_, name)) = names.iter().find(|(known, _)| *known == id).filter(|(known, _)| *known != task.id)
                && !upstreams.contains(name)
            {
                upstreams.push(name.clone());
            }
        }
        upstreams
    };
    draft
        .tasks
        .iter()
        .zip(&names)
        .map(|(task, (_, name))| PipelineTask {
            id: name.clone(),
            model_id: NONE.to_owned(),
            upstreams: upstreams(task),
            ..PipelineTask::default()
        })
        .collect()
}

/// A name that is not taken: itself, or with the lowest number from 2 on.
pub(super) fn unique(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    (2_u32..)
        .map(|count| format!("{name}-{count}"))
        .find(|name| !taken(name))
        .expect("there are more numbers than names")
}

/// Tasks in pipeline fields as a draft of the general form: `source` and `pipeline-end` are left out, and so are
/// arguments, which pipelines do not have.
pub fn to_draft(tasks: &[PipelineTask]) -> Draft {
    let real: Vec<&PipelineTask> = tasks.iter().filter(|task| !task.is_terminal_node()).collect();
    let at = |id: &str| real.iter().position(|task| folded(&task.id) == folded(id)).map(|at| at as i64);
    let draft = |(id, task): (usize, &&PipelineTask)| {
        let id = id as i64;
        let mut dep: Vec<i64> = task.before().filter_map(at).filter(|dep| *dep != id).collect();
        // A link that only its other end tells counts as well.
        dep.extend((0..).zip(&real).filter(|(_, other)| other.after().any(|to| at(to) == Some(id))).map(|(at, _)| at));
        let mut once = Vec::with_capacity(dep.len());
        for dep in dep.into_iter().filter(|dep| *dep != id) {
            if !once.contains(&dep) {
                once.push(dep);
            }
        }
        DraftTask { dep: once, ..DraftTask::new(id, task.id.clone()) }
    };
    Draft { tasks: real.iter().enumerate().map(draft).collect(), ..Draft::default() }
}

/// True when a value is written in pipeline fields, so that [`to_draft`] is the way to read it as the general form.
pub fn is_pipeline(value: &Value) -> bool {
    let linked = |row: &Value| row.get("upstreams").is_some() || row.get("downstreams").is_some();
    rows(value).is_some_and(|rows| rows.iter().any(linked))
}

pub fn task(value: &Value) -> Result<PipelineTask, String> {
    let fields = value.as_object().ok_or("it is not an object")?;
    // `task_id` names the task in replies where `id` is the model's.
    let by_task_id = fields.contains_key("task_id");
    let id = ["task_id", "id", "task"].iter().find_map(|name| fields.get(*name)?.as_str());
    let id = id.and_then(clean_id).filter(|id| !is_none(id)).ok_or("it has no usable `id`")?;
    let model = ["model_id", "model"].iter().find_map(|name| fields.get(*name)?.as_str());
    let model = model.or_else(|| fields.get("id").and_then(Value::as_str).filter(|_| by_task_id));
    let reason = field(fields, &["model-chosen-reason", "reason"]).and_then(Value::as_str).unwrap_or_default();
    let downstreams = list(field(fields, &["downstreams", "downstream"]));
    Ok(PipelineTask {
        model_id: model.and_then(clean_id).filter(|id| !is_none(id)).unwrap_or_else(|| NONE.to_owned()),
        inputs_from_upstreams: list(field(fields, &["inputs-from-upstreams", "inputs"])),
        upstreams: list(field(fields, &["upstreams", "upstream"])),
        outputs_for_downstreams: list(field(fields, &["outputs-for-downstreams", "outputs"])),
        model_chosen_reason: clean(reason, REASON),
        sample_reasoning: reasoning(field(fields, &["sample-reasoning", "reasoning"]), &downstreams),
        downstreams,
        id,
    })
}

/// The first of these fields that is there, written with hyphens or underscores.
fn field<'a>(fields: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| fields.get(*name).or_else(|| fields.get(&name.replace('-', "_"))))
}

/// A list of texts, as given; a single text is one element, or several with commas between.
fn list(value: Option<&Value>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let mut add = |text: &str| {
        let text = clean(text, ITEM);
        if !text.is_empty() && !list.contains(&text) && list.len() < LIST {
            list.push(text);
        }
    };
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).for_each(&mut add),
        Some(Value::String(text)) => text.split(',').for_each(&mut add),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {}
    }
    list
}

/// Reasons by downstream: an object, a list of one-field objects, a list of texts in the order of the downstreams, or one
/// text for the only downstream.
fn reasoning(value: Option<&Value>, downstreams: &[String]) -> IndexMap<String, String> {
    let text = |value: &Value| match value {
        Value::String(text) => clean(text, REASON),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => clean(&value.to_string(), REASON),
    };
    let mut reasons = IndexMap::new();
    match value {
        Some(Value::Object(fields)) => reasons.extend(fields.iter().map(|(id, why)| (id.clone(), text(why)))),
        Some(Value::Array(items)) if items.iter().all(Value::is_object) => {
            let fields = items.iter().filter_map(Value::as_object).flatten();
            reasons.extend(fields.map(|(id, why)| (id.clone(), text(why))));
        }
        Some(Value::Array(items)) => {
            reasons.extend(some(downstreams).zip(items).map(|(id, why)| (id.to_owned(), text(why))));
        }
        Some(why @ Value::String(_)) => {
            let mut downstreams = some(downstreams);
            if let (Some(only), None) = (downstreams.next(), downstreams.next()) {
                reasons.insert(only.to_owned(), text(why));
            }
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => {}
    }
    reasons.retain(|id, why| id != "general" && !why.is_empty());
    reasons.truncate(LIST);
    reasons
}

#[cfg(test)]
mod tests;
