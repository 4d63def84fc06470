//! The original's three routes, and the same with events: `/hugginggpt`, `/tasks`, `/results`.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use futures::FutureExt;
use jarvis_hugginggpt::results::results_map;
use jarvis_hugginggpt::{About, HuggingGpt, Planned, Run, RunDocument, RunError};
use jarvis_plan::{Outcome, Request, Usage, export};
use serde_json::Value;

use crate::error::{ApiError, ErrorBody};
use crate::extract::ApiJson;
use crate::routes::decisions;
use crate::runs::{CancelOnDrop, Ended, Keep, Started, Work};
use crate::sse;
use crate::state::{Named, Server};
use crate::wire::ask::Ask;
use crate::wire::reply::SseEvent;
use crate::wire::reply::{AnswerOrDecisions, AnswerReply, ResultsReply, Said, TasksReply};

/// Do what is asked, and answer
///
/// Plans the request, chooses a model for each task, runs the tasks, and answers. Closing the connection cancels the run.
#[utoipa::path(post, path = "/hugginggpt", tag = "pipeline", request_body = Ask,
    responses((status = 200, description = "The answer; with `return_decisions` the plan and choices", body = AnswerOrDecisions),
        (status = "4XX", description = "The request is wrong", body = ErrorBody),
        (status = "5XX", description = "It could not be done", body = ErrorBody)))]
pub(crate) async fn answer(
    State(server): State<Server>,
    ApiJson(ask): ApiJson<Ask>,
) -> Result<Json<AnswerOrDecisions>, ApiError> {
    let asked = Asked::of(&server, &ask)?;
    if ask.return_decisions {
        return decisions::only(&server, &asked).await.map(AnswerOrDecisions::Decisions).map(Json);
    }
    let started = asked.start(&server)?;
    let (run_id, ended) = wait(started).await?;
    let about = RunHeader { run_id, asked: &asked };
    Ok(Json(AnswerOrDecisions::Answer(Box::new(about.answer(ended)?))))
}

/// Do what is asked, and tell what happens as it happens
///
/// Server-sent events: `queued`, `run_started`, `model_call`, `plan`, `model_chosen`, `task_started`, `task_attempt`,
/// `task_finished`, `token`, `note`, `answer`, and last `done` or `error`. Closing the connection cancels the run, unless
/// `detached` says otherwise.
#[utoipa::path(post, path = "/hugginggpt/stream", tag = "pipeline", request_body = Ask,
    responses((status = 200, description = "The events of the run", content_type = "text/event-stream", body = SseEvent),
        (status = "4XX", description = "The request is wrong", body = ErrorBody),
        (status = "5XX", description = "It could not be done", body = ErrorBody)))]
pub(crate) async fn stream(State(server): State<Server>, ApiJson(ask): ApiJson<Ask>) -> Result<Response, ApiError> {
    let asked = Asked::of(&server, &ask)?;
    if ask.return_decisions {
        return Ok(streamed(&server, decisions::start_only(&server, &asked)?, ask.detached));
    }
    Ok(streamed(&server, asked.start(&server)?, ask.detached))
}

/// Do what is asked with a pipeline of your choice, and answer
///
/// `/v1/models` lists the pipelines as `jarvis/NAME`. Closing the connection cancels the run.
#[utoipa::path(post, path = "/pipelines/{name}/runs", tag = "pipeline", request_body = Ask,
    params(("name" = String, Path, description = "The pipeline", example = "hugginggpt")),
    responses((status = 200, description = "The answer", body = AnswerReply),
        (status = "4XX", description = "The request is wrong, or there is no such pipeline", body = ErrorBody),
        (status = "5XX", description = "It could not be done", body = ErrorBody)))]
pub(crate) async fn run_named(
    State(server): State<Server>,
    Path(name): Path<String>,
    ApiJson(ask): ApiJson<Ask>,
) -> Result<Json<AnswerReply>, ApiError> {
    let asked = Asked::of(&server, &ask)?;
    let (run_id, ended) = wait(start_named(&server, &name, &ask, &asked)?).await?;
    RunHeader { run_id, asked: &asked }.answer(ended).map(Json)
}

