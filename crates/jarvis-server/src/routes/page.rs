//! The web page and the description of the API, compressed into the binary by `build.rs`.

use std::io::Read as _;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{self, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;

use crate::error::ApiError;
use crate::state::Server;

struct File {
    name: &'static str,
    /// As gzip packs it.
    packed: &'static [u8],
    /// Changes with the content.
    tag: &'static str,
}

static FILES: &[File] = &include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The description of a server of models alone, which takes the place of the whole one.
const MODELS_API: &str = "openapi.models.json";

/// Serves a file of the page; `/` is the page itself, `/docs` the reference of the API.
pub(crate) async fn page(State(server): State<Server>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let models_only = server.options.models_only;
    let name = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        "docs" => "docs.html",
        "openapi.json" if models_only => MODELS_API,
        name => name,
    };
    // A page without pipelines would be a page of errors, and both descriptions have one address.
    let is_other = uri.path().ends_with(MODELS_API) || (models_only && name == "index.html");
    let is_there = matches!(method, Method::GET | Method::HEAD) && !is_other;
    let found = is_there.then(|| FILES.iter().find(|file| file.name == name)).flatten();
    let Some(file) = found else {
        return ApiError::not_found("there is nothing at this address").hint("the API is at /docs").into_response();
    };
    let seen = headers.get(header::IF_NONE_MATCH).is_some_and(|seen| seen.as_bytes() == file.tag.as_bytes());
    let mut response = if seen { StatusCode::NOT_MODIFIED.into_response() } else { file.send(takes_gzip(&headers)) };
    let reply = response.headers_mut();
    reply.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply.insert(header::ETAG, HeaderValue::from_static(file.tag));
    reply.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

impl File {
    fn send(&self, packed: bool) -> Response {
        let body = if packed {
            Bytes::from_static(self.packed)
        } else {
            let mut content = Vec::new();
            GzDecoder::new(self.packed).read_to_end(&mut content).expect("the build script packed it");
            Bytes::from(content)
        };
        let mut response = Response::new(Body::from(body));
        let kind = mime_guess::from_path(self.name).first_or_octet_stream();
        let reply = response.headers_mut();
        if let Ok(kind) = HeaderValue::from_str(&with_charset(kind.as_ref())) {
            reply.insert(header::CONTENT_TYPE, kind);
        }
        if packed {
            reply.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

/// Whether a client takes what gzip packed. One that says it in other words gets it unpacked.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|coding| coding.trim().eq_ignore_ascii_case("gzip"))
}

fn with_charset(kind: &str) -> String {
    match kind {
        "text/html" | "text/css" | "text/javascript" | "application/javascript" => format!("{kind}; charset=utf-8"),
        _ => kind.to_owned(),
    }
}
