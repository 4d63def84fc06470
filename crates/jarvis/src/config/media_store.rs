//! The store of media that several machines share.

use serde::Deserialize;

use super::env_vars;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(serde::Serialize, schemars::JsonSchema))]
#[cfg_attr(
    not(feature = "s3"),
    allow(dead_code, reason = "a build without stores only names the bucket it cannot use")
)]
pub(crate) struct MediaStoreConfig {
    /// The bucket of an S3 store that keeps media for several machines; the public root is then its cache. See
    /// [server.md](server.md#media). Default: the public root alone keeps them.
    pub(crate) bucket: String,
    /// What all keys in the bucket begin with.
    pub(crate) prefix: Option<String>,
    /// The store's address, such as `http://minio:9000`. Default: Amazon's for the region.
    pub(crate) endpoint: Option<String>,
    /// Its region.
    #[serde(default = "region")]
    pub(crate) region: String,
    /// The environment variable that holds the id of its access key.
    #[serde(default = "access_key")]
    pub(crate) access_key_env: String,
    /// The environment variable that holds the secret of that key.
    #[serde(default = "secret_key")]
    pub(crate) secret_key_env: String,
    /// The environment variable that holds the session token, which temporary keys have.
    #[serde(default = "session_token")]
    pub(crate) session_token_env: String,
    /// The size of the cache. Beyond it, files that the store has and that were not used for longest are removed; what was used
    /// within an hour stays.
    #[serde(default = "cache")]
    pub(crate) cache_bytes: u64,
    /// Seconds for one request, of at most 8 MiB; each is tried three times.
    #[serde(default = "timeout")]
    pub(crate) timeout_s: u64,
}

fn region() -> String {
    "us-east-1".to_owned()
}

fn access_key() -> String {
    env_vars::AWS_ACCESS_KEY_ID.to_owned()
}

fn secret_key() -> String {
    env_vars::AWS_SECRET_ACCESS_KEY.to_owned()
}

fn session_token() -> String {
    env_vars::AWS_SESSION_TOKEN.to_owned()
}

fn cache() -> u64 {
    20 << 30
}

fn timeout() -> u64 {
    60
}
