//! Tools as the configuration names them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jarvis_plan::Effect;
use serde::Deserialize;
use serde_json::Value;

/// One entry of `tools`: either a built-in tool by name, or a tool that is described here and works elsewhere.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, remote = "Self")]
pub struct ToolEntry {
    /// A built-in tool that is offered to plans too; then nothing else is said.
    pub native: Option<String>,
    /// Its name.
    pub name: String,
    /// What it does and gives.
    pub description: String,
    /// When to use it.
    pub when: String,
    /// A JSON Schema of its input. May be left out where the service describes its own input.
    pub input_schema: Option<Value>,
    /// An input that it takes. May be left out where the service gives one.
    pub example: Option<Value>,
    /// How its answer is told, with fields of the answer in braces: `Addition Result: {result}`. The whole answer as JSON
    /// unless set.
    pub observation: Option<String>,
    /// What it does to the world: `reads`, `writes` or `destroys`. By source unless set: GET, HEAD and OPTIONS read, DELETE
    /// destroys, methods that declare no side effects read, everything else writes.
    pub effect: Option<Effect>,
    /// The task type that it serves in plans, such as `translation`, beside being a task of its own name.
    pub serves: Option<String>,
    /// Seconds for a call; 20 unless set.
    pub timeout_s: Option<u64>,
    /// A method of a gRPC service.
    pub grpc: Option<GrpcEntry>,
    /// An operation of an HTTP API.
    pub openapi: Option<OpenApiEntry>,
    /// Why the entry cannot be read, where it cannot: it is left out, and the others are not.
    #[serde(skip)]
    pub unreadable: Option<String>,
}

impl<'de> Deserialize<'de> for ToolEntry {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<ToolEntry, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let name = value.get("name").or(value.get("native")).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(ToolEntry::deserialize(value).unwrap_or_else(|error| ToolEntry {
            name,
            unreadable: Some(error.to_string()),
            ..ToolEntry::default()
        }))
    }
}

/// A unary method of a gRPC service.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct GrpcEntry {
    /// Its address: `http://127.0.0.1:50052`, or `https://…`; `127.0.0.1:50052` means `http`. Only a URL may name no
    /// port; it means that of its scheme then.
    pub endpoint: String,
    /// The method: `Math/Add`, `/Math/Add` or `pkg.Service/Method`.
    pub method: String,
    /// A file of descriptors (`protoc --descriptor_set_out`, with imports) or a `.proto` file; the service is asked by
    /// reflection unless set.
    pub descriptor: Option<PathBuf>,
    /// The environment variable that holds a bearer token for it.
    pub token_env: Option<String>,
    /// A file of certificates (PEM) that sign the service's own; the usual ones unless set.
    pub ca_file: Option<PathBuf>,
    /// The metadata that takes the key of a call, where the service knows a call by it and changes nothing twice:
    /// `idempotency-key`. A run that was cut off then makes such a call again without asking.
    pub idempotency_metadata: Option<String>,
}

/// Operations of an HTTP API.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct OpenApiEntry {
    /// Its OpenAPI document. Without one, the entry must say all of its input.
    pub document: Option<PathBuf>,
    /// Its address; the document's first server unless set.
    pub base_url: Option<String>,
    /// The operation: its `operationId`, or method and path such as `GET /movie/{movie_id}`. All operations of the document
    /// unless set, each a tool named by the entry's name, a dot and its id.
    pub operation: Option<String>,
    /// The environment variable that holds the API's key.
    pub api_key_env: Option<String>,
    /// The header that takes the key of a call, where the service knows a call by it and changes nothing twice:
    /// `Idempotency-Key`. A run that was cut off then makes such a call again without asking, and a call is tried again after a
    /// lost answer.
    pub idempotency_header: Option<String>,
}

/// One entry of `mcp_servers`: a program that is started, or an address.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct McpEntry {
    /// The program: a name that is looked for on `PATH`, or a path. A relative path with a `/` is relative to the folder of the
    /// configuration file.
    pub command: Option<String>,
    /// Its arguments, as they are. The program works in the folder in which jarvis was started, so that is what it takes
    /// relative paths among them to be relative to.
    pub args: Vec<String>,
    /// Environment variables for it, beside `PATH`, `HOME` and the like; a value `${NAME}` is that of jarvis's own variable.
    pub env: BTreeMap<String, String>,
    /// The address of a server over HTTP.
    pub url: Option<String>,
    /// Headers that are sent to it; a value may hold `${NAME}` for an environment variable.
    pub headers: BTreeMap<String, String>,
    /// The tools that may be used; all unless set.
    pub allow: Option<Vec<String>>,
    /// When to use each tool, where its description does not say it well.
    pub when: BTreeMap<String, String>,
    /// An input that each tool takes; made up from its schema unless set.
    pub examples: BTreeMap<String, Value>,
    /// The task types that tools serve in plans, by tool.
    pub serves: BTreeMap<String, String>,
    /// What tools do to the world, by tool: `reads`, `writes` or `destroys`. Tools write unless set.
    pub effects: BTreeMap<String, Effect>,
    /// `annotations` to believe what the server says of the effects of its tools.
    pub trust: Option<Trust>,
    /// What becomes of a tool that comes to it later: `ask` (it waits until a person approves it) unless set, or `allow`.
    pub new_tools: NewTools,
    /// Seconds for a call; 20 unless set.
    pub timeout_s: Option<u64>,
}

/// What becomes of a tool that comes to a server which is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NewTools {
    /// It waits until a person approves it.
    #[default]
    Ask,
    /// It is approved as those that were there first. A change of a tool that is known still waits.
    Allow,
}

/// What of a server's word is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// `readOnlyHint` and `destructiveHint` of its tools.
    Annotations,
}

/// All tools of a configuration.
#[derive(Debug, Clone, Default)]
pub struct ToolsConfig {
    /// `tools`.
    pub tools: Vec<ToolEntry>,
    /// `mcp_servers`.
    pub mcp_servers: BTreeMap<String, McpEntry>,
}
