//! The contract of a tool: how it is described, how it is called, and what it answers.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use jarvis_plan::{Effect, Kind};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Documents, ToolError};

/// The description of a tool, for models and people. A registry refuses an incomplete one: a model that does not
/// know when and how to use a tool uses it wrongly.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSpec {
    /// Its name, unique in a registry; `SERVER/TOOL` for tools of MCP servers.
    pub name: String,
    /// What it does and what it gives, in a sentence or two.
    pub description: String,
    /// When to use it.
    pub when: String,
    /// A JSON Schema of its input, which is an object.
    pub input_schema: Value,
    /// An input that it takes.
    pub example: Value,
    /// The JSON Schema of its result as data, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What it does to the world.
    pub effect: Effect,
    /// Where it works.
    pub source: ToolSource,
}

/// Where a tool works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolSource {
    /// In this process.
    Native,
    /// A method of a gRPC service.
    Grpc,
    /// An operation of an HTTP API.
    OpenApi,
    /// A tool of an MCP server.
    Mcp,
    /// An API at ToolBench's server.
    ToolBench,
}

impl fmt::Display for ToolSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ToolSource::Native => "native",
            ToolSource::Grpc => "grpc",
            ToolSource::OpenApi => "openapi",
            ToolSource::Mcp => "mcp",
            ToolSource::ToolBench => "toolbench",
        })
    }
}

/// What a call happens within.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// What is being asked about, for tools that look into it.
    pub documents: Documents,
    /// The files that came with the request: their kinds and display paths, in their order.
    pub files: Arc<[(Kind, String)]>,
    /// The key of the call, the same whenever it is made again, for services that make no change twice.
    pub key: Option<String>,
    /// Fires when the result is no longer needed. Dropping the future of a call ends it too; work on other threads
    /// watches this.
    pub cancel: CancellationToken,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// The result in words, for a model to read; not trusted, and shortened by the registry where it is very long.
    pub text: String,
    /// The same result as data, for code to read: never cut, and with no key in it. `None` where there is only text.
    /// Integers beyond 64 bits are strings of digits, because JSON libraries would round them.
    pub value: Option<Value>,
    /// Pictures and other files that the call made.
    pub media: Vec<Artifact>,
}

impl Observation {
    /// An observation of text alone.
    pub fn text(text: impl Into<String>) -> Observation {
        Observation { text: text.into(), ..Observation::default() }
    }

    /// The text, or if it is empty a short description of each file.
    pub fn in_words(&self) -> String {
        if !self.text.trim().is_empty() {
            return self.text.clone();
        }
        let files = self.media.iter().map(|file| format!("[{}, {} bytes]", file.mime, file.bytes.len()));
        std::iter::once(self.text.clone()).chain(files).collect()
    }

    /// Adds the result as data.
    #[must_use]
    pub fn with_value(self, value: Value) -> Observation {
        Observation { value: Some(value), ..self }
    }

    /// Applies `clean` to the text and to every string of the data, field names included: how secrets are taken out.
    #[must_use]
    pub(crate) fn cleaned(self, clean: impl Fn(&str) -> String) -> Observation {
        Observation { text: clean(&self.text), value: self.value.map(|value| cleaned(value, &clean)), ..self }
    }
}

fn cleaned(value: Value, clean: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(items) => items.into_iter().map(|item| cleaned(item, clean)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (clean(&name), cleaned(value, clean))).collect()
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// A file that a tool made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its media type, such as `image/png`, as the tool says it.
    pub mime: String,
    /// Its bytes.
    pub bytes: Bytes,
}

/// Something that can be called by name, many times at once: a function of this process, a method of a gRPC service, an
/// operation of an HTTP API, a tool of an MCP server. A [`crate::Registry`] holds them all.
///
/// [`jarvis_plan::Tool`] is the record of a task type that plans are checked against; a tool that plans may use has one too.
#[async_trait]
pub trait Tool: Send + Sync {
    /// The description; the same each time.
    fn spec(&self) -> &ToolSpec;

    /// Calls the tool once with a JSON object. An integer beyond 64 bits is a string of its digits.
    ///
    /// # Errors
    /// When the input is invalid or the call fails.
    async fn call(&self, input: &Value, scope: &Scope) -> Result<Observation, ToolError>;

    /// Whether it knows calls by their [`Scope::key`], so that one that is made again changes nothing twice.
    fn takes_key(&self) -> bool {
        false
    }

    /// What its calls connect to.
    fn address(&self) -> ToolAddress {
        match self.spec().source {
            ToolSource::Native => ToolAddress::Process,
            ToolSource::Grpc | ToolSource::OpenApi | ToolSource::Mcp | ToolSource::ToolBench => {
                ToolAddress::Program(self.spec().name.clone())
            }
        }
    }
}

/// What the calls of a tool connect to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAddress {
    /// Nothing: it works in this process.
    Process,
    /// A program on this machine, by its name in the configuration; what that connects to is not known here.
    Program(String),
    /// The service at a URL.
    Url(String),
}
