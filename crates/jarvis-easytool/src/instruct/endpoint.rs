//! Instructions of single endpoints: their description, their Example as a request, and the way back from it.

use indexmap::IndexMap;
use jarvis_catalogue::openapi::{ApiDocument, Found, Operation};
use jarvis_prompt::literal::Literal;
use serde_json::{Map, Value};

use super::document::{ApiEntry, ToolDocument};
use super::model::{Written, WrittenApi};
use crate::instructions::{EndpointInstruction, Example};

/// The instructions of all endpoints, numbered from 1. APIs of which no method and path are known are left out.
pub(super) fn numbered(documents: &[ToolDocument], written: Vec<Written>) -> Vec<EndpointInstruction> {
    let written = documents.iter().zip(written);
    let apis = written.flat_map(|(document, written)| document.apis.iter().zip(written.apis));
    let known = apis.filter_map(|(entry, api)| Some((entry, entry.operation.as_ref()?, api)));
    known.zip(1..).map(|((entry, operation, api), id)| instruction(id, entry, operation, api)).collect()
}

fn instruction(id: i64, entry: &ApiEntry, operation: &Operation, api: WrittenApi) -> EndpointInstruction {
    let example = match api.example.parameters.as_map().and_then(|arguments| request(operation, arguments)) {
        Some(parameters) if !api.example.scenario.is_empty() => Example { parameters, ..api.example },
        Some(_) | None => Example::default(),
    };
    EndpointInstruction {
        id,
        tool_name: operation.path.clone(),
        tool_description: described(entry, &api.description),
        tool_usage: operation.usage(),
        example,
    }
}

fn described(entry: &ApiEntry, description: &str) -> String {
    let mut text = capital(description.trim_end_matches('.'));
    text.push('.');
    for (name, usage) in &entry.needs {
        text.push_str(&format!(" Needs {name}, which {usage} gives."));
    }
    if !entry.gives.is_empty() {
        text.push_str(&format!(" Gives {}.", entry.gives.join(", ")));
    }
    text
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    match rest.next() {
        Some(first) => first.to_uppercase().chain(rest).collect(),
        None => String::new(),
    }
}

/// Arguments as an Example shows them: `input` with method, path and query; `body` and `headers` where there are some.
fn request(operation: &Operation, arguments: &IndexMap<String, Literal>) -> Option<Literal> {
    let target = operation.target(&Literal::fields_to_json(arguments)).ok()?;
    let mut shown = IndexMap::new();
    shown.insert("input".to_owned(), Literal::Text(format!("{} {}", operation.method, target.path_and_query())));
    if let Some((_, body)) = target.body {
        shown.insert("body".to_owned(), Literal::from(&body));
    }
    if !target.headers.is_empty() {
        let headers = target.headers.into_iter().map(|(name, value)| (name, Literal::Text(value)));
        shown.insert("headers".to_owned(), Literal::Map(headers.collect()));
    }
    Some(Literal::Map(shown))
}

/// Adds the arguments of a query; a name that comes several times has a list of values.
pub(crate) fn add_query(arguments: &mut Map<String, Value>, query: &str) {
    for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
        match arguments.get_mut(name.as_ref()) {
            Some(Value::Array(rows)) => rows.push(value.into()),
            Some(one) => *one = Value::Array(vec![one.take(), value.into()]),
            None => {
                arguments.insert(name.into(), value.into());
            }
        }
    }
}

/// Whether an endpoint's Example is a request that the document allows: its method and path are those of the
/// instruction, and every argument in it is declared and fits. Headers are not looked at.
///
/// # Errors
/// Says what is wrong.
pub fn check_endpoint(document: &ApiDocument, endpoint: &EndpointInstruction) -> Result<(), String> {
    let fields = endpoint.example.parameters.as_map().ok_or("the Example's parameters are no object")?;
    let input = fields.get("input").and_then(Literal::as_text).ok_or("the Example has no `input`")?;
    let (method, rest) = input.trim().split_once(' ').ok_or("`input` is not a method and a path")?;
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (operation, values) = match document.find(method, path) {
        Found::Operation(operation, values) => (operation, values),
        Found::OtherMethods(methods) => return Err(format!("`{path}` takes {}, not {method}", methods.join(", "))),
        Found::Nothing => return Err(format!("there is no path `{path}`")),
    };
    if Some(operation) != document.operation(&endpoint.tool_usage) {
        return Err(format!("the Example is one of `{}`, not of `{}`", operation.usage(), endpoint.tool_usage));
    }
    let mut arguments: Map<String, Value> =
        values.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
    add_query(&mut arguments, query);
    if let Some(body) = fields.get("body") {
        match (body.to_json(), operation.body.as_ref().is_some_and(|body| body.whole)) {
            (Value::Object(fields), false) => arguments.extend(fields),
            (body, _) => {
                arguments.insert("body".into(), body);
            }
        }
    }
    let faults: Vec<String> = operation.faults(&arguments).iter().map(ToString::to_string).collect();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
}
