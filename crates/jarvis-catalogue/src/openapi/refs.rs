//! References within a document: followed step by step, to a limit, and never to another file.

use serde_json::Value;

/// The most references that are followed in a row.
const MAX_STEPS: usize = 32;

/// What a value stands for: itself, or what its `$ref` names. `None` for a reference that leads nowhere, out of the
/// document, or round in a circle.
pub(super) fn resolve<'a>(root: &'a Value, mut value: &'a Value) -> Option<&'a Value> {
    for _ in 0..MAX_STEPS {
        match name(value) {
            Some(pointer) => value = target(root, pointer)?,
            None => return Some(value),
        }
    }
    None
}

pub(super) fn name(value: &Value) -> Option<&str> {
    value.as_object()?.get("$ref")?.as_str()
}

/// What a reference within the document names.
fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    let decoded = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
    root.pointer(&decoded)
}

/// A field that should be a text, as a text: some files have numbers there.
pub(super) fn text(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.trim().to_owned(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(truth)) => truth.to_string(),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => String::new(),
    }
}

/// A field that should be a truth value: some files have `"true"` there.
pub(super) fn truth(value: Option<&Value>) -> Option<bool> {
    match value? {
        Value::Bool(truth) => Some(*truth),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        },
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A field that should be a number: some files have `"50"` there.
pub(super) fn number(value: Option<&Value>) -> Option<f64> {
    match value? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
