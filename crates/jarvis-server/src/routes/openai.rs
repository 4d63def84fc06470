//! The OpenAI-compatible API: jarvis as a chat model. Each pipeline that can answer is a model.

pub(crate) mod audio;
mod calls;
mod chores;
pub(crate) mod embeddings;
pub(crate) mod files;
pub(crate) mod images;
mod intake;
pub(crate) mod links;
mod local_chat;
mod pieces;
pub(crate) mod responses;
mod said;
mod text;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use jarvis_catalogue::Host;
use jarvis_plan::{Request, Usage};

use crate::error::{ApiError, Failures};
use crate::extract::ApiJson;
use crate::parts::Named;
use crate::request::{Model, RunRequest, RunResult, wait};
use crate::runs::{CancelOnDrop, Place, Started};
use crate::sse;
use crate::state::Server;
use crate::users::Caller;
use crate::wire::openai::{ChatCompletion, ChatCompletionRequest, ModelCard, ModelList, Tokens};
use crate::wire::stream::ChatSseEvent;

use chores::Chore;
pub(crate) use links::Links;
use pieces::Head;
pub(crate) use pieces::progress;
pub(crate) use text::Text;

/// The creation time that every model is listed with, 2026-01-01.
const CREATED: u64 = 1_767_225_600;

fn card(name: &str) -> ModelCard {
    ModelCard { id: format!("jarvis/{name}"), object: "model", created: CREATED, owned_by: "jarvis" }
}

fn local_card(id: String) -> ModelCard {
    ModelCard { id, object: "model", created: CREATED, owned_by: "local" }
}

/// Chat completion
///
/// Does what the last message asks and answers, in the OpenAI protocol. Pictures, sounds and files may be given as parts of a
/// message; the files that were made stand in the answer as links. Tools that are given are planned with, and their calls are
/// handed back.
#[utoipa::path(post, path = "/v1/chat/completions", operation_id = "create_chat_completion", tag = "openai", request_body = ChatCompletionRequest,
    responses((status = 200, description = "The reply; with `stream` server-sent pieces of it", content(
            (ChatCompletion = "application/json"), (ChatSseEvent = "text/event-stream"))),
        Failures))]
pub(crate) async fn complete(
    State(server): State<Server>,
    caller: Caller,
    headers: HeaderMap,
    ApiJson(mut body): ApiJson<ChatCompletionRequest>,
) -> Result<Response, ApiError> {
    caller.must_run()?;
    let local = server.setup().models.find(&body.model).and_then(|model| Some((model.id, model.chat?)));
    if let Some((id, model)) = local {
        return local_chat::complete(&server, &caller, id, model, body).await;
    }
    let named = known(&server, &body.model)?;
    let model = card(named.name).id;
    if let Some(chore) = Chore::of(&body.messages) {
        return match server.setup().pipeline.chat.clone() {
            Some(chat) => local_chat::complete(&server, &caller, model, chat, body).await,
            None => Ok(pieces::fixed(&server, &body, Head::of(&uuid::Uuid::now_v7().to_string(), model), chore.answer)),
        };
    }
    let brought = intake::brought(&body)?;
    intake::check_pipeline(&server, &named, &brought)?;
    let (streams, progress) = (body.stream == Some(true), body.stream_progress == Some(true));
    let usage = body.stream_options.as_ref().is_some_and(|options| options.include_usage == Some(true));
    let links = Links::of(&server, &headers);
    let messages = std::mem::take(&mut body.messages);
    let said = off_thread(move || intake::said(&messages)).await?;
    said.check(&server.options, "messages")?;
    let asked = said.asked().map_err(|reason| ApiError::invalid(format!("`messages`: {reason}")).param("messages"))?;
    let stop = brought.form.stop.clone();
    let (request, answered) = intake::request(&server, &caller, asked, brought, &links).await?;
    let started = start(&server, &caller, named.name, request, &answered).await?;
    let head = Head::of(&started.live.run_id.0, model);
    if streams {
        let want = pieces::Want { usage, progress, stop };
        let guard = CancelOnDrop::new(&started.live);
        let frames = Arc::clone(&started.live.log).follow(Place::default());
        let events = pieces::of(frames, started.end, head, want, links);
        return Ok(sse::open(events, guard, &server));
    }
    let (run_id, ended) = wait(started).await?;
    let run = ended.result??;
    Ok(Json(pieces::whole(head, &run_id, &run.answer, &stop, tokens(&ended.usage), &links)).into_response())
}

