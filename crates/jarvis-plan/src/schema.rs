//! Values against JSON Schemas: what a schema takes in words, a value as the type that it asks for, what is wrong with one.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Number, Value};

use crate::text_of;

/// The longest value that a message holds, in characters.
const SHOWN: usize = 80;

/// A schema made ready for many values.
#[derive(Debug, Clone)]
pub struct Checker(Validator);

impl Checker {
    /// `None` for what is no JSON Schema, or refers to another document: such a schema refuses nothing.
    pub fn new(schema: &Value) -> Option<Checker> {
        let options = jsonschema::options().should_validate_formats(true);
        // Patterns come from strangers; this engine has no backtracking.
        options.with_pattern_options(PatternOptions::regex()).build(schema).ok().map(Checker)
    }

    /// What is wrong with a value: where, empty for the value itself, and what. At most a handful.
    pub fn problems(&self, value: &Value) -> Vec<(String, String)> {
        let problem = |error: jsonschema::ValidationError<'_>| {
            (error.instance_path().to_string(), error.masked_with("it").to_string())
        };
        self.0.iter_errors(value).take(8).map(problem).collect()
    }
}

/// Whether a schema takes a value; one that is no schema takes every value.
pub fn takes(schema: &Value, value: &Value) -> bool {
    Checker::new(schema).is_none_or(|checker| checker.0.is_valid(value))
}

/// A value as JSON for a message, cut where it is long.
pub fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", text.get(..at).expect("a character starts here")),
        None => text,
    }
}

/// The types that a schema names.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The words of an `enum` or a `const`.
fn words(schema: &Value) -> Vec<&Value> {
    match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.iter().collect(),
        (_, Some(value)) => vec![value],
        (_, None) => Vec::new(),
    }
}

/// What a schema takes, in a few words: `an integer from 1 to 14`, `one of "metric", "imperial"`, `a date such as
/// 2026-01-31`.
pub fn in_words(schema: &Value) -> String {
    let words = words(schema);
    if !words.is_empty() {
        let shown: Vec<String> = words.iter().take(20).map(|word| word.to_string()).collect();
        return format!("{}{}", if shown.len() > 1 { "one of " } else { "" }, shown.join(", "));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(choices)) = schema.get(key) {
            let mut shown: Vec<String> = choices.iter().take(6).map(in_words).collect();
            shown.dedup();
            return shown.join(" or ");
        }
    }
    let types: Vec<String> =
        types(schema).into_iter().filter(|name| *name != "null").map(|name| of_type(name, schema)).collect();
    if types.is_empty() { "any value".to_owned() } else { types.join(" or ") }
}

/// What values of a schema are made of, by the names of their fields: `{flights: [{number, price}]}`.
pub fn shape(schema: &Value) -> String {
    /// How deep fields are named.
    const DEEP: usize = 4;
    fn inner(schema: &Value, deep: usize) -> String {
        let properties = schema.get("properties").and_then(Value::as_object).filter(|fields| !fields.is_empty());
        if let (Some(fields), true) = (properties, deep > 0) {
            let field = |(name, schema): (&String, &Value)| match inner(schema, deep - 1).as_str() {
                inside if inside.starts_with(['{', '[']) => format!("{name}: {inside}"),
                _ => name.clone(),
            };
            return format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "));
        }
        match schema.get("items").filter(|_| deep > 0) {
            Some(items) => format!("[{}]", inner(items, deep - 1)),
            None => types(schema).first().copied().unwrap_or("value").to_owned(),
        }
    }
    inner(schema, DEEP)
}

fn of_type(name: &str, schema: &Value) -> String {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    match (name, format) {
        ("integer", _) => format!("an integer{}", bounds(schema, "minimum", "maximum")),
        ("number", _) => format!("a number{}", bounds(schema, "minimum", "maximum")),
        ("boolean", _) => "true or false".to_owned(),
        ("array", _) => match schema.get("items") {
            Some(items) => format!("a list{}, each {}", bounds(schema, "minItems", "maxItems"), in_words(items)),
            None => format!("a list{}", bounds(schema, "minItems", "maxItems")),
        },
        ("object", _) => "an object".to_owned(),
        ("string", "date") => "a date such as 2026-01-31".to_owned(),
        ("string", "date-time") => "a date with time such as 2026-01-31T09:30:00Z".to_owned(),
        ("string", "time") => "a time such as 09:30:00Z".to_owned(),
        ("string", "email") => "an address such as name@example.org".to_owned(),
        ("string", "uri" | "url") => "a URL".to_owned(),
        ("string", "") => match schema.get("pattern").and_then(Value::as_str) {
            Some(pattern) => format!("text that matches {pattern}"),
            None => "text".to_owned(),
        },
        ("string", format) => format!("text in the format {format}"),
        (name, _) => name.to_owned(),
    }
}

