//! How an agent works.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// In lines that begin with tags: `<Thought>:`, `<Action>:`, `<Final Answer>:`.
    #[default]
    Tags,
    Json,
    NativeTools,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptLanguage {
    /// Chinese for questions in Chinese, else English.
    #[default]
    Auto,
    En,
    Zh,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The most rounds; one more model call may follow that asks for the answer.
    pub max_steps: u32,
    pub deadline: Duration,
    /// The most tokens of the document that a prompt holds; none means as many as the model's context has room for.
    pub max_document_tokens: Option<usize>,
    pub prompt_language: PromptLanguage,
    pub format: Format,
    /// Tokens of the context that are kept for the reply.
    pub reserve_tokens: usize,
    /// The most tokens of one reply; none leaves it to the endpoint.
    pub max_reply_tokens: Option<u32>,
    /// The most tools that a prompt shows. Of more, those are shown that fit the question best, and one that finds the others.
    pub max_tools: usize,
    /// The most characters that a prompt shows of a result of a tool, 1,000 or more. Longer ones are shortened, and a tool reads the
    /// rest.
    pub max_observation_chars: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            max_steps: 8,
            deadline: Duration::from_secs(120),
            max_document_tokens: None,
            prompt_language: PromptLanguage::default(),
            format: Format::default(),
            reserve_tokens: 1_024,
            max_reply_tokens: None,
            max_tools: 24,
            max_observation_chars: 8_000,
        }
    }
}
