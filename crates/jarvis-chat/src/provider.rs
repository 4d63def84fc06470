//! Who serves a model, in the words of OpenTelemetry's conventions for generative AI (`gen_ai.provider.name`).

use url::Url;

use crate::discover::ServerKind;

/// What a model that runs in this process is served by.
pub const HERE: &str = "jarvis";

/// The providers that the conventions name, by the host of their endpoints or the end of it.
const KNOWN: [(&str, &str); 16] = [
    ("api.openai.com", "openai"),
    ("openai.azure.com", "azure.ai.openai"),
    ("services.ai.azure.com", "azure.ai.inference"),
    ("api.anthropic.com", "anthropic"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
    ("aiplatform.googleapis.com", "gcp.vertex_ai"),
    ("api.cohere.ai", "cohere"),
    ("api.cohere.com", "cohere"),
    ("api.deepseek.com", "deepseek"),
    ("api.groq.com", "groq"),
    ("api.mistral.ai", "mistral_ai"),
    ("api.moonshot.ai", "moonshot_ai"),
    ("api.perplexity.ai", "perplexity"),
    ("api.x.ai", "x_ai"),
    ("ml.cloud.ibm.com", "ibm.watsonx.ai"),
    ("router.huggingface.co", "huggingface"),
];

/// Who serves at an address: what the conventions name, else which kind of server it is, else its host.
pub(crate) fn of(base: &Url, server: Option<ServerKind>) -> String {
    let host = base.host_str().unwrap_or_default();
    let is_of = |end: &str| host.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    if let Some((_, name)) = KNOWN.iter().find(|(end, _)| is_of(end)) {
        return (*name).to_owned();
    }
    let kind = match server {
        Some(ServerKind::Ollama) => "ollama",
        Some(ServerKind::LmStudio) => "lm_studio",
        Some(ServerKind::LlamaServer) => "llama.cpp",
        Some(ServerKind::Vllm) => "vllm",
        Some(ServerKind::OpenAiCompatible) | None => host,
    };
    kind.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_named_as_by_the_conventions() {
        for (base, server, name) in [
            ("https://api.openai.com/v1", None, "openai"),
            ("https://mine.openai.azure.com", None, "azure.ai.openai"),
            ("https://notapi.openai.com.example.org/v1", None, "notapi.openai.com.example.org"),
            ("https://fakeapi.groq.com/v1", None, "fakeapi.groq.com"),
            ("http://localhost:11434/v1", Some(ServerKind::Ollama), "ollama"),
            ("http://127.0.0.1:8000/v1", Some(ServerKind::OpenAiCompatible), "127.0.0.1"),
        ] {
            assert_eq!(of(&base.parse().unwrap(), server), name, "{base}");
        }
    }
}
