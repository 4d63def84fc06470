//! The HTTP client, its routes and redirects, bodies with a size limit, and the cause of a failed call.

use std::error::Error;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Proxy, RequestBuilder, Response};
use tokio::sync::OnceCell;
use url::{Host, Url};

use crate::causes::innermost;
use crate::policy::{PolicyResolver, without_secrets};
use crate::text::{Secret, shorten};
use crate::trace::TraceContext;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;

#[derive(Debug, Clone, Default)]
pub enum Route {
    /// Through the proxy named by the environment (`HTTPS_PROXY`, `ALL_PROXY`, …), if any.
    #[default]
    Environment,
    Proxy(Secret),
    Direct,
}

impl Route {
    /// The route to a base address. This machine is always reached directly.
    pub fn to(base: &Url, proxy: Option<&Secret>) -> Route {
        match proxy {
            _ if is_loopback(base) => Route::Direct,
            Some(proxy) => Route::Proxy(proxy.clone()),
            None => Route::Environment,
        }
    }
}

pub fn is_loopback(address: &Url) -> bool {
    match address.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
        None => false,
    }
}

/// The redirects that a client follows, five at most. A response that redirects elsewhere is returned as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Redirects {
    /// Credentials and prompts stay with the host they were meant for.
    #[default]
    Never,
    SameOrigin,
    /// Within the origin, and only 307 and 308, which keep method and body.
    SameOriginAndMethod,
}

impl From<Redirects> for Policy {
    fn from(redirects: Redirects) -> Policy {
        if redirects == Redirects::Never {
            return Policy::none();
        }
        Policy::custom(move |attempt| {
            let origin = attempt.previous().first().map(Url::origin);
            let same_origin = origin == Some(attempt.url().origin());
            let same_method = matches!(attempt.status().as_u16(), 307 | 308);
            let too_many = attempt.previous().len() > MAX_REDIRECTS;
            match redirects {
                Redirects::SameOrigin if too_many => attempt.error("too many redirects"),
                Redirects::SameOrigin if same_origin => attempt.follow(),
                Redirects::SameOriginAndMethod if same_origin && same_method && !too_many => attempt.follow(),
                Redirects::Never | Redirects::SameOrigin | Redirects::SameOriginAndMethod => attempt.stop(),
            }
        })
    }
}

#[derive(Clone)]
pub struct ClientOptions {
    pub route: Route,
    pub redirects: Redirects,
    /// 10 s by default.
    pub connect_timeout: Duration,
    pub headers: HeaderMap,
    /// Whether idle connections are reused; true by default.
    pub keep_alive: bool,
    pub resolver: Option<PolicyResolver>,
}

impl Default for ClientOptions {
    fn default() -> ClientOptions {
        ClientOptions {
            route: Route::default(),
            redirects: Redirects::default(),
            connect_timeout: CONNECT_TIMEOUT,
            headers: HeaderMap::new(),
            keep_alive: true,
            resolver: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    #[error("the proxy {address} cannot be used: {reason}")]
    Proxy {
        /// Without credentials.
        address: String,
        reason: String,
    },
    #[error("the HTTP client cannot be built: {0}")]
    Build(String),
}

impl ClientError {
    pub fn hint(&self) -> &'static str {
        match self {
            ClientError::Proxy { .. } => "Give the proxy as `http://host:port`",
            ClientError::Build(_) => {
                "Install the system's CA certificates (the package `ca-certificates` on most systems)"
            }
        }
    }
}

/// Builds a client. Reads the system's certificates, which takes milliseconds; [`LazyClient`] does it off the runtime.
///
/// # Errors
/// When the route's proxy is not an address, or the certificates cannot be read.
pub fn client(options: ClientOptions) -> Result<Client, ClientError> {
    let mut builder = builder()
        .user_agent(concat!("jarvis/", env!("CARGO_PKG_VERSION")))
        .default_headers(options.headers)
        .redirect(options.redirects.into())
        .referer(false)
        .connect_timeout(options.connect_timeout);
    if !options.keep_alive {
        builder = builder.pool_max_idle_per_host(0);
    }
    if let Some(resolver) = options.resolver {
        builder = builder.dns_resolver(resolver);
    }
    let builder = match options.route {
        Route::Environment => builder,
        Route::Direct => builder.no_proxy(),
        Route::Proxy(address) => builder.proxy(proxy(&address)?),
    };
    builder.build().map_err(|error| ClientError::Build(cause(&error)))
}

/// A client yet without any option, on the cryptography that this process uses for TLS: *ring*, unless it has installed its own.
#[allow(clippy::disallowed_methods, reason = "this is the one place that builds clients")]
pub fn builder() -> ClientBuilder {
    // It is refused where the process has one, which is then used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
}

/// Checks the address of a proxy, whether or not it will be used.
///
/// # Errors
/// [`ClientError::Proxy`].
pub fn check_proxy(address: &Secret) -> Result<(), ClientError> {
    proxy(address).map(drop)
}

fn proxy(address: &Secret) -> Result<Proxy, ClientError> {
    Proxy::all(address.expose())
        .map_err(|error| ClientError::Proxy { address: without_secrets(address.expose()), reason: cause(&error) })
}

/// Sends a request, with the place in the trace that the call has: for services that work for jarvis. What is merely fetched is not told.
///
/// # Errors
/// When no response came.
pub async fn send(request: RequestBuilder) -> Result<Response, reqwest::Error> {
    request.headers(TraceContext::current().headers().collect()).send().await
}

/// A client that is built when it is first needed, off the runtime's threads: reading the certificate store takes longer
/// than many a whole run.
pub struct LazyClient {
    options: ClientOptions,
    client: OnceCell<Client>,
}

impl LazyClient {
    pub fn new(options: ClientOptions) -> LazyClient {
        LazyClient { options, client: OnceCell::new() }
    }

