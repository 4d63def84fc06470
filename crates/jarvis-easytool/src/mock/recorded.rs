//! A mock of ToolBench's server that answers from a file.
//!
//! Each line of the file is an answer: `{"category", "tool_name", "api_name", "tool_input": {…}, "error", "response"}`.
//! Names are compared as ToolBench normalises them, arguments in any order. Several lines for one call are answered in turn,
//! and the last one repeats. To simulate faults, a line may also have `status` (of HTTP), `body` (sent verbatim), `pad` (the
//! response is padded to so many bytes) and `hang` (the call is never answered).

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use indexmap::IndexMap;
use jarvis_prompt::literal::Literal;
use jarvis_tools::names::{api_function_name, category_name, standardize};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::input::{InputError, lines, text_of};

/// The largest request, in bytes.
const MAX_REQUEST: usize = 4 << 20;

/// The largest response that a line may ask to be filled up to, in bytes.
const MAX_PAD: usize = 64 << 20;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(default)]
    category: String,
    tool_name: String,
    api_name: String,
    /// An object, or the text of one.
    #[serde(default = "nothing")]
    tool_input: Literal,
    #[serde(default)]
    error: String,
    #[serde(default)]
    response: Value,
    status: Option<u16>,
    body: Option<String>,
    pad: Option<usize>,
    #[serde(default)]
    hang: bool,
}

fn nothing() -> Literal {
    Literal::Null
}

#[derive(Debug)]
struct Answers {
    category: String,
    lines: Vec<Arc<Line>>,
    given: usize,
}

#[derive(Debug)]
pub struct Recorded {
    /// By tool, API and arguments; of each category one.
    answers: Mutex<HashMap<[String; 3], Vec<Answers>>>,
    known: HashSet<[String; 2]>,
    key: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Call {
    #[serde(default)]
    category: String,
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    api_name: String,
    #[serde(default)]
    tool_input: Value,
    #[serde(default)]
    toolbench_key: Option<String>,
    #[serde(default)]
    rapidapi_key: Option<String>,
}

impl Recorded {
    pub fn open(path: &Path, key: Option<String>) -> Result<Recorded, InputError> {
        Recorded::parse(path, &text_of(path)?, key)
    }

    fn parse(path: &Path, text: &str, key: Option<String>) -> Result<Recorded, InputError> {
        let mut recorded = Recorded { answers: Mutex::default(), known: HashSet::new(), key };
        let answers = recorded.answers.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (at, line) in lines(text) {
            let fail = |reason: String| InputError::Line { path: path.to_owned(), line: at + 1, reason };
            let line: Line = serde_json::from_str(line).map_err(|error| InputError::json(path, at, &error))?;
            let Some(input) = canonical(&line.tool_input) else {
                return Err(fail("`tool_input` is neither an object nor the text of one".to_owned()));
            };
            if line.pad.is_some_and(|pad| pad > MAX_PAD) {
                return Err(fail(format!("`pad` is more than {MAX_PAD}")));
            }
            let category = category_name(&line.category);
            let (tool, api) = (tool_of(&line.tool_name, &line.category), api_function_name(&line.api_name));
            recorded.known.insert([tool.clone(), api.clone()]);
            let of_call = answers.entry([tool, api, input]).or_default();
            let line = Arc::new(line);
            match of_call.iter_mut().find(|answers| answers.category == category) {
                Some(answers) => answers.lines.push(line),
                None => of_call.push(Answers { category, lines: vec![line], given: 0 }),
            }
        }
        Ok(recorded)
    }

