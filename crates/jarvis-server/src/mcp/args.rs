//! What the tools are called with.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jarvis_plan::{Kind, Language};
use rmcp::ErrorData;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[derive(Debug)]
pub(super) enum Call {
    Run(Run),
    Plan(Run),
    Ask(Ask),
}

impl Call {
    /// The tool that is called.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Call::Run(_) => "run",
            Call::Plan(_) => "plan",
            Call::Ask(_) => "ask",
        }
    }
}

/// The arguments of `run` and of `plan`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    pub(super) request: String,
    #[serde(default)]
    pub(super) files: Vec<File>,
    /// The pipeline of `run`.
    #[serde(default)]
    pub(super) pipeline: Option<String>,
}

/// A file that a request is about: a name with bytes or a text, or an address with its kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) data: Option<String>,
    #[serde(default)]
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) url: Option<String>,
    #[serde(default)]
    pub(super) kind: Option<Kind>,
}

/// The arguments of `ask`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ask {
    pub(super) question: String,
    #[serde(default)]
    pub(super) document: Option<String>,
    #[serde(default)]
    pub(super) document_base64: Option<String>,
    #[serde(default)]
    pub(super) language: Option<Language>,
    #[serde(default)]
    pub(super) max_steps: Option<u32>,
}

impl Call {
    /// Reads a call.
    ///
    /// # Errors
    /// When there is no such tool, or its arguments are wrong; the error names what.
    pub(super) fn read(tool: &str, arguments: Option<JsonObject>) -> Result<Call, ErrorData> {
        let arguments = Value::Object(arguments.unwrap_or_default());
        let call = match tool {
            "run" => Call::Run(decoded(tool, arguments)?),
            "plan" => match decoded(tool, arguments)? {
                Run { pipeline: Some(_), .. } => {
                    return Err(wrong("`plan` takes no `pipeline`: plans are HuggingGPT's"));
                }
                plan => Call::Plan(plan),
            },
            "ask" => Call::Ask(decoded(tool, arguments)?),
            other => {
                let other: String = other.chars().take(60).collect();
                return Err(wrong(format!("there is no tool `{other}`: there are run, plan and ask")));
            }
        };
        let (name, words) = match &call {
            Call::Run(run) | Call::Plan(run) => ("request", &run.request),
            Call::Ask(ask) => ("question", &ask.question),
        };
        if words.trim().is_empty() {
            return Err(wrong(format!("`{name}` is empty: say in plain words what you want")));
        }
        Ok(call)
    }
}

fn decoded<T: DeserializeOwned>(tool: &str, arguments: Value) -> Result<T, ErrorData> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let at = match error.path().to_string().as_str() {
            "." => String::new(),
            path => format!(" at `{path}`"),
        };
        wrong(format!("the arguments of `{tool}` are wrong{at}: {}", error.inner()))
    })
}

/// The bytes of a base64 text, with or without line breaks.
///
/// # Errors
/// When it is not valid base64, or there are more than `most` bytes.
pub(super) fn bytes(field: &str, text: &str, most: usize) -> Result<Vec<u8>, ErrorData> {
    let plain: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let bytes = STANDARD.decode(plain).map_err(|error| {
        wrong(format!("`{field}` is not valid base64: {error}; encode the file's bytes, without a prefix"))
    })?;
    if bytes.len() > most {
        return Err(wrong(format!("`{field}` has {} bytes, and {most} are taken at most", bytes.len())));
    }
    Ok(bytes)
}

pub(super) fn wrong(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}
