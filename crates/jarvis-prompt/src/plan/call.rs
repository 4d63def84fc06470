//! Calls in JSON: one shape for the many in which models write "call this tool with that".

use jarvis_plan::Task;
use serde_json::{Map, Value};

/// A call as a model wrote it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Call {
    /// The tool as it was named.
    pub(super) name: String,
    /// The id that the model gave: a number or a word.
    pub(super) id: Option<Value>,
    /// Names that the model gave to the result.
    pub(super) labels: Vec<String>,
    /// What it is to wait for, as written.
    pub(super) dep: Vec<Value>,
    /// The list for each element of which it is to be made, as written.
    pub(super) each: Option<Value>,
    /// Arguments by name.
    pub(super) named: Map<String, Value>,
    /// Arguments without a name, in order.
    pub(super) listed: Vec<Value>,
    /// Fields beside the known ones: arguments, if the tool has such.
    pub(super) beside: Map<String, Value>,
}

const NAMES: [&str; 18] = [
    "task",
    "tool",
    "tool_name",
    "function",
    "function_name",
    "name",
    "action",
    "task_name",
    "task_type",
    "tool_call",
    "api",
    "api_name",
    "operation",
    "call",
    "skill",
    "method",
    "command",
    "type",
];
const ARGS: [&str; 16] = [
    "args",
    "arguments",
    "parameters",
    "params",
    "kwargs",
    "action_input",
    "tool_input",
    "tool_args",
    "tool_parameters",
    "function_args",
    "argument",
    "inputs",
    "input",
    "parameter",
    "action_args",
    "with",
];
const IDS: [&str; 7] = ["id", "task_id", "step", "step_id", "index", "node_id", "number"];
const DEPS: [&str; 9] =
    ["dep", "deps", "depends_on", "dependencies", "dependency", "depends", "after", "requires", "prerequisites"];
const EACH: [&str; 4] = ["each", "for_each", "foreach", "loop_over"];
const LABELS: [&str; 11] = [
    "output",
    "output_name",
    "output_variable",
    "output_id",
    "variable",
    "save_as",
    "assign_to",
    "returns",
    "result",
    "produces",
    "as",
];
/// What a model says about a call; no argument unless the tool has one of that name.
const REMARKS: [&str; 16] = [
    "reason",
    "reasoning",
    "thought",
    "thoughts",
    "rationale",
    "explanation",
    "comment",
    "note",
    "notes",
    "purpose",
    "goal",
    "status",
    "expected_output",
    "unfolded_from",
    "priority",
    "confidence",
];
/// Words of `type` that name no tool.
const TYPES: [&str; 10] =
    ["function", "tool", "object", "array", "string", "task", "action", "tool_use", "tool_call", "function_call"];

/// How deep calls are looked for in wrappers.
const MAX_DEPTH: usize = 6;

/// The calls that a value holds; `None` when it is no list of calls. `knows` says whether a name is a tool's.
pub(super) fn calls(value: &Value, knows: &dyn Fn(&str) -> bool) -> Option<Vec<Call>> {
    within(value, knows, MAX_DEPTH)
}

