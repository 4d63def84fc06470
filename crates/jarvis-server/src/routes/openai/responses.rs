//! The responses protocol: a response is a run, and has its id. What was asked is kept beside the run; what came of it is read from
//! the run's events, so that a response outlives the process that began it.

mod compact;
mod items;
mod object;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use jarvis_plan::{ReplyForm, Role, RunId};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;
use uuid::Uuid;

use self::items::Room;
use self::object::{Told, answered, object, response_id};
use super::intake::{self, Brought};
use super::said::{Said, shown};
use super::{Links, known, off_thread, start};
use crate::error::{ApiError, Failures};
use crate::extract::{ApiJson, ApiQuery};
use crate::request::wait;
use crate::routes::paging::checked_limit;
use crate::routes::runs::removal;
use crate::runs::{CancelOnDrop, Frame, Place, now_ms};
use crate::sse;
use crate::state::Server;
use crate::users::{Caller, Right};
use crate::wire::openai::{FunctionTool, ToolChoice};
use crate::wire::responses::{
    CompactRequest, Compacted, Facts, Input, Item, ItemList, ResponseDeleted, ResponseObject, ResponsesRequest,
    TextSettings,
};
use crate::wire::stream::ResponseSseEvent;

/// The longest chain of responses that follow each other.
const LONGEST_CHAIN: usize = 1_000;

/// How long a response that is cancelled is waited for.
const CANCEL_TIME: Duration = Duration::from_secs(10);

/// What is kept of a response beside its run.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    created_at: u64,
    asked: Facts,
    input: Vec<Item>,
}

/// Make a response
///
/// Does what the input asks and answers. With `background` the reply comes at once, and the response is asked for until it is there.
#[utoipa::path(post, path = "/v1/responses", operation_id = "create_response", tag = "openai", request_body = ResponsesRequest,
    responses((status = 200, description = "The response; with `stream` server-sent events of it", content(
            (ResponseObject = "application/json"), (ResponseSseEvent = "text/event-stream"))),
        Failures))]
pub(crate) async fn create(
    State(server): State<Server>,
    caller: Caller,
    headers: HeaderMap,
    ApiJson(body): ApiJson<ResponsesRequest>,
) -> Result<Response, ApiError> {
    caller.must_run()?;
    let named = known(&server, &body.model)?;
    let (asked, brought) = asked(&server, &body)?;
    intake::check_pipeline(&server, &named, &brought)?;
    let links = Links::of(&server, &headers);
    let input = items::numbered(body.input);
    let mut room = Room::of(&server.options);
    let mut before = chain(&server, &caller, body.previous_response_id.as_deref(), &mut room).await?;
    if let Some(instructions) = &asked.instructions {
        before.turn(Role::System, instructions.clone());
    }
    let own = items::resolved(&server, &caller, input.clone(), &mut room).await?;
    let said = off_thread(move || {
        items::add(&mut before, &own)?;
        Ok(before)
    });
    let said = said.await?;
    said.check(&server.options, "input")?;
    let conversation = said.asked().map_err(|reason| ApiError::invalid(format!("`input`: {reason}")).param("input"))?;
    let (request, results) = intake::request(&server, &caller, conversation, brought, &links).await?;
    let started = start(&server, &caller, named.name, request, &results).await?;
    let run = started.live.run_id.clone();
    let kept = Kept { created_at: now_ms() / 1000, asked, input };
    let mut guard = CancelOnDrop::new(&started.live);
    if kept.asked.store
        && let Some(journal) = &server.parts.journal
    {
        // Before anything is told of it: what is told can be asked for.
        let body = serde_json::to_string(&kept).expect("it has only string keys");
        journal.put_response(&run, caller.name(), body).await?;
    }
    if kept.asked.background {
        guard.disarm();
    }
    if body.stream == Some(true) {
        let frames = Arc::clone(&started.live.log).follow(Place::default());
        return Ok(sse::open(stream::of(frames, run, kept, links, None), guard, &server));
    }
    if kept.asked.background {
        let told = if started.live.is_queued() { Told::Queued } else { Told::Going };
        return Ok(Json(object(&run, &kept, &told, &links)).into_response());
    }
    guard.disarm();
    let (_, ended) = wait(started).await?;
    let usage = ended.usage;
    let answer = ended.result??;
    let told = Told::Answered {
        answer: answer.answer,
        usage: Box::new(usage),
        cancelled: answer.cancelled,
        at: now_ms() / 1000,
    };
    Ok(Json(object(&run, &kept, &told, &links)).into_response())
}

