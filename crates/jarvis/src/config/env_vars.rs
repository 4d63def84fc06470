//! Every environment variable that jarvis reads.

/// The chat model: `offline`, a model name, `auto`, or `replay:FILE`. Same as `--llm`.
pub(crate) const LLM: &str = "JARVIS_LLM";
/// The configuration file. Same as `--config`.
pub(crate) const CONFIG: &str = "JARVIS_CONFIG";
/// What is logged to stderr, as `tracing` directives such as `jarvis=debug`.
pub(crate) const LOG: &str = "JARVIS_LOG";
/// The token that callers of the server must send, unless `server.token_env` names another variable.
pub(crate) const TOKEN: &str = "JARVIS_TOKEN";
/// Any other configuration key, with `__` between levels: `JARVIS_LIMITS__CONCURRENCY=4`.
pub(crate) const PREFIX: &str = "JARVIS_";
/// The base URL of the chat endpoint. Same as `--base-url`.
pub(crate) const OPENAI_BASE_URL: &str = "OPENAI_BASE_URL";
/// The key of the chat endpoint, unless `llm.api_key_env` names another variable.
pub(crate) const OPENAI_API_KEY: &str = "OPENAI_API_KEY";
/// The Hugging Face token, unless `huggingface.token_env` names another variable.
pub(crate) const HF_TOKEN: &str = "HF_TOKEN";
/// The Hugging Face token, under the name the original used.
pub(crate) const HUGGINGFACE_ACCESS_TOKEN: &str = "HUGGINGFACE_ACCESS_TOKEN";
