//! Decisions: the plan and the chosen models, nothing carried out.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use futures::FutureExt;
use jarvis_hugginggpt::decisions::examples::Scenario;
use jarvis_hugginggpt::decisions::trial::{Trial, TrialError};
use jarvis_hugginggpt::decisions::{DecisionError, Decisions, Format};
use jarvis_plan::EventKind;
use serde_json::{Value, json};

use crate::error::{ApiError, ErrorBody};
use crate::extract::ApiJson;
use crate::routes::pipeline::{Asked, pipeline_of, streamed, wait};
use crate::runs::{Keep, Started, Work};
use crate::state::Server;
use crate::wire::decide::{DecideAsk, Subject, TrialAsk};
use crate::wire::reply::SseEvent;

/// Decide, and carry nothing out
///
/// Plans the request and chooses a model for each task. The reply holds the plan as a document that
/// `POST /plans/{id}/run` carries out, as it is or edited.
#[utoipa::path(post, path = "/decisions", tag = "decisions", request_body = DecideAsk,
    responses((status = 200, description = "`decisions`, `raw_results`, `message`, `execution_config`, `plan_id`; in the \
            pipeline form `tasks`", body = Object),
        (status = "4XX", description = "The request is wrong, or its plan cannot be read", body = ErrorBody),
        (status = "5XX", description = "It could not be decided", body = ErrorBody)))]
pub(crate) async fn decide(
    State(server): State<Server>,
    ApiJson(ask): ApiJson<DecideAsk>,
) -> Result<Json<Value>, ApiError> {
    let compat = |error: ApiError| if server.options.compat_errors { error.in_the_original_form() } else { error };
    let started = start(&server, ask).map_err(compat)?;
    let (_, ended) = wait(started).await.map_err(compat)?;
    ended.result.map_err(ApiError::from).and_then(|result| result.map_err(ApiError::from)).map(Json).map_err(compat)
}

/// Decide, and tell what is decided as it is decided
///
/// Server-sent events: `plan`, `mapped`, `model_chosen`, `execution_config`, and last `done` or `error`; those of model
/// calls and notes as well.
#[utoipa::path(post, path = "/decisions/stream", tag = "decisions", request_body = DecideAsk,
    responses((status = 200, description = "The events", content_type = "text/event-stream", body = SseEvent),
        (status = "4XX", description = "The request is wrong", body = ErrorBody),
        (status = "5XX", description = "It could not be decided", body = ErrorBody)))]
pub(crate) async fn stream(
    State(server): State<Server>,
    ApiJson(ask): ApiJson<DecideAsk>,
) -> Result<Response, ApiError> {
    Ok(streamed(&server, start(&server, ask)?, false))
}

/// What was decided for a request to the pipeline, in the main server's form.
pub(crate) async fn only(server: &Server, asked: &Asked) -> Result<Value, ApiError> {
    let (_, ended) = wait(start_only(server, asked)?).await?;
    Ok(ended.result??)
}

pub(crate) fn start_only(server: &Server, asked: &Asked) -> Result<Started<Result<Value, DecisionError>>, ApiError> {
    let decisions = Decisions { pipeline: Arc::clone(&asked.pipeline), ..server.parts.local_decisions.clone() };
    let request = Arc::clone(&asked.request);
    let work: Work<Result<Value, DecisionError>> = Box::new(move |events, cancel| {
        async move { decisions.decide(request, &events, cancel).await.map(|decision| decision.decisions_only()) }
            .boxed()
    });
    server.runs.start(&asked.request.text, Keep::Nothing, work)
}

fn start(server: &Server, ask: DecideAsk) -> Result<Started<Result<Value, DecisionError>>, ApiError> {
    let format = ask.format.map(Format::from);
    let (subject, ask) = ask.read(&server.options)?;
    let decisions = Decisions { pipeline: pipeline_of(server, &ask)?, ..server.parts.decisions.clone() };
    let pipeline_form = match format {
        Some(format) => format == Format::Pipeline,
        // A scenario is planned as a vision pipeline unless said otherwise.
        None => server.parts.format == Format::Pipeline || matches!(subject, Subject::Scenario(_)),
    };
    let text = match &subject {
        Subject::Request(request) => request.text.clone(),
        Subject::Scenario(scenario) => scenario.sample_description.clone(),
    };
    let work: Work<Result<Value, DecisionError>> = Box::new(move |events, cancel| {
        async move {
            match (subject, pipeline_form) {
                (Subject::Request(request), false) => {
                    decisions.decide(Arc::new(request), &events, cancel).await.map(|decision| decision.reply())
                }
                (Subject::Request(request), true) => {
                    let scenario = Scenario::described(&request.text);
                    decisions.decide_pipeline(&scenario, &events, cancel).await.map(|decision| decision.reply())
                }
                (Subject::Scenario(scenario), true) => {
                    decisions.decide_pipeline(&scenario, &events, cancel).await.map(|decision| decision.reply())
                }
                (Subject::Scenario(scenario), false) => {
                    let request = Arc::new(scenario.request());
                    decisions.decide(request, &events, cancel).await.map(|decision| decision.reply())
                }
            }
        }
        .boxed()
    });
    server.runs.start(&text, Keep::Nothing, work)
}

/// Try the planning prompt on an example whose plan is known
///
/// Body: `few_shot_categories` (list of numbers), `num_few_shot_examples_per_category` (1), `test_category_index`
/// (required), `test_example_index` (0). The reply holds what was planned and what would be right.
#[utoipa::path(post, path = "/decisions/test", tag = "decisions", request_body = TrialAsk,
    responses((status = 200, description = "`test_info`, `test_scenario`, `generated_tasks`, `ground_truth_tasks`", body = Object),
        (status = "4XX", description = "The request is wrong", body = ErrorBody),
        (status = "5XX", description = "There are no examples, or there was no plan", body = ErrorBody)))]
pub(crate) async fn test(State(server): State<Server>, ApiJson(body): ApiJson<Value>) -> Result<Json<Value>, ApiError> {
    let compat = |error: ApiError| if server.options.compat_errors { error.in_the_original_form() } else { error };
    let trial = Trial::read(&body).map_err(|error| compat(error.into()))?;
    let decisions = server.parts.decisions.clone();
    let work: Work<Result<Value, TrialError>> = Box::new(move |events, cancel| {
        async move {
            let tried = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(TrialError::Decision(DecisionError::Cancelled)),
                tried = decisions.try_example(&trial, &events) => tried,
            };
            events.emit(EventKind::Done { ok: tried.is_ok(), cancelled: false, usage: events.usage(), ms: 0 });
            tried
        }
        .boxed()
    });
    let started = server.runs.start("a trial of the planning prompt", Keep::Nothing, work).map_err(compat)?;
    let (_, ended) = wait(started).await.map_err(compat)?;
    ended.result.map_err(ApiError::from).and_then(|result| result.map_err(ApiError::from)).map(Json).map_err(compat)
}

/// Forget what the model catalogue service answered
///
/// The next decision asks it anew.
#[utoipa::path(post, path = "/admin/refresh", tag = "decisions",
    responses((status = 200, description = "It is forgotten", body = Object),
        (status = "4XX", description = "A token is needed", body = ErrorBody)))]
pub(crate) async fn refresh(State(server): State<Server>) -> Json<Value> {
    server.parts.decisions.source.refresh();
    Json(json!({ "refreshed": true }))
}
