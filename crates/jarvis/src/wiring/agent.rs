//! The document agent, as configured.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jarvis_chat::ChatModel;
use jarvis_document::DocumentReader;
use jarvis_engine::Gate;
use jarvis_react::{Agent, Prompts, Settings, Trace, Tracer};
use jarvis_store::Media;
use jarvis_tools::local;

use super::Tools;
use crate::config::Config;
use crate::failure::Failure;

/// The fewest characters in which a part of a result and the way to read on can be shown.
const MIN_OBSERVATION: usize = 1_000;

/// Builds the agent that thinks with this chat model, or without one.
pub(super) fn build(
    config: &Config,
    tools: &Tools,
    media: &Arc<Media>,
    chat: Option<Arc<dyn ChatModel>>,
    gate: Arc<dyn Gate>,
) -> Result<Arc<Agent>, Failure> {
    let react = &config.react;
    let registry = match &react.tools {
        // The calculator does what the functions of the hub do, and a prompt should be short.
        None => Arc::new(tools.registry.only(|spec| !local::is_of_hub(spec) && spec.name != local::ATTACHED_FILES)),
        Some(wanted) => {
            if let Some(unknown) = wanted.iter().find(|name| tools.registry.spec(name).is_none()) {
                return Err(Failure::usage(format!("`react.tools` names `{unknown}`, and there is no such tool"))
                    .hint("`jarvis tools list` names them all"));
            }
            Arc::new(tools.registry.only(|spec| wanted.contains(&spec.name)))
        }
    };
    if react.max_observation_chars < MIN_OBSERVATION {
        let too_few = react.max_observation_chars;
        return Err(Failure::usage(format!(
            "`react.max_observation_chars` is {too_few}, and a result needs {MIN_OBSERVATION} characters at least"
        )));
    }
    let settings = Settings {
        max_steps: react.max_steps.get(),
        deadline: Duration::from_secs(react.deadline_s.get()),
        max_document_tokens: react.max_document_tokens,
        prompt_language: react.prompt_language,
        format: react.format,
        max_tools: react.max_tools,
        max_observation_chars: react.max_observation_chars,
        reserve_tokens: react.reserve_tokens,
        max_reply_tokens: react.max_reply_tokens,
    };
    let tracer = react.trace_file.as_deref().map(tracer).transpose()?;
    let prompts = Arc::new(Prompts::builtin().map_err(Failure::work)?);
    Ok(Arc::new(Agent {
        chat,
        registry,
        media: Arc::clone(media),
        prompts,
        settings,
        reader: document_reader(),
        tracer,
        gate,
    }))
}

#[cfg(feature = "documents")]
pub(crate) fn document_reader() -> Arc<dyn DocumentReader> {
    super::document::OwnProcess::new()
}

#[cfg(not(feature = "documents"))]
pub(crate) fn document_reader() -> Arc<dyn DocumentReader> {
    Arc::new(jarvis_document::NoReader)
}

/// Appends each round to a file, one line of JSON each.
fn tracer(path: &Path) -> Result<Tracer, Failure> {
    let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
        Failure::usage(format!("the trace cannot be written to {}: {error}", path.display()))
            .hint("name another file in `react.trace_file`")
    })?;
    let file = Mutex::new(file);
    Ok(Arc::new(move |trace: &Trace| {
        let mut line = serde_json::to_string(trace).expect("a trace has only string keys");
        line.push('\n');
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(line.as_bytes()) {
            tracing::warn!(%error, "a round could not be traced");
        }
    }))
}
