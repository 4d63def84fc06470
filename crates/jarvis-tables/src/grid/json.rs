//! Tables in JSON: lists of objects, the plain fields of the whole as pairs, and those of other objects as a row each.

use indexmap::IndexSet;
use serde_json::{Map, Value};

use super::{Grid, MAX_COLUMNS, Row, headers};

/// The most cells that are taken.
const MAX_CELLS: usize = 2_000_000;
const MAX_DEPTH: usize = 16;

/// A text that is JSON, or JSON lines of objects, as a whole.
pub(super) fn parse(text: &str) -> Option<Value> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let object = |line: &str| serde_json::from_str(line).ok().filter(Value::is_object);
    let lines = || text.lines().filter(|line| !line.trim().is_empty()).map(object).collect::<Option<Vec<_>>>();
    serde_json::from_str(text).ok().or_else(|| lines().map(Value::Array))
}

pub(super) fn grids(value: Value) -> Vec<Grid> {
    let mut found = Vec::new();
    within("", &value, 0, &mut found);
    found
}

fn within(path: &str, value: &Value, depth: usize, found: &mut Vec<Grid>) {
    let below = |key: &str| format!("{path} {}", spaced(key)).trim().to_owned();
    let heading = Some(path.to_owned()).filter(|path| !path.is_empty());
    match value {
        _ if depth > MAX_DEPTH => {}
        Value::Object(fields) => {
            let plain = || fields.iter().filter_map(|(key, value)| Some((spaced(key), plain(value)?)));
            let rows: Vec<Row> = if path.is_empty() {
                let unnamed = std::iter::once(vec![String::new(); 2]);
                unnamed.chain(plain().map(|(key, value)| vec![key, value])).collect()
            } else {
                let (header, row) = std::iter::once((String::new(), path.to_owned())).chain(plain()).unzip();
                vec![header, row]
            };
            if headers::holds_data(&rows) {
                found.push(Grid { heading, rows, skipped: 0 });
            }
            for (key, value) in fields {
                within(&below(key), value, depth + 1, found);
            }
        }
        Value::Array(items) => {
            let objects: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
            let keys: IndexSet<&String> = objects.iter().flat_map(|object| object.keys()).collect();
            let is_small = keys.len() <= MAX_COLUMNS && keys.len() * objects.len() <= MAX_CELLS;
            if objects.len() < items.len() || keys.is_empty() || !is_small {
                return;
            }
            let row = |object: &&Map<String, Value>| keys.iter().map(|key| cell(object.get(*key))).collect();
            let header = keys.iter().map(|key| spaced(key)).collect();
            let rows = std::iter::once(header).chain(objects.iter().map(row)).collect();
            found.push(Grid { heading, rows, skipped: 0 });
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn spaced(key: &str) -> String {
    key.replace(['_', '-'], " ").trim().to_owned()
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(super::on_one_line(text)),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A cell of a list of objects; lists and objects within it are JSON.
fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(value) => plain(value).unwrap_or_else(|| value.to_string()),
    }
}
