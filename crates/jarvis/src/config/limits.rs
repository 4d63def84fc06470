//! Sizes, times, and which web addresses may be fetched.

use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct LimitsConfig {
    /// Tasks at the same time.
    pub(crate) concurrency: usize,
    /// Seconds for a task with all its attempts.
    pub(crate) task_timeout_s: u64,
    /// Seconds for a run.
    pub(crate) run_timeout_s: u64,
    /// Further models tried when the chosen one fails.
    pub(crate) max_fallbacks: usize,
    /// The largest input.
    pub(crate) max_input_bytes: u64,
    /// Pixels of the largest picture.
    pub(crate) max_pixels: u64,
    /// Seconds to fetch an input.
    pub(crate) fetch_timeout_s: u64,
    /// Seconds for one call of an expert model. Default: by worker.
    pub(crate) model_timeout_s: Option<u64>,
    /// Seconds to wait for a model that Hugging Face is loading. Default: by worker.
    pub(crate) model_wait_s: Option<u64>,
    /// Seconds for one check whether a model is available.
    pub(crate) probe_timeout_s: u64,
    /// Seconds for all such checks of one choice.
    pub(crate) probe_total_s: u64,
    /// Seconds for which "available" is cached.
    pub(crate) probe_keep_s: u64,
    /// Seconds for which "not available" is cached.
    pub(crate) probe_keep_failed_s: u64,
}

impl Default for LimitsConfig {
    fn default() -> LimitsConfig {
        LimitsConfig {
            concurrency: 8,
            task_timeout_s: 180,
            run_timeout_s: 600,
            max_fallbacks: 2,
            max_input_bytes: 64 << 20,
            max_pixels: 120_000_000,
            fetch_timeout_s: 60,
            model_timeout_s: None,
            model_wait_s: None,
            probe_timeout_s: 5,
            probe_total_s: 8,
            probe_keep_s: 60,
            probe_keep_failed_s: 15,
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[serde(default)]
pub(crate) struct UrlConfig {
    /// Fetch from private, loopback and link-local hosts, and tell webhooks there.
    pub(crate) allow_private: bool,
    /// Hosts that may be fetched from, and whose webhooks may be told, whatever their address.
    pub(crate) allow_hosts: Vec<String>,
}
