//! The runs of this server, those that go on and those that the journal remembers.

pub(crate) mod list;
pub(crate) mod rating;
pub(crate) mod removal;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::StatusCode;
use axum::response::Response;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use jarvis_plan::{RunId, TaskId};
use jarvis_store::{RunRecord, RunStatus, RunSummary};
use serde::Deserialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::elsewhere::{Elsewhere, NotSaid};
use crate::error::{ApiError, ErrorBody, Failures};
use crate::extract::MaybeJson;
use crate::runs::{Frame, Place, no_such_run};
use crate::sse;
use crate::state::Server;
use crate::users::{Caller, Right};
use crate::wire::reply::{CancelReply, ResumeReply, RunLine, RunReply};
use crate::wire::stream::SseEvent;

/// One run with its events
#[utoipa::path(get, path = "/runs/{id}", operation_id = "get_run", tag = "runs", params(("id" = String, Path, description = "The run's id")),
    responses((status = 200, description = "The run", body = RunReply),
        Failures))]
pub(crate) async fn show(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<RunReply>, ApiError> {
    let id = whole(id)?;
    if let Some(live) = server.runs.of(&caller, &id)? {
        let events = live.log.told();
        let waiting = live.pending();
        return Ok(Json(RunReply { run: RunLine::of(live.summary(), live.is_queued()), waiting, events }));
    }
    match whereabouts(&server, &caller, &id).await? {
        Whereabouts::There { elsewhere, .. } => {
            let run = RunId(id);
            let events = elsewhere.so_far(&run).await?;
            Ok(Json(RunReply::told(run, events)))
        }
        Whereabouts::Kept(record) => Ok(Json(RunReply::of(*record))),
    }
}

/// The events of a run from its beginning, as they happen while it goes on
///
/// Closing the connection does not cancel the run. With `Last-Event-ID` the events after that one are sent.
#[utoipa::path(get, path = "/runs/{id}/events", operation_id = "follow_run", tag = "runs",
    params(("id" = String, Path, description = "The run's id"),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event already seen")),
    responses((status = 200, description = "The events", body = SseEvent, content_type = "text/event-stream"), Failures))]
pub(crate) async fn follow(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let from = match headers.get("last-event-id") {
        None => Place::default(),
        Some(seen) => seen
            .to_str()
            .ok()
            .and_then(|seen| seen.trim().parse::<Place>().ok())
            .ok_or_else(|| ApiError::invalid("`Last-Event-ID` is the id of an event").param("Last-Event-ID"))?
            .next(),
    };
    let frames = frames_of(&server, &caller, whole(id)?, from).await?;
    Ok(sse::reply(frames, (), &server))
}

/// The events of a run from a place on, wherever it is.
pub(super) async fn frames_of(
    server: &Server,
    caller: &Caller,
    id: String,
    from: Place,
) -> Result<BoxStream<'static, Frame>, ApiError> {
    if let Some(live) = server.runs.of(caller, &id)? {
        return Ok(Arc::clone(&live.log).follow(from).boxed());
    }
    let record = match whereabouts(server, caller, &id).await? {
        Whereabouts::There { elsewhere, record: None } => {
            let events = elsewhere.events(&RunId(id)).await?;
            let frames = events.filter_map(async |event| Frame::recorded(&event));
            return Ok(frames.filter(move |frame| std::future::ready(frame.at >= from)).boxed());
        }
        // The numbers are those that this server gave.
        Whereabouts::There { record: Some(record), .. } | Whereabouts::Kept(record) => record,
    };
    let frames: Vec<Frame> =
        record.events.iter().filter_map(Frame::recorded).filter(|frame| frame.at >= from).collect();
    Ok(stream::iter(frames).boxed())
}

/// Cancel a run
///
/// What was done is kept, tasks that have not ended are cancelled, and the run ends with an answer that says so.
#[utoipa::path(post, path = "/runs/{id}/cancel", operation_id = "cancel_run", tag = "runs",
    params(("id" = String, Path, description = "The run's id")),
    responses((status = 200, description = "It is being cancelled", body = CancelReply),
        (status = 404, description = "There is no such run", body = ErrorBody),
        (status = 409, description = "It has ended already", body = ErrorBody),
        Failures))]
