//! Clients of version 0.3 over JSON-RPC: their method names, and the JSON of their messages and tasks as that of version 1.0 and back.
//! Nothing else is known of that version.

use jarvis_proto::a2a::AgentCard;
use serde_json::{Map, Value, json};

use super::fault::Fault;
use super::telling::is_over;
use crate::wire::set;
use jarvis_proto::a2a::TaskState;

/// The method of version 1.0 that a method of version 0.3 is.
pub(super) fn method(name: &str) -> Option<&'static str> {
    Some(match name {
        "message/send" => "SendMessage",
        "message/stream" => "SendStreamingMessage",
        "tasks/get" => "GetTask",
        "tasks/cancel" => "CancelTask",
        "tasks/resubscribe" => "SubscribeToTask",
        "tasks/pushNotificationConfig/set" => "CreateTaskPushNotificationConfig",
        "tasks/pushNotificationConfig/get" => "GetTaskPushNotificationConfig",
        "tasks/pushNotificationConfig/list" => "ListTaskPushNotificationConfigs",
        "tasks/pushNotificationConfig/delete" => "DeleteTaskPushNotificationConfig",
        "agent/getAuthenticatedExtendedCard" => "GetExtendedAgentCard",
        _ => return None,
    })
}

/// What a client gives to a method, as version 1.0 has it.
pub(super) fn params(method: &str, params: Value) -> Result<Value, Fault> {
    let Value::Object(mut given) = params else {
        return match params {
            Value::Null => Ok(Value::Null),
            _ => Err(Fault::field("params", "they are an object")),
        };
    };
    match method {
        "SendMessage" | "SendStreamingMessage" => {
            if let Some(Value::Object(message)) = given.get_mut("message") {
                message_in(message);
            }
            if let Some(Value::Object(wanted)) = given.get_mut("configuration") {
                if let Some(blocking) = wanted.remove("blocking").and_then(|blocking| blocking.as_bool()) {
                    wanted.insert("returnImmediately".to_owned(), json!(!blocking));
                }
                if let Some(Value::Object(webhook)) = wanted.remove("pushNotificationConfig") {
                    wanted.insert("taskPushNotificationConfig".to_owned(), webhook_in(webhook, None));
                }
            }
            Ok(Value::Object(given))
        }
        "CreateTaskPushNotificationConfig" => {
            let task = given.get("taskId").cloned();
            match given.remove("pushNotificationConfig") {
                Some(Value::Object(webhook)) => Ok(webhook_in(webhook, task)),
                _ => Err(Fault::field("pushNotificationConfig", "there is none")),
            }
        }
        "GetTaskPushNotificationConfig" | "DeleteTaskPushNotificationConfig" | "ListTaskPushNotificationConfigs" => {
            let webhook = given.remove("pushNotificationConfigId").unwrap_or_default();
            let task = given.remove("id").unwrap_or_default();
            let mut params = Map::from_iter([("taskId".to_owned(), task)]);
            if method != "ListTaskPushNotificationConfigs" {
                params.insert("id".to_owned(), webhook);
            }
            Ok(Value::Object(params))
        }
        _ => Ok(Value::Object(given)),
    }
}

fn message_in(message: &mut Map<String, Value>) {
    let role = match message.get("role").and_then(Value::as_str) {
        Some("agent") => "ROLE_AGENT",
        _ => "ROLE_USER",
    };
    message.insert("role".to_owned(), json!(role));
    if let Some(Value::Array(parts)) = message.get_mut("parts") {
        parts.iter_mut().filter_map(Value::as_object_mut).for_each(part_in);
    }
}

fn part_in(part: &mut Map<String, Value>) {
    let Some(Value::Object(mut file)) = part.remove("file") else { return };
    for (old, new) in [("bytes", "raw"), ("uri", "url"), ("mimeType", "mediaType"), ("name", "filename")] {
        if let Some(value) = file.remove(old) {
            part.insert(new.to_owned(), value);
        }
    }
}

