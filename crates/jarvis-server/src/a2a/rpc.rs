//! The JSON-RPC binding: one address, a method for each thing that a client may do, and streams of server-sent events.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};
use jarvis_proto::a2a::send_message_response::Payload;
use jarvis_proto::a2a::{SendMessageResponse, StreamResponse, Task};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fault::{Fault, Wrong};
use super::tasks::Client;
use super::{Spoken, VERSION_HEADER, client, old, spoken};
use crate::extract::{check_type, unreadable};
use crate::sse;
use crate::state::Server;
use crate::users::Caller;

/// A request of JSON-RPC.
#[derive(Debug, Deserialize)]
struct Call {
    jsonrpc: String,
    #[serde(default)]
    id: Value,
    method: String,
    #[serde(default)]
    params: Value,
}

pub(super) async fn call(
    State(server): State<Server>,
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Response {
    let refused = |fault: Fault| failed(&Value::Null, &fault);
    if let Err(error) = check_type(&headers) {
        let status = error.fields.status;
        return (status, refused(error.into())).into_response();
    }
    let body = match body {
        Ok(body) => body,
        Err(rejection) => return refused(unreadable(rejection).into()),
    };
    let call: Value = match serde_json::from_slice(&body) {
        Ok(call) => call,
        Err(error) => return refused(Fault::new(Wrong::Json, format!("the body is not JSON: {error}"))),
    };
    let id = call.get("id").cloned().unwrap_or_default();
    let call: Call = match serde_json::from_value(call) {
        Ok(call) => call,
        Err(error) => return failed(&id, &Fault::new(Wrong::Request, format!("the body is no request: {error}"))),
    };
    let version = match spoken(headers.get(VERSION_HEADER), query.as_deref()) {
        Ok(version) => version,
        Err(fault) => return failed(&id, &fault),
    };
    let client = client(server, caller, &headers);
    match dispatch(&client, call, version).await {
        Ok(response) => response,
        Err(fault) => failed(&id, &fault),
    }
}

async fn dispatch(client: &Client, call: Call, version: Spoken) -> Result<Response, Fault> {
    let Call { jsonrpc, id, method, params } = call;
    if jsonrpc != "2.0" {
        return Err(Fault::new(Wrong::Request, "`jsonrpc` is \"2.0\""));
    }
    if !matches!(id, Value::Null | Value::String(_) | Value::Number(_)) {
        return Err(Fault::new(Wrong::Request, "`id` is a text or a number"));
    }
    let (method, params, version) = match old::method(&method) {
        Some(name) => (name, old::params(name, params)?, Spoken::Old),
        None if version == Spoken::Old => {
            super::must_be_now(None, None)?;
            (method.as_str(), params, version)
        }
        None => (method.as_str(), params, version),
    };
    let call = Reply { id, version, method };
    Ok(match method {
        "SendMessage" => call.reply(&sent(client.send(read(params)?).await?)),
        "GetTask" => call.reply(&client.get(read(params)?).await?),
        "ListTasks" => call.reply(&client.list(read(params)?).await?),
        "CancelTask" => call.reply(&client.cancel(read(params)?).await?),
        "SendStreamingMessage" => call.stream(client.stream(read(params)?).await?, client),
        "SubscribeToTask" => call.stream(client.subscribe(read(params)?).await?, client),
        "CreateTaskPushNotificationConfig" => call.reply(&client.create_webhook(read(params)?).await?),
        "GetTaskPushNotificationConfig" => call.reply(&client.webhook(read(params)?).await?),
        "ListTaskPushNotificationConfigs" => call.reply(&client.list_webhooks(read(params)?).await?),
        "DeleteTaskPushNotificationConfig" => call.reply(&client.delete_webhook(read(params)?).await?),
        "GetExtendedAgentCard" => call.reply(&client.extended_card(read(params)?)?),
        other => {
            let shown: String = other.chars().take(100).collect();
            return Err(Fault::new(Wrong::Method, format!("there is no method `{shown}`")));
        }
    })
}

/// A task as what a message led to.
pub(super) fn sent(task: Task) -> SendMessageResponse {
    SendMessageResponse { payload: Some(Payload::Task(task)) }
}

/// Reads what a method is given.
pub(super) fn read<T: DeserializeOwned>(params: Value) -> Result<T, Fault> {
    let params = if params.is_null() { json!({}) } else { params };
    serde_path_to_error::deserialize(params).map_err(|error| {
        let path = error.path().to_string();
        let message = error.into_inner().to_string();
        if path == "." { Fault::new(Wrong::Params, message) } else { Fault::field(&path, message) }
    })
}

/// How a call is replied to.
struct Reply<'c> {
    id: Value,
    version: Spoken,
    method: &'c str,
}

impl Reply<'_> {
    fn said(&self, result: &impl Serialize) -> Value {
        let result = serde_json::to_value(result).unwrap_or_default();
        match self.version {
            Spoken::Now => result,
            Spoken::Old => old::result(self.method, result),
        }
    }

    fn reply(&self, result: &impl Serialize) -> Response {
        Json(json!({"jsonrpc": "2.0", "id": self.id, "result": self.said(result)})).into_response()
    }

    fn stream(self, told: impl Stream<Item = StreamResponse> + Send + 'static, client: &Client) -> Response {
        let (id, version, method) = (self.id, self.version, self.method.to_owned());
        let events = told.map(move |response| {
            let result = Reply { id: Value::Null, version, method: &method }.said(&response);
            Event::default().data(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
        });
        sse::open(events, (), &client.server)
    }
}

fn failed(id: &Value, fault: &Fault) -> Response {
    Json(json!({"jsonrpc": "2.0", "id": id, "error": fault.rpc()})).into_response()
}
