//! From tool documentation to concise tool instructions.
//!
//! A [`ToolDocument`] is read from an OpenAPI file, a RapidAPI tool, or `{name, description, api_list}`. [`write`] turns
//! documents into instructions: from the documents alone, or with a chat model, whose replies are checked, asked for again
//! with the reason, and replaced by what the document declares after the third failure. [`check_example`] says whether
//! arguments are what an API takes. Documents are untrusted: what goes into a prompt is cleaned and cut.

mod check;
mod document;
mod endpoint;
mod memo;
mod model;
mod needs;
mod offline;
mod registry;
mod report;
mod stages;
#[cfg(test)]
mod tests;
mod text;

pub use check::{check_example, check_listing, parameter_schema};
pub use document::{ApiEntry, Declared, ToolDocument, read_documents};
pub(crate) use endpoint::add_query;
pub use endpoint::check_endpoint;
pub use jarvis_catalogue::openapi::ArgumentFault;
pub use memo::Memo;
pub use registry::{of_registry, server_registry};
pub use report::{Fallback, InstructReport, count_tokens};

use std::path::PathBuf;
use std::sync::Arc;

use jarvis_ask::{AskError, Events};
use jarvis_catalogue::openapi::ApiError;
use jarvis_chat::{ChatError, ChatModel};
use jarvis_store::files::FileError;
use jarvis_tools::Registry;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::instructions::{EndpointInstruction, ToolInstruction};

/// Where an Example came from that no model wrote: the document's declared defaults, after a model had failed.
pub const BY_DEFAULT: &str = "default";

/// Where an Example came from that no model was asked for.
pub const BY_SPECIFICATION: &str = "specification";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One for each endpoint, as in `tmdb_tool.json`.
    Endpoints,
    /// One for each tool, as in `toolbench_tool_instruction.json`.
    Tools,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstructOptions {
    pub shape: Shape,
    /// The most model calls and executions at once; at least 1.
    pub concurrency: usize,
    /// How often a model is asked for one thing; at least 1.
    pub attempts: u32,
}

impl Default for InstructOptions {
    fn default() -> InstructOptions {
        InstructOptions { shape: Shape::Tools, concurrency: 1, attempts: 3 }
    }
}

#[derive(Clone, Default)]
pub struct Writer {
    /// The model; without one, instructions follow from the documents alone.
    pub model: Option<Arc<dyn ChatModel>>,
    pub events: Events,
    /// The APIs to execute Examples on that only read (`GET`); an Example that fails is not kept.
    pub tools: Option<Arc<Registry>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Instructions {
    Endpoints(Vec<EndpointInstruction>),
    #[serde(serialize_with = "by_number")]
    Tools(Vec<ToolInstruction>),
}

fn by_number<S: serde::Serializer>(tools: &[ToolInstruction], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(tools.iter().map(|tool| (tool.id.to_string(), tool)))
}

impl Instructions {
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("texts and literals are JSON") + "\n"
    }
}

/// Writes the instructions for documents, in their order. The report counts sizes from the documents' and the
/// instructions' texts. What a model wrote is kept in the memo at once, so that a later run goes on from there.
///
/// # Errors
/// When the model cannot be asked, or `stop` was given; what was done until then is in the memo.
pub async fn write(
    documents: &[ToolDocument],
    writer: &Writer,
    options: InstructOptions,
    memo: &Memo,
    stop: &CancellationToken,
) -> Result<(Instructions, InstructReport), InstructError> {
    let mut report = InstructReport::default();
    let written = model::write(documents, writer, options, memo, stop, &mut report).await?;
    let instructions = match options.shape {
        Shape::Endpoints => Instructions::Endpoints(endpoint::numbered(documents, written)),
        Shape::Tools => Instructions::Tools(offline::tools(documents, written)),
    };
    let text = instructions.to_json();
    report.measure(documents, &instructions, text).await;
    Ok((instructions, report))
}

#[derive(Debug, thiserror::Error)]
pub enum InstructError {
    #[error("{}", .path.display())]
    Document {
        path: PathBuf,
        #[source]
        source: ApiError,
    },
    #[error("{}: {reason}", .path.display())]
    Shape { path: PathBuf, reason: String },
    #[error("stage `{stage}`: the chat model gave no reply")]
    Chat {
        stage: &'static str,
        #[source]
        source: ChatError,
    },
    #[error(transparent)]
    File(#[from] FileError),
    #[error("stopped before everything was written")]
    Stopped,
}

impl From<AskError> for InstructError {
    fn from(error: AskError) -> InstructError {
        InstructError::Chat { stage: error.stage(), source: error.into() }
    }
}
