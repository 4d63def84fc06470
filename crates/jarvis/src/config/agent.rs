//! Keys of the document agent and of its gRPC service.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use jarvis_react::{Format, PromptLanguage};
use serde::Deserialize;

/// The document agent.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub(crate) struct ReactConfig {
    /// The most rounds of thought and action.
    pub(crate) max_steps: NonZeroU32,
    /// Seconds for a question.
    pub(crate) deadline_s: NonZeroU64,
    /// The most tokens of a document that a prompt holds; as many as the model takes unless set.
    pub(crate) max_document_tokens: Option<usize>,
    /// The language of the prompt: `auto`, `en`, `zh`.
    pub(crate) prompt_language: PromptLanguage,
    /// How the model writes: `tags`, `json`, `native_tools`.
    pub(crate) format: Format,
    /// Tokens of the context that are kept for the reply.
    pub(crate) reserve_tokens: usize,
    /// The most tokens of one reply.
    pub(crate) max_reply_tokens: Option<u32>,
    /// The tools that the agent may use; all unless set.
    pub(crate) tools: Option<Vec<String>>,
    /// A file to which each round is appended, documents included; none unless set.
    pub(crate) trace_file: Option<PathBuf>,
}

impl Default for ReactConfig {
    fn default() -> ReactConfig {
        let settings = jarvis_react::Settings::default();
        ReactConfig {
            max_steps: NonZeroU32::new(settings.max_steps).unwrap_or(NonZeroU32::MIN),
            deadline_s: NonZeroU64::new(settings.deadline.as_secs()).unwrap_or(NonZeroU64::MIN),
            max_document_tokens: settings.max_document_tokens,
            prompt_language: settings.prompt_language,
            format: settings.format,
            reserve_tokens: settings.reserve_tokens,
            max_reply_tokens: settings.max_reply_tokens,
            tools: None,
            trace_file: None,
        }
    }
}
