//! Hosts: where the models of the catalogue run.

use serde::{Deserialize, Serialize};

use crate::mode::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// In this process, or as an installed program.
    Native,
    /// A local model, which jarvis runs itself, or one on a model server that speaks the protocol of the original (`/models/{id}`).
    Local,
    Huggingface,
    /// At an OpenAI-compatible endpoint: the chat model itself, or a media endpoint.
    Llm,
    /// A tool from the configuration: gRPC, OpenAPI, MCP.
    Tool,
    /// At a service whose catalogue named the model. jarvis plans with such models and does not call them itself.
    Api,
}

words!(
    Host,
    str::to_owned,
    Native = "native",
    Local = "local",
    Huggingface = "huggingface",
    Llm = "llm",
    Tool = "tool",
    Api = "api"
);

impl From<Host> for String {
    fn from(host: Host) -> String {
        host.as_str().to_owned()
    }
}

impl PartialEq<Host> for String {
    fn eq(&self, host: &Host) -> bool {
        self == host.as_str()
    }
}
