//! What a registered tool is: what is told of it, and how it is called.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::CallError;

/// What models and people are told of a tool. A registry takes none in which a part is missing: a model that does not
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
}

impl fmt::Display for ToolSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ToolSource::Native => "native",
            ToolSource::Grpc => "grpc",
            ToolSource::OpenApi => "openapi",
            ToolSource::Mcp => "mcp",
        })
    }
}

/// What a call happens within.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The text of the document that is being asked about, for tools that look into it.
    pub document: Option<Arc<str>>,
    /// Fires when nobody waits any more. Dropping the future of a call ends it too; work on other threads watches this.
    pub cancel: CancellationToken,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observation {
    /// The result in words, for a model to read; not trusted, and cut by the registry where it is long.
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

/// A tool that can be called, many times at once.
#[async_trait]
pub trait Callable: Send + Sync {
    /// What is told of it. The same each time.
    fn spec(&self) -> &ToolSpec;

    /// Calls it once.
    ///
    /// # Errors
    /// When the input is not what it takes, or it failed; the message says why, in words that a model may read, and holds
    /// no key.
    async fn call(&self, input: &Value, scope: &Scope) -> Result<Observation, CallError>;
}
