//! Tool documents: what a tool is and what its APIs take, read from three kinds of files.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_catalogue::openapi::{ApiDocument, ApiError, Body, Location, MAX_DOCUMENT, Operation, Schema};
use jarvis_prompt::literal::Literal;
use serde_json::Value;

use super::InstructError;
use super::check::parameter_schema;
use super::needs::{Links, links};
use super::text::{cut, line, sentence, visible};
use crate::instructions::{Guideline, Parameter};

/// The longest name of a tool, an API or a parameter, in characters.
const MAX_NAME: usize = 200;

/// The longest description of a parameter, in characters.
const MAX_PARAMETER: usize = 120;

/// The most that a model is shown of an API's own description, in characters.
const MAX_DETAILS: usize = 600;

/// The most APIs of a document that is no OpenAPI document.
const MAX_APIS: usize = 10_000;

#[derive(Debug, Clone)]
pub struct ToolDocument {
    pub name: String,
    /// Its category at RapidAPI; empty where the document names none.
    pub category: String,
    /// What it is, in a sentence without its full stop; may be empty.
    pub description: String,
    /// Its APIs, in the document's order; their names are unique.
    pub apis: Vec<ApiEntry>,
    pub api: Option<Arc<ApiDocument>>,
    pub source: Arc<str>,
}

#[derive(Debug, Clone)]
pub struct ApiEntry {
    /// Its name: of an OpenAPI document `GET /movie/{movie_id}`, else the document's own.
    pub name: String,
    pub description: String,
    /// The longer description, cleaned and cut.
    pub details: String,
    pub parameters: Vec<Declared>,
    /// What must be known before, and what gives it: `("movie_id", "GET /search/movie")`; of several, joined by `or`.
    pub needs: Vec<(String, String)>,
    /// What it gives for others: `movie_id`.
    pub gives: Vec<String>,
    pub operation: Option<Operation>,
}

#[derive(Debug, Clone)]
pub struct Declared {
    pub parameter: Parameter,
    pub required: bool,
    pub schema: Schema,
    /// A value for an Example: what the document shows, else a plausible one.
    pub sample: Literal,
}

impl ApiEntry {
    /// The guideline without an Example.
    pub fn guideline(&self) -> Guideline {
        let those = |required: bool| {
            let fits = move |one: &&Declared| one.required == required;
            self.parameters.iter().filter(fits).map(|one| one.parameter.clone()).collect()
        };
        Guideline {
            name: self.name.clone(),
            description: self.description.clone(),
            required_parameters: those(true),
            optional_parameters: those(false),
            ..Guideline::default()
        }
    }

    pub fn sample(&self) -> IndexMap<String, Literal> {
        let required = self.parameters.iter().filter(|one| one.required);
        required.map(|one| (one.parameter.name.clone(), one.sample.clone())).collect()
    }
}

/// Reads the tools of a file: an OpenAPI document, a RapidAPI tool, `{name, description, api_list}`, or a list of the last
/// two. Takes some milliseconds a megabyte: not for the runtime's own threads.
pub fn read_documents(path: &Path) -> Result<Vec<ToolDocument>, InstructError> {
    let failed = |source| InstructError::Document { path: path.to_owned(), source };
    let unreadable = |source| failed(ApiError::Read { path: path.to_owned(), source });
    let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
    if bytes > MAX_DOCUMENT {
        return Err(failed(ApiError::TooLarge { bytes }));
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let value = ApiDocument::value(&text).map_err(failed)?;
    if ApiDocument::is_one(&value) {
        let document = ApiDocument::from_value(value).map_err(failed)?;
        return Ok(vec![of_openapi(document, text.into())]);
    }
    let shape = |reason: &str| InstructError::Shape { path: path.to_owned(), reason: reason.to_owned() };
    match value {
        Value::Array(rows) => {
            let one = |row: &Value| of_list(row, row.to_string().into()).map_err(shape);
            rows.iter().map(one).collect()
        }
        value => Ok(vec![of_list(&value, text.into()).map_err(shape)?]),
    }
}

fn of_openapi(document: ApiDocument, source: Arc<str>) -> ToolDocument {
    let Links { needs, gives } = links(&document.operations);
    let apis = document.operations.iter().zip(needs).zip(gives).map(|((operation, needs), gives)| {
        let parameters = operation.parameters.iter().map(|one| {
            let text = sentence(&one.description);
            let sample = decoded(one.location, one.schema.sample(&one.name));
            Declared {
                parameter: Parameter {
                    name: line(&one.name, MAX_NAME),
                    kind: one.schema.kind.word().to_owned(),
                    description: cut(&text, MAX_PARAMETER),
                    default: one.schema.default.as_ref().map(Literal::from),
                },
                required: one.required,
                schema: one.schema.clone(),
                sample: Literal::from(&sample),
            }
        });
        ApiEntry {
            name: operation.usage(),
            description: purpose(operation),
            details: cut(&line(&operation.description, 4 * MAX_DETAILS), MAX_DETAILS),
            parameters: parameters.collect(),
            needs,
            gives,
            operation: Some(operation.clone()),
        }
    });
    let apis = apis.collect();
    ToolDocument {
        name: name(&document),
        category: String::new(),
        description: sentence(&document.description),
        apis,
        api: Some(Arc::new(document)),
        source,
    }
}

/// The title; where it says nothing, the name of the host.
fn name(document: &ApiDocument) -> String {
    let title = line(&document.title, MAX_NAME);
    if !["api", "openapi", "rest api", "untitled", "default"].contains(&title.to_lowercase().as_str()) {
        return title;
    }
    let host = document.servers.iter().find_map(|server| url::Url::parse(server).ok()?.host_str().map(str::to_owned));
    let label = host.and_then(|host| {
        let labels: Vec<&str> = host.split('.').collect();
        labels
            .iter()
            .rev()
            .nth(1)
            .filter(|_| !host.starts_with(|c: char| c.is_ascii_digit()))
            .map(|&one| one.to_owned())
    });
    label.unwrap_or(title)
}

/// What an operation does: the first sentence of its description when it says more than the summary, else the summary; and
/// where a summary of few words does not name what the path is about, the path's last word.
fn purpose(operation: &Operation) -> String {
    let (long, short) = (sentence(&operation.description), sentence(&operation.summary));
    if long.split_whitespace().count() >= 3 {
        return long;
    }
    let text = if short.is_empty() { long } else { short };
    let last = operation.path.rsplit('/').find(|part| !part.is_empty() && !part.contains('{')).unwrap_or_default();
    let noun = super::text::singular(last);
    match () {
        () if text.is_empty() => operation.usage(),
        () if noun.is_empty() || text.split_whitespace().count() > 3 || text.to_lowercase().contains(&noun) => text,
        () => format!("{text} ({last})"),
    }
}

/// Some documents show values of queries percent-encoded.
fn decoded(location: Location, value: Value) -> Value {
    match value {
        Value::String(text) if location == Location::Query && text.contains('%') && !text.contains(' ') => {
            percent_encoding::percent_decode_str(&text).decode_utf8().map_or_else(|_| text.clone().into(), Value::from)
        }
        other => other,
    }
}

fn field<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| value.get(name)?.as_str().map(str::trim).filter(|text| !text.is_empty()))
}

