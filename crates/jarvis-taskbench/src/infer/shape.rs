//! The schema of a plan as predictions hold it, and the same as a JSON Schema for endpoints with structured output.
//!
//! The check is as strict as the prompt, with what the original's evaluator reads without loss let through unchanged:
//! steps given as objects with their text under a usual key, nodes without `arguments`, values of any kind in arguments,
//! further keys. Names are not looked up: scoring counts tools that do not exist.

use std::sync::Arc;

use indexmap::IndexSet;
use jarvis_chat::ReplySchema;
use serde_json::{Value, json};

use crate::data::{DependencyType, ToolList};

pub(super) const KEYS: [&str; 3] = ["task_steps", "task_nodes", "task_links"];

const STEP_KEYS: [&str; 5] = ["task", "step", "id", "step_name", "description"];

pub fn check_plan(value: &Value, dependency: DependencyType) -> Result<(), String> {
    let plan = value.as_object().ok_or_else(|| format!("the plan is {}, not an object", what(value)))?;
    let list = |key: &str| match plan.get(key) {
        Some(Value::Array(items)) => Ok(items),
        Some(other) => Err(format!("`{key}` is {}, not a list", what(other))),
        None => Err(format!("`{key}` is missing")),
    };
    let steps = list("task_steps")?;
    let key = STEP_KEYS.iter().find(|key| steps.first().is_some_and(|first| first.get(**key).is_some()));
    for (at, step) in steps.iter().enumerate() {
        let (place, found) = match key {
            None => (format!("task_steps[{at}]"), Some(step)),
            Some(key) => (format!("task_steps[{at}].{key}"), step.get(*key)),
        };
        text(found, &place)?;
    }
    for (at, node) in list("task_nodes")?.iter().enumerate() {
        let place = format!("task_nodes[{at}]");
        let fields = node.as_object().ok_or_else(|| format!("`{place}` is {}, not an object", what(node)))?;
        text(fields.get("task"), &format!("{place}.task"))?;
        let arguments = match fields.get("arguments") {
            None => continue,
            Some(Value::Array(arguments)) => arguments,
            Some(other) => return Err(format!("`{place}.arguments` is {}, not a list", what(other))),
        };
        for (nth, argument) in arguments.iter().enumerate() {
            let place = format!("{place}.arguments[{nth}]");
            match dependency {
                DependencyType::Resource => match argument {
                    Value::String(_) | Value::Number(_) | Value::Bool(_) => {}
                    Value::Object(fields) if !fields.is_empty() => {}
                    other => return Err(format!("`{place}` is {}, not text", what(other))),
                },
                DependencyType::Temporal => {
                    if !argument.is_object() {
                        return Err(format!("`{place}` is {}, not an object", what(argument)));
                    }
                    text(argument.get("name"), &format!("{place}.name"))?;
                    if argument.get("value").is_none() {
                        return Err(format!("`{place}.value` is missing"));
                    }
                }
            }
        }
    }
    if dependency == DependencyType::Temporal {
        for (at, link) in list("task_links")?.iter().enumerate() {
            if !link.is_object() {
                return Err(format!("`task_links[{at}]` is {}, not an object", what(link)));
            }
            for end in ["source", "target"] {
                text(link.get(end), &format!("task_links[{at}].{end}"))?;
            }
        }
    }
    Ok(())
}

fn text(value: Option<&Value>, place: &str) -> Result<(), String> {
    match value {
        Some(Value::String(_)) => Ok(()),
        Some(other) => Err(format!("`{place}` is {}, not text", what(other))),
        None => Err(format!("`{place}` is missing")),
    }
}

fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The schema that is sent with `--structured`: strict, with the names of the tools as an enum.
pub fn reply_schema(tools: &ToolList, dependency: DependencyType) -> ReplySchema {
    let names: IndexSet<&str> = tools.tools.iter().map(|tool| tool.id.as_str()).collect();
    let object = |fields: &[(&str, Value)]| {
        let properties: serde_json::Map<String, Value> =
            fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
        let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    };
    let list = |of: Value| json!({"type": "array", "items": of});
    let (text, name) = (json!({"type": "string"}), json!({"type": "string", "enum": names}));
    let argument = match dependency {
        DependencyType::Resource => text.clone(),
        DependencyType::Temporal => object(&[("name", text.clone()), ("value", text.clone())]),
    };
    let node = object(&[("task", name.clone()), ("arguments", list(argument))]);
    let mut fields = vec![("task_steps", list(text)), ("task_nodes", list(node))];
    if dependency == DependencyType::Temporal {
        fields.push(("task_links", list(object(&[("source", name.clone()), ("target", name)]))));
    }
    ReplySchema { name: "task_plan".into(), schema: Arc::new(object(&fields)) }
}
