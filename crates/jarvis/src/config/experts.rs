//! Keys of the places where expert models run: Hugging Face, a model server, a media endpoint.

use jarvis_net::http::is_loopback;
use serde::Deserialize;
use url::Url;

/// Models that jarvis runs itself, see [local-models.md](local-models.md).
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct LocalConfig {
    /// Use the models that `jarvis models pull` brought.
    pub(crate) enabled: bool,
    /// Megabytes that all loaded models may take together. Default: half of the machine's memory.
    pub(crate) max_memory_mb: Option<u64>,
    /// Seconds for which a model stays loaded after its last use.
    pub(crate) keep_alive_s: u64,
    /// Threads that compute. Default: one for each core.
    pub(crate) threads: Option<usize>,
    /// Uses of local models at the same time.
    pub(crate) at_once: usize,
    /// Run each model in a process of its own, which is bounded in memory and can be ended. Without it a model that is made to
    /// do harm takes jarvis with it.
    pub(crate) isolated: bool,
}

impl Default for LocalConfig {
    fn default() -> LocalConfig {
        LocalConfig { enabled: true, max_memory_mb: None, keep_alive_s: 300, threads: None, at_once: 2, isolated: true }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct HuggingFaceConfig {
    /// The environment variable that holds the token. Default: `HF_TOKEN`, `HUGGINGFACE_ACCESS_TOKEN`.
    pub(crate) token_env: Option<String>,
    /// Base URL of inference calls. Default: the router's `hf-inference`.
    pub(crate) base_url: Option<String>,
    /// Base URL of the Hub, which knows what is available. Default: the Hub's.
    pub(crate) hub_url: Option<String>,
    /// How availability is checked: `hub`, or `legacy` for self-hosted servers that answer `/status/{id}`.
    pub(crate) status: StatusApi,
    /// Use Hugging Face without a token, as self-hosted servers of its protocol allow.
    pub(crate) anonymous: bool,
    /// The providers that may serve a model.
    pub(crate) providers: Vec<String>,
    /// Whether a provider in state `staging` counts.
    pub(crate) staging: bool,
}

impl Default for HuggingFaceConfig {
    fn default() -> HuggingFaceConfig {
        HuggingFaceConfig {
            token_env: None,
            base_url: None,
            hub_url: None,
            status: StatusApi::Hub,
            anonymous: false,
            providers: vec!["hf-inference".into()],
            staging: false,
        }
    }
}

/// How the availability of a Hub model is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(crate) enum StatusApi {
    /// The Hub's model API.
    Hub,
    /// `GET {base}/status/{id}`, as self-hosted servers answer it.
    Legacy,
}

/// The model server, as an address or as the original's host and port.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(untagged)]
pub(crate) enum LocalEndpoint {
    /// `http://host:port`.
    Url(String),
    /// The original's two keys, and ours.
    HostPort {
        /// Host of the model server.
        host: String,
        /// Its port.
        port: u16,
        /// Whether it sees the same public folder; otherwise media are sent as data URLs. Default: whether it is on
        /// this machine.
        shared_folder: Option<bool>,
    },
}

impl LocalEndpoint {
    /// The base URL.
    pub(crate) fn url(&self) -> String {
        match self {
            LocalEndpoint::Url(url) => url.clone(),
            LocalEndpoint::HostPort { host, port, .. } => format!("http://{host}:{port}"),
        }
    }

    /// Whether media are shared as files rather than sent.
    pub(crate) fn shares_folder(&self) -> bool {
        let configured = match self {
            LocalEndpoint::Url(_) => None,
            LocalEndpoint::HostPort { shared_folder, .. } => *shared_folder,
        };
        let here = || Url::parse(&self.url()).is_ok_and(|url| is_loopback(&url));
        configured.unwrap_or_else(here)
    }
}

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
pub(crate) struct MediaConfig {
    /// Base URL of an OpenAI-compatible endpoint for pictures and sound, such as `https://api.openai.com/v1`. Only the
    /// tasks that have a model below are sent there.
    pub(crate) base_url: String,
    /// The environment variable that holds its key.
    pub(crate) api_key_env: Option<String>,
    /// Its model for `text-to-image`.
    pub(crate) image_model: Option<String>,
    /// The size of pictures, such as `1024x1024`.
    pub(crate) image_size: Option<String>,
    /// Its model for `text-to-speech`.
    pub(crate) speech_model: Option<String>,
    /// The voice of that model.
    pub(crate) voice: Option<String>,
    /// Its model for `automatic-speech-recognition`.
    pub(crate) transcription_model: Option<String>,
}