/// Do what is asked with a pipeline of your choice, and tell what happens as it happens
///
/// The events are those of `/hugginggpt/stream`. Closing the connection cancels the run, unless `detached` says otherwise.
#[utoipa::path(post, path = "/pipelines/{name}/runs/stream", tag = "pipeline", request_body = Ask,
    params(("name" = String, Path, description = "The pipeline", example = "hugginggpt")),
    responses((status = 200, description = "The events of the run", content_type = "text/event-stream", body = SseEvent),
        (status = "4XX", description = "The request is wrong, or there is no such pipeline", body = ErrorBody),
        (status = "5XX", description = "It could not be done", body = ErrorBody)))]
pub(crate) async fn stream_named(
    State(server): State<Server>,
    Path(name): Path<String>,
    ApiJson(ask): ApiJson<Ask>,
) -> Result<Response, ApiError> {
    let asked = Asked::of(&server, &ask)?;
    Ok(streamed(&server, start_named(&server, &name, &ask, &asked)?, ask.detached))
}

fn start_named(
    server: &Server,
    name: &str,
    ask: &Ask,
    asked: &Asked,
) -> Result<Started<Result<Run, RunError>>, ApiError> {
    let named = named(server, name).ok_or_else(|| {
        let names: Vec<&str> = server.parts.pipelines.iter().map(|named| named.name).collect();
        ApiError::not_found("there is no such pipeline").hint(format!("the pipelines are: {}", names.join(", ")))
    })?;
    if ask.return_decisions {
        return Err(ApiError::invalid("only `/hugginggpt` answers with decisions").param("return_decisions"));
    }
    asked.start_with(server, named)
}

/// The pipeline of that name.
pub(crate) fn named<'a>(server: &'a Server, name: &str) -> Option<&'a Named> {
    server.parts.pipelines.iter().find(|named| named.name == name)
}

/// Only plan
///
/// The checked plan as a list of tasks; nothing is executed. Where the request is conversation, the reply to it.
#[utoipa::path(post, path = "/tasks", tag = "pipeline", request_body = Ask,
    responses((status = 200, description = "The tasks, or a message", body = TasksReply),
        (status = "4XX", description = "The request is wrong", body = ErrorBody),
        (status = "5XX", description = "It could not be done", body = ErrorBody)))]
pub(crate) async fn tasks(
    State(server): State<Server>,
    ApiJson(ask): ApiJson<Ask>,
) -> Result<Json<TasksReply>, ApiError> {
    let asked = Asked::of(&server, &ask)?;
    let (pipeline, request) = (Arc::clone(&asked.pipeline), Arc::clone(&asked.request));
    let work: Work<Result<Planned, RunError>> =
        Box::new(move |events, cancel| async move { pipeline.run_plan_only(&request, &events, cancel).await }.boxed());
    let (_, ended) = wait(server.runs.start(&asked.request.text, Keep::Events, work)?).await?;
    Ok(Json(match ended.result?? {
        Planned::Tasks(plan) => TasksReply::Tasks(export::tasks_json(&plan)),
        Planned::Conversation(answer, _) => TasksReply::Message(Said { message: answer.text }),
    }))
}

/// Do what is asked, and give the results without an answer
///
/// What each task gave, by its id. Where the request is conversation, the reply to it.
#[utoipa::path(post, path = "/results", tag = "pipeline", request_body = Ask,
    responses((status = 200, description = "The results, or a message", body = ResultsReply),
        (status = "4XX", description = "The request is wrong", body = ErrorBody),
        (status = "5XX", description = "It could not be done", body = ErrorBody)))]
pub(crate) async fn results(
    State(server): State<Server>,
    ApiJson(ask): ApiJson<Ask>,
) -> Result<Json<ResultsReply>, ApiError> {
    if ask.return_decisions {
        return Err(ApiError::invalid("`return_decisions` asks for no results").param("return_decisions"));
    }
    let asked = Asked::of(&server, &ask)?;
    let (pipeline, request) = (Arc::clone(&asked.pipeline), Arc::clone(&asked.request));
    let work: Work<Result<(Planned, Vec<Outcome>), RunError>> = Box::new(move |events, cancel| {
        async move { pipeline.run_without_answer(request, &events, cancel).await }.boxed()
    });
    let (_, ended) = wait(server.runs.start(&asked.request.text, Keep::Events, work)?).await?;
    Ok(Json(match ended.result?? {
        (Planned::Tasks(plan), outcomes) => ResultsReply::Results(Value::Object(results_map(&plan, &outcomes))),
        (Planned::Conversation(answer, _), _) => ResultsReply::Message(Said { message: answer.text }),
    }))
}

