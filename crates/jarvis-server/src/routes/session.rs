//! Logging a browser in: pictures and players cannot send a header, so the page trades the token for a cookie. And the tokens, read anew.

use axum::Json;
use axum::extract::{Extension, State};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use axum::http::HeaderMap;
use jarvis_net::Secret;

use crate::error::{ApiError, Failures};
use crate::extract::ApiJson;
use crate::guard;
use crate::listen::Peer;
use crate::state::Server;
use crate::users::Caller;

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
#[utoipa::path(post, path = "/session", operation_id = "log_in", tag = "server", request_body = LogIn,
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
    let given = given.token.trim();
    let caller = guard::with_token(&server, given, peer)?;
    let token = Secret::new(given).ok_or_else(|| ApiError::invalid("the token is empty").param("token"))?;
    guard::log_in(&server, &caller, token, &headers)
}

/// Log out
#[utoipa::path(delete, path = "/session", operation_id = "log_out", tag = "server", responses((status = 204, description = "Logged out")))]
pub(crate) async fn log_out(State(server): State<Server>, headers: HeaderMap) -> Response {
    guard::log_out(&server, &headers)
}

/// The configuration is taken.
#[derive(Serialize, ToSchema)]
pub(crate) struct Reloaded {
    /// Always true.
    reloaded: bool,
    /// What was not taken: keys that mean nothing, keys that are decided when the server starts, and tools that cannot be opened.
    warnings: Vec<String>,
}

/// Read the configuration anew
///
/// Tokens, models, tools and certificates, as the signal SIGHUP has them read. Runs that go on keep what they began with. Where anything is
/// wrong, all stays as it is.
#[utoipa::path(post, path = "/admin/reload", operation_id = "reload", tag = "server",
    responses((status = 200, description = "It is taken", body = Reloaded), Failures))]
pub(crate) async fn reload(State(server): State<Server>, caller: Caller) -> Result<Json<Reloaded>, ApiError> {
    guard::check_administrator(&server, &caller, "kill -HUP PID")?;
    server.audit(&caller, "reload", Value::Null).await?;
    let mut warnings = server.reload().await?;
    warnings.extend(server.tool_warnings());
    Ok(Json(Reloaded { reloaded: true, warnings }))
}
