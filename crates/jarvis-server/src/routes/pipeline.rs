//! The original's three routes, and the same with events: `/hugginggpt`, `/tasks`, `/results`; pipelines by name.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use jarvis_hugginggpt::Planned;
use jarvis_hugginggpt::results::results_map;
use jarvis_plan::export;
use serde_json::Value;

use crate::error::{ApiError, Failures};
use crate::extract::ApiJson;
use crate::request::{RunRequest, RunResult, result, streamed};
use crate::routes::decisions;
use crate::runs::{Keep, Started};
use crate::state::Server;
use crate::users::Caller;
use crate::wire::ask::Ask;
use crate::wire::reply::{
    AnswerOrDecisions, AnswerReply, Answered, ConversationReply, GoingOnReply, ResultsReply, TasksReply,
};
use crate::wire::stream::SseEvent;

/// Run a request and answer
///
/// Plans the request, chooses a model for each task, runs the tasks, and answers. Closing the connection cancels the run, unless it is
/// `detached`.
#[utoipa::path(post, path = "/hugginggpt", operation_id = "answer", tag = "pipeline", request_body = Ask,
    responses((status = 200, description = "The answer; with `return_decisions` the plan and choices", body = AnswerOrDecisions),
        (status = 202, description = "It waits for leave to change something, or was detached", body = GoingOnReply), Failures))]
pub(crate) async fn answer(
    State(server): State<Server>,
    caller: Caller,
    ApiJson(ask): ApiJson<Ask>,
) -> Result<Response, ApiError> {
    let run = RunRequest::of(&server, &ask)?;
    if ask.return_decisions {
        let decided = result(decisions::start_only(&server, &caller, &run)?).await?;
        return Ok(Json(AnswerOrDecisions::Decisions(decided)).into_response());
    }
    let started = run.start(&server, &caller, None, true)?;
    Ok(match run.respond(&server, started, ask.detached).await? {
        Answered::Done(reply) => Json(AnswerOrDecisions::Answer(reply)).into_response(),
        goes_on @ (Answered::Waiting(_) | Answered::Started(_)) => goes_on.into_response(),
    })
}

/// Run a request and stream what happens
///
/// Server-sent events: `queued`, `run_started`, `model_call`, `plan`, `model_chosen`, `task_started`, `task_attempt`,
/// `task_finished`, `token`, `note`, `answer`, and last `done` or `error`. Closing the connection cancels the run, unless
/// `detached` says otherwise.
#[utoipa::path(post, path = "/hugginggpt/stream", operation_id = "answer_streamed", tag = "pipeline", request_body = Ask, responses((status = 200, description = "The events", body = SseEvent, content_type = "text/event-stream"), Failures))]
pub(crate) async fn stream(
    State(server): State<Server>,
    caller: Caller,
    ApiJson(ask): ApiJson<Ask>,
) -> Result<Response, ApiError> {
    let run = RunRequest::of(&server, &ask)?;
    if ask.return_decisions {
        return Ok(streamed(&server, decisions::start_only(&server, &caller, &run)?, ask.detached));
    }
    Ok(streamed(&server, run.start(&server, &caller, None, true)?, ask.detached))
}

/// Run a request with a pipeline of your choice and answer
///
/// `/v1/models` lists the pipelines as `jarvis/NAME`. Closing the connection cancels the run, unless it is
/// `detached`.
#[utoipa::path(post, path = "/pipelines/{name}/runs", operation_id = "run_pipeline", tag = "pipeline", request_body = Ask,
    params(("name" = String, Path, description = "The pipeline", example = "hugginggpt")),
    responses((status = 200, description = "The answer", body = AnswerReply),
        (status = 202, description = "It waits for leave to change something, or was detached", body = GoingOnReply), Failures))]
pub(crate) async fn run_named(
    State(server): State<Server>,
    caller: Caller,
    Path(name): Path<String>,
    ApiJson(ask): ApiJson<Ask>,
) -> Result<Answered, ApiError> {
    let (run, started) = start_named(&server, &caller, &name, &ask)?;
    run.respond(&server, started, ask.detached).await
}

