//! The plan format as a JSON Schema for endpoints with structured output: task names are those of the tools that are
//! offered, arguments what each tool takes.
//!
//! Strict endpoints want an object at the root, every property required and no others, so the array stands in `tasks` and
//! what may be left out may be null. Of a tool's own schema only what these endpoints agree on is kept; the check holds the
//! rest.

use jarvis_plan::{Param, Tool};
use serde_json::{Map, Value, json};

/// How deep schemas of tools are followed; what lies deeper is written as text.
const MAX_DEPTH: usize = 5;

/// The schema of a plan with these tools; with `grows`, of one that may say that it is a first part.
pub(crate) fn of(tools: &[Tool], grows: bool) -> Value {
    let more = grows.then(|| ("more", json!({"type": "boolean"})));
    object(std::iter::once(("tasks", tasks(tools))).chain(more))
}

/// The schema of what is to be done next, with these tools.
pub(crate) fn next(tools: &[Tool]) -> Value {
    let or_null = |schema: Value| json!({"anyOf": [schema, {"type": "null"}]});
    object([
        ("done", or_null(json!({"type": "boolean"}))),
        ("missing", or_null(json!({"type": "string"}))),
        ("tasks", or_null(tasks(tools))),
        ("ask", or_null(json!({"type": "string"}))),
    ])
}

fn tasks(tools: &[Tool]) -> Value {
    let tasks: Vec<Value> = tools.iter().map(task).collect();
    let items = if tasks.is_empty() { json!({"type": "object"}) } else { json!({"anyOf": tasks}) };
    json!({"type": "array", "items": items})
}

fn task(tool: &Tool) -> Value {
    let args = tool.params.iter().map(|param| (param.name.as_str(), argument(param)));
    object([
        ("task", json!({"type": "string", "enum": [tool.name]})),
        ("id", json!({"type": "integer"})),
        ("dep", json!({"type": "array", "items": {"type": "integer"}})),
        ("args", object(args)),
    ])
}

fn argument(param: &Param) -> Value {
    let own = param.schema.as_ref().map_or_else(|| json!({"type": "string"}), |schema| simple(schema, MAX_DEPTH));
    let is_text = own.get("type").is_some_and(|name| name == "string") && own.get("enum").is_none();
    let mut choices = vec![own];
    if !is_text {
        // The output of another task.
        choices.push(json!({"type": "string", "pattern": "^<GENERATED>-[0-9]+.*$"}));
    }
    if !param.required {
        choices.push(json!({"type": "null"}));
    }
    one_of(choices)
}

fn one_of(mut choices: Vec<Value>) -> Value {
    match choices.len() {
        1 => choices.remove(0),
        _ => json!({"anyOf": choices}),
    }
}

fn object<'a>(properties: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let properties: Map<String, Value> =
        properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let required: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The part of a schema that strict endpoints take.
fn simple(schema: &Value, depth: usize) -> Value {
    let text = || json!({"type": "string"});
    if depth == 0 {
        return text();
    }
    if let Some(words) = schema.get("enum").filter(|words| words.as_array().is_some_and(|words| !words.is_empty())) {
        let is_text = words.as_array().is_some_and(|words| words.iter().all(Value::is_string));
        return if is_text { json!({"type": "string", "enum": words}) } else { json!({"enum": words}) };
    }
    if let Some(word) = schema.get("const") {
        return json!({"enum": [word]});
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(choices)) = schema.get(key) {
            return one_of(choices.iter().map(|choice| simple(choice, depth - 1)).collect());
        }
    }
    match schema.get("type") {
        Some(Value::Array(names)) => {
            let choice = |name: &Value| {
                let mut one = schema.clone();
                if let Some(fields) = one.as_object_mut() {
                    fields.insert("type".to_owned(), name.clone());
                }
                simple(&one, depth - 1)
            };
            one_of(names.iter().map(choice).collect())
        }
        Some(Value::String(name)) => match name.as_str() {
            "array" => {
                json!({"type": "array", "items": schema.get("items").map_or_else(text, |items| simple(items, depth - 1))})
            }
            "object" => match schema.get("properties").and_then(Value::as_object) {
                Some(properties) if !properties.is_empty() => {
                    let required = schema.get("required").and_then(Value::as_array);
                    let is_required =
                        |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
                    object(properties.iter().map(|(name, field)| {
                        let field = simple(field, depth - 1);
                        let schema =
                            if is_required(name) { field } else { one_of(vec![field, json!({"type": "null"})]) };
                        (name.as_str(), schema)
                    }))
                }
                // Free objects are written as JSON text.
                _ => text(),
            },
            "integer" | "number" | "boolean" | "null" => json!({"type": name}),
            _ => text(),
        },
        _ => text(),
    }
}

#[cfg(test)]
mod tests {
    use jarvis_plan::{Kind, schema::takes};

    use super::*;

    #[test]
    fn plans_of_the_format_fit_and_others_do_not() {
        let book = Tool {
            params: vec![
                Param { schema: Some(json!({"type": "string"})), ..Param::required("number", Kind::Text) },
                Param {
                    schema: Some(json!({"type": "integer", "minimum": 1})),
                    ..Param::required("seats", Kind::Text)
                },
                Param {
                    schema: Some(json!({"enum": ["economy", "business"]})),
                    ..Param::optional("cabin", Kind::Text)
                },
                Param { schema: Some(json!({"$ref": "#/$defs/guest"})), ..Param::optional("guest", Kind::Text) },
            ],
            ..Tool::typed("flights/book", "", &[], &[Kind::Text])
        };
        let schema = of(&[Tool::typed("image-to-text", "", &[Kind::Image], &[Kind::Text]), book], false);
        let check = |task: Value, fits: bool| assert_eq!(takes(&schema, &json!({"tasks": [task]})), fits, "{task}");
        check(json!({"task": "image-to-text", "id": 0, "dep": [-1], "args": {"image": "/images/a.jpg"}}), true);
        check(json!({"task": "image-to-text", "id": 0, "dep": [-1], "args": {}}), false);
        check(json!({"task": "face-swap", "id": 0, "dep": [-1], "args": {"image": "/images/a.jpg"}}), false);
        let seats = |seats: Value, cabin: Value| {
            let args = json!({"number": "LH1", "seats": seats, "cabin": cabin, "guest": null});
            json!({"task": "flights/book", "id": 1, "dep": [0], "args": args})
        };
        check(seats(json!(2), json!("economy")), true);
        check(seats(json!("<GENERATED>-0.seats"), json!(null)), true);
        check(seats(json!("two"), json!(null)), false);
        check(seats(json!(2), json!("first")), false);
    }
}