/// Starts the run of a request of a chat protocol. Where it brings the results of calls that another run handed back, it takes over
/// what that one did.
async fn start(
    server: &Server,
    caller: &Caller,
    name: &str,
    request: Request,
    answered: &[String],
) -> Result<Started<RunResult>, ApiError> {
    let past = match calls::run_of(answered).filter(|_| name == jarvis_hugginggpt::NAME) {
        Some(run) => server.handed_back(caller, &run).await,
        None => None,
    };
    let setup = server.setup();
    let pipeline = Arc::clone(&setup.pipeline);
    let (planner, model) = (pipeline.planner_name(), Model::Configured);
    let run = RunRequest { planner, pipeline, model, setup, request: Arc::new(request) };
    run.start_after(past, server, caller, Some(name), false)
}

/// Reads what may be large away from the threads that serve requests.
async fn off_thread<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let read = tokio::task::spawn_blocking(read).await;
    read.map_err(|error| ApiError::internal("the request cannot be read", &error))?
}

/// The models that can be asked
#[utoipa::path(get, path = "/v1/models", operation_id = "list_models", tag = "openai",
    responses((status = 200, description = "The pipelines", body = ModelList),
        Failures))]
pub(crate) async fn models(State(server): State<Server>) -> Json<ModelList> {
    let pipelines = server.pipelines().into_iter().map(|named| card(named.name));
    // Native models do one small thing each, which no client of this protocol asks for.
    let local = server.setup().models.all().into_iter().filter(|model| model.host == Host::Local);
    let local = local.map(|model| local_card(model.id));
    Json(ModelList { object: "list", data: pipelines.chain(local).collect() })
}

/// One of the models that can be asked
pub(crate) async fn model(State(server): State<Server>, Path(id): Path<String>) -> Result<Json<ModelCard>, ApiError> {
    if let Some(model) = server.setup().models.find(&id) {
        return Ok(Json(local_card(model.id)));
    }
    known(&server, &id).map(|named| Json(card(named.name)))
}

/// The same for an id written without escape.
pub(crate) async fn model_of_owner(
    server: State<Server>,
    Path((owner, name)): Path<(String, String)>,
) -> Result<Json<ModelCard>, ApiError> {
    model(server, Path(format!("{owner}/{name}"))).await
}

/// The pipeline that a model's id or its name alone means.
fn known(server: &Server, given: &str) -> Result<Named, ApiError> {
    server.pipeline(given.strip_prefix("jarvis/").unwrap_or(given)).ok_or_else(|| {
        let shown: String = given.chars().take(100).collect();
        let pipelines = server.pipelines().into_iter().map(|named| card(named.name).id);
        let local = server.setup().models.all().into_iter().filter(|model| model.chat.is_some()).map(|model| model.id);
        let names: Vec<String> = pipelines.chain(local).collect();
        ApiError::new(StatusCode::NOT_FOUND, "model_not_found", format!("there is no model `{shown}` here"))
            .hint(format!("the models are: {}", names.join(", ")))
            .param("model")
    })
}

fn tokens(usage: &Usage) -> Tokens {
    Tokens {
        prompt_tokens: usage.prompt_tokens,
        completion_tokens: usage.completion_tokens,
        total_tokens: usage.prompt_tokens + usage.completion_tokens,
    }
}
