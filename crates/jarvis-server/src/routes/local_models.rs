//! What is on this machine, what would help, and, for administrators, pulling it.

use std::sync::Arc;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;
use utoipa::ToSchema;

use crate::error::{ApiError, Failures};
use crate::extract::ApiJson;
use crate::guard;
use crate::pulls::{KeptModel, ModelStore, PlannedPull, PullFailure, PullFault, PullRequest, SuggestedModel};
use crate::state::Server;
use crate::users::Caller;
use crate::wire::stream::PullLine;

/// Lines of a pull that wait for a slow reader.
const LINES: usize = 64;

/// The models of this machine.
#[derive(Serialize, ToSchema)]
pub(crate) struct LocalModels {
    /// What is on this machine.
    kept: Vec<KeptModel>,
    /// What would serve what nothing serves yet.
    suggested: Vec<SuggestedModel>,
    /// Whether the administrator's token allows to pull; else `jarvis models pull` on the machine does.
    pulls: bool,
}

/// The models of this machine
#[utoipa::path(get, path = "/local-models", operation_id = "list_local_models", tag = "models",
    responses((status = 200, description = "What is kept, what is loaded, and what would help", body = LocalModels), Failures))]
pub(crate) async fn list(State(server): State<Server>) -> Json<LocalModels> {
    let Some(store) = server.setup().store.clone() else {
        return Json(LocalModels { kept: Vec::new(), suggested: Vec::new(), pulls: false });
    };
    let loaded = server.setup().models.loaded();
    let pulls = server.users.have_administrator();
    // The cache is read from the disk.
    let listed = tokio::task::spawn_blocking(move || {
        let mut kept = store.kept();
        for model in &mut kept {
            model.loaded = loaded.iter().find(|loaded| loaded.id == model.id || loaded.id == model.name).cloned();
        }
        LocalModels { kept, suggested: store.suggested(), pulls }
    });
    Json(listed.await.unwrap_or(LocalModels { kept: Vec::new(), suggested: Vec::new(), pulls }))
}

/// What a pull would fetch
///
/// Licence, size, revision and free space, as the Hub says now. Needs the administrator's token.
#[utoipa::path(post, path = "/admin/models/plan", operation_id = "plan_pull", tag = "models", request_body = PullRequest,
    responses((status = 200, description = "What would be fetched", body = PlannedPull), Failures))]
pub(crate) async fn plan(
    State(server): State<Server>,
    caller: Caller,
    ApiJson(request): ApiJson<PullRequest>,
) -> Result<Json<PlannedPull>, ApiError> {
    let store = allowed(&server, &caller, &request)?;
    store.plan(&request.name).await.map(Json).map_err(refused)
}

/// Pull a model
///
/// Lines of JSON in the words of Ollama's `pull`: `{"status": "pulling …", "digest": …, "total": …, "completed": …}`, at the end
/// `{"status": "success"}` or `{"error": …}`; what is wrong before the first byte is an error as of any route. Closing the connection
/// stops it; what has come is kept. Needs the administrator's token.
#[utoipa::path(post, path = "/admin/models/pull", operation_id = "pull_model", tag = "models", request_body = PullRequest,
    responses((status = 200, description = "Progress", body = PullLine, content_type = "application/x-ndjson"), Failures))]
pub(crate) async fn pull(
    State(server): State<Server>,
    caller: Caller,
    ApiJson(request): ApiJson<PullRequest>,
) -> Result<Response, ApiError> {
    let store = allowed(&server, &caller, &request)?;
    server.audit(&caller, "pull_model", json!({"model": request.name})).await?;
    let (sender, mut receiver) = mpsc::channel::<Result<Value, PullFailure>>(LINES);
    let work = tokio::spawn(async move {
        // Of progress a slow reader misses some lines; the end is kept for it.
        let ends = std::sync::Mutex::new(Vec::new());
        let tell = |line: Value| {
            if let Err(mpsc::error::TrySendError::Full(line)) = sender.try_send(Ok(line))
                && line.as_ref().is_ok_and(|line| line.get("digest").is_none())
            {
                ends.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(line);
            }
        };
        let pulled = store.pull(&request, &tell).await;
        let mut ends = ends.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        ends.extend(pulled.err().map(Err));
        for end in ends {
            let _ = sender.send(end).await;
        }
    });
    // Dropped with the body, it ends the pull.
    let work = AbortOnDropHandle::new(work);
    let first = match receiver.recv().await {
        Some(Err(failure)) => return Err(refused(failure)),
        first => stream::iter(first),
    };
    let rest = stream::unfold((receiver, work), |(mut receiver, work)| async move {
        let line = receiver.recv().await?;
        Some((line, (receiver, work)))
    });
    let lines = first.chain(rest).map(|line| {
        let line = line.unwrap_or_else(|failure| json!({"error": failure.message, "hint": failure.hint}));
        Bytes::from(format!("{line}\n"))
    });
    let body = Body::from_stream(lines.map(Ok::<_, std::convert::Infallible>));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson"), (header::CACHE_CONTROL, "no-store")], body).into_response())
}

/// The store, for who may change what is on this machine.
fn allowed(server: &Server, caller: &Caller, request: &PullRequest) -> Result<Arc<dyn ModelStore>, ApiError> {
    guard::check_administrator(server, caller, &format!("jarvis models pull {}", shown(&request.name)))?;
    server.setup().store.clone().ok_or_else(|| {
        ApiError::new(StatusCode::NOT_IMPLEMENTED, "not_configured", "this server keeps no models of its own")
            .hint("set `local.enabled: true` in its configuration, and use a build with the feature `experts` or `llm`")
    })
}

/// A name for a message: what is no name of a model is left out.
fn shown(name: &str) -> &str {
    let is_plain = name.len() <= 200 && name.chars().all(|ch| ch.is_ascii_alphanumeric() || "-_./:@".contains(ch));
    if is_plain { name } else { "NAME" }
}

fn refused(failure: PullFailure) -> ApiError {
    let (status, code) = match failure.kind {
        PullFault::Name => (StatusCode::BAD_REQUEST, "unknown_model"),
        PullFault::Repository => (StatusCode::NOT_FOUND, "no_such_repository"),
        PullFault::Changed => (StatusCode::CONFLICT, "changed"),
        PullFault::Offline => (StatusCode::CONFLICT, "offline"),
        PullFault::Busy => (StatusCode::CONFLICT, "busy"),
        PullFault::Space => (StatusCode::INSUFFICIENT_STORAGE, "no_space"),
        PullFault::Failed => (StatusCode::BAD_GATEWAY, "hub_failed"),
    };
    let error = ApiError::new(status, code, failure.message);
    match failure.hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
