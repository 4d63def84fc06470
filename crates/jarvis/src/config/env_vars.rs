//! Every environment variable that jarvis reads.

/// The chat model: `offline`, a model name, `auto`, `local/NAME`, or `replay:FILE`. Same as `--llm`.
pub(crate) const LLM: &str = "JARVIS_LLM";
/// The configuration file. Same as `--config`.
pub(crate) const CONFIG: &str = "JARVIS_CONFIG";
/// What is logged to stderr, as `tracing` directives such as `jarvis=debug`.
pub(crate) const LOG: &str = "JARVIS_LOG";
/// How it is logged: `text`, or `json` for a line of JSON each. Same as `--log-format`.
pub(crate) const LOG_FORMAT: &str = "JARVIS_LOG_FORMAT";
/// Where traces and metrics are sent by OTLP, such as `http://localhost:4318`; unset: nowhere. The other variables of OpenTelemetry's
/// exporters hold too, see [telemetry.md](telemetry.md).
pub(crate) const OTEL_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// How: `http/protobuf` unless set, or `grpc`.
pub(crate) const OTEL_PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
/// `true` for no traces and metrics, whatever else is set.
pub(crate) const OTEL_DISABLED: &str = "OTEL_SDK_DISABLED";
/// `true` to have in traces what models and tools were sent and answered, word for word.
pub(crate) const OTEL_CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
/// The token that callers of the server must send, unless `server.token_env` names another variable.
pub(crate) const TOKEN: &str = "JARVIS_TOKEN";
/// The token of the server's administrators, unless `server.admin_token_env` names another variable.
pub(crate) const ADMIN_TOKEN: &str = "JARVIS_ADMIN_TOKEN";
/// Where `jarvis self update` finds releases. Same as its `--from`.
pub(crate) const INSTALL_BASE_URL: &str = "JARVIS_INSTALL_BASE_URL";
/// Before the names of what `install.sh` reads, which are no configuration keys: `JARVIS_INSTALL_…`.
pub(crate) const INSTALLER: &str = "JARVIS_INSTALL_";
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
/// Folder of the Hugging Face Hub's cache, where pulled models are kept.
pub(crate) const HF_HUB_CACHE: &str = "HF_HUB_CACHE";
/// The same under its old name.
pub(crate) const HUGGINGFACE_HUB_CACHE: &str = "HUGGINGFACE_HUB_CACHE";
/// Folder of the Hugging Face programs; the cache is `hub` in it, and a login's token is `token`.
pub(crate) const HF_HOME: &str = "HF_HOME";
/// Folder of all caches; the Hub's is `huggingface/hub` in it.
pub(crate) const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";
/// File that holds the Hugging Face token.
pub(crate) const HF_TOKEN_PATH: &str = "HF_TOKEN_PATH";
/// Base URL of the Hub, for mirrors.
pub(crate) const HF_ENDPOINT: &str = "HF_ENDPOINT";
/// `1` for no connection to the Hub. Same as `--offline`.
pub(crate) const HF_HUB_OFFLINE: &str = "HF_HUB_OFFLINE";
/// Seconds for which a download may stall.
pub(crate) const HF_HUB_DOWNLOAD_TIMEOUT: &str = "HF_HUB_DOWNLOAD_TIMEOUT";
/// The id of the media store's access key, unless `media_store.access_key_env` names another variable.
pub(crate) const AWS_ACCESS_KEY_ID: &str = "AWS_ACCESS_KEY_ID";
/// The secret of that key, unless `media_store.secret_key_env` names another variable.
pub(crate) const AWS_SECRET_ACCESS_KEY: &str = "AWS_SECRET_ACCESS_KEY";
/// The session token of a temporary key, unless `media_store.session_token_env` names another variable.
pub(crate) const AWS_SESSION_TOKEN: &str = "AWS_SESSION_TOKEN";
/// The variables of the Hugging Face programs that pulling models obeys.
pub(crate) const HUB: [&str; 9] = [
    HF_HUB_CACHE,
    HUGGINGFACE_HUB_CACHE,
    HF_HOME,
    XDG_CACHE_HOME,
    HF_TOKEN,
    HF_TOKEN_PATH,
    HF_ENDPOINT,
    HF_HUB_OFFLINE,
    HF_HUB_DOWNLOAD_TIMEOUT,
];
