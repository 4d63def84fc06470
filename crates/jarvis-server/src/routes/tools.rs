//! The tools that plans and agents may use, and those that wait for approval.

use axum::Json;
use axum::extract::State;

use crate::error::Failures;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::kept::ToolsReply;

/// The tools
///
/// With those that others describe and that wait until a person approves of them. No tool server is asked for this.
#[utoipa::path(get, path = "/tools", operation_id = "list_tools", tag = "server",
    responses((status = 200, description = "All that are known", body = ToolsReply),
        Failures))]
pub(crate) async fn list(State(server): State<Server>, _caller: Caller) -> Json<ToolsReply> {
    Json(ToolsReply { tools: (server.setup().tools)(), warnings: server.tool_warnings() })
}
