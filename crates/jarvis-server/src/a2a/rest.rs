//! The binding of HTTP and JSON: a path for each thing that a client may do.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};
use jarvis_proto::a2a::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse, SendMessageResponse, StreamResponse,
    SubscribeToTaskRequest, TaskPushNotificationConfig, TaskState,
};
use jarvis_proto::any::Empty;
use jarvis_proto::time::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::fault::{Fault, Wrong};
use super::rpc::{read, sent};
use super::tasks::Client;
use super::{VERSION_HEADER, client, must_be_now};
use crate::extract::{check_type, unreadable};
use crate::sse;
use crate::state::Server;
use crate::users::Caller;

/// A client that speaks the version of this binding.
pub(super) struct Rest(Client);

impl FromRequestParts<Server> for Rest {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Rest, Response> {
        let caller = Caller::from_request_parts(parts, server).await.map_err(IntoResponse::into_response)?;
        let version = parts.headers.get(VERSION_HEADER);
        must_be_now(version, parts.uri.query()).map_err(IntoResponse::into_response)?;
        if parts.headers.contains_key(axum::http::header::CONTENT_TYPE) {
            check_type(&parts.headers).map_err(|error| Fault::from(error).into_response())?;
        }
        Ok(Rest(client(server.clone(), caller, &parts.headers)))
    }
}

type Body = Result<Bytes, BytesRejection>;

/// Reads a body; none is an empty object.
fn decoded<T: DeserializeOwned>(body: Body) -> Result<T, Fault> {
    let body = body.map_err(|rejection| Fault::from(unreadable(rejection)))?;
    let value = match body.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&body)
            .map_err(|error| Fault::new(Wrong::Json, format!("the body is not JSON: {error}")))?,
    };
    read(value)
}

/// A page of another site may send a form or plain text without asking first, but not JSON: a body says that it is JSON.
fn typed<T: DeserializeOwned>(headers: &axum::http::HeaderMap, body: Body) -> Result<T, Fault> {
    check_type(headers)?;
    decoded(body)
}

pub(super) async fn send(
    Rest(client): Rest,
    headers: axum::http::HeaderMap,
    body: Body,
) -> Result<Json<SendMessageResponse>, Fault> {
    Ok(Json(sent(client.send(typed(&headers, body)?).await?)))
}

pub(super) async fn stream(Rest(client): Rest, headers: axum::http::HeaderMap, body: Body) -> Result<Response, Fault> {
    Ok(open(client.stream(typed(&headers, body)?).await?, &client))
}

fn open(told: impl Stream<Item = StreamResponse> + Send + 'static, client: &Client) -> Response {
    let events = told.map(|response| Event::default().data(serde_json::to_string(&response).unwrap_or_default()));
    sse::open(events, (), &client.server)
}

/// How much of the history of a task is wanted.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct History {
    history_length: Option<i32>,
}

fn queried<T>(query: Result<Query<T>, QueryRejection>) -> Result<T, Fault> {
    query.map(|Query(query)| query).map_err(|error| Fault::new(Wrong::Params, error.body_text()))
}

/// A task; with `:subscribe` behind its id, what comes of it.
pub(super) async fn get(
    Rest(client): Rest,
    Path(id): Path<String>,
    query: Result<Query<History>, QueryRejection>,
) -> Result<Response, Fault> {
    let tenant = String::new();
    if let Some(id) = id.strip_suffix(":subscribe") {
        return subscribe(&client, id).await;
    }
    let History { history_length } = queried(query)?;
    Ok(Json(client.get(GetTaskRequest { tenant, id, history_length }).await?).into_response())
}

async fn subscribe(client: &Client, id: &str) -> Result<Response, Fault> {
    let request = SubscribeToTaskRequest { tenant: String::new(), id: id.to_owned() };
    Ok(open(client.subscribe(request).await?, client))
}

/// What is done with a task: `:cancel` or `:subscribe` behind its id.
pub(super) async fn act(Rest(client): Rest, Path(id): Path<String>, body: Body) -> Result<Response, Fault> {
    if let Some(id) = id.strip_suffix(":subscribe") {
        return subscribe(&client, id).await;
    }
    let Some(id) = id.strip_suffix(":cancel") else {
        return Err(Fault::new(
            Wrong::Method,
            "a task is read with GET; `:cancel` and `:subscribe` stand behind its id",
        ));
    };
    let request: CancelTaskRequest = decoded(body)?;
    Ok(Json(client.cancel(CancelTaskRequest { id: id.to_owned(), ..request }).await?).into_response())
}

/// Which tasks are listed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub(super) struct Which {
    context_id: String,
    status: String,
    page_size: Option<i32>,
    page_token: String,
    history_length: Option<i32>,
    status_timestamp_after: Option<Timestamp>,
    include_artifacts: Option<bool>,
}

pub(super) async fn list(
    Rest(client): Rest,
    query: Result<Query<Which>, QueryRejection>,
) -> Result<Json<ListTasksResponse>, Fault> {
    let which = queried(query)?;
    let status = match which.status.as_str() {
        "" => TaskState::Unspecified,
        name => TaskState::from_str_name(name).ok_or_else(|| Fault::field("status", "it is no state of a task"))?,
    };
    let request = ListTasksRequest {
        tenant: String::new(),
        context_id: which.context_id,
        status: status as i32,
        page_size: which.page_size,
        page_token: which.page_token,
        history_length: which.history_length,
        status_timestamp_after: which.status_timestamp_after,
        include_artifacts: which.include_artifacts,
    };
    client.list(request).await.map(Json)
}

pub(super) async fn create_webhook(
    Rest(client): Rest,
    Path(task_id): Path<String>,
    headers: axum::http::HeaderMap,
    body: Body,
) -> Result<Json<TaskPushNotificationConfig>, Fault> {
    let config: TaskPushNotificationConfig = typed(&headers, body)?;
    client.create_webhook(TaskPushNotificationConfig { task_id, ..config }).await.map(Json)
}

pub(super) async fn webhook(
    Rest(client): Rest,
    Path((task_id, id)): Path<(String, String)>,
) -> Result<Json<TaskPushNotificationConfig>, Fault> {
    client.webhook(GetTaskPushNotificationConfigRequest { tenant: String::new(), task_id, id }).await.map(Json)
}

pub(super) async fn list_webhooks(
    Rest(client): Rest,
    Path(task_id): Path<String>,
) -> Result<Json<ListTaskPushNotificationConfigsResponse>, Fault> {
    let request = ListTaskPushNotificationConfigsRequest { task_id, ..Default::default() };
    client.list_webhooks(request).await.map(Json)
}

pub(super) async fn delete_webhook(
    Rest(client): Rest,
    Path((task_id, id)): Path<(String, String)>,
) -> Result<Json<Empty>, Fault> {
    client
        .delete_webhook(DeleteTaskPushNotificationConfigRequest { tenant: String::new(), task_id, id })
        .await
        .map(Json)
}

pub(super) async fn extended_card(Rest(client): Rest) -> Result<Json<AgentCard>, Fault> {
    client.extended_card(GetExtendedAgentCardRequest::default()).map(Json)
}
