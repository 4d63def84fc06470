//! From a text to a document: the parser, the versions, operations with their parameters and bodies.

use serde_json::{Map, Value};

use super::operation::placeholders;
use super::refs::{resolve, text, truth};
use super::{
    ApiDocument, ApiError, Body, KeyPlace, Location, MAX_OPERATIONS, Operation, Parameter, Schema, SchemaKind,
};

/// The methods of a path, in the order of the specification.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

const MAX_PARAMETERS: usize = 500;

/// Parses JSON, or YAML when the text does not start as JSON does.
pub(super) fn value(text: &str) -> Result<Value, ApiError> {
    let text = text.trim_start_matches('\u{feff}');
    if !text.trim_start().starts_with(['{', '[']) {
        return yaml(text);
    }
    // YAML in braces is possible, but rare: the reason of JSON is the better one.
    serde_json::from_str(text)
        .or_else(|error: serde_json::Error| yaml(text).map_err(|_| ApiError::Syntax { reason: error.to_string() }))
}

/// Parses YAML. Only `true` and `false` are truth values: `no` is also Norway.
fn yaml(text: &str) -> Result<Value, ApiError> {
    let options = serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_events: 20_000_000,
            max_nodes: 10_000_000,
            max_total_scalar_bytes: 128 << 20,
        },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let reason = error.to_string();
        ApiError::Syntax { reason: reason.lines().next().unwrap_or_default().chars().take(300).collect() }
    })
}

pub(super) fn document(root: Value) -> Result<ApiDocument, ApiError> {
    version(&root)?;
    let paths = root
        .get("paths")
        .and_then(Value::as_object)
        .ok_or_else(|| ApiError::NotOpenApi { reason: "it has no `paths`".into() })?;
    let keys = keys(&root);
    let mut operations = Vec::new();
    for (path, item) in paths.iter().filter(|(path, _)| path.starts_with('/')) {
        let Some(item) = resolve(&root, item).and_then(Value::as_object) else {
            continue;
        };
        let methods = item.iter().filter(|(method, _)| METHODS.contains(&method.as_str()));
        for (method, operation) in methods {
            if let Some(operation) = operation.as_object() {
                operations.push(read(&root, &keys, path, method, item, operation));
            }
            if operations.len() > MAX_OPERATIONS {
                return Err(ApiError::TooMany);
            }
        }
    }
    let info = |name: &str| text(root.get("info").and_then(|info| info.get(name)));
    let title = match info("title") {
        title if title.is_empty() => "API".to_owned(),
        title => title,
    };
    let (description, servers) = (info("description"), servers(&root));
    Ok(ApiDocument { title, description, servers, operations, keys, root })
}

fn version(root: &Value) -> Result<(), ApiError> {
    if let Some(swagger) = root.get("swagger") {
        return Err(ApiError::Version { found: format!("Swagger {}", text(Some(swagger))) });
    }
    let version = text(root.get("openapi"));
    match version.as_str() {
        "" => Err(ApiError::NotOpenApi { reason: "it has no `openapi`".into() }),
        "3" => Ok(()),
        found if found.starts_with("3.0") || found.starts_with("3.1") => Ok(()),
        found => Err(ApiError::Version { found: format!("OpenAPI {}", found.chars().take(20).collect::<String>()) }),
    }
}

/// The addresses, variables replaced by their defaults.
fn servers(root: &Value) -> Vec<String> {
    let mut addresses = Vec::new();
    for server in root.get("servers").and_then(Value::as_array).into_iter().flatten() {
        let mut address = text(server.get("url"));
        for (name, variable) in server.get("variables").and_then(Value::as_object).into_iter().flatten() {
            address = address.replace(&format!("{{{name}}}"), &text(variable.get("default")));
        }
        if !address.is_empty() {
            addresses.push(address);
        }
    }
    addresses
}

fn keys(root: &Value) -> Vec<KeyPlace> {
    let schemes = root.pointer("/components/securitySchemes").and_then(Value::as_object);
    let place = |scheme: &Value| {
        let scheme = resolve(root, scheme)?;
        let (kind, name) = (text(scheme.get("type")), text(scheme.get("name")));
        match (kind.as_str(), text(scheme.get("in")).as_str()) {
            ("apiKey", "query") => Some(KeyPlace::Query(name)),
            ("apiKey", "header") => Some(KeyPlace::Header(name)),
            ("http", _) if text(scheme.get("scheme")).eq_ignore_ascii_case("bearer") => Some(KeyPlace::Bearer),
            ("oauth2" | "openIdConnect", _) => Some(KeyPlace::Bearer),
            _ => None,
        }
    };
    schemes.into_iter().flatten().filter_map(|(_, scheme)| place(scheme)).collect()
}

