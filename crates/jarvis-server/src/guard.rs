//! Who may call: the Host and Origin of a request, the bearer token and the session cookie, and the headers that keep a
//! browser from doing what no page of ours asks for.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jarvis_net::Secret;
use jarvis_net::trace::TraceContext;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tracing::Span;
use url::Url;

use crate::error::ApiError;
use crate::listen::Peer;
use crate::log::RequestId;
use crate::options::Options;
use crate::state::Server;
use crate::users::Caller;

/// The cookie that a browser carries after it logged in.
const COOKIE: &str = "jarvis_session";

/// What a page of ours may load and do: its own files, and pictures and sounds that it holds in memory.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    media-src 'self' blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Checks where a request comes from and goes to.
pub(crate) async fn origin(State(server): State<Server>, request: Request, next: Next) -> Response {
    let named_freely = server.users.need_token() && server.options.allowed_hosts.is_empty();
    let (headers, host) = (request.headers(), request.uri().host());
    match check_origin(&server.options, named_freely, headers, host, request.method()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Looks who sends a request; the routes behind it find the [`Caller`] in it.
pub(crate) async fn token(State(server): State<Server>, mut request: Request, next: Next) -> Response {
    match caller(&server, request.headers(), peer(request.extensions())) {
        Ok(caller) => {
            let caller = caller.asking(request.extensions().get::<RequestId>().cloned());
            // Only of whom it is known who they are: a place in a trace is a word on whether it is kept.
            place(request.headers());
            request.extensions_mut().insert(caller.clone());
            let mut response = next.run(request).await;
            response.extensions_mut().insert(caller);
            response
        }
        Err(error) => error.into_response(),
    }
}

/// Puts the request of now where its caller stands in a trace.
pub(crate) fn place(headers: &HeaderMap) {
    TraceContext::of_headers(headers).adopt(Span::current());
}

/// Looks who asks for a file: whoever has a link to it that was signed here, or else a [`Caller`].
pub(crate) async fn link_or_token(State(server): State<Server>, mut request: Request, next: Next) -> Response {
    if server.options.link_key.is_good(request.uri()) {
        request.extensions_mut().insert(Linked);
        return next.run(request).await;
    }
    token(State(server), request, next).await
}

/// Says that a request came by a signed link, and may have the file that the link leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Linked;

/// Gives every reply the headers that make a browser careful.
pub(crate) async fn dress(request: Request, next: Next) -> Response {
    let bulky = is_bulky(request.headers());
    let mut response = next.run(request).await;
    let refused = response.status().is_client_error() || response.status().is_server_error();
    let headers = response.headers_mut();
    // The body of a refused request may be unread; then the connection cannot be reused.
    if bulky && refused {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if !headers.contains_key("cross-origin-resource-policy") {
        headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    }
    if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(PAGE_POLICY));
    }
    response
}

/// The most bytes of a body with files in it: in base64 they are a third longer, and what is around them takes a little.
pub(crate) fn most_with_files(options: &Options) -> usize {
    options.max_upload / 3 * 4 + (64 << 10)
}

/// True for a body that may be too long to be read for the sake of the connection alone.
fn is_bulky(headers: &HeaderMap) -> bool {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    headers.contains_key(header::TRANSFER_ENCODING) || length.is_some_and(|length| length > 64 << 10)
}

/// True for a name or address that always means this machine.
pub(crate) fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A page elsewhere may make a name of its own point to this machine and call us by it, so only known names are served
/// where there is no token; and a page of another origin may call only when it is on the list.
fn check_origin(
    options: &Options,
    named_freely: bool,
    headers: &HeaderMap,
    uri_host: Option<&str>,
    method: &Method,
) -> Result<(), ApiError> {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).or(uri_host).unwrap_or_default();
    let name = without_port(host);
    let known = is_this_machine(name) || options.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name));
    if !known && !named_freely {
        return Err(ApiError::new(
            StatusCode::MISDIRECTED_REQUEST,
            "unknown_host",
            "this server is not called by that name",
        )
        .hint("add the name to `server.allowed_hosts` in its configuration"));
    }
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    let same = Url::parse(origin).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && authority(&url) == host);
    let listed = options.cors_origins.iter().any(|allowed| allowed == origin);
    if same || listed || (method == Method::GET && origin == "null") {
        return Ok(());
    }
    Err(ApiError::new(StatusCode::FORBIDDEN, "foreign_origin", "pages of that origin may not call this server")
        .hint("add the origin to `server.cors_origins` in its configuration"))
}

fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => name,
        _ => host,
    }
}

/// Who sends a request: by the token that it carries, or by the cookie of a browser that is logged in.
pub(crate) fn caller(server: &Server, headers: &HeaderMap, peer: Option<IpAddr>) -> Result<Caller, ApiError> {
    known(server, headers, peer).map(|caller| caller.from(peer))
}

/// Who has a token; a wrong one is counted for the address that it comes from.
pub(crate) fn with_token(server: &Server, given: &str, peer: Option<IpAddr>) -> Result<Caller, ApiError> {
    let users = &server.users;
    let now = Instant::now();
    let slowed = |seconds: u64| {
        ApiError::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_wrong_tokens",
            "too many wrong tokens came from this address",
        )
        .hint("wait, and send the right one")
        .retry_after(seconds)
    };
    let Some(peer) = peer.filter(|_| users.have_tokens()) else {
        return users.with_token(given).ok_or_else(|| refused("the token is wrong"));
    };
    if let Some(seconds) = server.wrong_tokens.blocked(peer, now) {
        return Err(slowed(seconds));
    }
    users.with_token(given).ok_or_else(|| match server.wrong_tokens.count(peer, now) {
        Some(seconds) => slowed(seconds),
        None => refused("the token is wrong"),
    })
}