pub(crate) async fn cancel(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<CancelReply>, ApiError> {
    caller.must(Right::Run)?;
    let id = whole(id)?;
    let status = match server.runs.of(&caller, &id)? {
        Some(live) if live.status().is_none() => {
            tell(&server, &caller, "cancel", &id, live.user()).await?;
            live.cancel.cancel();
            return Ok(Json(CancelReply { run_id: id, cancelled: true }));
        }
        Some(live) => live.summary().status.as_str(),
        None => {
            let run = RunId(id.clone());
            let (record, there) = match whereabouts(&server, &caller, &id).await? {
                Whereabouts::There { elsewhere, record: None } => {
                    elsewhere.cancel(&run).await?;
                    return Ok(Json(CancelReply { run_id: id, cancelled: true }));
                }
                Whereabouts::There { elsewhere, record: Some(record) } => (record, Some(elsewhere)),
                Whereabouts::Kept(record) => (record, None),
            };
            let summary = &record.summary;
            let goes_on = does_go_on(summary);
            if goes_on {
                tell(&server, &caller, "cancel", &id, &summary.user).await?;
            }
            if let Some(elsewhere) = there {
                match elsewhere.cancel(&run).await {
                    Ok(()) => return Ok(Json(CancelReply { run_id: id, cancelled: true })),
                    // It never began there, or was forgotten.
                    Err(NotSaid::Unknown) => {}
                    Err(error) => return Err(error.into()),
                }
            } else if let Some(engine) = record.engine().filter(|_| summary.resumable) {
                return Err(left_to(engine));
            }
            if let Some(journal) = server.parts.journal.as_ref().filter(|_| goes_on)
                && server.cancel_elsewhere(journal, &run).await?
            {
                return Ok(Json(CancelReply { run_id: id, cancelled: true }));
            }
            summary.status.as_str()
        }
    };
    Err(ApiError::new(StatusCode::CONFLICT, "already_ended", format!("the run does not go on: it is {status}")))
}

/// Go on with a run that was cut off
///
/// What is done is taken from the journal, and the rest is done. A server does so by itself when it starts, unless it is told not to.
#[utoipa::path(post, path = "/runs/{id}/resume", operation_id = "resume_run", tag = "runs",
    params(("id" = String, Path, description = "The run's id")),
    responses((status = 200, description = "It goes on", body = ResumeReply),
        (status = 404, description = "There is no such run", body = ErrorBody),
        (status = 409, description = "It was not cut off, or something that it needs is not here", body = ErrorBody),
        Failures))]
pub(crate) async fn resume(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<ResumeReply>, ApiError> {
    caller.must(Right::Run)?;
    let id = whole(id)?;
    let record = on_record(&server, &caller, &id).await?;
    if let Some(engine) = record.engine().filter(|_| server.parts.elsewhere.is_none()) {
        return Err(left_to(engine));
    }
    let whose = record.summary.user;
    tell(&server, &caller, "resume", &id, &whose).await?;
    server.resume(&id).await?;
    Ok(Json(ResumeReply { run_id: id, from: None }))
}

/// From where a run is tried anew.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RetryAsk {
    /// The task from which on it is done anew, with all that need it; those that did not succeed unless set.
    from: Option<u32>,
}

/// Try a run anew as another run
///
/// It takes over what was done without the tasks that did not succeed, or without the one that is named.
#[utoipa::path(post, path = "/runs/{id}/retry", operation_id = "retry_run", tag = "runs", request_body = Option<RetryAsk>,
    params(("id" = String, Path, description = "The run's id")),
    responses((status = 200, description = "The new run", body = ResumeReply),
        (status = 404, description = "There is no such run", body = ErrorBody),
        (status = 409, description = "It goes on, or has nothing to be done anew", body = ErrorBody),
        Failures))]