fn read(
    root: &Value,
    keys: &[KeyPlace],
    path: &str,
    method: &str,
    item: &Map<String, Value>,
    operation: &Map<String, Value>,
) -> Operation {
    let mut parameters: Vec<Parameter> = Vec::new();
    for fields in [item, operation] {
        for value in fields.get("parameters").and_then(Value::as_array).into_iter().flatten().take(MAX_PARAMETERS) {
            let Some(parameter) = parameter(root, value).filter(|one| !is_key(keys, one)) else {
                continue;
            };
            // What the operation says stands in the place of what the path says.
            let same = |one: &Parameter| one.name == parameter.name && one.location == parameter.location;
            if let Some(one) = parameters.iter_mut().find(|one| same(one)) {
                *one = parameter;
            } else if !parameters.iter().any(|one| one.name == parameter.name) {
                parameters.push(parameter);
            }
        }
    }
    // A parameter for a placeholder that the path does not have would be lost.
    let names = placeholders(path);
    parameters.retain(|one| one.location != Location::Path || names.contains(&one.name.as_str()));
    for name in names {
        if !parameters.iter().any(|one| one.name == name) {
            let schema = Schema { kind: SchemaKind::Text, ..Schema::default() };
            parameters.push(Parameter::new(name, Location::Path, true, schema));
        }
    }
    let body = operation.get("requestBody").and_then(|body| resolve(root, body)).and_then(|value| {
        let (body, fields) = body(root, value)?;
        for field in fields {
            if !parameters.iter().any(|one| one.name == field.name) {
                parameters.push(field);
            }
        }
        Some(body)
    });
    Operation {
        method: method.to_ascii_uppercase(),
        path: path.to_owned(),
        id: text(operation.get("operationId")),
        summary: text(operation.get("summary").or_else(|| item.get("summary"))),
        description: text(operation.get("description").or_else(|| item.get("description"))),
        parameters,
        body,
        public: operation.get("security").and_then(Value::as_array).is_some_and(Vec::is_empty),
    }
}

/// Whether a parameter is where the key goes: the caller adds that by itself.
fn is_key(keys: &[KeyPlace], parameter: &Parameter) -> bool {
    keys.iter().any(|place| match place {
        KeyPlace::Query(name) => parameter.location == Location::Query && parameter.name == *name,
        KeyPlace::Header(name) => parameter.location == Location::Header && parameter.name.eq_ignore_ascii_case(name),
        KeyPlace::Bearer => false,
    })
}

fn parameter(root: &Value, value: &Value) -> Option<Parameter> {
    let value = resolve(root, value)?;
    let name = text(value.get("name"));
    let location = match text(value.get("in")).as_str() {
        "path" => Location::Path,
        "query" => Location::Query,
        "header" => Location::Header,
        "cookie" => Location::Cookie,
        _ => return None,
    };
    let reserved = ["accept", "content-type", "authorization"];
    if name.is_empty() || (location == Location::Header && reserved.contains(&name.to_ascii_lowercase().as_str())) {
        return None;
    }
    let content = value.get("content").and_then(media).map(|(_, content)| content);
    let schema = value.get("schema").or_else(|| content.and_then(|content| content.get("schema")));
    let mut schema = schema.map(|schema| Schema::read(root, schema)).unwrap_or_default();
    let example = example(root, value).or_else(|| self::example(root, content?));
    schema.example = example.and_then(|example| schema.accept(example).ok()).or(schema.example);
    let required = location == Location::Path || truth(value.get("required")).unwrap_or(false);
    let explode = match (truth(value.get("explode")), text(value.get("style")).as_str()) {
        (Some(explode), _) => explode,
        (None, "" | "form") => matches!(location, Location::Query | Location::Cookie),
        (None, _) => false,
    };
    let description = text(value.get("description"));
    let plain = Parameter::new(&name, location, required, schema);
    let description = if description.is_empty() { plain.description.clone() } else { description };
    Some(Parameter { explode, description, ..plain })
}

/// The example of a parameter or a media type: `example`, or the first of `examples`.
pub(super) fn example<'a>(root: &'a Value, fields: &'a Value) -> Option<&'a Value> {
    let first = || fields.get("examples")?.as_object()?.values().find_map(|one| resolve(root, one)?.get("value"));
    fields.get("example").or_else(first)
}

/// The media type to use of several: JSON, then a form, then the first.
pub(super) fn media(content: &Value) -> Option<(&str, &Value)> {
    let content = content.as_object()?;
    let of = |wanted: fn(&str) -> bool| content.iter().find(|(name, _)| wanted(name));
    of(|name| name.starts_with("application/json"))
        .or_else(|| of(|name| name.contains("json")))
        .or_else(|| of(|name| name.starts_with("application/x-www-form-urlencoded")))
        .or_else(|| content.iter().next())
        .map(|(name, value)| (name.as_str(), value))
}

/// A body with its fields, or with itself as the one field.
fn body(root: &Value, value: &Value) -> Option<(Body, Vec<Parameter>)> {
    let (media_type, content) = value.get("content").and_then(media)?;
    let mut schema = content.get("schema").map(|schema| Schema::read(root, schema)).unwrap_or_default();
    let required = truth(value.get("required")).unwrap_or(false);
    let fields_go = media_type.contains("json") || media_type.starts_with("application/x-www-form-urlencoded");
    let whole = schema.properties.is_empty() || schema.kind != SchemaKind::Object || !fields_go;
    let body = Body { media_type: media_type.to_owned(), required, whole };
    if whole {
        schema.example = example(root, content).and_then(|example| schema.accept(example).ok()).or(schema.example);
        return Some((body, vec![Parameter::new("body", Location::Body, required, schema)]));
    }
    let example = example(root, content).cloned().or_else(|| schema.example.clone());
    let names = std::mem::take(&mut schema.required);
    let fields = schema
        .properties
        .into_iter()
        .map(|(name, mut field)| {
            let shown = example.as_ref().and_then(|example| example.get(&name));
            field.example = field.example.take().or_else(|| field.accept(shown?).ok());
            Parameter::new(&name, Location::Body, names.contains(&name), field)
        })
        .collect();
    Some((body, fields))
}
