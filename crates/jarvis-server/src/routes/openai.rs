//! The OpenAI-compatible API: jarvis as a chat model. Each pipeline that can answer is a model.

pub(crate) mod audio;
pub(crate) mod embeddings;
mod intake;
mod local_chat;
mod pieces;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use jarvis_catalogue::Host;
use jarvis_plan::{AnswerResource, Kind, Usage};

use crate::error::{ApiError, Failures};
use crate::extract::ApiJson;
use crate::guard;
use crate::request::{RunRequest, wait};
use crate::runs::{CancelOnDrop, Place};
use crate::sse;
use crate::state::{Named, Server};
use crate::users::Caller;
use crate::wire::openai::{
    AssistantMessage, ChatCompletion, ChatCompletionRequest, Choice, ModelCard, ModelList, Tokens,
};
use crate::wire::reply::SseEvent;

pub(crate) use pieces::progress;

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
/// Does what the last message asks and answers, in the OpenAI protocol. Pictures and sounds may be given as parts of a
/// message; the files that were made stand in the answer as links.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "openai", request_body = ChatCompletionRequest,
    responses((status = 200, description = "The reply; with `stream` server-sent pieces of it", content(
            (ChatCompletion = "application/json"), (SseEvent = "text/event-stream"))),
        Failures))]
pub(crate) async fn complete(
    State(server): State<Server>,
    caller: Caller,
    headers: HeaderMap,
    ApiJson(body): ApiJson<ChatCompletionRequest>,
) -> Result<Response, ApiError> {
    caller.must_run()?;
    let local = server.parts.models.find(&body.model).and_then(|model| Some((model.id, model.chat?)));
    if let Some((id, model)) = local {
        return local_chat::complete(&server, &caller, id, model, body).await;
    }
    let named = known(&server, &body.model)?.name;
    let model = card(named).id;
    intake::check(&body)?;
    let (streams, progress) = (body.stream == Some(true), body.stream_progress == Some(true));
    let usage = body.stream_options.as_ref().is_some_and(|options| options.include_usage == Some(true));
    let links = Links::of(&headers);
    let request = intake::request(&server, &caller, body, &links).await?;
    let pipeline = Arc::clone(&server.parts.pipeline);
    let run = RunRequest { planner: pipeline.planner_name(), pipeline, request: Arc::new(request) };
    let started = run.start(&server, &caller, Some(named), false)?;
    let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    if streams {
        let head = pieces::Head { id: id(&started.live.run_id.0), model, created };
        let want = pieces::Want { usage, progress };
        let guard = CancelOnDrop::new(&started.live);
        let frames = Arc::clone(&started.live.log).follow(Place::default());
        let events = pieces::of(frames, started.end, head, want, links);
        return Ok(sse::open(events, guard, &server));
    }
    let (run_id, ended) = wait(started).await?;
    let run = ended.result??;
    let content = links.answer(&run.answer.text, &run.answer.resources);
    Ok(Json(ChatCompletion {
        id: id(&run_id),
        object: "chat.completion",
        created,
        model,
        choices: vec![Choice {
            index: 0,
            message: AssistantMessage { role: "assistant", content, refusal: () },
            finish_reason: "stop",
            logprobs: (),
        }],
        usage: tokens(&ended.usage),
    })
    .into_response())
}

/// The models that can be asked
#[utoipa::path(get, path = "/v1/models", tag = "openai",
    responses((status = 200, description = "The pipelines", body = ModelList),
        Failures))]
pub(crate) async fn models(State(server): State<Server>) -> Json<ModelList> {
    let pipelines = server.pipelines().iter().map(|named| card(named.name));
    // Native models do one small thing each, which no client of this protocol asks for.
    let local = server.parts.models.all().into_iter().filter(|model| model.host == Host::Local);
    let local = local.map(|model| local_card(model.id));
    Json(ModelList { object: "list", data: pipelines.chain(local).collect() })
}

/// One of the models that can be asked
pub(crate) async fn model(State(server): State<Server>, Path(id): Path<String>) -> Result<Json<ModelCard>, ApiError> {
    if let Some(model) = server.parts.models.find(&id) {
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
fn known<'a>(server: &'a Server, given: &str) -> Result<&'a Named, ApiError> {
    server.pipeline(given.strip_prefix("jarvis/").unwrap_or(given)).ok_or_else(|| {
        let shown: String = given.chars().take(100).collect();
        let pipelines = server.pipelines().iter().map(|named| card(named.name).id);
        let local = server.parts.models.all().into_iter().filter(|model| model.chat.is_some()).map(|model| model.id);
        let names: Vec<String> = pipelines.chain(local).collect();
        ApiError::new(StatusCode::NOT_FOUND, "model_not_found", format!("there is no model `{shown}` here"))
            .hint(format!("the models are: {}", names.join(", ")))
            .param("model")
    })
}

fn id(run_id: &str) -> String {
    format!("chatcmpl-{run_id}")
}

fn tokens(usage: &Usage) -> Tokens {
    Tokens {
        prompt_tokens: usage.prompt_tokens,
        completion_tokens: usage.completion_tokens,
        total_tokens: usage.prompt_tokens + usage.completion_tokens,
    }
}

/// How files are linked in an answer: by whole addresses, since a chat client knows nothing of this server's paths.
#[derive(Debug)]
pub(crate) struct Links {
    base: String,
}

impl Links {
    /// The base is the name by which the client called.
    pub(crate) fn of(headers: &HeaderMap) -> Links {
        Links { base: guard::base(headers) }
    }

    /// The answer's text with whole addresses, and links to the files that it does not name.
    pub(crate) fn answer(&self, text: &str, resources: &[AnswerResource]) -> String {
        let mut answer = text.to_owned();
        let mut links = String::new();
        for resource in resources {
            let named = answer.contains(&resource.url);
            if named {
                answer = answer.replace(&resource.url, &format!("{}{}", self.base, resource.url));
            }
            // A picture is shown; a name alone would not show it.
            if !named || resource.kind == Kind::Image {
                links.push_str(&self.link(resource));
            }
        }
        answer + &links
    }

    /// A link to a file, in Markdown, on a line of its own.
    pub(crate) fn link(&self, resource: &AnswerResource) -> String {
        let mark = if resource.kind == Kind::Image { "!" } else { "" };
        format!("\n\n{mark}[{}]({}{})", resource.name, self.base, resource.url)
    }
}
