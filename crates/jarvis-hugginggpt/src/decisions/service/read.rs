//! Replies of a model catalogue service in all their shapes, read into records whose texts are cut and cleaned.
//!
//! A record without a usable id is left out; a reply that is no list of records at all is refused.

use indexmap::IndexMap;
use serde_json::Value;

use super::{MAX_EXAMPLES, MAX_MODELS, MAX_TASKS, ServiceModel, ServiceTask};
use crate::decisions::examples::Example;
use crate::untrusted::{clean, clean_id};

/// The longest name and list element.
const SHORT: usize = 160;
const TASK_DESCRIPTION: usize = 400;
/// The longest description of a model; prompts cut it further.
const MODEL_DESCRIPTION: usize = 2_000;
/// The most elements of a list inside a record.
const LIST: usize = 16;

/// The records of a reply and the ids they stand under, if any: a list, an object of records by id, or a list in a wrapper.
fn records<'a>(value: &'a Value, wrapper: &str) -> Option<Vec<(Option<&'a str>, &'a Value)>> {
    match value {
        Value::Array(items) => Some(items.iter().map(|item| (None, item)).collect()),
        Value::Object(fields) => match fields.get(wrapper) {
            Some(Value::Array(items)) => Some(items.iter().map(|item| (None, item)).collect()),
            // An error with status 200 is an object of strings.
            _ if !fields.is_empty() && fields.values().all(Value::is_object) => {
                Some(fields.iter().map(|(id, item)| (Some(id.as_str()), item)).collect())
            }
            _ => None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn text(record: &Value, field: &str, max: usize) -> String {
    record.get(field).and_then(Value::as_str).map(|text| clean(text, max)).unwrap_or_default()
}

/// A list of texts; a single text counts as one element.
fn texts(value: Option<&Value>) -> Vec<String> {
    let cleaned = |text: &str| Some(clean(text, SHORT)).filter(|text| !text.is_empty());
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).filter_map(cleaned).take(LIST).collect(),
        Some(Value::String(one)) => cleaned(one).into_iter().collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
    }
}

fn id(record: &Value, under: Option<&str>) -> Option<String> {
    match record {
        Value::String(id) => clean_id(id),
        Value::Object(fields) => fields.get("id").and_then(Value::as_str).or(under).and_then(clean_id),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

/// The usable records of a reply, each id once, at most `most`; `None` when it is no list, or holds none that is usable.
fn by_id<T>(value: &Value, wrapper: &str, most: usize, make: impl Fn(String, &Value) -> T) -> Option<Vec<T>> {
    let records = records(value, wrapper)?;
    let any = !records.is_empty();
    let mut made: IndexMap<String, T> = IndexMap::new();
    for (under, record) in records {
        // Some services write each object as a string.
        let inner = record.as_str().filter(|text| text.trim_start().starts_with('{'));
        let inner = inner.map(|text| serde_json::from_str(text).unwrap_or(Value::Null));
        let record = inner.as_ref().unwrap_or(record);
        if let Some(id) = id(record, under).filter(|_| made.len() < most) {
            made.entry(id.clone()).or_insert_with(|| make(id, record));
        }
    }
    (!any || !made.is_empty()).then(|| made.into_values().collect())
}

/// Reads a list of names, a list of objects, or an object of objects by id; `None` when it is none of these.
pub(super) fn tasks(value: &Value) -> Option<Vec<ServiceTask>> {
    by_id(value, "tasks", MAX_TASKS, |id, record| ServiceTask {
        name: text(record, "name", SHORT),
        description: text(record, "description", TASK_DESCRIPTION),
        inputs: texts(record.get("inputs")),
        outputs: texts(record.get("outputs")),
        id,
    })
}

pub(super) fn models(value: &Value) -> Option<Vec<ServiceModel>> {
    by_id(value, "models", MAX_MODELS, |id, record| {
        let tags = record.get("meta").and_then(|meta| meta.get("tags"));
        ServiceModel {
            name: text(record, "name", SHORT),
            description: text(record, "description", MODEL_DESCRIPTION),
            likes: record.get("likes").and_then(Value::as_u64).unwrap_or(0),
            host: None,
            tags: tags.filter(|tags| !tags.is_null()).map(|tags| texts(Some(tags))),
            id,
        }
    })
}

/// Reads a list of examples, at most `count`; what is no example is left out; `None` when it is no list.
pub(super) fn examples(value: &Value, count: usize) -> Option<Vec<Example>> {
    let records = records(value, "examples")?;
    Some(
        records
            .into_iter()
            .filter_map(|(_, record)| Example::read(record).ok())
            .take(count.min(MAX_EXAMPLES))
            .collect(),
    )
}