/// What is asked for, as it is given back, and what comes with it.
fn asked(server: &Server, body: &ResponsesRequest) -> Result<(Facts, Brought), ApiError> {
    for (param, refused, why) in [
        (
            "conversation",
            body.conversation.is_some(),
            "name the response that this one follows (`previous_response_id`)",
        ),
        ("prompt", body.prompt.is_some(), "send its text as `instructions`"),
        ("top_logprobs", body.top_logprobs.is_some_and(|most| most > 0), "there are no probabilities to give"),
    ] {
        if refused {
            let message = format!("`{param}` is not supported: {why}");
            return Err(ApiError::new(StatusCode::BAD_REQUEST, "unsupported_parameter", message).param(param));
        }
    }
    let store = body.store != Some(false) && server.parts.journal.is_some();
    let background = body.background == Some(true);
    if background && !store {
        let why = if body.store == Some(false) { "it is not stored" } else { "this server keeps no journal" };
        let message =
            format!("a response that is made in the background can be asked for only where it is kept: {why}");
        return Err(ApiError::invalid(message).param("background"));
    }
    if body.input.is_none() {
        return Err(ApiError::invalid("`input` is missing")
            .param("input")
            .hint(r#"send {"model": "jarvis/hugginggpt", "input": "what you want"}"#));
    }
    let mut functions = Vec::new();
    for (at, tool) in body.tools.iter().flatten().enumerate() {
        let param = format!("tools[{at}]");
        let Some(name) = tool.name.clone().filter(|_| tool.kind == "function") else {
            let kind = shown(&tool.kind);
            let message = format!("`{param}`: tools of type `{kind}` are not supported; `function`, with a `name`, is");
            return Err(ApiError::invalid(message).param(format!("{param}.type")));
        };
        let (description, parameters) = (tool.description.clone(), tool.parameters.clone());
        functions.push((param, FunctionTool { name, description, parameters, strict: tool.strict }));
    }
    let functions = functions.iter().map(|(param, tool)| (param.clone(), tool)).collect();
    let (tools, must_call) = intake::offered(functions, body.tool_choice.as_ref())?;
    let format = body.text.as_ref().and_then(|text| text.format.as_ref());
    let schema = intake::schema(format, "text.format")?;
    let number = |number: Option<f64>| number.and_then(serde_json::Number::from_f64);
    let form = ReplyForm {
        schema,
        must_call,
        temperature: number(body.temperature),
        top_p: number(body.top_p),
        max_tokens: body.max_output_tokens,
        ..ReplyForm::default()
    };
    let text = body.text.clone().unwrap_or(TextSettings { format: None, verbosity: None });
    let facts = Facts {
        model: body.model.clone(),
        instructions: body.instructions.clone(),
        previous_response_id: body.previous_response_id.clone(),
        tools: body.tools.clone().unwrap_or_default(),
        tool_choice: body.tool_choice.clone().unwrap_or_else(|| ToolChoice::Mode("auto".to_owned())),
        parallel_tool_calls: body.parallel_tool_calls.unwrap_or(true),
        text: object::with_format(text),
        temperature: body.temperature.unwrap_or(1.0),
        top_p: body.top_p.unwrap_or(1.0),
        presence_penalty: 0.0,
        frequency_penalty: 0.0,
        top_logprobs: 0,
        max_output_tokens: body.max_output_tokens,
        max_tool_calls: body.max_tool_calls,
        truncation: body.truncation.clone().unwrap_or_else(|| "disabled".to_owned()),
        reasoning: body.reasoning.clone().unwrap_or_default(),
        store,
        background,
        service_tier: body.service_tier.clone().unwrap_or_else(|| "default".to_owned()),
        metadata: body.metadata.clone().unwrap_or_default(),
        user: body.user.clone(),
        safety_identifier: body.safety_identifier.clone(),
        prompt_cache_key: body.prompt_cache_key.clone(),
    };
    Ok((facts, Brought { tools, form, format_param: "text.format" }))
}

/// What was said in the responses that led to one, and in it.
async fn chain(server: &Server, caller: &Caller, last: Option<&str>, room: &mut Room) -> Result<Said, ApiError> {
    let mut links = Vec::new();
    let mut next = last.map(str::to_owned);
    while let Some(id) = next {
        if links.len() == LONGEST_CHAIN {
            let message = format!("more than {LONGEST_CHAIN} responses lead to this one");
            return Err(ApiError::invalid(message).param("previous_response_id"));
        }
        let found = find(server, caller, &id).await;
        let (run, kept) = found.map_err(|error| match error.fields.status {
            StatusCode::NOT_FOUND => {
                let message = format!("there is no response `{}`", shown(&id));
                let gone = ApiError::new(StatusCode::NOT_FOUND, "previous_response_not_found", message)
                    .param("previous_response_id");
                gone.hint(match server.parts.journal {
                    None => NONE_KEPT,
                    Some(_) => "send the conversation as `input`, or begin a new one",
                })
            }
            _ => error,
        })?;
        let told = told(server, caller, &run).await?;
        let Told::Answered { answer, .. } = told else {
            let message = format!("the response `{}` has no answer that could be gone on with", shown(&id));
            return Err(ApiError::new(StatusCode::CONFLICT, "no_answer", message).param("previous_response_id"));
        };
        let mut all = kept.input;
        all.extend(answered(&run, &answer, None, None).iter().map(Item::from));
        room.take(&all, "previous_response_id")?;
        links.push(items::resolved(server, caller, all, room).await?);
        next = kept.asked.previous_response_id;
    }
    let mut said = Said::default();
    for items in links.iter().rev() {
        items::add(&mut said, items)?;
    }
    Ok(said)
}

/// Why there are no responses without a journal.
const NONE_KEPT: &str = "this server keeps no journal, and so no responses";

/// A response that a caller reaches.
async fn find(server: &Server, caller: &Caller, id: &str) -> Result<(RunId, Kept), ApiError> {
    let unknown = || ApiError::not_found(format!("there is no response `{}`", shown(id))).param("response_id");
    let run = id.strip_prefix("resp_").and_then(|id| Uuid::try_parse(id).ok()).ok_or_else(unknown)?;
    let run = RunId(run.to_string());
    if server.parts.journal.is_none() {
        return Err(unknown().hint(NONE_KEPT));
    }
    let of = run.clone();
    let kept = server.read_journal(move |journal| journal.response(&of.0)).await?;
    let (_, body) = kept.filter(|(user, _)| caller.reaches(user)).ok_or_else(unknown)?;
    let kept =
        serde_json::from_str(&body).map_err(|error| ApiError::internal("the response cannot be read", &error))?;
    Ok((run, kept))
}

/// What came of the run of a response, as far as it has come.
async fn told(server: &Server, caller: &Caller, run: &RunId) -> Result<Told, ApiError> {
    if let Some(live) = server.runs.of(caller, &run.0)? {
        let events = live.log.told();
        return Ok(if live.is_queued() { Told::Queued } else { Told::of(events) });
    }
    let id = run.0.clone();
    Ok(Told::of(server.read_journal(move |journal| journal.run(&id)).await?.events))
}

/// How a response is asked for again.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Again {
    /// Whether it comes as server-sent events, from the first on.
    #[serde(default)]
    stream: bool,
    /// With `stream`, the number after which they begin.
    starting_after: Option<u64>,
}

/// A response that was kept
#[utoipa::path(get, path = "/v1/responses/{response_id}", operation_id = "get_response", tag = "openai", params(Again,
        ("response_id" = String, Path, description = "Its id")),
    responses((status = 200, description = "The response; with `stream` server-sent events of it", content(
            (ResponseObject = "application/json"), (ResponseSseEvent = "text/event-stream"))),
        Failures))]
