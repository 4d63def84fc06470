//! The HTTP client of this crate: small JSON replies, bounded in size and time, from configured bases only.

use std::fmt;
use std::time::Duration;

use jarvis_plan::is_loopback;
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Proxy, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use secrecy::{ExposeSecret, SecretString};

/// The HTTP client cannot be built.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up the HTTP client")]
pub struct ClientError(#[from] reqwest::Error);

impl ClientError {
    /// What to try.
    pub fn hint(&self) -> &'static str {
        "check the proxy setting, and that CA certificates are installed"
    }
}

/// Why a call gave nothing. Its text never holds a token or a whole URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// No answer came in time.
    #[error("no answer in {0:?}")]
    Timeout(Duration),
    /// Nobody listens there.
    #[error("cannot connect")]
    Connect,
    /// Another status than 200, and what it means.
    #[error("HTTP {0}{1}")]
    Status(u16, &'static str),
    /// The body is larger than so many bytes.
    #[error("the answer is larger than {0} bytes")]
    TooLarge(usize),
    /// The body is not the JSON that was expected.
    #[error("the answer cannot be understood")]
    BadReply,
    /// It redirects in circles.
    #[error("too many redirects")]
    Redirects,
    /// The connection ended before the body did.
    #[error("the connection broke off")]
    Broken,
}

impl CallError {
    /// True when the same call may succeed in a moment.
    pub fn is_transient(&self) -> bool {
        match self {
            CallError::Timeout(_) | CallError::Connect | CallError::Broken => true,
            CallError::Status(code, _) => matches!(code, 408 | 425 | 429 | 500 | 502 | 503 | 504),
            CallError::TooLarge(_) | CallError::BadReply | CallError::Redirects => false,
        }
    }
}

/// Calls of one service by paths below its base: JSON in and out, bounded in size and time, nothing cached or retried.
#[derive(Clone)]
pub struct JsonClient {
    client: Client,
    base: Url,
    token: Option<SecretString>,
}

impl fmt::Debug for JsonClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonClient").field("base", &shown(Some(&self.base))).finish_non_exhaustive()
    }
}

impl JsonClient {
    /// A client of the service at `base`, with a bearer token when the service wants one.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn new(base: Url, token: Option<SecretString>, proxy: Option<&Url>) -> Result<JsonClient, ClientError> {
        Ok(JsonClient { client: client(&base, proxy)?, base, token })
    }

    /// Where the service is, without credentials, path and query.
    pub fn origin(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// Gets the JSON at a path, of at most `max` bytes, within `timeout`.
    ///
    /// # Errors
    /// When there is no answer, another status than 200, or another body than JSON.
    pub async fn get(&self, path: &[&str], max: usize, timeout: Duration) -> Result<Value, CallError> {
        let url = join(&self.base, path.iter().copied()).ok_or(CallError::Connect)?;
        read(get(&self.client, url, self.token.as_ref(), timeout).await?, max, timeout).await
    }

    /// Posts JSON to a path and reads the JSON that comes back, as [`JsonClient::get`] does.
    ///
    /// # Errors
    /// As [`JsonClient::get`].
    pub async fn post(&self, path: &[&str], body: &Value, max: usize, timeout: Duration) -> Result<Value, CallError> {
        let url = join(&self.base, path.iter().copied()).ok_or(CallError::Connect)?;
        let request = self.client.post(url).json(body);
        read(send(request, self.token.as_ref(), timeout).await?, max, timeout).await
    }
}

/// Builds the client for one base. Redirects are followed within the same host only, so that no token leaves it. What
/// runs on this machine is never asked through a proxy, whatever the environment says.
pub(crate) fn client(base: &Url, proxy: Option<&Url>) -> Result<Client, ClientError> {
    let redirects = Policy::custom(|attempt: Attempt<'_>| {
        let same = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
        if attempt.previous().len() > 5 {
            attempt.error("too many redirects")
        } else if same {
            attempt.follow()
        } else {
            attempt.stop()
        }
    });
    let mut builder = Client::builder()
        .redirect(redirects)
        .connect_timeout(Duration::from_secs(10))
        .user_agent(concat!("jarvis/", env!("CARGO_PKG_VERSION")));
    if is_loopback(base) {
        builder = builder.no_proxy();
    } else if let Some(proxy) = proxy {
        builder = builder.proxy(Proxy::all(proxy.clone())?);
    }
    Ok(builder.build()?)
}

