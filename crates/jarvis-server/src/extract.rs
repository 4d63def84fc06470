//! Bodies and queries in, each to a typed twin, with an error that says which field is wrong. Nothing is decoded untyped.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

use crate::error::ApiError;
use crate::pace;

/// The most bytes that are decoded on the thread that asks.
const SMALL: usize = 256 << 10;

#[derive(Debug)]
pub(crate) struct ApiJson<T>(pub(crate) T);

impl<S, T> FromRequest<S> for ApiJson<T>
where
    S: Send + Sync,
    T: DeserializeOwned + Send + 'static,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<ApiJson<T>, ApiError> {
        check_type(request.headers())?;
        let bytes = Bytes::from_request(request, state).await.map_err(unreadable)?;
        if bytes.len() <= SMALL {
            return read(&bytes).map(ApiJson);
        }
        let read = tokio::task::spawn_blocking(move || read(&bytes).map(ApiJson)).await;
        read.map_err(|error| ApiError::internal("the body cannot be read", &error))?
    }
}

/// A JSON body as a `T`, or nothing when there is no body or it is `null`.
#[derive(Debug)]
pub(crate) struct MaybeJson<T>(pub(crate) Option<T>);

impl<S, T> FromRequest<S> for MaybeJson<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<MaybeJson<T>, ApiError> {
        let typed = check_type(request.headers());
        let bytes = Bytes::from_request(request, state).await.map_err(unreadable)?;
        if bytes.is_empty() {
            return Ok(MaybeJson(None));
        }
        typed?;
        read(&bytes).map(MaybeJson)
    }
}

/// The parameters of a query as a `T`.
#[derive(Debug)]
pub(crate) struct ApiQuery<T>(pub(crate) T);

impl<S, T> FromRequestParts<S> for ApiQuery<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<ApiQuery<T>, ApiError> {
        let read = Query::from_request_parts(parts, state).await;
        read.map(|Query(given)| ApiQuery(given)).map_err(|rejection| ApiError::invalid(rejection.body_text()))
    }
}

/// A page of another site can post a form or plain text without asking first, but not JSON; so only JSON is taken.
pub(crate) fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    let is_json = essence.eq_ignore_ascii_case("application/json")
        || essence.rsplit_once('+').is_some_and(|(_, suffix)| suffix.eq_ignore_ascii_case("json"));
    if is_json {
        return Ok(());
    }
    Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media", "the body must be JSON")
        .hint("send the header `Content-Type: application/json`"))
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        match error.inner().classify() {
            serde_json::error::Category::Data if path != "." => {
                ApiError::invalid(format!("`{path}`: {}", without_place(error.inner()))).param(path)
            }
            serde_json::error::Category::Data => ApiError::invalid(without_place(error.inner())),
            serde_json::error::Category::Io
            | serde_json::error::Category::Syntax
            | serde_json::error::Category::Eof => ApiError::invalid(format!("the body is not JSON: {}", error.inner())),
        }
    })?;
    json.end().map_err(|error| ApiError::invalid(format!("the body goes on after its JSON: {error}")))?;
    Ok(value)
}

/// The error's words without line and column, which say nothing beside a path.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => text.get(..at).unwrap_or(&text).to_owned(),
        None => text,
    }
}

pub(crate) fn unreadable(rejection: BytesRejection) -> ApiError {
    if pace::is_too_slow(&rejection) {
        return ApiError::too_slow();
    }
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", "the body is larger than this server takes")
                .hint("the limits are `server.max_body_bytes` and `limits.max_input_bytes` in its configuration")
        }
        _ => ApiError::invalid("the body could not be read"),
    }
}
