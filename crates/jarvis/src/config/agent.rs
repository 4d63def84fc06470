//! Keys of the document agent.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;

use jarvis_react::{Format, PromptLanguage};
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct ReactConfig {
    /// The most rounds of thought and action for a question about a document.
    pub(crate) max_steps: NonZeroU32,
    /// Seconds for such a question, without the time in which somebody is asked for leave.
    pub(crate) deadline_s: NonZeroU64,
    /// The most tokens of the document in a prompt. Default: what fits.
    pub(crate) max_document_tokens: Option<usize>,
    /// The language of the prompt: `auto`, `en`, `zh`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) prompt_language: PromptLanguage,
    /// How the model writes: `tags`, `json`, `native_tools`.
    #[cfg_attr(test, schemars(with = "String"))]
    pub(crate) format: Format,
    /// Tokens of the context kept free for the reply.
    pub(crate) reserve_tokens: usize,
    /// The most tokens of a reply. Unset: the endpoint's limit.
    pub(crate) max_reply_tokens: Option<u32>,
    /// The most tools that a prompt shows. Of more, those are shown that fit the question best, and `search_tools`, which finds the
    /// others.
    pub(crate) max_tools: usize,
    /// The most characters that a prompt shows of a result of a tool, at least 1,000. Longer ones are shortened by rule, and
    /// `read_result` reads the rest of them.
    pub(crate) max_observation_chars: usize,
    /// The tools that the agent may use. Default: all but the hub's.
    pub(crate) tools: Option<Vec<String>>,
    /// A file to which each round is appended: prompt, reply, what was made of it. It holds the documents.
    /// Default: none.
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
            max_tools: settings.max_tools,
            max_observation_chars: settings.max_observation_chars,
            tools: None,
            trace_file: None,
        }
    }
}
