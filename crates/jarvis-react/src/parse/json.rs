//! The format of one JSON object a round.

use jarvis_prompt::reader::{Want, read_json, without_reasoning};
use serde_json::{Map, Value};

use super::{Action, Parsed};

const THOUGHT: [&str; 5] = ["thought", "thoughts", "reasoning", "思考", "мысль"];
const ACTION: [&str; 5] = ["action", "tool", "tool_name", "行动", "действие"];
const INPUT: [&str; 7] = ["action_input", "input", "arguments", "args", "parameters", "行动输入", "tool_input"];
const ANSWER: [&str; 6] = ["final_answer", "answer", "final", "最终答案", "答案", "ответ"];

/// Takes a reply in JSON apart. Without an object in it, everything is thought.
pub(crate) fn parse_json(output: &str) -> Parsed {
    let output = without_reasoning(output).trim();
    // What follows the first object is the model's invention: an observation, and what it concludes from it.
    let Ok(read) = read_json(first_object(output), Want::Object) else {
        return Parsed { thought: output.to_owned(), ..Parsed::default() };
    };
    let Value::Object(fields) = read.value else { return Parsed::default() };
    let thought = field(&fields, &THOUGHT).map(said).unwrap_or_default();
    let answer = field(&fields, &ANSWER).filter(|answer| !answer.is_null()).map(said);
    let action = field(&fields, &ACTION).and_then(|action| match action {
        Value::Object(call) => {
            let name = field(call, &["name", "tool", "action", "function"])?;
            Action::of(&said(name), field(call, &INPUT).map(input))
        }
        Value::String(name) => Action::of(name, field(&fields, &INPUT).map(input)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    });
    // An observation inside the object is the model's invention: so is what it concludes from it.
    let invented = field(&fields, &["observation", "观察"]).is_some_and(|observed| !observed.is_null());
    let answer = answer.filter(|_| !(invented && action.is_some()));
    Parsed { thought, actions: action.into_iter().collect(), answer, nothing_found: false, invented }
}

/// The text up to the end of its first object; all of it when no object ends.
fn first_object(text: &str) -> &str {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' if depth > 0 => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted && depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return text.get(..=at).unwrap_or(text);
                }
            }
            _ => {}
        }
    }
    text
}

/// The field of the first of these names, without regard to case, blanks and dashes.
fn field<'a>(fields: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    let fold = |name: &str| name.trim().to_lowercase().replace([' ', '-'], "_");
    names.iter().find_map(|name| fields.iter().find(|(key, _)| fold(key) == *name).map(|(_, value)| value))
}

fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn input(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
