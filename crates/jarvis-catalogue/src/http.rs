//! Calls of services with small JSON replies, bounded in size and time, below configured base addresses only.

use std::fmt;
use std::time::Duration;

use jarvis_net::Secret;
use jarvis_net::http::{self, BodyError, ClientError, ClientOptions, Redirects, Route, join, read_capped};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error("no answer in {0:?}")]
    Timeout(Duration),
    #[error("cannot connect")]
    Connect,
    /// A status other than 200, and what it means.
    #[error("HTTP {0}{1}")]
    Status(u16, &'static str),
    #[error("the answer is larger than {0} bytes")]
    TooLarge(u64),
    #[error("the answer cannot be understood")]
    BadReply,
    #[error("too many redirects")]
    Redirects,
    #[error("the connection broke off")]
    Broken,
}

impl CallError {
    pub fn is_transient(&self) -> bool {
        match self {
            CallError::Timeout(_) | CallError::Connect | CallError::Broken => true,
            CallError::Status(code, _) => matches!(code, 408 | 425 | 429 | 500 | 502 | 503 | 504),
            CallError::TooLarge(_) | CallError::BadReply | CallError::Redirects => false,
        }
    }
}

/// A service that is called by paths below its base: JSON in and out, bounded in size and time, nothing cached or retried.
#[derive(Clone)]
pub struct JsonClient {
    client: Client,
    base: Url,
    token: Option<Secret>,
}

impl fmt::Debug for JsonClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonClient").field("base", &shown(Some(&self.base))).finish_non_exhaustive()
    }
}

impl JsonClient {
    /// A client of the service at `base`; `token` is sent as a bearer token.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn new(base: Url, token: Option<Secret>, proxy: Option<&Url>) -> Result<JsonClient, ClientError> {
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
    pub async fn get(&self, path: &[&str], max: u64, timeout: Duration) -> Result<Value, CallError> {
        let url = join(&self.base, path.iter().copied()).ok_or(CallError::Connect)?;
        read(get(&self.client, url, self.token.as_ref(), timeout).await?, max, timeout).await
    }

    /// Posts JSON to a path and reads the JSON that comes back, as [`JsonClient::get`] does.
    ///
    /// # Errors
    /// As [`JsonClient::get`].
    pub async fn post(&self, path: &[&str], body: &Value, max: u64, timeout: Duration) -> Result<Value, CallError> {
        let url = join(&self.base, path.iter().copied()).ok_or(CallError::Connect)?;
        let request = self.client.post(url).json(body);
        read(send(request, self.token.as_ref(), timeout).await?, max, timeout).await
    }
}

/// Builds the client for one base. Redirects stay within its origin, so that no token leaves it.
pub(crate) fn client(base: &Url, proxy: Option<&Url>) -> Result<Client, ClientError> {
    let proxy = proxy.and_then(|proxy| Secret::new(proxy.as_str()));
    let route = Route::to(base, proxy.as_ref());
    http::client(ClientOptions { route, redirects: Redirects::SameOrigin, ..ClientOptions::default() })
}

/// An address for `Debug`: user names, passwords, paths and queries are left out.
pub(crate) fn shown(url: Option<&Url>) -> Option<String> {
    url.map(|url| url.origin().ascii_serialization())
}

/// The segments of a model id; `None` when it is not one that may stand in a path.
pub(crate) fn id_segments(id: &str) -> Option<Vec<&str>> {
    let segments: Vec<&str> = id.split('/').collect();
    let fine = segments.iter().all(|part| !part.is_empty() && *part != "." && *part != "..");
    (fine && segments.len() <= 3).then_some(segments)
}

pub(crate) async fn get(
    client: &Client,
    url: Url,
    token: Option<&Secret>,
    timeout: Duration,
) -> Result<Response, CallError> {
    send(client.get(url), token, timeout).await
}

async fn send(request: RequestBuilder, token: Option<&Secret>, timeout: Duration) -> Result<Response, CallError> {
    let mut request = request.timeout(timeout);
    if let Some(token) = token {
        request = request.bearer_auth(token.expose());
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

pub(crate) async fn read<T: DeserializeOwned>(response: Response, max: u64, timeout: Duration) -> Result<T, CallError> {
    let body = read_capped(response, max).await.map_err(|error| match error {
        BodyError::TooLarge(max) => CallError::TooLarge(max),
        BodyError::Broken(error) => call_error(&error, timeout),
    })?;
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