    pub fn len(&self) -> usize {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn router(self) -> Router {
        let limit = DefaultBodyLimit::max(MAX_REQUEST);
        Router::new().route("/rapidapi", post(rapidapi)).layer(limit).with_state(Arc::new(self))
    }

    /// The line that answers a call, or why none does: error and response.
    fn answer(&self, call: &Call, shown: Option<&str>) -> Result<Arc<Line>, (String, &'static str)> {
        let keys = [shown, call.toolbench_key.as_deref(), call.rapidapi_key.as_deref()];
        if self.key.is_some() && !keys.contains(&self.key.as_deref()) {
            return Err(("Unauthorized error...".to_owned(), ""));
        }
        let (tool, api) = (tool_of(&call.tool_name, &call.category), api_function_name(&call.api_name));
        if !self.known.contains(&[tool.clone(), api.clone()]) {
            return Err((format!("No such function name: {}", call.api_name), ""));
        }
        let unparsed = || "Tool input parse error...\n".to_owned();
        let Some(input) = input_of(&call.tool_input) else {
            return Err((unparsed(), "`tool_input` is not the text of a JSON object"));
        };
        let category = category_name(&call.category);
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let of_call = answers.get_mut(&[tool, api, input]);
        // A caller that does not know the shelf takes the first.
        let fits =
            |answers: &&mut Answers| category.is_empty() || answers.category.is_empty() || answers.category == category;
        let found = of_call.and_then(|of_call| of_call.iter_mut().find(fits));
        let Some(found) = found else {
            return Err((unparsed(), "there is no recorded answer for these arguments"));
        };
        let at = found.given.min(found.lines.len().saturating_sub(1));
        found.given += 1;
        Ok(Arc::clone(found.lines.get(at).expect("a call has an answer at least")))
    }
}

/// The tool's name without the category at its end, as ToolBench writes it.
fn tool_of(tool: &str, category: &str) -> String {
    let bare = match tool.rsplit_once("_for_") {
        Some((bare, tail)) if !category.is_empty() && category_name(tail) == category_name(category) => bare,
        Some(_) | None => tool,
    };
    standardize(bare)
}

/// The arguments of a call in one form: an object, or the text of one, or nothing.
fn input_of(input: &Value) -> Option<String> {
    match input {
        Value::Null => Some("{}".to_owned()),
        Value::String(text) => canonical(&Literal::Text(text.clone())),
        Value::Object(_) => canonical(&Literal::from(input)),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    }
}

fn canonical(input: &Literal) -> Option<String> {
    match input {
        Literal::Map(_) => Some(ordered(input).to_string()),
        Literal::Null => Some("{}".to_owned()),
        Literal::Text(text) if text.trim().is_empty() => Some("{}".to_owned()),
        Literal::Text(text) => match Literal::parse(text.trim()) {
            Ok(object @ Literal::Map(_)) => Some(ordered(&object).to_string()),
            Ok(_) | Err(_) => None,
        },
        _ => None,
    }
}

fn ordered(value: &Literal) -> Literal {
    match value {
        Literal::Map(fields) => {
            let mut fields: IndexMap<String, Literal> =
                fields.iter().map(|(name, field)| (name.clone(), ordered(field))).collect();
            fields.sort_keys();
            Literal::Map(fields)
        }
        Literal::List(items) => Literal::List(items.iter().map(ordered).collect()),
        _ => value.clone(),
    }
}

async fn rapidapi(State(recorded): State<Arc<Recorded>>, headers: HeaderMap, body: Bytes) -> Response {
    let Ok(call) = serde_json::from_slice::<Call>(&body) else {
        return (StatusCode::UNPROCESSABLE_ENTITY, axum::Json(json!({"detail": "the body is no call"})))
            .into_response();
    };
    let shown = headers.get("toolbench_key").and_then(|key| key.to_str().ok());
    let line = match recorded.answer(&call, shown) {
        Ok(line) => line,
        Err((error, response)) => return axum::Json(json!({"error": error, "response": response})).into_response(),
    };
    if line.hang {
        std::future::pending::<()>().await;
    }
    let status = line.status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::OK);
    if let Some(body) = &line.body {
        let kind = if body.trim_start().starts_with('<') { "text/html" } else { "text/plain" };
        return (status, [(header::CONTENT_TYPE, kind)], body.clone()).into_response();
    }
    let response = match (&line.response, line.pad) {
        (Value::Null, _) => "".into(),
        (Value::String(text), Some(pad)) => format!("{text}{}", ".".repeat(pad.saturating_sub(text.len()))).into(),
        (response, _) => response.clone(),
    };
    (status, axum::Json(json!({"error": line.error, "response": response}))).into_response()
}

#[cfg(test)]
mod tests;