fn within(value: &Value, knows: &dyn Fn(&str) -> bool, depth: usize) -> Option<Vec<Call>> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Array(items) => {
            let mut all = Vec::with_capacity(items.len());
            for item in items {
                all.extend(within(item, knows, depth)?);
            }
            Some(all)
        }
        Value::Object(fields) => {
            let own = call(fields, knows);
            if let Some(own) = own.as_ref().filter(|own| knows(&own.name)) {
                return Some(vec![own.clone()]);
            }
            // `{"task": "what was asked", "steps": […]}` is a wrapper, and so is `{"plan": […], "summary": "…"}`.
            let knows_one = |calls: &Vec<Call>| calls.iter().any(|call| knows(&call.name));
            let inner = wrapped(fields, knows, depth).or_else(|| by_id(fields, knows, depth));
            inner
                .clone()
                .filter(knows_one)
                .or_else(|| by_name(fields, knows))
                .or_else(|| inner.filter(|_| own.is_none()))
                .or(own.map(|own| vec![own]))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The calls in the only field that holds a list of them, whatever its name.
fn wrapped(fields: &Map<String, Value>, knows: &dyn Fn(&str) -> bool, depth: usize) -> Option<Vec<Call>> {
    let lists = fields.values().filter(|value| value.is_array() || value.is_object());
    let mut found = lists.filter_map(|value| within(value, knows, depth));
    match found.next() {
        Some(first) => found.next().is_none().then_some(first),
        None => as_text(fields, knows, depth),
    }
}

/// The same where the list is written as text: `{"role": "assistant", "content": "[…]"}`.
fn as_text(fields: &Map<String, Value>, knows: &dyn Fn(&str) -> bool, depth: usize) -> Option<Vec<Call>> {
    let texts = fields.values().filter_map(Value::as_str).filter(|text| text.trim_start().starts_with(['[', '{']));
    let mut found = texts.filter_map(|text| {
        let value: Value = serde_json::from_str(text.trim()).ok()?;
        within(&value, knows, depth).filter(|calls| calls.iter().any(|call| knows(&call.name)))
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Whether a list is the form of a plan rather than one: its ids are names of types.
pub(super) fn is_form(calls: &[Call]) -> bool {
    let is_type = |value: &Value| {
        let word = value.as_str().map(|word| word.trim_matches(['<', '>']).to_lowercase());
        word.is_some_and(|word| {
            ["number", "integer", "int", "string", "str", "id", "task_id", "task id"].contains(&word.as_str())
        })
    };
    calls.iter().any(|call| call.id.as_ref().is_some_and(is_type))
}

/// The calls of an object whose every field is a call, by its id.
fn by_id(fields: &Map<String, Value>, knows: &dyn Fn(&str) -> bool, depth: usize) -> Option<Vec<Call>> {
    if fields.len() < 2 {
        return None;
    }
    let mut all = Vec::with_capacity(fields.len());
    for (id, value) in fields {
        let mut calls = within(value, knows, depth)?;
        if let [only] = calls.as_mut_slice()
            && only.id.is_none()
        {
            only.id = Some(id.clone().into());
        }
        all.append(&mut calls);
    }
    Some(all)
}

fn field<'f>(fields: &'f Map<String, Value>, names: &[&str]) -> Option<(&'f str, &'f Value)> {
    names.iter().find_map(|name| {
        let found = fields.get_key_value(*name).or_else(|| {
            fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name) || key.replace(['-', ' '], "_") == *name)
        })?;
        Some((found.0.as_str(), found.1))
    })
}

fn call(fields: &Map<String, Value>, knows: &dyn Fn(&str) -> bool) -> Option<Call> {
    if fields.get("properties").is_some_and(Value::is_object) {
        // A JSON Schema, quoted from the prompt.
        return None;
    }
    let (key, call) = named(fields, knows)?;
    Some(with_rest(fields, key, call))
}

/// A call with what the other fields say of it.
fn with_rest(fields: &Map<String, Value>, key: &str, mut call: Call) -> Call {
    let mut used = vec![key];
    if let Some((key, id)) = field(fields, &IDS).filter(|(_, id)| id.is_number() || id.is_string()) {
        used.push(key);
        call.id.get_or_insert_with(|| id.clone());
    }
    if let Some((key, dep)) = field(fields, &DEPS) {
        used.push(key);
        match dep {
            Value::Array(items) => call.dep.extend(items.iter().cloned()),
            Value::Null => {}
            one => call.dep.push(one.clone()),
        }
    }
    if let Some((key, each)) = field(fields, &EACH).filter(|(_, each)| each.is_string() || each.is_array()) {
        used.push(key);
        call.each = Some(each.clone());
    }
    for name in LABELS {
        if let Some((key, Value::String(label))) = field(fields, &[name]) {
            used.push(key);
            call.labels.push(label.clone());
        }
    }
    let args = field(fields, &ARGS).filter(|(key, value)| !used.contains(key) && !value.is_null());
    if let Some((key, value)) = args {
        used.push(key);
        call.take(value);
    }
    let is_remark = |key: &str, value: &Value| {
        REMARKS.contains(&key) || (key == "type" && value.as_str().is_some_and(|word| TYPES.contains(&word)))
    };
    let beside = fields.iter().filter(|(key, value)| !used.contains(&key.as_str()) && !is_remark(key, value));
    call.beside.extend(beside.map(|(key, value)| (key.clone(), value.clone())));
    call
}

/// The field that names the tool, and a call of it: a field whose text is a tool's name, else the first that may be one.
fn named<'f>(fields: &'f Map<String, Value>, knows: &dyn Fn(&str) -> bool) -> Option<(&'f str, Call)> {
    let mut first = None;
    for name in NAMES {
        let Some((key, value)) = field(fields, &[name]) else { continue };
        match value {
            Value::String(said) if knows(said) => {
                return Some((key, Call { name: said.trim().to_owned(), ..Call::default() }));
            }
            // The line of the prompt that shows the format.
            Value::String(said) if NAMES.contains(&said.trim().replace(' ', "_").as_str()) => {}
            Value::String(said) if !said.trim().is_empty() => {
                let is_type = name == "type" && TYPES.contains(&said.as_str());
                if !is_type && first.is_none() {
                    first = Some((key, Call { name: said.trim().to_owned(), ..Call::default() }));
                }
            }
            // `{"task": {"name": …, "args": …}}`, `{"function": {"name": …, "arguments": "…"}}`
            Value::Object(inner) => {
                let by_name = || by_name(inner, knows).filter(|calls| calls.len() == 1)?.pop();
                if let Some(call) = call(inner, knows).or_else(by_name) {
                    return Some((key, call));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::String(_) => {}
        }
    }
    // A name alone may be anything's; it is a call's where arguments stand beside it, or `task` says so.
    let (key, call) = first?;
    let is_call = key.eq_ignore_ascii_case("task") || field(fields, &ARGS).is_some();
    is_call.then_some((key, call))
}

/// `{"image-to-text": {"image": …}}`, also with several tools in one object.
fn by_name(fields: &Map<String, Value>, knows: &dyn Fn(&str) -> bool) -> Option<Vec<Call>> {
    let known: Vec<(&String, &Value)> = fields.iter().filter(|(key, _)| knows(key)).collect();
    let call = |key: &str, value: &Value| {
        let mut call = Call { name: key.to_owned(), ..Call::default() };
        call.take(value);
        call
    };
    match known.as_slice() {
        [(key, value)] => Some(vec![with_rest(fields, key, call(key, value))]),
        several if !several.is_empty() && several.len() == fields.len() => {
            Some(several.iter().map(|(key, value)| call(key, value)).collect())
        }
        _ => None,
    }
}

impl Call {
    /// The call that a task of a checked plan is.
    pub(super) fn of_task(task: &Task) -> Call {
        Call {
            name: task.task.clone(),
            id: Some(task.id.0.into()),
            dep: task.dep.iter().map(|dep| dep.0.into()).collect(),
            named: task.args.iter().map(|(name, arg)| (name.clone(), arg.to_value())).collect(),
            ..Call::default()
        }
    }

    /// Takes what stands in the place of the arguments: an object, a list of values or of one-pair objects, or a bare value,
    /// each also written as JSON text.
    pub(super) fn take(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                self.named.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_object) => {
                for fields in items.iter().filter_map(Value::as_object) {
                    // `{"name": "image", "value": "photo.jpg"}` is a pair as well.
                    match (field(fields, &["name", "key", "parameter"]), field(fields, &["value"])) {
                        (Some((_, Value::String(name))), Some((_, value))) => {
                            self.named.insert(name.clone(), value.clone());
                        }
                        _ => self.named.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone()))),
                    }
                }
            }
            Value::Array(items) => self.listed.extend(items.iter().cloned()),
            Value::String(text) => {
                let is_data = text.trim_start().starts_with(['{', '[']);
                let read = is_data.then(|| crate::reader::read_json(text, crate::reader::Want::Any).ok()).flatten();
                match read.map(|read| read.value) {
                    Some(data @ (Value::Object(_) | Value::Array(_))) => self.take(&data),
                    _ if text.trim().is_empty() => {}
                    _ => self.listed.push(value.clone()),
                }
            }
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) => self.listed.push(value.clone()),
        }
    }
}
