//! Progress notifications for clients that asked for them.

use std::sync::Arc;

use futures::StreamExt;
use jarvis_net::text::shorten;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use serde_json::Value;

use crate::runs::{Log, Place};

/// The longest message, in characters.
const LONGEST: usize = 300;

/// Reports the events of a run until it ends, in order, numbered from 1. Stops when the client does not take them.
pub(super) async fn report(log: Arc<Log>, token: ProgressToken, peer: &Peer<RoleServer>) {
    let mut sent = 0_u32;
    let mut frames = std::pin::pin!(log.follow(Place::default()));
    while let Some(frame) = frames.next().await {
        let event = serde_json::from_str(&frame.data).expect("a frame holds JSON");
        let Some(message) = message(&frame.name, &event) else { continue };
        sent += 1;
        let progress =
            ProgressNotificationParam::new(token.clone(), f64::from(sent)).with_message(shorten(&message, LONGEST));
        if peer.notify_progress(progress).await.is_err() {
            return;
        }
    }
}

/// An event in a sentence; `None` for one that is not reported.
fn message(name: &str, event: &Value) -> Option<String> {
    let text = |pointer: &str| match event.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    // People count from 1.
    let number = |at: &str| event.pointer(at).and_then(Value::as_u64).map_or(0, |id| id.saturating_add(1));
    Some(match name {
        "queued" => format!("waiting for a slot; {} runs ahead", text("/ahead")),
        "plan" => {
            let tasks = event.pointer("/plan/tasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let names: Vec<&str> = tasks.iter().filter_map(|task| task.get("task")?.as_str()).collect();
            match names.as_slice() {
                [] => "planned: no task is needed".to_owned(),
                names => format!("planned: {}", names.join(", ")),
            }
        }
        "plan_grew" => {
            let tasks = event.get("tasks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let names: Vec<&str> = tasks.iter().filter_map(|task| task.get("task")?.as_str()).collect();
            let first = event.get("round").is_some_and(|round| *round == 0);
            format!("{}: {}", if first { "being planned" } else { "planned on" }, names.join(", "))
        }
        "budget" => format!("the budget is used up: {} of {}", text("/used"), text("/most")),
        "model_chosen" => format!("task {}: chose {}", number("/selection/task"), text("/selection/chosen/id")),
        "task_started" => format!("task {} ({}) started with {}", number("/id"), text("/task"), text("/model")),
        "task_attempt" => format!("task {}: {} failed", number("/id"), text("/attempt/candidate/id")),
        "task_finished" => {
            format!("task {} ({}) ended: {}", number("/outcome/id"), text("/outcome/task"), text("/outcome/status"))
        }
        "thought" => format!("thought: {}", text("/text")),
        "action" => format!("action: {} {}", text("/tool"), text("/input")),
        "observation" => format!("observation: {}", text("/text")),
        "answer" => "the answer is ready".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;
    use serde_json::Value;

    use super::message;

    #[test]
    fn events_become_sentences() {
        for (name, event, want) in rows::<(String, Value, Option<String>)>(include_str!("../cases.yaml"), "progress") {
            assert_eq!(message(&name, &event), want, "{name}");
        }
    }
}
