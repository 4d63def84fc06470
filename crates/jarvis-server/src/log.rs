//! Each request in the log: who asked what of which route, how it ended, and under which ids; never what was said.
//!
//! Lines of requests have the target [`REQUESTS`], those of what was refused for safety's sake [`SECURITY`], those of what is audited
//! [`AUDIT`]. Everything that is logged on
//! the way stands within the request's span, and so has its id.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use tonic::transport::server::TcpConnectInfo;
use tracing::{Instrument as _, Span, field};

use crate::guard;
use crate::listen::Peer;
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

/// Gives a request its id, counts it, and writes its line: also of one whose client went away.
pub(crate) async fn request(State(server): State<Server>, mut request: Request, next: Next) -> Response {
    let id = RequestId::of(request.headers());
    let method = word(request.method());
    let is_grpc = request.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(GRPC));
    if let Some(over_grpc) = request.extensions().get::<TcpConnectInfo>().and_then(TcpConnectInfo::remote_addr) {
        request.extensions_mut().insert(Peer(over_grpc.ip()));
    }
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map(|route| route.as_str().trim_end_matches("/{*rest}").trim_start_matches('/'));
    let route = match (route, is_grpc) {
        (Some(service), true) => service.to_owned(),
        (Some(route), false) => format!("/{route}"),
        (None, true) => "grpc".to_owned(),
        (None, false) => PAGE.to_owned(),
    };
    let address = guard::peer(request.extensions());
    macro_rules! span {
        ($($target:tt)*) => {
            tracing::error_span!(
                $($target)* "request",
                request_id = %id,
                method,
                route,
                status = field::Empty,
                grpc_status = field::Empty,
                run_id = field::Empty,
            )
        };
    }
    // Traces have what is of jarvis, and no probes.
    let span = if is_probe(&route) { span!(target: "probe",) } else { span!() };
    let named = [header::HOST, header::ORIGIN].map(|name| request.headers().get(name).cloned());
    request.extensions_mut().insert(id.clone());
    let mut line =
        Line { server, method, route, address, named, span: span.clone(), began: Instant::now(), is_open: true };
    let mut response = next.run(request).instrument(span).await;
    if let Ok(id) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(ID, id);
    }
    let code = response.extensions().get::<Refused>().map(|refused| refused.0);
    let grpc_status = response.headers().get("grpc-status").and_then(|status| status.to_str().ok()?.parse().ok());
    line.write(response.status().as_u16(), code, grpc_status, response.extensions().get::<Caller>());
    response
}

/// What content types of gRPC begin with.
const GRPC: &[u8] = b"application/grpc";

/// The route of what is no route: the files of the page, and paths that there are not.
const PAGE: &str = "page";

/// The status of a request whose client went away before the reply, as proxies log it.
const GONE: u16 = 499;

/// The line of a request that has not been written yet.
struct Line {
    server: Server,
    method: &'static str,
    route: String,
    address: Option<IpAddr>,
    /// By which host it was called, and from which origin.
    named: [Option<HeaderValue>; 2],
    span: Span,
    began: Instant,
    is_open: bool,
}

impl Line {
    fn write(&mut self, status: u16, code: Option<&'static str>, grpc_status: Option<u8>, caller: Option<&Caller>) {
        self.is_open = false;
        let Line { server, method, route, address, named, span, began, .. } = self;
        let took = began.elapsed();
        server.metrics.answered(method, route, status, took);
        span.record("status", i64::from(status)).record("grpc_status", grpc_status);
        let (ms, address) = (took.as_millis() as u64, address.map(field::display));
        let user = caller.map(Caller::name).filter(|name| !name.is_empty());
        span.in_scope(|| {
            match is_probe(route) && status < 400 && grpc_status.is_none_or(|status| status == 0) {
                true => tracing::debug!(target: REQUESTS, status, ms, user, address, "answered"),
                false => tracing::info!(target: REQUESTS, status, grpc_status, ms, user, address, code, "answered"),
            }
            if is_of_security(status, code, grpc_status) {
                let [host, origin] = named.each_ref().map(|value| value.as_ref().and_then(|value| value.to_str().ok()));
                tracing::warn!(target: SECURITY, status, grpc_status, user, address, host, origin, code, "refused");
            }
        });
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.is_open {
            self.write(GONE, Some("client_gone"), None, None);
        }
    }
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
    matches!(route, "/health" | "/ready" | "/metrics" | PAGE | "grpc.health.v1.Health")
}

/// Whether it was refused for who asked, or from where, and not for what was asked.
fn is_of_security(status: u16, code: Option<&str>, grpc_status: Option<u8>) -> bool {
    /// Not authenticated, and not permitted.
    const OF_GRPC: [u8; 2] = [16, 7];
    let is_slowed = code == Some("too_many_wrong_tokens");
    is_slowed || matches!(status, 401 | 403 | 421) || grpc_status.is_some_and(|status| OF_GRPC.contains(&status))
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
        for (status, code, grpc, is) in [
            (401, Some("unauthorized"), None, true),
            (403, Some("foreign_origin"), None, true),
            (421, None, None, true),
            (429, Some("too_many_wrong_tokens"), None, true),
            (429, Some("too_many_runs"), None, false),
            (404, Some("not_found"), None, false),
            (500, None, None, false),
            (200, None, Some(16), true),
            (200, None, Some(5), false),
        ] {
            assert_eq!(is_of_security(status, code, grpc), is, "{status} {code:?} {grpc:?}");
        }
    }
}
