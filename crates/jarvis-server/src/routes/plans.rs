//! Saved plans: looked at, and carried out as they are or edited.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use futures::FutureExt;
use jarvis_hugginggpt::decisions::{Executable, StoreError, read_plan};
use jarvis_hugginggpt::{Run, RunError};
use jarvis_plan::Request;
use serde_json::Value;

use crate::error::{ApiError, ErrorBody};
use crate::extract::MaybeJson;
use crate::routes::pipeline::{Asked, RunHeader, streamed, wait};
use crate::runs::{Keep, Started, Work};
use crate::state::Server;
use crate::wire::ask::resources;
use crate::wire::decide::{NewPlanAsk, PlanAsk};
use crate::wire::reply::AnswerReply;
use crate::wire::reply::SseEvent;

/// A saved plan
#[utoipa::path(get, path = "/plans/{id}", tag = "decisions", params(("id" = String, Path, description = "The plan's id")),
    responses((status = 200, description = "`execution_config`", body = Object),
        (status = "4XX", description = "There is no such plan", body = ErrorBody),
        (status = "5XX", description = "It could not be read", body = ErrorBody)))]
pub(crate) async fn show(State(server): State<Server>, Path(id): Path<String>) -> Result<Json<Value>, ApiError> {
    load(&server, id).await.map(Json)
}

/// Carry a saved plan out
///
/// As it was saved, or as the body's `execution_config` says. It is checked first; with anything wrong in it nothing is
/// done, and `details` names every fault. Closing the connection cancels the run.
#[utoipa::path(post, path = "/plans/{id}/run", tag = "decisions", request_body = PlanAsk,
    params(("id" = String, Path, description = "The plan's id")),
    responses((status = 200, description = "The answer", body = AnswerReply),
        (status = 422, description = "The plan cannot be carried out", body = ErrorBody),
        (status = "4XX", description = "The request is wrong", body = ErrorBody),
        (status = "5XX", description = "It could not be done", body = ErrorBody)))]
pub(crate) async fn run_saved(
    State(server): State<Server>,
    Path(id): Path<String>,
    MaybeJson(ask): MaybeJson<PlanAsk>,
) -> Result<Json<AnswerReply>, ApiError> {
    let planned = read(&server, Some(id), ask.unwrap_or_default()).await?;
    planned.answer(&server).await
}

/// Carry a saved plan out, and tell what happens as it happens
#[utoipa::path(post, path = "/plans/{id}/run/stream", tag = "decisions", request_body = PlanAsk,
    params(("id" = String, Path, description = "The plan's id")),
    responses((status = 200, description = "The events of the run", content_type = "text/event-stream", body = SseEvent),
        (status = 422, description = "The plan cannot be carried out", body = ErrorBody),
        (status = "4XX", description = "The request is wrong", body = ErrorBody),
        (status = "5XX", description = "It could not be done", body = ErrorBody)))]
pub(crate) async fn run_saved_streamed(
    State(server): State<Server>,
    Path(id): Path<String>,
    MaybeJson(ask): MaybeJson<PlanAsk>,
) -> Result<Response, ApiError> {
    let ask = ask.unwrap_or_default();
    let detached = ask.detached;
    let planned = read(&server, Some(id), ask).await?;
    Ok(streamed(&server, planned.start(&server)?, detached))
}

/// Carry a plan out
///
/// As for a saved one; the body must hold the plan.
#[utoipa::path(post, path = "/plans/run", tag = "decisions", request_body = NewPlanAsk,
    responses((status = 200, description = "The answer", body = AnswerReply),
        (status = 422, description = "The plan cannot be carried out", body = ErrorBody),
        (status = "4XX", description = "The request is wrong", body = ErrorBody),
        (status = "5XX", description = "It could not be done", body = ErrorBody)))]
pub(crate) async fn run(
    State(server): State<Server>,
    MaybeJson(ask): MaybeJson<PlanAsk>,
) -> Result<Json<AnswerReply>, ApiError> {
    let planned = read(&server, None, ask.unwrap_or_default()).await?;
    planned.answer(&server).await
}

/// Carry a plan out, and tell what happens as it happens
#[utoipa::path(post, path = "/plans/run/stream", tag = "decisions", request_body = NewPlanAsk,
    responses((status = 200, description = "The events of the run", content_type = "text/event-stream", body = SseEvent),
        (status = 422, description = "The plan cannot be carried out", body = ErrorBody),
        (status = "4XX", description = "The request is wrong", body = ErrorBody),
        (status = "5XX", description = "It could not be done", body = ErrorBody)))]
pub(crate) async fn run_streamed(
    State(server): State<Server>,
    MaybeJson(ask): MaybeJson<PlanAsk>,
) -> Result<Response, ApiError> {
    let ask = ask.unwrap_or_default();
    let detached = ask.detached;
    let planned = read(&server, None, ask).await?;
    Ok(streamed(&server, planned.start(&server)?, detached))
}

/// A plan that may be carried out, and the request it is for.
struct Planned {
    asked: Asked,
    plan: Executable,
}

impl Planned {
    fn start(&self, server: &Server) -> Result<Started<Result<Run, RunError>>, ApiError> {
        let (pipeline, request) = (Arc::clone(&self.asked.pipeline), Arc::clone(&self.asked.request));
        let plan = self.plan.clone();
        let work: Work<Result<Run, RunError>> = Box::new(move |events, cancel| {
            async move { pipeline.run_plan(request, &plan, &events, cancel).await }.boxed()
        });
        server.runs.start(&self.asked.request.text, Keep::Events, work)
    }

    async fn answer(&self, server: &Server) -> Result<Json<AnswerReply>, ApiError> {
        let (run_id, ended) = wait(self.start(server)?).await?;
        RunHeader { run_id, asked: &self.asked }.answer(ended).map(Json)
    }
}

async fn read(server: &Server, id: Option<String>, ask: PlanAsk) -> Result<Planned, ApiError> {
    let given = ask.execution_config.filter(|config| !config.is_null());
    let document = match (given, id) {
        (Some(config), _) => config,
        (None, Some(id)) => load(server, id).await?,
        (None, None) => return Err(ApiError::invalid("`execution_config` is missing").param("execution_config")),
    };
    let pipeline = Arc::clone(&server.parts.pipeline);
    let reader = Arc::clone(&pipeline);
    let read = move || read_plan(&document, &reader.vocabulary, &reader.sources, reader.settings.plan);
    let plan = tokio::task::spawn_blocking(read).await;
    let plan = plan.map_err(|error| ApiError::internal("the plan cannot be read", &error))??;
    let text = ask.request.or_else(|| plan.request.clone()).unwrap_or_default();
    let request = Request { text, attachments: resources(&ask.attachments)?, ..Request::default() };
    Ok(Planned { asked: Asked { pipeline, request: Arc::new(request), planner: "plan" }, plan })
}

async fn load(server: &Server, id: String) -> Result<Value, ApiError> {
    let Some(plans) = server.parts.decisions.plans.clone() else { return Err(StoreError::Unknown(id).into()) };
    let loaded = tokio::task::spawn_blocking(move || plans.load(&id)).await;
    Ok(loaded.map_err(|error| ApiError::internal("the saved plan cannot be read", &error))??)
}