/// What is asked, and the pipeline that does it: the server's, or that of a caller with a model of their own.
pub(crate) struct Asked {
    pub(crate) pipeline: Arc<HuggingGpt>,
    pub(crate) request: Arc<Request>,
    /// Who planned: `offline`, `llm`, or `plan` where the caller brought the plan.
    pub(crate) planner: &'static str,
}

impl Asked {
    pub(crate) fn of(server: &Server, ask: &Ask) -> Result<Asked, ApiError> {
        let request = Arc::new(ask.request(&server.options)?);
        let pipeline = pipeline_of(server, ask)?;
        Ok(Asked { planner: pipeline.planner_name(), pipeline, request })
    }

    /// Starts the whole way: plan, choose, execute, answer.
    pub(crate) fn start(&self, server: &Server) -> Result<Started<Result<Run, RunError>>, ApiError> {
        let (pipeline, request) = (Arc::clone(&self.pipeline), Arc::clone(&self.request));
        let work: Work<Result<Run, RunError>> =
            Box::new(move |events, cancel| async move { pipeline.run(request, &events, cancel).await }.boxed());
        server.runs.start(&self.request.text, Keep::Events, work)
    }

    /// Starts the run of a pipeline that was chosen by name.
    pub(crate) fn start_with(
        &self,
        server: &Server,
        named: &Named,
    ) -> Result<Started<Result<Run, RunError>>, ApiError> {
        let pipeline = (named.make)(&self.pipeline);
        let pipeline = pipeline.map_err(|reason| ApiError::internal("the pipeline cannot be made", &reason))?;
        let request = Arc::clone(&self.request);
        let (context, chat) = (Arc::clone(&server.parts.context), self.pipeline.chat.clone());
        let work: Work<Result<Run, RunError>> = Box::new(move |events, cancel| {
            async move { pipeline.run(request, &context(chat, &events, cancel)).await }.boxed()
        });
        server.runs.start(&self.request.text, Keep::Events, work)
    }
}

/// The server's pipeline, or that of a caller with a model of their own.
pub(crate) fn pipeline_of(server: &Server, ask: &Ask) -> Result<Arc<HuggingGpt>, ApiError> {
    match ask.caller(&server.options.caller)? {
        None => Ok(Arc::clone(&server.parts.pipeline)),
        Some(model) => (server.parts.for_caller)(model).map_err(ApiError::invalid),
    }
}

pub(crate) struct RunHeader<'a> {
    pub(crate) run_id: String,
    pub(crate) asked: &'a Asked,
}

impl RunHeader<'_> {
    pub(crate) fn answer(&self, ended: Ended<Result<Run, RunError>>) -> Result<AnswerReply, ApiError> {
        let run = ended.result??;
        // Where files are on the server's disk is not the caller's business.
        let document = self.document(&run, ended.usage, ended.ms, |_| None);
        Ok(AnswerReply { message: run.answer.text, run: document })
    }

    /// The document of the run; `disk` maps a display path to the file on disk.
    pub(crate) fn document(
        &self,
        run: &Run,
        usage: Usage,
        ms: u64,
        disk: impl Fn(&str) -> Option<PathBuf>,
    ) -> RunDocument {
        let about = About {
            run_id: &self.run_id,
            request: &self.asked.request.text,
            planner: self.asked.planner,
            model: &self.asked.pipeline.model_name(),
            usage,
            ms,
        };
        RunDocument::new(run, about, disk)
    }
}

/// Waits for the end of a run; dropping the future cancels the run.
pub(crate) async fn wait<T>(started: Started<T>) -> Result<(String, Ended<T>), ApiError> {
    let mut guard = CancelOnDrop::new(&started.live);
    let ended =
        started.end.await.map_err(|_| ApiError::internal("the run broke off", &"its task ended without a result"))?;
    guard.disarm();
    Ok((started.live.run_id.0.clone(), ended))
}

/// The events of a run that is this caller's alone. Unless it is detached, the run is cancelled when the caller goes away.
pub(crate) fn streamed<T>(server: &Server, started: Started<T>, detached: bool) -> Response {
    let guard = (!detached).then(|| CancelOnDrop::new(&started.live));
    let frames = Arc::clone(&started.live.log).follow(0);
    let mut response = sse::reply(frames, guard, &server.metrics, server.options.heartbeat);
    if let Ok(id) = started.live.run_id.0.parse() {
        response.headers_mut().insert("x-run-id", id);
    }
    response
}
