//! The one place where an argument becomes bytes: public paths, data URLs and web addresses, each under its policy.

mod data_url;
mod fetch;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jarvis_plan::{ErrorCode, Kind, TaskError};
use jarvis_store::{Media, MediaError, StoreFault, blocking, sniff};
use url::Url;

pub(crate) use data_url::base64;

use crate::heavy::Heavy;
use jarvis_net::UrlPolicy;
use jarvis_net::http::LazyClient;
use jarvis_net::policy::system_lookup;
use jarvis_net::text::shorten;

#[derive(Debug, Clone, Copy)]
pub struct InputLimits {
    pub max_bytes: u64,
    pub max_pixels: u64,
    pub fetch_timeout: Duration,
}

impl Default for InputLimits {
    fn default() -> InputLimits {
        InputLimits { max_bytes: 64 << 20, max_pixels: 120_000_000, fetch_timeout: Duration::from_secs(60) }
    }
}

/// Turns arguments into bytes and stores results. Shared by all workers.
pub struct Inputs {
    media: Arc<Media>,
    policy: UrlPolicy,
    limits: InputLimits,
    heavy: Heavy,
    client: LazyClient,
}

impl std::fmt::Debug for Inputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inputs")
            .field("media", &self.media)
            .field("policy", &self.policy)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Inputs {
    /// Inputs over one public root.
    ///
    /// # Errors
    /// `NotConfigured` when an entry of [`UrlPolicy::allow_hosts`] is not a bare host.
    pub fn new(media: Arc<Media>, policy: UrlPolicy, limits: InputLimits) -> Result<Inputs, TaskError> {
        for host in &policy.allow_hosts {
            if url::Host::parse(host).is_err() && host.parse::<std::net::IpAddr>().is_err() {
                return Err(TaskError::new(
                    ErrorCode::NotConfigured,
                    format!("the allowed host `{}` is not a host name or address", shorten(host, 80)),
                )
                .hint("Give the host alone, without scheme, port and path"));
            }
        }
        let client = fetch::client(policy.clone(), system_lookup(), limits.fetch_timeout);
        Ok(Inputs { media, policy, limits, heavy: Heavy::new(), client })
    }

    /// The same with another way to find the addresses of names.
    #[cfg(test)]
    pub(crate) fn with_lookup(mut self, lookup: jarvis_net::policy::Lookup) -> Inputs {
        self.client = fetch::client(self.policy.clone(), lookup, self.limits.fetch_timeout);
        self
    }

    pub fn media(&self) -> &Arc<Media> {
        &self.media
    }

    /// The threads for pixel and sample work, which all workers share.
    pub(crate) fn heavy(&self) -> &Heavy {
        &self.heavy
    }

    pub fn limits(&self) -> InputLimits {
        self.limits
    }

    pub fn policy(&self) -> &UrlPolicy {
        &self.policy
    }

    /// The bytes that a media argument names, at most `max_bytes`. What they really are is sniffed, and an input of
    /// another kind than `kind` is an error that says what it is instead.
    ///
    /// # Errors
    /// `InvalidInput` for an empty, malformed or mistyped input, `Forbidden` when a policy refuses it, `NotFound`,
    /// `TooLarge`, `Timeout`, `Unavailable` when its host is down, `Internal` when the disk fails.
    pub async fn bytes(&self, arg: &str, kind: Kind) -> Result<Bytes, TaskError> {
        let arg = arg.trim();
        let (what, bytes) = match Source::of(arg)? {
            Source::Data(content) => {
                let (content, limit) = (content.to_owned(), self.limits.max_bytes);
                let decode = move || data_url::decode(&content, limit).map(Bytes::from);
                ("the data URL".to_owned(), blocking(decode).await?)
            }
            Source::Web(url) => (jarvis_net::policy::shown(&url), self.fetch(url).await?),
            Source::Public(path) => (format!("`{}`", shorten(path, 200)), self.read(path).await?),
        };
        sniff::require(&what, &bytes, kind)?;
        Ok(bytes)
    }

    /// Stores a result and returns its display path. Does not block the runtime.
    ///
    /// # Errors
    /// `TooLarge` beyond `max_bytes`, `Internal` when the disk fails.
    pub async fn store(&self, kind: Kind, extension: &str, bytes: Vec<u8>) -> Result<String, TaskError> {
        self.check_size("the result", bytes.len() as u64)?;
        let media = Arc::clone(&self.media);
        let extension = extension.to_owned();
        blocking(move || media.create(kind, &extension, &bytes).map_err(|error| media_error(&error))).await
    }

    async fn read(&self, path: &str) -> Result<Bytes, TaskError> {
        let media = Arc::clone(&self.media);
        let limit = self.limits.max_bytes;
        let path = path.to_owned();
        blocking(move || media.read(&path, limit).map(Bytes::from).map_err(|error| media_error(&error))).await
    }

    fn check_size(&self, what: &str, size: u64) -> Result<(), TaskError> {
        if size > self.limits.max_bytes { Err(too_large(what, self.limits.max_bytes)) } else { Ok(()) }
    }
}