fn known(server: &Server, headers: &HeaderMap, peer: Option<IpAddr>) -> Result<Caller, ApiError> {
    let logged_in = || cookie(headers).and_then(|word| server.sessions.whose(word));
    if let Some(given) = bearer(headers) {
        // A browser that is logged in may try a wrong token of the administrator's.
        let or_else = |error| logged_in().or_else(|| server.users.without_token()).ok_or(error);
        return with_token(server, given, peer).or_else(or_else);
    }
    if let Some(caller) = server.users.without_token().or_else(logged_in) {
        return Ok(caller);
    }
    Err(refused(if cookie(headers).is_some() { "the session has expired" } else { "a token is needed" }))
}

/// The address that a request came from over HTTP.
pub(crate) fn peer(extensions: &Extensions) -> Option<IpAddr> {
    extensions.get::<Peer>().map(|peer| peer.0)
}

/// Checks that a request carries the token of an administrator; `command` does on the machine itself what was asked for.
pub(crate) fn check_administrator(server: &Server, caller: &Caller, command: &str) -> Result<(), ApiError> {
    if caller.is_administrator() {
        return Ok(());
    }
    let refused = |code, message: &str| ApiError::new(StatusCode::FORBIDDEN, code, message);
    Err(match (server.users.have_administrator(), server.users.are_several()) {
        (true, _) => refused("not_administrator", "only an administrator may do this")
            .hint("send the header `Authorization: Bearer TOKEN` with the administrator's token"),
        (false, true) => refused("no_administrator", "this server has no administrator").hint(format!(
            "run `{command}` on its machine, or give one of the users of `server.tokens` the right `admin`"
        )),
        (false, false) => refused("no_administrator", "this server has no administrator").hint(format!(
            "run `{command}` on its machine, or start it with an administrator's token: in the variable that \
             `server.admin_token_env` names, or in `JARVIS_ADMIN_TOKEN`"
        )),
    })
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, given) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| given.trim())
}

fn refused(message: &str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
        .hint("send the header `Authorization: Bearer TOKEN` with the token of the server, or your own where it has several users")
}

/// Words that people put into tokens, and that those who guess them try first.
const KNOWN_WORDS: [&str; 22] = [
    "password",
    "passwort",
    "secret",
    "token",
    "changeme",
    "change",
    "admin",
    "root",
    "user",
    "jarvis",
    "server",
    "default",
    "example",
    "test",
    "letmein",
    "welcome",
    "qwerty",
    "abc",
    "123456789",
    "12345678",
    "123456",
    "1234",
];

/// Why a token can be guessed; `None` when it cannot.
pub(crate) fn weakness(token: &str) -> Option<&'static str> {
    const LEAST: usize = 16;
    let letters: BTreeSet<char> = token.chars().collect();
    if token.chars().count() < LEAST {
        return Some("it has fewer than 16 characters");
    }
    if letters.len() < LEAST / 2 {
        return Some("it has fewer than 8 different characters");
    }
    let words = KNOWN_WORDS.iter().fold(token.to_lowercase(), |left, word| left.replace(word, ""));
    let left = words.chars().filter(|c| c.is_alphanumeric()).count();
    (left < LEAST / 2).then_some("it is made of well-known words")
}

/// True when what was given is the token. Digests are compared, so that neither content nor length shows in the time.
pub(crate) fn is_token(token: &Secret, given: &str) -> bool {
    same(&Sha256::digest(token.expose()), &Sha256::digest(given))
}

fn same(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// A reply that logs a browser in; the cookie is a word that only this server knows, and not the token.
pub(crate) fn log_in(
    server: &Server,
    caller: &Caller,
    token: Secret,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let word = server.sessions.open(caller.in_browser(), token.clone());
    // The tokens may have been read anew since this one was looked at.
    if server.users.still(&token).is_none() {
        server.sessions.close(&word);
        return Err(refused("the token is wrong"));
    }
    Ok(with_cookie(&word, "2592000", headers))
}

/// A reply that logs a browser out: its cookie is good for nothing any more.
pub(crate) fn log_out(server: &Server, headers: &HeaderMap) -> Response {
    if let Some(word) = cookie(headers) {
        server.sessions.close(word);
    }
    with_cookie("", "0", headers)
}

fn with_cookie(value: &str, age: &str, headers: &HeaderMap) -> Response {
    let secure = if is_over_tls(headers) { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Strict{secure}");
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// Where a client reaches this server: by the name that it called it.
pub(crate) fn base(headers: &HeaderMap) -> String {
    let scheme = if is_over_tls(headers) { "https" } else { "http" };
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    format!("{scheme}://{}", host.unwrap_or("127.0.0.1:8004"))
}

/// True when a proxy says that the browser's side of it is encrypted.
pub(crate) fn is_over_tls(headers: &HeaderMap) -> bool {
    headers.get("x-forwarded-proto").is_some_and(|scheme| scheme.as_bytes().eq_ignore_ascii_case(b"https"))
}

#[cfg(test)]
mod tests;
