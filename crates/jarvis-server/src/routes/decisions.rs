//! Decisions: the plan and the chosen models, nothing executed.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use jarvis_hugginggpt::decisions::examples::Scenario;
use jarvis_hugginggpt::decisions::trial::{Trial, TrialError};
use jarvis_hugginggpt::decisions::{DecisionError, Decisions, Format};
use jarvis_plan::EventKind;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::{ApiError, Failures};
use crate::extract::ApiJson;
use crate::request::{RunRequest, pipeline_of, result, streamed};
use crate::runs::{Keep, Started};
use crate::state::Server;
use crate::users::{Caller, Right};
use crate::wire::decide::{DecideAsk, Subject, TrialAsk};
use crate::wire::decisions::{DecisionReply, TrialReply};
use crate::wire::stream::SseEvent;

type DecisionResult = Result<Value, DecisionError>;

/// Decide without executing
///
/// Plans the request and chooses a model for each task. The reply holds the plan as a document that
/// `POST /plans/{id}/run` executes, as it is or edited.
#[utoipa::path(post, path = "/decisions", operation_id = "decide", tag = "decisions", request_body = DecideAsk,
    responses((status = 200, description = "The decision", body = DecisionReply), Failures))]
pub(crate) async fn decide(
    State(server): State<Server>,
    caller: Caller,
    ApiJson(ask): ApiJson<DecideAsk>,
) -> Result<Json<Value>, ApiError> {
    in_configured_form(&server, async { result(start(&server, &caller, ask)?).await }).await
}

/// Decide without executing and stream what happens
///
/// Server-sent events: `plan`, `mapped`, `model_chosen`, `execution_config`, and last `done` or `error`; those of model
/// calls and notes as well.
#[utoipa::path(post, path = "/decisions/stream", operation_id = "decide_streamed", tag = "decisions", request_body = DecideAsk, responses((status = 200, description = "The events", body = SseEvent, content_type = "text/event-stream"), Failures))]
pub(crate) async fn stream(
    State(server): State<Server>,
    caller: Caller,
    ApiJson(ask): ApiJson<DecideAsk>,
) -> Result<Response, ApiError> {
    Ok(streamed(&server, start(&server, &caller, ask)?, false))
}

/// Starts a decision on a request to the pipeline, in the main server's form.
pub(crate) fn start_only(
    server: &Server,
    caller: &Caller,
    run: &RunRequest,
) -> Result<Started<DecisionResult>, ApiError> {
    let decisions = server.decisions_for(caller, &server.setup().local_decisions);
    let decisions = Decisions { pipeline: Arc::clone(&run.pipeline), ..decisions };
    let request = Arc::clone(&run.request);
    server.runs.start(caller, &run.request.text, Keep::Nothing, move |events, cancel| async move {
        decisions.decide(request, &events, cancel).await.map(|decision| decision.decisions_only())
    })
}

fn start(server: &Server, caller: &Caller, ask: DecideAsk) -> Result<Started<DecisionResult>, ApiError> {
    let format = ask.format;
    let (subject, ask) = ask.read(&server.options, server.setup().unpriced.as_deref())?;
    let decisions = server.decisions_for(caller, &server.setup().decisions);
    let decisions = Decisions { pipeline: pipeline_of(server, &server.setup(), &ask)?.0, ..decisions };
    let is_pipeline = match format {
        Some(format) => format == Format::Pipeline,
        // A scenario is planned as a vision pipeline unless a format is given.
        None => server.setup().format == Format::Pipeline || matches!(subject, Subject::Scenario(_)),
    };
    let text = match &subject {
        Subject::Request(request) => request.text.clone(),
        Subject::Scenario(scenario) => scenario.sample_description.clone(),
    };
    server.runs.start(caller, &text, Keep::Nothing, move |events, cancel| async move {
        if is_pipeline {
            let scenario = match subject {
                Subject::Request(request) => Scenario::described(&request.text),
                Subject::Scenario(scenario) => scenario,
            };
            decisions.decide_pipeline(&scenario, &events, cancel).await.map(|decision| decision.reply())
        } else {
            let request = match subject {
                Subject::Request(request) => request,
                Subject::Scenario(scenario) => scenario.request(),
            };
            decisions.decide(Arc::new(request), &events, cancel).await.map(|decision| decision.reply())
        }
    })
}

/// Failures in the original's form where the configuration asks for that.
async fn in_configured_form(
    server: &Server,
    work: impl Future<Output = Result<Value, ApiError>>,
) -> Result<Json<Value>, ApiError> {
    let compat = |error: ApiError| if server.options.compat_errors { error.in_the_original_form() } else { error };
    work.await.map(Json).map_err(compat)
}

/// Try the planning prompt on an example whose plan is known
///
/// Body: `few_shot_categories` (list of numbers), `num_few_shot_examples_per_category` (1), `test_category_index`
/// (required), `test_example_index` (0). The reply holds what was planned and what would be right.
#[utoipa::path(post, path = "/decisions/test", operation_id = "try_planning_prompt", tag = "decisions", request_body = TrialAsk,
    responses((status = 200, description = "What was planned and what would be right", body = TrialReply), Failures))]
pub(crate) async fn test(
    State(server): State<Server>,
    caller: Caller,
    ApiJson(body): ApiJson<Value>,
) -> Result<Json<Value>, ApiError> {
    let work = async {
        let trial = Trial::read(&body)?;
        let decisions = server.setup().decisions.clone();
        let started = server.runs.start(
            &caller,
            "a trial of the planning prompt",
            Keep::Nothing,
            move |events, cancel| async move {
                let tried = tokio::select! {
                    biased;
                    () = cancel.cancelled() => Err(TrialError::Decision(DecisionError::Cancelled)),
                    tried = decisions.try_example(&trial, &events) => tried,
                };
                events.emit(EventKind::Done { ok: tried.is_ok(), cancelled: false, usage: events.usage(), ms: 0 });
                tried
            },
        )?;
        result(started).await
    };
    in_configured_form(&server, work).await
}

/// The cached replies are gone.
#[derive(Serialize, ToSchema)]
pub(crate) struct Refreshed {
    /// Always true.
    refreshed: bool,
}

/// Clear the cached replies of the model catalogue service
///
/// The next decision asks it anew. Where there are several users, an administrator may.
#[utoipa::path(post, path = "/admin/refresh", operation_id = "refresh_catalogue", tag = "decisions",
    responses((status = 200, description = "The cache is empty", body = Refreshed), Failures))]
pub(crate) async fn refresh(State(server): State<Server>, caller: Caller) -> Result<Json<Refreshed>, ApiError> {
    if server.users.are_several() {
        caller.must(Right::Admin)?;
    }
    server.audit(&caller, "refresh_catalogue", Value::Null).await?;
    server.setup().decisions.source.refresh();
    Ok(Json(Refreshed { refreshed: true }))
}