/// The display path of the file that an argument would be opened as, if it is no data and no address.
pub(crate) fn public_path(arg: &str) -> Option<String> {
    match Source::of(arg.trim()) {
        Ok(Source::Public(path)) => Media::display(path).ok(),
        Ok(Source::Data(_) | Source::Web(_)) | Err(_) => None,
    }
}

/// What an argument names, before anything is opened.
enum Source<'a> {
    Data(&'a str),
    Web(Url),
    Public(&'a str),
}

impl Source<'_> {
    fn of(arg: &str) -> Result<Source<'_>, TaskError> {
        if arg.is_empty() {
            return Err(TaskError::new(ErrorCode::MissingArgument, "the input is empty"));
        }
        let scheme = arg.split_once(':').map_or("", |(scheme, _)| scheme);
        // One letter is a drive, which the public folder refuses in its own words.
        let is_scheme = scheme.len() > 1
            && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        if !is_scheme {
            return Ok(Source::Public(arg));
        }
        if scheme.eq_ignore_ascii_case("data") {
            return Ok(Source::Data(arg.get("data:".len()..).expect("the scheme and its colon were found")));
        }
        if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") {
            let url = Url::parse(arg).map_err(|error| {
                TaskError::new(ErrorCode::InvalidInput, format!("`{}` is not a web address: {error}", shorten(arg, 80)))
            })?;
            return Ok(Source::Web(url));
        }
        Err(TaskError::new(
            ErrorCode::Forbidden,
            format!("only http, https and data addresses are read, not `{}:`", shorten(scheme, 20)),
        ))
    }
}

/// Whether an argument names a file under the public root, rather than a web address or data.
pub(crate) fn is_public(arg: &str) -> bool {
    matches!(Source::of(arg.trim()), Ok(Source::Public(_)))
}

pub(crate) fn too_large(what: &str, limit: u64) -> TaskError {
    TaskError::new(ErrorCode::TooLarge, format!("{what} is larger than the limit of {limit} bytes"))
}

pub(crate) fn media_error(error: &MediaError) -> TaskError {
    let code = match error {
        MediaError::Forbidden { .. } => ErrorCode::Forbidden,
        MediaError::NotFound { .. } => ErrorCode::NotFound,
        MediaError::TooLarge { .. } => ErrorCode::TooLarge,
        MediaError::Io { .. } => ErrorCode::Internal,
        MediaError::Store { fault, .. } => match fault {
            StoreFault::Refused | StoreFault::NoBucket => ErrorCode::NotConfigured,
            StoreFault::Unreachable | StoreFault::Failing => ErrorCode::Unavailable,
            StoreFault::Slow => ErrorCode::Timeout,
            StoreFault::Damaged => ErrorCode::Internal,
        },
    };
    let task_error = TaskError::new(code, shorten(&error.to_string(), 400));
    match (code, error.hint()) {
        (ErrorCode::NotFound, _) => task_error.hint("name a file in the request, or attach one"),
        (_, Some(hint)) => task_error.hint(hint),
        (_, None) => task_error,
    }
}

#[cfg(test)]
mod tests;