fn webhook_in(mut webhook: Map<String, Value>, task: Option<Value>) -> Value {
    if let Some(Value::Object(authentication)) = webhook.get_mut("authentication")
        && let Some(scheme) = authentication.remove("schemes").and_then(|schemes| schemes.get(0).cloned())
    {
        authentication.insert("scheme".to_owned(), scheme);
    }
    if let Some(task) = task {
        webhook.insert("taskId".to_owned(), task);
    }
    Value::Object(webhook)
}

/// What a method gives, as version 0.3 has it.
pub(super) fn result(method: &str, result: Value) -> Value {
    match (method, result) {
        ("SendMessage" | "SendStreamingMessage" | "SubscribeToTask", Value::Object(mut told)) => {
            let Some((name, value)) = told.iter_mut().next().map(|(name, value)| (name.clone(), value.take())) else {
                return Value::Object(told);
            };
            match name.as_str() {
                "task" => task_out(value),
                "message" => message_out(value),
                "statusUpdate" => {
                    let state = value.pointer("/status/state").and_then(Value::as_str).unwrap_or_default();
                    let state = TaskState::from_str_name(state).unwrap_or_default();
                    // Its streams end when somebody is asked.
                    let is_final = is_over(state) || (state == TaskState::InputRequired && method != "SubscribeToTask");
                    let mut value = task_out(value);
                    set(&mut value, "kind", "status-update");
                    set(&mut value, "final", is_final);
                    value
                }
                _ => {
                    let mut value = value;
                    set(&mut value, "kind", "artifact-update");
                    if let Some(artifact) = value.get_mut("artifact") {
                        parts_out(artifact);
                    }
                    value
                }
            }
        }
        ("GetTask" | "CancelTask", task) => task_out(task),
        ("CreateTaskPushNotificationConfig" | "GetTaskPushNotificationConfig", webhook) => webhook_out(webhook),
        ("ListTaskPushNotificationConfigs", mut list) => {
            let all = list.get_mut("configs").and_then(Value::as_array_mut).map(std::mem::take).unwrap_or_default();
            all.into_iter().map(webhook_out).collect()
        }
        ("DeleteTaskPushNotificationConfig", _) => Value::Null,
        (_, other) => other,
    }
}

fn task_out(mut task: Value) -> Value {
    set(&mut task, "kind", "task");
    if let Some(status) = task.get_mut("status") {
        if let Some(state) = status.get("state").and_then(Value::as_str) {
            let state = state.trim_start_matches("TASK_STATE_").to_lowercase().replace('_', "-");
            set(status, "state", state);
        }
        if let Some(message) = status.get_mut("message").map(Value::take) {
            set(status, "message", message_out(message));
        }
    }
    if let Some(history) = task.get_mut("history").and_then(Value::as_array_mut) {
        history.iter_mut().for_each(|message| *message = message_out(message.take()));
    }
    if let Some(artifacts) = task.get_mut("artifacts").and_then(Value::as_array_mut) {
        artifacts.iter_mut().for_each(parts_out);
    }
    task
}

fn message_out(mut message: Value) -> Value {
    set(&mut message, "kind", "message");
    let role = if message.get("role") == Some(&json!("ROLE_AGENT")) { "agent" } else { "user" };
    set(&mut message, "role", role);
    parts_out(&mut message);
    message
}

fn parts_out(of: &mut Value) {
    let Some(parts) = of.get_mut("parts").and_then(Value::as_array_mut) else { return };
    for part in parts.iter_mut().filter_map(Value::as_object_mut) {
        let mut file = Map::new();
        for (new, old) in [("raw", "bytes"), ("url", "uri"), ("mediaType", "mimeType"), ("filename", "name")] {
            if let Some(value) = part.remove(new) {
                file.insert(old.to_owned(), value);
            }
        }
        let kind = match part.contains_key("text") {
            true => "text",
            false if part.contains_key("data") => {
                // Data are objects there.
                if let Some(value) = part.get_mut("data").filter(|data| !data.is_object()) {
                    *value = json!({"value": value.take()});
                }
                "data"
            }
            false => {
                part.insert("file".to_owned(), Value::Object(file));
                "file"
            }
        };
        part.insert("kind".to_owned(), json!(kind));
    }
}