pub(crate) async fn retry(
    State(server): State<Server>,
    caller: Caller,
    Path(id): Path<String>,
    MaybeJson(ask): MaybeJson<RetryAsk>,
) -> Result<Json<ResumeReply>, ApiError> {
    caller.must(Right::Run)?;
    let id = whole(id)?;
    let whose = on_record(&server, &caller, &id).await?.summary.user;
    tell(&server, &caller, "retry", &id, &whose).await?;
    let new = server.retry(&caller, &id, ask.unwrap_or_default().from.map(TaskId)).await?;
    Ok(Json(ResumeReply { run_id: new.0, from: Some(id) }))
}

/// Why a run that something else carries out is not touched by a server that does not use it.
pub(crate) fn left_to(engine: &str) -> ApiError {
    let message = format!("the run is carried out by {engine}, and goes on there");
    ApiError::new(StatusCode::CONFLICT, "elsewhere", message)
        .hint(format!("ask a server that is started with {engine}"))
}

/// The id, when it is a whole one: a start that happens to fit opens no run over the wire.
pub(crate) fn whole(id: String) -> Result<String, ApiError> {
    match uuid::Uuid::try_parse(&id) {
        Ok(parsed) => Ok(parsed.to_string()),
        Err(_) => Err(no_such_run()),
    }
}

fn does_go_on(summary: &RunSummary) -> bool {
    matches!(summary.status, RunStatus::Running | RunStatus::Waiting) || summary.resumable
}

/// Where a run is that does not go on in this process.
pub(crate) enum Whereabouts<'s> {
    /// The journal has all that is known of it.
    Kept(Box<RunRecord>),
    /// It is carried out elsewhere, and this server has nothing of it, or what it had when it last followed it.
    There { elsewhere: &'s dyn Elsewhere, record: Option<Box<RunRecord>> },
}

/// Finds a run that does not go on in this process.
pub(crate) async fn whereabouts<'s>(
    server: &'s Server,
    caller: &Caller,
    id: &str,
) -> Result<Whereabouts<'s>, ApiError> {
    match (recorded(server, caller, id).await, server.parts.elsewhere.as_deref()) {
        (Err(error), Some(elsewhere)) if error.fields.status == StatusCode::NOT_FOUND => {
            Ok(Whereabouts::There { elsewhere, record: None })
        }
        (Ok(record), Some(elsewhere)) if record.engine().is_some() && does_go_on(&record.summary) => {
            Ok(Whereabouts::There { elsewhere, record: Some(Box::new(record)) })
        }
        (record, _) => Ok(Whereabouts::Kept(Box::new(record?))),
    }
}

/// A run of which this server has a record.
async fn on_record(server: &Server, caller: &Caller, id: &str) -> Result<RunRecord, ApiError> {
    match whereabouts(server, caller, id).await? {
        Whereabouts::Kept(record) | Whereabouts::There { record: Some(record), .. } => Ok(*record),
        Whereabouts::There { elsewhere, record: None } => {
            elsewhere.so_far(&RunId(id.to_owned())).await?;
            let message = "the run was begun at another server, and its steps are on record there alone";
            Err(ApiError::new(StatusCode::CONFLICT, "elsewhere", message).hint("ask that server"))
        }
    }
}

/// A run as the journal has it. To a caller that does not reach it, it does not exist.
async fn recorded(server: &Server, caller: &Caller, id: &str) -> Result<RunRecord, ApiError> {
    let id = id.to_owned();
    let record = server.read_journal(move |journal| journal.run(&id)).await?;
    if caller.reaches(&record.summary.user) { Ok(record) } else { Err(no_such_run()) }
}

/// Writes down that an administrator does something with a run of somebody else.
async fn tell(server: &Server, caller: &Caller, action: &str, run: &str, whose: &str) -> Result<(), ApiError> {
    if !caller.reaches_as_admin(whose) {
        return Ok(());
    }
    server.audit(caller, action, json!({"run_id": run, "of": whose})).await
}
