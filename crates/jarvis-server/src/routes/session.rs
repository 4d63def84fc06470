//! Logging a browser in: pictures and players cannot send a header, so the page trades the token for a cookie.

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use axum::http::{HeaderMap, StatusCode};

use crate::error::{ApiError, Failures};
use crate::extract::ApiJson;
use crate::guard;
use crate::state::Server;

/// The token of the server.
#[derive(Deserialize, ToSchema)]
pub(crate) struct LogIn {
    /// The token that the server was started with.
    #[schema(write_only)]
    token: String,
}

/// Log in
///
/// Trades the token for a cookie that page scripts cannot read.
#[utoipa::path(post, path = "/session", tag = "server", request_body = LogIn,
    responses((status = 204, description = "Logged in"),
        Failures))]
pub(crate) async fn log_in(
    State(server): State<Server>,
    headers: HeaderMap,
    ApiJson(given): ApiJson<LogIn>,
) -> Result<Response, ApiError> {
    match &server.options.token {
        None => Ok(guard::log_out(&server, &headers)),
        Some(token) if guard::is_token(token, given.token.trim()) => Ok(guard::log_in(&server, &headers)),
        // An administrator is a caller too; the session alone is none of an administrator's.
        Some(_)
            if server.options.admin_token.as_ref().is_some_and(|token| guard::is_token(token, given.token.trim())) =>
        {
            Ok(guard::log_in(&server, &headers))
        }
        Some(_) => Err(ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "the token is wrong")),
    }
}

/// Log out
#[utoipa::path(delete, path = "/session", tag = "server", responses((status = 204, description = "Logged out")))]
pub(crate) async fn log_out(State(server): State<Server>, headers: HeaderMap) -> Response {
    guard::log_out(&server, &headers)
}
