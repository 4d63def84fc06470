//! Language models in GGUF files: candle multiplies the quantised matrices, llguidance keeps replies to a schema. What lies
//! between is here: reading files, tokens, chat templates, the transformer, sampling, streams, and a cache of prompts.
//!
//! Text only. Mixtures of experts, vision, and calls of tools in a model's own words are not here.

mod chat;
mod gguf;
mod grammar;
mod matrix;
mod model;
mod prefix;
mod reply;
mod rope;
mod sampler;
mod settings;
mod template;
#[cfg(test)]
mod tests;
mod transformer;
mod vectors;
mod vocabulary;

pub use chat::LocalChat;

use crate::{ExpertError, LocalModel, ModelFiles, Resources};

/// Task types that a language model serves.
const TASKS: [&str; 6] =
    ["text-generation", "conversational", "text2text-generation", "summarization", "translation", "chat"];

/// Bytes that a language model takes when it is loaded within `max_memory`; none where the folder has no such model, or nobody can
/// say before it is loaded.
pub(crate) fn memory(files: &ModelFiles, max_memory: u64) -> Option<u64> {
    let (_, description) = model::describe(files, &files.gguf()?, max_memory).ok()?;
    Some(description.memory(max_memory))
}

/// The language model for this task type, where the folder has one.
pub(crate) fn open(
    files: &ModelFiles,
    task: &str,
    resources: &Resources,
) -> Result<Option<Box<dyn LocalModel>>, ExpertError> {
    if !TASKS.contains(&task) {
        return Ok(None);
    }
    let Some(name) = files.gguf() else { return Ok(None) };
    Ok(Some(Box::new(model::LanguageModel::load(files, &name, resources)?)))
}
