//! The web page, built into the binary: a folder of static files, compressed once.

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{self, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::error::ApiError;
use crate::state::Server;

/// The build output of `web/`.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
struct Page;

/// Serves a file of the page; `/` is the page itself, `/docs` the reference of the API.
pub(crate) async fn page(State(server): State<Server>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let name = match uri.path().trim_start_matches('/') {
        "" => "index.html",
        "docs" => "docs.html",
        name => name,
    };
    // A page without pipelines would be a page of errors.
    let is_there =
        matches!(method, Method::GET | Method::HEAD) && !(server.options.models_only && name == "index.html");
    let found = is_there.then(|| Page::get(name)).flatten();
    let Some(file) = found else {
        return ApiError::not_found("there is nothing at this address").hint("the API is at /docs").into_response();
    };
    let tag = tag(&file);
    let seen = headers.get(header::IF_NONE_MATCH).is_some_and(|seen| seen.as_bytes() == tag.as_bytes());
    let mut response = if seen {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let kind = mime_guess::from_path(name).first_or_octet_stream();
        let mut response = Response::new(Body::from(file.data));
        if let Ok(kind) = HeaderValue::from_str(&with_charset(kind.as_ref())) {
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
        }
        response
    };
    let reply = response.headers_mut();
    reply.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        reply.insert(header::ETAG, tag);
    }
    response
}

/// A tag that changes with the content.
fn tag(file: &EmbeddedFile) -> String {
    let hash = file.metadata.sha256_hash();
    let start: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{start}\"")
}

fn with_charset(kind: &str) -> String {
    match kind {
        "text/html" | "text/css" | "text/javascript" | "application/javascript" => format!("{kind}; charset=utf-8"),
        _ => kind.to_owned(),
    }
}
