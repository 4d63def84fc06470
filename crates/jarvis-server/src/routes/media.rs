//! Files out: what is under the public root, whole or in ranges, so that players can seek.

use std::io::SeekFrom;
use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

use jarvis_store::Media;

use crate::error::{ApiError, ErrorBody, Failures};
use crate::guard::Linked;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::schema::FileBytes;

/// Makes the routes of one kind of files each.
macro_rules! file_routes {
    ($($(#[$about:meta])* $name:ident is $id:literal at $path:literal of $kind:literal;)*) => {$(
        $(#[$about])*
        #[utoipa::path(get, path = $path, operation_id = $id, tag = "media",
            params(("name" = String, Path, description = "The file"),
                ("expires" = Option<u64>, Query, description = "Of a signed link: until when, in seconds since the Unix epoch"),
                ("signature" = Option<String>, Query, description = "Of a signed link"),
                ("Range" = Option<String>, Header, description = "A range of bytes")),
            responses((status = 200, description = "The file", content(
                    (inline(FileBytes) = $kind), (inline(FileBytes) = "application/octet-stream"))),
                (status = 206, description = "A part of it", content(
                    (inline(FileBytes) = $kind), (inline(FileBytes) = "application/octet-stream"))),
                (status = 416, description = "There is no such part", body = ErrorBody), Failures))]
        pub(crate) async fn $name(
            server: State<Server>,
            linked: Option<Extension<Linked>>,
            caller: Option<Extension<Caller>>,
            uri: Uri,
            headers: HeaderMap,
        ) -> Result<Response, ApiError> {
            let caller = caller.map(|Extension(caller)| caller);
            file(server, caller.filter(|_| linked.is_none()), uri, headers).await
        }
    )*};
}

file_routes! {
    /// A picture that an upload or a task made
    picture is "get_image" at "/images/{name}" of "image/*";
    /// A sound that an upload or a task made
    sound is "get_audio" at "/audios/{name}" of "audio/*";
    /// A video that an upload or a task made
    video is "get_video" at "/videos/{name}" of "video/*";
    /// A table that a task made, as CSV
    table is "get_table" at "/tables/{name}" of "text/csv";
}

/// Sends a file to a caller who may have it, or to whoever has a link.
async fn file(
    State(server): State<Server>,
    caller: Option<Caller>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let path = Media::display(uri.path())?;
    // Files that are still being written begin with a dot.
    if path.rsplit('/').next().is_some_and(|name| name.starts_with('.')) {
        return Err(ApiError::not_found("there is no such file"));
    }
    if let Some(caller) = caller {
        server.check_file(&caller, &path).await?;
    }
    let media = Arc::clone(&server.parts.media);
    let opened = tokio::task::spawn_blocking(move || media.open_file(&path)).await;
    let (file, size) = opened.map_err(|error| ApiError::internal("the file cannot be read", &error))??;
    let mut file = tokio::fs::File::from_std(file);
    let kind = mime_guess::from_path(uri.path()).first_or_octet_stream();
    let mut reply = HeaderMap::new();
    let mut set = |name: HeaderName, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            reply.insert(name, value);
        }
    };
    set(header::CONTENT_TYPE, kind.to_string());
    set(header::ACCEPT_RANGES, "bytes".into());
    // Names are random and contents never change.
    set(header::CACHE_CONTROL, "private, max-age=31536000, immutable".into());
    // A picture may be a document with scripts in it; nothing in it may run.
    set(header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; sandbox".into());
    // A chat client elsewhere shows the pictures that an answer links to; their names cannot be guessed.
    set(HeaderName::from_static("cross-origin-resource-policy"), "cross-origin".into());
    let (status, start, length) = match range(headers.get(header::RANGE), size) {
        Part::Whole => (StatusCode::OK, 0, size),
        Part::Range { start, end } => {
            set(header::CONTENT_RANGE, format!("bytes {start}-{end}/{size}"));
            (StatusCode::PARTIAL_CONTENT, start, end - start + 1)
        }
        Part::Nothing => {
            let mut refused =
                ApiError::new(StatusCode::RANGE_NOT_SATISFIABLE, "no_such_range", "the file has no such part")
                    .into_response();
            if let Ok(value) = HeaderValue::from_str(&format!("bytes */{size}")) {
                refused.headers_mut().insert(header::CONTENT_RANGE, value);
            }
            return Ok(refused);
        }
    };
    set(header::CONTENT_LENGTH, length.to_string());
    if start > 0 {
        file.seek(SeekFrom::Start(start))
            .await
            .map_err(|error| ApiError::internal("the file cannot be read", &error))?;
    }
    let body = Body::from_stream(ReaderStream::with_capacity(file.take(length), 64 << 10));
    Ok((status, reply, body).into_response())
}

/// What part of a file is asked for.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// All of it; also when the header makes no sense, or asks for several parts, as the standard allows.
    Whole,
    /// From a first to a last byte, both included.
    Range { start: u64, end: u64 },
    /// A part that lies outside.
    Nothing,
}

/// Reads a Range header (RFC 9110, section 14.2).
fn range(header: Option<&HeaderValue>, size: u64) -> Part {
    let Some(spec) = header.and_then(|value| value.to_str().ok()).and_then(|value| value.strip_prefix("bytes=")) else {
        return Part::Whole;
    };
    let Some((first, last)) = spec.trim().split_once('-') else { return Part::Whole };
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let (start, end) = match (number(first), number(last)) {
        (Some(start), Some(end)) if start > end => return Part::Whole,
        (Some(start), Some(end)) => (start, end.min(size.saturating_sub(1))),
        (Some(start), None) if last.trim().is_empty() => (start, size.saturating_sub(1)),
        (None, Some(0)) if first.trim().is_empty() => return Part::Nothing,
        (None, Some(suffix)) if first.trim().is_empty() => (size.saturating_sub(suffix), size.saturating_sub(1)),
        _ => return Part::Whole,
    };
    if start < size { Part::Range { start, end } } else { Part::Nothing }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::{Part, range};

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        for (header, want) in jarvis_testing::rows::<(String, String)>(include_str!("../cases.yaml"), "ranges") {
            let part = match range(Some(&HeaderValue::from_str(&header).unwrap()), 10) {
                Part::Range { start, end } => format!("{start}-{end}"),
                other => format!("{other:?}").to_lowercase(),
            };
            assert_eq!(part, want, "{header}");
        }
        assert_eq!(range(None, 10), Part::Whole);
        assert_eq!(range(Some(&HeaderValue::from_static("bytes=0-")), 0), Part::Nothing);
    }
}
