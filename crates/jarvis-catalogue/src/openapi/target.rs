//! From checked arguments to a request: where each goes, and how it is written there.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::{ArgumentFault, Location, Operation, Parameter};

/// What is encoded in a segment of a path: all but what never means anything else.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What is encoded in a query: `,`, `:` and `/` mean nothing there.
const QUERY: &AsciiSet = &SEGMENT.remove(b',').remove(b':').remove(b'/');

#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The path, encoded, beginning with `/`.
    pub path: String,
    /// What follows `?`, encoded; empty when nothing does.
    pub query: String,
    /// Headers and cookies that are arguments; a cookie as `Cookie: name=value`.
    pub headers: Vec<(String, String)>,
    pub body: Option<(String, Value)>,
}

impl Target {
    pub fn path_and_query(&self) -> String {
        match self.query.as_str() {
            "" => self.path.clone(),
            query => format!("{}?{query}", self.path),
        }
    }
}

/// A text as a value of a query.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string()
}

impl Operation {
    /// The request for arguments, each converted to its type. A value stays within its segment of the path.
    ///
    /// # Errors
    /// What is wrong with the arguments.
    pub fn target(&self, arguments: &Map<String, Value>) -> Result<Target, Vec<ArgumentFault>> {
        let mut faults = self.faults(arguments);
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut target = Target { path: self.path.clone(), query: String::new(), headers: Vec::new(), body: None };
        let mut pairs: Vec<String> = Vec::new();
        let mut fields = Map::new();
        for (name, value) in arguments {
            let Some(parameter) = self.parameter(name) else { continue };
            let value = parameter.schema.accept(value).unwrap_or_else(|_| value.clone());
            match parameter.location {
                Location::Path => match segment(&value) {
                    Ok(text) => target.path = target.path.replace(&format!("{{{name}}}"), &text),
                    Err(reason) => faults.push(ArgumentFault::Wrong { name: name.clone(), reason: reason.into() }),
                },
                Location::Query => pairs.extend(query(parameter, &value)),
                Location::Header => target.headers.push((name.clone(), one_line(&plain(&value)))),
                Location::Cookie => {
                    target
                        .headers
                        .push(("Cookie".into(), format!("{name}={}", utf8_percent_encode(&plain(&value), SEGMENT))));
                }
                Location::Body => {
                    fields.insert(name.clone(), value);
                }
            }
        }
        target.query = pairs.join("&");
        if let Some(body) = &self.body {
            let media_type = body.media_type.clone();
            target.body = match (body.whole, body.required || !fields.is_empty()) {
                (true, _) => fields.shift_remove("body").map(|whole| (media_type, whole)),
                (false, true) => Some((media_type, Value::Object(fields))),
                (false, false) => None,
            };
        }
        if faults.is_empty() { Ok(target) } else { Err(faults) }
    }
}

fn segment(value: &Value) -> Result<String, &'static str> {
    match plain(value).as_str() {
        "" => Err("is part of the path and cannot be empty"),
        "." | ".." => Err("is part of the path and cannot be `.` or `..`"),
        text => Ok(utf8_percent_encode(text, SEGMENT).to_string()),
    }
}

/// A value as `name=value`, a list as several of them or as one.
fn query(parameter: &Parameter, value: &Value) -> Vec<String> {
    let name = utf8_percent_encode(&parameter.name, QUERY);
    match value {
        Value::Null => Vec::new(),
        Value::Array(rows) if parameter.explode => {
            rows.iter().map(|row| format!("{name}={}", encoded(&plain(row)))).collect()
        }
        other => vec![format!("{name}={}", encoded(&plain(other)))],
    }
}

/// A value as text: a list with commas, an object as JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(rows) => rows.iter().map(plain).collect::<Vec<_>>().join(","),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// A value of a header cannot begin another.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
