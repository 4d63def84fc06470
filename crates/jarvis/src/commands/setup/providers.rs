//! OpenAI-compatible services that many have a key for, by the variable that usually holds it.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Provider {
    /// The variable. Only its name is ever used here.
    pub(super) variable: &'static str,
    #[serde(rename = "for")]
    pub(super) name: &'static str,
    /// Base URL of calls; none for OpenAI's own, and for what is no chat endpoint.
    pub(super) base_url: Option<&'static str>,
    /// The model that is proposed.
    #[serde(skip)]
    pub(super) model: Option<&'static str>,
    /// Whether the service answers chat completions.
    #[serde(skip)]
    pub(super) chats: bool,
}

const fn at(variable: &'static str, name: &'static str, base_url: &'static str) -> Provider {
    Provider { variable, name, base_url: Some(base_url), model: None, chats: true }
}

pub(super) const PROVIDERS: [Provider; 9] = [
    Provider { variable: "OPENAI_API_KEY", name: "OpenAI", base_url: None, model: Some("gpt-4o-mini"), chats: true },
    at("OPENROUTER_API_KEY", "OpenRouter", "https://openrouter.ai/api/v1"),
    at("GROQ_API_KEY", "Groq", "https://api.groq.com/openai/v1"),
    at("MISTRAL_API_KEY", "Mistral", "https://api.mistral.ai/v1"),
    at("DEEPSEEK_API_KEY", "DeepSeek", "https://api.deepseek.com/v1"),
    at("TOGETHER_API_KEY", "Together", "https://api.together.xyz/v1"),
    at("GEMINI_API_KEY", "Gemini", "https://generativelanguage.googleapis.com/v1beta/openai"),
    Provider { variable: "HF_TOKEN", name: "Hugging Face", base_url: None, model: None, chats: false },
    Provider { variable: "HUGGINGFACE_ACCESS_TOKEN", name: "Hugging Face", base_url: None, model: None, chats: false },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_variable() {
        let page = include_str!("../../../../../docs/setup.md");
        for provider in PROVIDERS {
            assert!(page.contains(&format!("`{}`", provider.variable)), "{}", provider.variable);
            if let Some(base) = provider.base_url {
                let url = url::Url::parse(base).expect("an address");
                assert!(url.scheme() == "https" && page.contains(base), "{base}");
            }
        }
    }
}
