//! Liveness, readiness and metrics.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::error::{ApiError, Failures};
use crate::guard;
use crate::runs::now_ms;
use crate::state::Server;
use crate::users::{Caller, Right};
use crate::wire::reply::{HealthReply, Today};

/// State of the server
///
/// Answers 200 as long as the server lives, even when something that it needs does not work.
#[utoipa::path(get, path = "/health", operation_id = "get_health", tag = "server",
    responses((status = 200, description = "It lives", body = HealthReply)))]
pub(crate) async fn health(State(server): State<Server>, request: Request) -> Json<HealthReply> {
    Json(look(&server, request).await)
}

/// Whether the server can do its work
#[utoipa::path(get, path = "/ready", operation_id = "get_readiness", tag = "server",
    responses((status = 200, description = "It can", body = HealthReply),
        (status = 503, description = "Something it needs does not work", body = HealthReply)))]
pub(crate) async fn ready(State(server): State<Server>, request: Request) -> (StatusCode, Json<HealthReply>) {
    let mut health = look(&server, request).await;
    if server.options.leaving.is_cancelled() || server.runs.is_closing() {
        health.status = "stopping";
    }
    let status = if health.status == "healthy" { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(health))
}

/// How long to wait for the list of tasks, which a service may have to be asked for.
const PATIENCE: Duration = Duration::from_secs(2);

async fn look(server: &Server, request: Request) -> HealthReply {
    let mut checks = (server.setup().checks)().await;
    let (mut kept, mut warnings) = (server.parts.kept.clone(), server.tool_warnings());
    let caller = guard::caller(server, request.headers(), guard::peer(request.extensions())).ok();
    if caller.is_none() {
        checks.iter_mut().for_each(|check| check.detail = None);
        kept.folder = None;
        kept.items.iter_mut().for_each(|item| item.folder = None);
        warnings.clear();
    }
    for item in &mut kept.items {
        if let Some(folder) = item.folder.take() {
            item.place = format!("{}, in {folder}", item.place);
        }
    }
    let pipeline = &server.setup().pipeline;
    let source = Arc::clone(&server.setup().decisions.source);
    let tasks = tokio::time::timeout(PATIENCE, source.tasks()).await.ok().and_then(Result::ok);
    HealthReply {
        status: if checks.iter().all(|check| check.ok) { "healthy" } else { "degraded" },
        version: env!("CARGO_PKG_VERSION"),
        planner: pipeline.planner_name(),
        model: pipeline.model_name(),
        tasks_loaded: tasks.map_or(0, |tasks| tasks.offered.len()),
        auth: server.users.need_token(),
        user: caller.as_ref().map(|caller| caller.name().to_owned()).filter(|name| !name.is_empty()),
        may: caller.as_ref().map(Caller::rights).unwrap_or_default(),
        today: caller.as_ref().and_then(|caller| Today::of(caller.account(), now_ms())),
        pipelines: server.working_pipelines(),
        chat_models: server.chat_models(),
        runs_live: server.runs.seen_by(caller.as_ref(), server.users.are_several()),
        checks,
        reach: server.setup().reach.clone(),
        kept,
        warnings,
    }
}

/// What the server counted, for Prometheus
#[utoipa::path(get, path = "/metrics", operation_id = "get_metrics", tag = "server",
    responses((status = 200, description = "Counters, gauges and histograms",
        content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8", body = String),
        Failures))]
pub(crate) async fn metrics(State(server): State<Server>, caller: Caller) -> Result<Response, ApiError> {
    // They count what everybody does.
    if server.users.are_several() {
        caller.must(Right::Admin)?;
    }
    let metrics = Arc::clone(&server.metrics);
    let text = tokio::task::spawn_blocking(move || metrics.text()).await;
    let text = text.map_err(|error| ApiError::internal("the counters cannot be written", &error))?;
    let text = text.map_err(|error| ApiError::internal("the counters cannot be written", &error))?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
