//! The progress of a run in words, for clients that show what is thought before an answer.

use serde_json::Value;

/// One line for an event that a person may want to see while waiting.
pub(crate) fn progress(name: &str, event: &Value) -> Option<String> {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |pointer: &str| event.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    // People count from 1.
    let task = |pointer: &str| number(pointer).saturating_add(1);
    Some(match name {
        "queued" => "Waiting for a slot.\n".into(),
        "plan" => {
            let tasks = event.pointer("/plan/tasks").and_then(Value::as_array)?;
            let name = |(at, task): (usize, &Value)| Some(format!("{}. {}", at + 1, task.get("task")?.as_str()?));
            let names: Vec<String> = tasks.iter().enumerate().filter_map(name).collect();
            format!("Plan: {}.\n", names.join(", "))
        }
        "plan_grew" => {
            let name = |task: &Value| {
                Some(format!("{}. {}", task.get("id")?.as_u64()?.saturating_add(1), task.get("task")?.as_str()?))
            };
            let names: Vec<String> = event.get("tasks")?.as_array()?.iter().filter_map(name).collect();
            let first = event.get("round").is_some_and(|round| *round == 0);
            format!("{}: {}.\n", if first { "Being planned" } else { "Planned on" }, names.join(", "))
        }
        "budget" => format!("The budget is used up: {} of {}.\n", text("/used"), text("/most")),
        "task_started" => format!("Task {} ({}) runs on {}.\n", task("/id"), text("/task"), text("/model")),
        "task_finished" => {
            let status = text("/outcome/status");
            format!("Task {} {status} after {} ms.\n", task("/outcome/id"), number("/outcome/ms"))
        }
        "note" => format!("{}.\n", text("/message")),
        _ => return None,
    })
}
