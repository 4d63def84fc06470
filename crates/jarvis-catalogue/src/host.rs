//! Hosts: where the models of the catalogue run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::UnknownWord;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// In this process, or as an installed program.
    Native,
    /// On a model server that speaks the protocol of the original (`/models/{id}`).
    Local,
    Huggingface,
    /// At an OpenAI-compatible endpoint: the chat model itself, or a media endpoint.
    Llm,
    /// A tool from the configuration: gRPC, OpenAPI, MCP.
    Tool,
    /// At a service whose catalogue named the model. jarvis plans with such models and does not call them itself.
    Api,
}

impl Host {
    pub fn as_str(self) -> &'static str {
        match self {
            Host::Native => "native",
            Host::Local => "local",
            Host::Huggingface => "huggingface",
            Host::Llm => "llm",
            Host::Tool => "tool",
            Host::Api => "api",
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

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

impl FromStr for Host {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Host, UnknownWord> {
        let hosts = [Host::Native, Host::Local, Host::Huggingface, Host::Llm, Host::Tool, Host::Api];
        hosts
            .into_iter()
            .find(|host| host.as_str() == word)
            .ok_or_else(|| UnknownWord { word: word.to_owned(), allowed: "native, local, huggingface, llm, tool, api" })
    }
}
