//! Selections: who performs a task, decided before its inputs exist.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::TaskId;

/// Where a model runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// In this process, or as an installed program.
    Native,
    /// On a model server that speaks the protocol of the original (`/models/{id}`).
    Local,
    /// At Hugging Face.
    Huggingface,
    /// At an OpenAI-compatible endpoint: the chat model itself, or a media endpoint.
    Llm,
    /// A tool from the configuration: gRPC, OpenAPI, MCP.
    Tool,
    /// At a service whose catalogue named the model. jarvis plans with such models and does not call them itself.
    Api,
}

impl Host {
    /// The word in its serialised form.
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

/// A model that could perform a task, on one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The model's id, such as `facebook/detr-resnet-50` or `native/canny`.
    pub id: String,
    /// Where it runs.
    pub host: Host,
    /// The task it performs: the planned one, or what stands in for it (`canny-control` for a
    /// `canny-text-to-image` without text).
    pub effective_task: String,
}

/// For one task: the chosen model, the reason, and the ranked fallbacks. The engine makes no choices of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The task.
    pub task: TaskId,
    /// The choice.
    pub chosen: Candidate,
    /// What to try when it fails, best first.
    #[serde(default)]
    pub fallbacks: Vec<Candidate>,
    /// Why.
    pub reason: String,
    /// What was odd about the choice: an id that had to be guessed, a reply that had to be mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
