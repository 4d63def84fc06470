//! Each request in the log: who asked what of which route, how it ended, and under which ids; never what was said.
//!
//! Lines of requests have the target [`REQUESTS`], those of what was refused for safety's sake [`SECURITY`], those of what is audited
//! [`AUDIT`]. Everything that is logged on
//! the way stands within the request's span, and so has its id.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use jarvis_net::trace::TraceContext;
use tracing::{Instrument as _, field};

use crate::guard;
use crate::state::Server;
use crate::users::Caller;

/// The target of lines about requests.
pub(crate) const REQUESTS: &str = "jarvis::request";

/// The target of lines about what is audited, beside the file of the audit.
pub(crate) const AUDIT: &str = "jarvis::audit";

/// The target of lines about the server itself.
pub(crate) const SERVER: &str = "jarvis::server";

/// The target of lines about what was refused for safety's sake.
pub(crate) const SECURITY: &str = "jarvis::security";

const ID: &str = "x-request-id";

/// How a request is told from others: the caller's `x-request-id`, or one made here.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    fn of(headers: &HeaderMap) -> RequestId {
        let is_plain = |text: &&str| text.len() <= 64 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let given = headers.get(ID).and_then(|given| given.to_str().ok()).filter(|given| !given.is_empty());
        match given.filter(is_plain) {
            Some(given) => RequestId(given.into()),
            None => RequestId(uuid::Uuid::now_v7().to_string().into()),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a request was refused, beside the reply that says so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refused(pub(crate) &'static str);

/// Gives a request its id and its place in a trace, counts it, and writes its line.
pub(crate) async fn request(State(server): State<Server>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = RequestId::of(request.headers());
    let method = word(request.method());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map_or("page", |route| route.as_str().trim_end_matches("/{*rest}"));
    let address = guard::peer(request.extensions());
    let span =
        tracing::error_span!("request", request_id = %id, method, route, status = field::Empty, run_id = field::Empty);
    let span = TraceContext::of_headers(request.headers()).adopt(span);
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).instrument(span.clone()).await;
    if let Ok(id) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(ID, id);
    }
    let (status, took) = (response.status(), began.elapsed());
    span.record("status", i64::from(status.as_u16()));
    server.metrics.answered(method, route, status.as_u16(), took);
    span.in_scope(|| {
        let caller = response.extensions().get::<Caller>();
        let user = caller.map(Caller::name).filter(|name| !name.is_empty());
        let (ms, code) = (took.as_millis() as u64, response.extensions().get::<Refused>().map(|refused| refused.0));
        let (status, address) = (status.as_u16(), address.map(field::display));
        match is_probe(route) && status < 400 {
            true => tracing::debug!(target: REQUESTS, status, ms, user, address, "answered"),
            false => tracing::info!(target: REQUESTS, status, ms, user, address, code, "answered"),
        }
        if is_of_security(response.status(), code) {
            tracing::warn!(target: SECURITY, status, user, address, code, "refused");
        }
    });
    response
}

/// A method, as a label.
fn word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        Method::HEAD => "HEAD",
        _ => "other",
    }
}

/// Routes that are asked every few seconds by machines, and the page's own files: nobody reads their lines.
fn is_probe(route: &str) -> bool {
    matches!(route, "/health" | "/ready" | "/metrics" | "page" | "/grpc.health.v1.Health")
}

/// Whether it was refused for who asked, or from where, and not for what was asked.
fn is_of_security(status: StatusCode, code: Option<&str>) -> bool {
    let is_slowed = code == Some("too_many_wrong_tokens");
    is_slowed || matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_callers_are_kept_where_they_are_plain() {
        for (given, kept) in [
            ("abc-123", true),
            ("", false),
            ("with space", false),
            ("forged\u{1b}[2K", false),
            (&"a".repeat(65), false),
        ] {
            let mut headers = HeaderMap::new();
            if let Ok(value) = HeaderValue::from_bytes(given.as_bytes()) {
                headers.insert(ID, value);
            }
            assert_eq!(RequestId::of(&headers).as_str() == given, kept, "{given:?}");
        }
    }

    #[test]
    fn refusals_of_callers_are_told_from_those_of_requests() {
        for (status, code, is) in [
            (401, Some("unauthorized"), true),
            (403, Some("foreign_origin"), true),
            (421, None, true),
            (429, Some("too_many_wrong_tokens"), true),
            (429, Some("too_many_runs"), false),
            (404, Some("not_found"), false),
            (500, None, false),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            assert_eq!(is_of_security(status, code), is, "{status} {code:?}");
        }
    }
}
