//! Saved plans: shown, and executed as they are or edited.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use jarvis_hugginggpt::decisions::{StoreError, read_plan};
use jarvis_plan::Request;
use serde_json::Value;

use crate::error::{ApiError, Failures};
use crate::extract::MaybeJson;
use crate::request::{Model, RunRequest, RunResult, streamed};
use crate::runs::{Keep, Started};
use crate::state::Server;
use crate::users::Caller;
use crate::wire::ask::resources;
use crate::wire::decide::{NewPlanAsk, PlanAsk};
use crate::wire::plan::SavedPlan;
use crate::wire::reply::{AnswerReply, Answered, GoingOnReply};
use crate::wire::stream::SseEvent;

/// A saved plan
#[utoipa::path(get, path = "/plans/{id}", operation_id = "get_plan", tag = "decisions", params(("id" = String, Path, description = "The plan's id")),
    responses((status = 200, description = "The plan", body = SavedPlan), Failures))]
pub(crate) async fn show(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    load(&server, &caller, id).await.map(Json)
}

/// Execute a saved plan
///
/// As it was saved, or as the body's `execution_config` says. It is checked first; with anything wrong in it nothing is
/// done, the status is 422, and `details` names every fault. Closing the connection cancels the run.
#[utoipa::path(post, path = "/plans/{id}/run", operation_id = "run_saved_plan", tag = "decisions", request_body = PlanAsk,
    params(("id" = String, Path, description = "The plan's id")),
    responses((status = 200, description = "The answer", body = AnswerReply),
        (status = 202, description = "It waits for leave to change something, or was detached", body = GoingOnReply), Failures))]
pub(crate) async fn run_saved(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
    MaybeJson(ask): MaybeJson<PlanAsk>,
) -> Result<Answered, ApiError> {
    let (run, started, detached) = start(&server, &caller, Some(id), ask).await?;
    run.respond(&server, started, detached).await
}

/// Execute a saved plan and stream what happens
#[utoipa::path(post, path = "/plans/{id}/run/stream", operation_id = "run_saved_plan_streamed", tag = "decisions", request_body = PlanAsk,
    params(("id" = String, Path, description = "The plan's id")), responses((status = 200, description = "The events", body = SseEvent, content_type = "text/event-stream"), Failures))]
pub(crate) async fn run_saved_streamed(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
    MaybeJson(ask): MaybeJson<PlanAsk>,
) -> Result<Response, ApiError> {
    let (_, started, detached) = start(&server, &caller, Some(id), ask).await?;
    Ok(streamed(&server, started, detached))
}

/// Execute a plan
///
/// As for a saved one; the body must hold the plan.
#[utoipa::path(post, path = "/plans/run", operation_id = "run_plan", tag = "decisions", request_body = NewPlanAsk,
    responses((status = 200, description = "The answer", body = AnswerReply),
        (status = 202, description = "It waits for leave to change something, or was detached", body = GoingOnReply), Failures))]
pub(crate) async fn run(
    State(server): State<Server>,
    caller: Caller,
    MaybeJson(ask): MaybeJson<PlanAsk>,
) -> Result<Answered, ApiError> {
    let (run, started, detached) = start(&server, &caller, None, ask).await?;
    run.respond(&server, started, detached).await
}

/// Execute a plan and stream what happens
#[utoipa::path(post, path = "/plans/run/stream", operation_id = "run_plan_streamed", tag = "decisions", request_body = NewPlanAsk, responses((status = 200, description = "The events", body = SseEvent, content_type = "text/event-stream"), Failures))]
pub(crate) async fn run_streamed(
    State(server): State<Server>,
    caller: Caller,
    MaybeJson(ask): MaybeJson<PlanAsk>,
) -> Result<Response, ApiError> {
    let (_, started, detached) = start(&server, &caller, None, ask).await?;
    Ok(streamed(&server, started, detached))
}

/// Reads a plan, the caller's or the saved one, checks it and starts its run. Also whether the run is detached.
async fn start(
    server: &Server,
    caller: &Caller,
    id: Option<String>,
    ask: Option<PlanAsk>,
) -> Result<(RunRequest, Started<RunResult>, bool), ApiError> {
    let ask = ask.unwrap_or_default();
    let given = ask.execution_config.filter(|config| !config.is_null());
    let document = match (given, id) {
        (Some(config), _) => config,
        (None, Some(id)) => load(server, caller, id).await?,
        (None, None) => return Err(ApiError::invalid("`execution_config` is missing").param("execution_config")),
    };
    let setup = server.setup();
    let pipeline = Arc::clone(&setup.pipeline);
    let reader = Arc::clone(&pipeline);
    let read = move || read_plan(&document, &reader.vocabulary, &reader.sources, reader.settings.plan);
    let plan = tokio::task::spawn_blocking(read).await;
    let plan = plan.map_err(|error| ApiError::internal("the plan cannot be read", &error))??;
    // A task list names no request; such a plan runs without one.
    let text = ask.request.or_else(|| plan.request.clone()).unwrap_or_default();
    let request = Request { text, attachments: resources(&ask.attachments)?, ..Request::default() };
    let run = RunRequest { pipeline, model: Model::Configured, setup, request: Arc::new(request), planner: "plan" };
    let (pipeline, request) = (Arc::clone(&run.pipeline), Arc::clone(&run.request));
    let started = server.runs.start(caller, &run.request.text, Keep::Answerable, move |events, cancel| async move {
        pipeline.run_plan(request, &plan, &events, cancel).await
    })?;
    Ok((run, started, ask.detached))
}

async fn load(server: &Server, caller: &Caller, id: String) -> Result<Value, ApiError> {
    let Some(plans) = server.decisions_for(caller, &server.setup().decisions).plans else {
        return Err(StoreError::Unknown(id).into());
    };
    let loaded = tokio::task::spawn_blocking(move || plans.load(&id)).await;
    Ok(loaded.map_err(|error| ApiError::internal("the saved plan cannot be read", &error))??)
}