    /// # Errors
    /// As [`client`].
    pub async fn get(&self) -> Result<&Client, ClientError> {
        let build = || async {
            let options = self.options.clone();
            match tokio::task::spawn_blocking(move || client(options)).await {
                Ok(built) => built,
                Err(error) => Err(ClientError::Build(error.to_string())),
            }
        };
        self.client.get_or_try_init(build).await
    }
}

impl std::fmt::Debug for LazyClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LazyClient").field("route", &self.options.route).finish_non_exhaustive()
    }
}

#[derive(Debug)]
pub struct CappedBody {
    response: Response,
    /// Bytes that may still come.
    left: u64,
    max: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("it is longer than {0} bytes")]
    TooLarge(u64),
    #[error("the connection broke before its end: {}", cause(.0))]
    Broken(#[source] reqwest::Error),
}

impl CappedBody {
    pub fn new(response: Response, max: u64) -> CappedBody {
        CappedBody { response, left: max, max }
    }

    /// The next piece; `None` at the end.
    ///
    /// # Errors
    /// When the limit is passed or the connection breaks.
    pub async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        let Some(piece) = self.response.chunk().await.map_err(BodyError::Broken)? else { return Ok(None) };
        self.left = self.left.checked_sub(piece.len() as u64).ok_or(BodyError::TooLarge(self.max))?;
        Ok(Some(piece))
    }

    /// Reads to the end. A body that announces more than the limit is refused before anything is read.
    ///
    /// # Errors
    /// Why the body is incomplete, and what came of it.
    pub async fn read(mut self) -> Result<Bytes, (BodyError, Bytes)> {
        if self.response.content_length().is_some_and(|length| length > self.max) {
            return Err((BodyError::TooLarge(self.max), Bytes::new()));
        }
        let mut body = BytesMut::new();
        loop {
            match self.next().await {
                Ok(Some(piece)) => body.extend_from_slice(&piece),
                Ok(None) => return Ok(body.freeze()),
                Err(error) => return Err((error, body.freeze())),
            }
        }
    }
}

/// Reads a body of at most `max` bytes.
///
/// # Errors
/// As [`CappedBody::read`], without what came.
pub async fn read_capped(response: Response, max: u64) -> Result<Bytes, BodyError> {
    CappedBody::new(response, max).read().await.map_err(|(error, _)| error)
}

/// The innermost cause of an error: the outer ones repeat the address, which may hold a key.
pub fn cause(error: &(dyn Error + 'static)) -> String {
    let innermost = innermost(error);
    match innermost.downcast_ref::<reqwest::Error>() {
        // Its text is the address, query included.
        Some(error) => match () {
            () if error.is_timeout() => "it timed out",
            () if error.is_connect() => "no connection",
            () if error.is_redirect() => "too many redirects",
            () if error.is_body() || error.is_decode() => "the answer broke off",
            () => "the request failed",
        }
        .to_owned(),
        None => shorten(&innermost.to_string(), 200),
    }
}

/// The base with more path segments, whether or not it ends in `/`; `None` when it cannot have a path.
pub fn join<'a>(base: &Url, segments: impl IntoIterator<Item = &'a str>) -> Option<Url> {
    let mut url = base.clone();
    url.path_segments_mut().ok()?.pop_if_empty().extend(segments);
    Some(url)
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::*;

    #[test]
    fn this_machine_is_reached_directly() {
        let proxy = Secret::new("http://proxy.test:3128");
        for (base, local) in rows::<(String, bool)>(include_str!("http.json"), "routes") {
            let base = Url::parse(&base).unwrap();
            let route = |proxy| format!("{:?}", Route::to(&base, proxy));
            let (with, without) = if local { ("Direct", "Direct") } else { ("Proxy", "Environment") };
            assert!(route(proxy.as_ref()).starts_with(with) && route(None).starts_with(without), "{base}");
        }
    }

    #[test]
    fn a_proxy_that_is_no_address_is_refused_without_its_password() {
        let options =
            |address| ClientOptions { route: Route::Proxy(Secret::new(address).unwrap()), ..Default::default() };
        let error = client(options("http://u:s3cret@[")).unwrap_err();
        assert!(error.to_string().starts_with("the proxy (not an address) cannot be used: "), "{error}");
        assert!(!format!("{error:?}").contains("s3cret"));
        assert!(client(options("http://u:s3cret@proxy.test:3128")).is_ok());
    }

    #[test]
    fn addresses_are_joined() {
        for (base, joined) in [
            ("http://h:1", Some("http://h:1/status/a%20b%3F")),
            ("http://h:1/", Some("http://h:1/status/a%20b%3F")),
            ("http://h:1/v1/", Some("http://h:1/v1/status/a%20b%3F")),
            ("mailto:x@y", None),
        ] {
            let url = join(&Url::parse(base).unwrap(), ["status", "a b?"]);
            assert_eq!(url.as_ref().map(Url::as_str), joined, "{base}");
        }
    }
}