fn webhook_out(webhook: Value) -> Value {
    let Value::Object(mut webhook) = webhook else { return webhook };
    let task = webhook.remove("taskId").unwrap_or_default();
    if let Some(Value::Object(authentication)) = webhook.get_mut("authentication")
        && let Some(scheme) = authentication.remove("scheme")
    {
        authentication.insert("schemes".to_owned(), json!([scheme]));
    }
    json!({"taskId": task, "pushNotificationConfig": webhook})
}

/// The card with the fields by which clients of version 0.3 find the address; others ignore them.
pub(super) fn card(card: AgentCard) -> Value {
    let url = card.supported_interfaces.first().map(|interface| interface.url.clone());
    let extended = card.capabilities.as_ref().and_then(|can| can.extended_agent_card);
    let mut card = serde_json::to_value(card).unwrap_or_default();
    set(&mut card, "url", url);
    set(&mut card, "preferredTransport", "JSONRPC");
    set(&mut card, "protocolVersion", "0.3.0");
    set(&mut card, "supportsAuthenticatedExtendedCard", extended);
    card
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_client_sends_is_read() {
        let sent = json!({
            "message": {"kind": "message", "messageId": "m", "role": "user", "parts": [
                {"kind": "text", "text": "hello"},
                {"kind": "file", "file": {"bytes": "eA==", "mimeType": "text/plain", "name": "a.txt"}},
                {"kind": "data", "data": {"x": 1}},
            ]},
            "configuration": {"blocking": false, "pushNotificationConfig": {
                "url": "https://example.org", "authentication": {"schemes": ["Bearer"], "credentials": "c"}}},
        });
        let read = params("SendMessage", sent).expect("it is read");
        let want = json!({
            "message": {"kind": "message", "messageId": "m", "role": "ROLE_USER", "parts": [
                {"kind": "text", "text": "hello"},
                {"kind": "file", "raw": "eA==", "mediaType": "text/plain", "filename": "a.txt"},
                {"kind": "data", "data": {"x": 1}},
            ]},
            "configuration": {"returnImmediately": true, "taskPushNotificationConfig": {
                "url": "https://example.org", "authentication": {"scheme": "Bearer", "credentials": "c"}}},
        });
        assert_eq!(read, want);
        let of = params("GetTaskPushNotificationConfig", json!({"id": "t", "pushNotificationConfigId": "w"}));
        assert_eq!(of.expect("it is read"), json!({"taskId": "t", "id": "w"}));
    }

    #[test]
    fn what_it_is_told_is_in_its_words() {
        let message =
            json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "which?", "mediaType": "text/plain"}]});
        let old = json!({"messageId": "m", "role": "agent", "kind": "message", "parts": [{"text": "which?", "kind": "text"}]});
        let status = json!({"state": "TASK_STATE_INPUT_REQUIRED", "message": message});
        let old_status = json!({"state": "input-required", "message": old});
        let artifact = json!({"artifactId": "a", "parts": [{"url": "https://x/a.png", "mediaType": "image/png", "filename": "a.png"}]});
        let old_artifact = json!({"artifactId": "a", "parts": [
            {"kind": "file", "file": {"uri": "https://x/a.png", "mimeType": "image/png", "name": "a.png"}}]});
        for (told, want) in [
            (
                json!({"task": {"id": "t", "status": status, "history": [message], "artifacts": [artifact]}}),
                json!({"id": "t", "kind": "task", "status": old_status, "history": [old], "artifacts": [old_artifact]}),
            ),
            (
                json!({"statusUpdate": {"taskId": "t", "status": status}}),
                json!({"taskId": "t", "status": old_status, "kind": "status-update", "final": true}),
            ),
            (
                json!({"artifactUpdate": {"taskId": "t", "artifact": artifact}}),
                json!({"taskId": "t", "artifact": old_artifact, "kind": "artifact-update"}),
            ),
            (
                json!({"artifactUpdate": {"artifact": {"parts": [{"data": [1], "mediaType": "application/json"}]}}}),
                json!({"artifact": {"parts": [{"kind": "data", "data": {"value": [1]}}]}, "kind": "artifact-update"}),
            ),
        ] {
            assert_eq!(result("SendStreamingMessage", told), want);
        }
        assert_eq!(result("DeleteTaskPushNotificationConfig", json!({})), Value::Null);
    }
}