pub(crate) async fn show(
    State(server): State<Server>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
    ApiQuery(again): ApiQuery<Again>,
) -> Result<Response, ApiError> {
    let (run, kept) = find(&server, &caller, &id).await?;
    let links = Links::of(&server, &headers);
    if !again.stream {
        let told = told(&server, &caller, &run).await?;
        return Ok(Json(object(&run, &kept, &told, &links)).into_response());
    }
    if let Some(live) = server.runs.of(&caller, &run.0)? {
        let frames = Arc::clone(&live.log).follow(Place::default());
        return Ok(sse::open(stream::of(frames, run, kept, links, again.starting_after), (), &server));
    }
    let of = run.0.clone();
    let record = server.read_journal(move |journal| journal.run(&of)).await?;
    let frames: Vec<Frame> = record.events.iter().filter_map(Frame::recorded).collect();
    let frames = futures::stream::iter(frames);
    Ok(sse::open(stream::of(frames, run, kept, links, again.starting_after), (), &server))
}

/// Forget a response, with the run that made it
#[utoipa::path(delete, path = "/v1/responses/{response_id}", operation_id = "remove_response", tag = "openai",
    params(("response_id" = String, Path, description = "Its id")),
    responses((status = 200, description = "It is forgotten", body = ResponseDeleted), Failures))]
