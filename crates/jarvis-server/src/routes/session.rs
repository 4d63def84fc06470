//! Logging a browser in: pictures and players cannot send a header, so the page trades the token for a cookie.

use axum::extract::{Extension, State};
use axum::response::Response;
use serde::Deserialize;
use utoipa::ToSchema;

use axum::http::HeaderMap;

use crate::error::{ApiError, Failures};
use crate::extract::ApiJson;
use crate::guard;
use crate::listen::Peer;
use crate::state::Server;

/// A token of the server.
#[derive(Deserialize, ToSchema)]
pub(crate) struct LogIn {
    /// The token that the server was started with, or that of a user.
    #[schema(write_only)]
    token: String,
}

/// Log in
///
/// Trades the token for a cookie that page scripts cannot read. The cookie stands for its user, and administers nothing.
#[utoipa::path(post, path = "/session", tag = "server", request_body = LogIn,
    responses((status = 204, description = "Logged in"),
        Failures))]
pub(crate) async fn log_in(
    State(server): State<Server>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    ApiJson(given): ApiJson<LogIn>,
) -> Result<Response, ApiError> {
    if !server.users.need_token() {
        return Ok(guard::log_out(&server, &headers));
    }
    let peer = peer.map(|Extension(peer)| peer.0);
    guard::with_token(&server, given.token.trim(), peer).map(|caller| guard::log_in(&server, &caller, &headers))
}

/// Log out
#[utoipa::path(delete, path = "/session", tag = "server", responses((status = 204, description = "Logged out")))]
pub(crate) async fn log_out(State(server): State<Server>, headers: HeaderMap) -> Response {
    guard::log_out(&server, &headers)
}