fn bounds(schema: &Value, least: &str, most: &str) -> String {
    match (schema.get(least), schema.get(most)) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" of at least {least}"),
        (None, Some(most)) => format!(" of at most {most}"),
        (None, None) => String::new(),
    }
}

/// A value as the type that the schema asks for, where it can be read as one in a single way: `"3"` as 3, `3.0` as 3,
/// `"true"` as true, a number as text, one value as a list of one, a word of the `enum` in another case. Anything else stays
/// as it is.
pub fn coerced(value: Value, schema: &Value) -> Value {
    if takes(schema, &value) {
        // `3.0` is an integer to a schema, and not to most who call with one.
        let whole = value.is_f64().then(|| as_type(&value, schema)).flatten();
        return elements(whole.unwrap_or(value), schema);
    }
    let choices = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    let mut read: Vec<Value> = std::iter::once(schema)
        .chain(choices)
        .filter_map(|choice| {
            let read = as_word(&value, choice).or_else(|| as_type(&value, choice)).unwrap_or_else(|| value.clone());
            (read != value || value.is_array() || value.is_object()).then(|| elements(read, choice))
        })
        .filter(|read| takes(schema, read))
        .collect();
    read.dedup();
    match (read.pop(), read.is_empty()) {
        (Some(only), true) => only,
        _ => value,
    }
}

/// A list or an object with each element as the schema asks for it.
fn elements(value: Value, schema: &Value) -> Value {
    match (value, schema.get("items"), schema.get("properties")) {
        (Value::Array(items), Some(each), _) => items.into_iter().map(|item| coerced(item, each)).collect(),
        (Value::Object(fields), _, Some(properties)) => {
            let field = |(name, value): (String, Value)| match properties.get(&name) {
                Some(schema) => (name, coerced(value, schema)),
                None => (name, value),
            };
            fields.into_iter().map(field).collect()
        }
        (value, _, _) => value,
    }
}

fn as_word(value: &Value, schema: &Value) -> Option<Value> {
    let fold = |value: &Value| text_of(value).trim().to_lowercase().replace([' ', '_'], "-");
    let said = fold(value);
    let mut fitting = words(schema).into_iter().filter(|word| fold(word) == said);
    fitting.next().filter(|_| fitting.next().is_none()).cloned()
}

fn as_type(value: &Value, schema: &Value) -> Option<Value> {
    let types = types(schema);
    let wants = |name: &str| types.contains(&name);
    let number = |number: f64| {
        let whole = wants("integer") && number.fract() == 0.0 && number.abs() < 9e15;
        if whole { Some(Value::from(number as i64)) } else { Number::from_f64(number).map(Value::Number) }
    };
    let read = match value {
        Value::Number(found) if wants("integer") => number(found.as_f64()?)?,
        Value::Number(_) | Value::Bool(_) if wants("string") => Value::String(value.to_string()),
        Value::String(text) => match text.trim() {
            "true" | "True" if wants("boolean") => Value::Bool(true),
            "false" | "False" if wants("boolean") => Value::Bool(false),
            digits if wants("integer") || wants("number") => match digits.parse::<i64>() {
                Ok(whole) => Value::from(whole),
                Err(_) => number(digits.parse().ok().filter(|number: &f64| number.is_finite())?)?,
            },
            list if wants("array") && list.starts_with('[') => serde_json::from_str(list).ok()?,
            object if wants("object") && object.starts_with('{') => serde_json::from_str(object).ok()?,
            _ if wants("array") => Value::Array(vec![value.clone()]),
            _ => return None,
        },
        Value::Object(_) | Value::Number(_) | Value::Bool(_) if wants("array") => Value::Array(vec![value.clone()]),
        Value::Array(items) => match items.as_slice() {
            [only] if !wants("array") && !types.is_empty() => only.clone(),
            _ => return None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    Some(read)
}

#[cfg(test)]
mod tests;