/// Run a request with a pipeline of your choice and stream what happens
///
/// The events are those of `/hugginggpt/stream`. Closing the connection cancels the run, unless `detached` says otherwise.
#[utoipa::path(post, path = "/pipelines/{name}/runs/stream", operation_id = "run_pipeline_streamed", tag = "pipeline", request_body = Ask,
    params(("name" = String, Path, description = "The pipeline", example = "hugginggpt")), responses((status = 200, description = "The events", body = SseEvent, content_type = "text/event-stream"), Failures))]
pub(crate) async fn stream_named(
    State(server): State<Server>,
    caller: Caller,
    Path(name): Path<String>,
    ApiJson(ask): ApiJson<Ask>,
) -> Result<Response, ApiError> {
    Ok(streamed(&server, start_named(&server, &caller, &name, &ask)?.1, ask.detached))
}

fn start_named(
    server: &Server,
    caller: &Caller,
    name: &str,
    ask: &Ask,
) -> Result<(RunRequest, Started<RunResult>), ApiError> {
    let run = RunRequest::of(server, ask)?;
    if ask.return_decisions {
        return Err(ApiError::invalid("only `/hugginggpt` answers with decisions").param("return_decisions"));
    }
    let started = run.start(server, caller, Some(name), true)?;
    Ok((run, started))
}

/// What a run says that stops early: whoever waits for it is gone with its process, and nothing goes on to its other stages.
const STAGES: &str = "stages";

/// Only plan
///
/// The checked plan as a list of tasks; nothing is executed. Where the request is conversation, the reply to it.
#[utoipa::path(post, path = "/tasks", operation_id = "plan_tasks", tag = "pipeline", request_body = Ask,
    responses((status = 200, description = "The tasks, or a message", body = TasksReply), Failures))]
pub(crate) async fn tasks(
    State(server): State<Server>,
    caller: Caller,
    ApiJson(ask): ApiJson<Ask>,
) -> Result<Json<TasksReply>, ApiError> {
    let RunRequest { pipeline, request, .. } = RunRequest::of(&server, &ask)?;
    let text = request.text.clone();
    let started = server.runs.start(&caller, &text, Keep::Events, move |events, cancel| async move {
        events.needs(STAGES, "plan");
        pipeline.run_plan_only(&request, &events, cancel).await
    })?;
    Ok(Json(match result(started).await? {
        Planned::Tasks(plan) => TasksReply::Tasks(export::tasks_json(&plan)),
        Planned::Conversation(answer, _) => TasksReply::Message(ConversationReply { message: answer.text }),
    }))
}

/// Run a request and give the results without an answer
///
/// The result of each task, by its id. Where the request is conversation, the reply to it.
#[utoipa::path(post, path = "/results", operation_id = "run_tasks", tag = "pipeline", request_body = Ask,
    responses((status = 200, description = "The results, or a message", body = ResultsReply), Failures))]
pub(crate) async fn results(
    State(server): State<Server>,
    caller: Caller,
    ApiJson(ask): ApiJson<Ask>,
) -> Result<Json<ResultsReply>, ApiError> {
    if ask.return_decisions {
        return Err(ApiError::invalid("`return_decisions` asks for no results").param("return_decisions"));
    }
    let RunRequest { pipeline, request, .. } = RunRequest::of(&server, &ask)?;
    let work = Arc::clone(&request);
    let started = server.runs.start(&caller, &request.text, Keep::Events, move |events, cancel| async move {
        events.needs(STAGES, "plan, choose, execute");
        pipeline.run_without_answer(work, &events, cancel).await
    })?;
    Ok(Json(match result(started).await? {
        (Planned::Tasks(plan), outcomes) => ResultsReply::Results(Value::Object(results_map(&plan, &outcomes))),
        (Planned::Conversation(answer, _), _) => ResultsReply::Message(ConversationReply { message: answer.text }),
    }))
}
