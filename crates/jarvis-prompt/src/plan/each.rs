//! Tasks for each element of a list: `each` beside the arguments, and what models write for the element in them.

use std::sync::LazyLock;

use jarvis_plan::{Arg, DraftRef, DraftTask, Fault, FieldPath, pattern};
use regex::{Captures, Regex};
use serde_json::Value;

use super::args::strings;

/// What models write for the element of a list beside `<EACH>`.
static ELEMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)<\s*(?:each|item|element)\s*>",
        r"|\{\{\s*(?:each|item|element)(?P<template>[\w.\[\]]*)\s*\}\}",
        r"|\$\{\s*(?:each|item|element)(?P<shell>[\w.\[\]]*)\s*\}",
        r"|\$(?:each|item|element)\b",
    ))
});

/// Whether an element of the list stands in a value.
pub(super) fn has_element(value: &Value) -> bool {
    let mut texts = Vec::new();
    strings(value, &mut texts);
    texts.iter().any(|text| ELEMENT.is_match(text))
}

/// The value with every element written `<EACH>`.
pub(super) fn with_element(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            let path = |found: &Captures<'_>| {
                let path = ["template", "shell"].iter().find_map(|name| found.name(name));
                format!("<EACH>{}", path.map_or("", |path| path.as_str()))
            };
            Value::String(ELEMENT.replace_all(text, path).into_owned())
        }
        Value::Array(items) => items.iter().map(with_element).collect(),
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), with_element(field))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Holds a task to the list beside its arguments: one of them takes its elements. An argument that is the list itself does, where
/// none is the element.
pub(super) fn hold(list: &Arg<DraftRef>, of: DraftRef, path: &FieldPath, task: &mut DraftTask) {
    if task.args.values().any(|arg| arg.lists().next().is_some()) {
        return;
    }
    let mut lists: Vec<&mut Arg<DraftRef>> = task.args.values_mut().filter(|arg| *arg == list).collect();
    match lists.as_mut_slice() {
        [only] => **only = Arg::literal("<EACH>").of_each(of, path),
        _ => {
            let problem = "no argument is its element; write `<EACH>`, or `<EACH>.field`, where the element belongs";
            task.faults.push(Fault::NotEach { problem: problem.to_owned() });
        }
    }
}