fn of_list(value: &Value, source: Arc<str>) -> Result<ToolDocument, &'static str> {
    let name = field(value, &["tool_name", "name", "title"]).ok_or("it is no OpenAPI document and has no `name`")?;
    let list = value.get("api_list").or_else(|| value.get("apis"));
    let list = list.and_then(Value::as_array).ok_or("it is no OpenAPI document and has no `api_list`")?;
    let mut apis: Vec<ApiEntry> = Vec::with_capacity(list.len());
    for api in list.iter().take(MAX_APIS) {
        let Some(entry) = entry(api) else {
            return Err("an API of its `api_list` has no `name`");
        };
        // A name can be called once only: the first is meant.
        if !apis.iter().any(|one| one.name == entry.name) {
            apis.push(entry);
        }
    }
    Ok(ToolDocument {
        name: line(name, MAX_NAME),
        category: field(value, &["category_name", "category"]).map(|text| line(text, MAX_NAME)).unwrap_or_default(),
        description: field(value, &["tool_description", "description"]).map(sentence).unwrap_or_default(),
        apis,
        api: None,
        source,
    })
}

fn entry(api: &Value) -> Option<ApiEntry> {
    let name = line(field(api, &["name", "api_name"])?, MAX_NAME);
    let long = field(api, &["description", "api_description"]).unwrap_or_default();
    let mut parameters = declared(api.get("required_parameters"), true);
    for one in declared(api.get("optional_parameters"), false) {
        if !parameters.iter().any(|known| known.parameter.name == one.parameter.name) {
            parameters.push(one);
        }
    }
    let description = match sentence(long) {
        text if text.is_empty() => sentence(&name),
        text => text,
    };
    let details = cut(&line(long, 4 * MAX_DETAILS), MAX_DETAILS);
    let operation = operation(api, &parameters);
    Some(ApiEntry { name, description, details, parameters, needs: Vec::new(), gives: Vec::new(), operation })
}

fn declared(list: Option<&Value>, required: bool) -> Vec<Declared> {
    let mut all: Vec<Declared> = Vec::new();
    for one in list.and_then(Value::as_array).into_iter().flatten() {
        let Some(name) = field(one, &["name"]).map(|name| line(name, MAX_NAME)) else {
            continue;
        };
        let kind = field(one, &["type"]).unwrap_or("STRING");
        let mut schema = parameter_schema(kind);
        let empty = |value: &&Value| !value.is_null() && value.as_str() != Some("");
        let default = one.get("default").filter(empty);
        schema.default = default.and_then(|default| schema.accept(default).ok());
        schema.example = one.get("example").filter(empty).and_then(|example| schema.accept(example).ok());
        let sample = Literal::from(&schema.sample(&name));
        let text = field(one, &["description"]).map(sentence).unwrap_or_default();
        let parameter = Parameter {
            name,
            kind: line(kind, 40),
            description: cut(&text, MAX_PARAMETER),
            default: default.map(Literal::from),
        };
        all.push(Declared { parameter, required, schema, sample });
    }
    all
}

fn operation(api: &Value, parameters: &[Declared]) -> Option<Operation> {
    use jarvis_catalogue::openapi::Parameter as Argument;

    let method = field(api, &["method"])?.to_ascii_uppercase();
    let address = visible(field(api, &["url", "path"])?);
    let path = match address.split_once("://") {
        Some((_, rest)) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/").to_owned(),
        None => address,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default().to_owned();
    let in_query = matches!(method.as_str(), "GET" | "DELETE" | "HEAD");
    let arguments: Vec<Argument> = parameters
        .iter()
        .map(|Declared { parameter, required, schema, .. }| {
            let location = match path.contains(&format!("{{{}}}", parameter.name)) {
                true => Location::Path,
                false if in_query => Location::Query,
                false => Location::Body,
            };
            let description = parameter.description.clone();
            Argument { description, ..Argument::new(&parameter.name, location, *required, schema.clone()) }
        })
        .collect();
    let body = arguments.iter().any(|one| one.location == Location::Body);
    let body = body.then(|| Body { media_type: "application/json".into(), required: false, whole: false });
    path.starts_with('/').then(|| Operation { method, path, parameters: arguments, body, ..Operation::default() })
}
