//! The HuggingGPT dialect: the JSON array of tasks that models write, read into a [`Draft`].
//!
//! Reading forgives (ids as numeric strings, a scalar `dep`, missing fields, arguments that are not strings); judging is
//! left to [`crate::check()`]. Source: microsoft/JARVIS `hugginggpt/server/awesome_chat.py`, the parse stage's format.

use indexmap::IndexMap;
use serde_json::Value;

use crate::{Arg, Draft, DraftTask, Note};

/// Reads an array of task objects, one task object, or an object that wraps the array in `tasks`.
///
/// # Errors
/// Says which element is not a task when the value has another shape.
pub fn read(value: &Value) -> Result<Draft, DialectError> {
    let rows: Vec<&Value> = match value {
        Value::Array(rows) => rows.iter().collect(),
        Value::Object(fields) => match fields.get("tasks") {
            Some(Value::Array(rows)) => rows.iter().collect(),
            _ => vec![value],
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return Err(DialectError::NotTasks),
    };
    let mut draft = Draft::default();
    for (at, row) in rows.into_iter().enumerate() {
        let task = read_task(row, at, &mut draft.notes)?;
        draft.tasks.push(task);
    }
    Ok(draft)
}

/// Why a value is not a list of tasks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DialectError {
    /// It is neither an array nor an object.
    #[error("expected a JSON array of tasks")]
    NotTasks,
    /// An element is not an object with a `task` name.
    #[error("element {at} of the array is not an object with a `task` name")]
    NotATask {
        /// Its position, from 0.
        at: usize,
    },
}

fn read_task(row: &Value, at: usize, notes: &mut Vec<Note>) -> Result<DraftTask, DialectError> {
    let name = match row.get("task") {
        Some(Value::String(name)) if !name.trim().is_empty() => name.trim().to_owned(),
        _ => return Err(DialectError::NotATask { at }),
    };
    let id = row.get("id").and_then(integer).filter(|id| *id >= 0).unwrap_or_else(|| {
        notes.push(format!("element {at} (`{name}`) had no usable id and got its position").into());
        at as i64
    });
    let mut task = DraftTask::new(id, name);
    match row.get("dep") {
        None | Some(Value::Null) => {}
        Some(Value::Array(items)) => {
            for item in items {
                match integer(item).or_else(|| reference(item)) {
                    Some(-1) => {}
                    Some(id) => task.dep.push(id),
                    None => notes.push(format!("task {id}: dependency {item} is not an id and was left out").into()),
                }
            }
        }
        Some(scalar) => match integer(scalar).or_else(|| reference(scalar)) {
            Some(-1) => {}
            Some(id) => task.dep.push(id),
            None => notes.push(format!("task {id}: dependency {scalar} is not an id and was left out").into()),
        },
    }
    task.args = match row.get("args") {
        // Structured output writes every argument, those without a value as null.
        Some(Value::Object(fields)) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), Arg::of(value)))
            .collect(),
        Some(Value::Array(items)) => {
            // Some models write a list of one-pair objects.
            let mut args = IndexMap::new();
            for fields in items.iter().filter_map(Value::as_object) {
                args.extend(fields.iter().map(|(name, value)| (name.clone(), Arg::of(value))));
            }
            args
        }
        None | Some(Value::Null) => IndexMap::new(),
        Some(Value::String(value)) if value.trim().is_empty() => IndexMap::new(),
        Some(other) => IndexMap::from([("text".to_owned(), Arg::of(other))]),
    };
    task.unfolded_from = row.get("unfolded_from").and_then(integer);
    Ok(task)
}

/// An id as a number, a float without fraction, or digits in a string.
fn integer(value: &Value) -> Option<i64> {
    let id = match value {
        Value::Number(number) => {
            number.as_i64().or_else(|| number.as_f64().filter(|f| f.fract() == 0.0).map(|f| f as i64))
        }
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    // Such an id is a slip.
    id.filter(|id| (-1..=DraftTask::MAX_ID).contains(id))
}

/// A dependency written as a reference tag.
fn reference(value: &Value) -> Option<i64> {
    Arg::parse(value.as_str()?).as_output()?.0
}