pub(crate) async fn delete(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ResponseDeleted>, ApiError> {
    caller.must(Right::Run)?;
    let (run, _) = find(&server, &caller, &id).await?;
    drop(removal::remove(State(server), caller, Path(run.0.clone())).await?);
    Ok(Json(ResponseDeleted { id: response_id(&run), object: "response", deleted: true }))
}

/// Cancel a response that is being made
#[utoipa::path(post, path = "/v1/responses/{response_id}/cancel", operation_id = "cancel_response", tag = "openai",
    params(("response_id" = String, Path, description = "Its id")),
    responses((status = 200, description = "The response", body = ResponseObject), Failures))]
pub(crate) async fn cancel(
    State(server): State<Server>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
) -> Result<Json<ResponseObject>, ApiError> {
    caller.must(Right::Run)?;
    let (run, kept) = find(&server, &caller, &id).await?;
    if let Some(live) = server.runs.of(&caller, &run.0)? {
        live.cancel.cancel();
        // What was done is kept, and the run ends with words that say so.
        let to_its_end = Arc::clone(&live.log).follow(Place::default()).for_each(|_| std::future::ready(()));
        let _ = tokio::time::timeout(CANCEL_TIME, to_its_end).await;
    } else if let Some(journal) = server.parts.journal.clone() {
        server.cancel_elsewhere(&journal, &run).await?;
    }
    let told = told(&server, &caller, &run).await?;
    Ok(Json(object(&run, &kept, &told, &Links::of(&server, &headers))))
}

/// How the items of a response are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ItemPage {
    /// The most items.
    #[serde(default = "twenty")]
    #[param(minimum = 1, maximum = 100, default = 20)]
    limit: u32,
    /// `asc`, or `desc` for the last first.
    #[serde(default)]
    order: Option<String>,
    /// The item after which the list goes on.
    after: Option<String>,
}

fn twenty() -> u32 {
    20
}

/// The items that a response was asked with
#[utoipa::path(get, path = "/v1/responses/{response_id}/input_items", operation_id = "list_input_items", tag = "openai", params(ItemPage,
        ("response_id" = String, Path, description = "Its id")),
    responses((status = 200, description = "The items", body = ItemList), Failures))]
pub(crate) async fn input_items(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
    ApiQuery(page): ApiQuery<ItemPage>,
) -> Result<Json<ItemList>, ApiError> {
    let limit = checked_limit(page.limit, 100)? as usize;
    let (_, kept) = find(&server, &caller, &id).await?;
    let mut items = kept.input;
    match page.order.as_deref() {
        None | Some("desc") => items.reverse(),
        Some("asc") => {}
        Some(_) => return Err(ApiError::invalid("`order` is `asc` or `desc`").param("order")),
    }
    if let Some(after) = &page.after {
        let at = items.iter().position(|item| item.id.as_ref() == Some(after));
        let at = at.ok_or_else(|| ApiError::invalid("`after` is the id of an item").param("after"))?;
        items.drain(..=at);
    }
    let has_more = items.len() > limit;
    items.truncate(limit);
    let id = |item: Option<&Item>| item.and_then(|item| item.id.clone());
    let (first_id, last_id) = (id(items.first()), id(items.last()));
    Ok(Json(ItemList { object: "list", data: items, first_id, last_id, has_more }))
}

/// Make a conversation shorter
///
/// With a chat model one call of it sums the conversation up; without one its end is kept as it is. The item that is given stands for
/// the conversation in the input of a response.
#[utoipa::path(post, path = "/v1/responses/compact", operation_id = "compact_conversation", tag = "openai", request_body = CompactRequest,
    responses((status = 200, description = "The shorter conversation", body = Compacted), Failures))]
pub(crate) async fn compact(
    State(server): State<Server>,
    caller: Caller,
    ApiJson(body): ApiJson<CompactRequest>,
) -> Result<Json<Compacted>, ApiError> {
    caller.must_run()?;
    known(&server, &body.model)?;
    let mut room = Room::of(&server.options);
    let mut said = chain(&server, &caller, body.previous_response_id.as_deref(), &mut room).await?;
    let input = match body.input {
        Some(Input::Text(text)) => items::numbered(Some(Input::Text(text))),
        input => items::numbered(input),
    };
    let input = items::resolved(&server, &caller, input, &mut room).await?;
    items::add(&mut said, &input)?;
    said.check(&server.options, "input")?;
    compact::compacted(&server, &caller, said, &input, body.instructions.as_deref()).await.map(Json)
}