/// An address for `Debug`: user names, passwords, paths and queries are left out.
pub(crate) fn shown(url: Option<&Url>) -> Option<String> {
    url.map(|url| url.origin().ascii_serialization())
}

/// `base` with path segments added; empty ones at its end do not count.
pub(crate) fn join<'a>(base: &Url, segments: impl IntoIterator<Item = &'a str>) -> Option<Url> {
    let mut url = base.clone();
    url.path_segments_mut().ok()?.pop_if_empty().extend(segments);
    Some(url)
}

/// The segments of a model id; `None` when it is not one that may stand in a path.
pub(crate) fn id_segments(id: &str) -> Option<Vec<&str>> {
    let segments: Vec<&str> = id.split('/').collect();
    let fine = segments.iter().all(|part| !part.is_empty() && *part != "." && *part != "..");
    (fine && segments.len() <= 3).then_some(segments)
}

/// Sends a GET; a status other than 200 is an error.
pub(crate) async fn get(
    client: &Client,
    url: Url,
    token: Option<&SecretString>,
    timeout: Duration,
) -> Result<Response, CallError> {
    send(client.get(url), token, timeout).await
}

async fn send(request: RequestBuilder, token: Option<&SecretString>, timeout: Duration) -> Result<Response, CallError> {
    let mut request = request.timeout(timeout);
    if let Some(token) = token {
        request = request.bearer_auth(token.expose_secret());
    }
    let response = request.send().await.map_err(|error| call_error(&error, timeout))?;
    match response.status() {
        StatusCode::OK => Ok(response),
        code => {
            let why = match code.as_u16() {
                401 => ": the token was refused",
                403 => ": access is not granted",
                404 => ": not known there",
                410 => ": this address is no longer served",
                429 => ": too many calls",
                _ => "",
            };
            Err(CallError::Status(code.as_u16(), why))
        }
    }
}

/// Reads a JSON reply of at most `max` bytes.
pub(crate) async fn read<T: DeserializeOwned>(
    mut response: Response,
    max: usize,
    timeout: Duration,
) -> Result<T, CallError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| call_error(&error, timeout))? {
        if body.len() + chunk.len() > max {
            return Err(CallError::TooLarge(max));
        }
        body.extend_from_slice(&chunk);
    }
    serde_json::from_slice(&body).map_err(|_| CallError::BadReply)
}

fn call_error(error: &reqwest::Error, timeout: Duration) -> CallError {
    if error.is_timeout() {
        CallError::Timeout(timeout)
    } else if error.is_redirect() {
        CallError::Redirects
    } else if error.is_connect() {
        CallError::Connect
    } else {
        CallError::Broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_told_apart() {
        let check = |url: &str, loopback: bool| assert_eq!(is_loopback(&Url::parse(url).unwrap()), loopback, "{url}");
        check("http://localhost:8005", true);
        check("http://localhost.", true);
        check("http://models.localhost", true);
        check("http://[::ffff:127.0.0.1]", true);
        check("http://127.0.0.9/x", true);
        check("http://[::1]:80", true);
        check("https://huggingface.co", false);
        check("http://localhost.example.org", false);
        check("http://notlocalhost", false);
        check("http://10.0.0.1", false);
    }

    #[test]
    fn addresses_are_joined() {
        let check = |base: &str, id: &str, whole: Option<&str>| {
            let base = Url::parse(base).unwrap();
            let url = id_segments(id).and_then(|id| join(&base, ["status"].into_iter().chain(id)));
            assert_eq!(url.as_ref().map(Url::as_str), whole, "{base} {id}");
        };
        check("http://h:1", "a/b", Some("http://h:1/status/a/b"));
        check("http://h:1/", "gpt2", Some("http://h:1/status/gpt2"));
        check("http://h:1/v1/", "a/b c?#", Some("http://h:1/v1/status/a/b%20c%3F%23"));
        check("http://h:1", "a/../b", None);
        check("http://h:1", "/a", None);
        check("http://h:1", "", None);
        check("http://h:1", "a/b/c/d", None);
        check("mailto:x@y", "a/b", None);
    }
}
