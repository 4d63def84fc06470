//! Outcomes in the original's shape: the results map that stage 4, the logs and `/results` show.
//!
//! Source: microsoft/JARVIS `hugginggpt/server/awesome_chat.py`, `collect_result` (the keys with spaces are its own).

use jarvis_catalogue::TaskOutput;
use jarvis_plan::{Outcome, Plan, Task};
use serde_json::{Map, Value, json};

/// Task id to Result, in ascending id, keys as strings.
pub fn results_map(plan: &Plan, outcomes: &[Outcome]) -> Map<String, Value> {
    let mut rows: Vec<&Outcome> = outcomes.iter().collect();
    rows.sort_by_key(|outcome| outcome.id);
    rows.into_iter().map(|outcome| (outcome.id.to_string(), result(plan.task(outcome.id), outcome))).collect()
}

/// One Result: `task` after argument resolution, `inference result`, `choose model result`. An error takes the object
/// form; a task without a chosen model has the empty string as its choice. Beyond the original: `effective_task`
/// where another task stood in, `attempts` where the first choice failed, `notes`.
pub fn result(task: Option<&Task>, outcome: &Outcome) -> Value {
    let mut fields = Map::new();
    fields.insert("task".into(), task_after(task, outcome));
    let output = match (&outcome.output, &outcome.error) {
        (Some(output), _) => output.clone(),
        (None, Some(error)) => TaskOutput::error(error).0,
        (None, None) => Value::Null,
    };
    fields.insert("inference result".into(), output);
    fields.insert("choose model result".into(), choice(outcome));
    if let Some(performer) = outcome.performer().filter(|performer| performer.effective_task != outcome.task) {
        fields.insert("effective_task".into(), performer.effective_task.clone().into());
    }
    if outcome.attempts.len() > 1 {
        let tried: Vec<Value> = outcome
            .attempts
            .iter()
            .map(|attempt| {
                let error = attempt.error.as_ref().map(|error| error.message.clone());
                json!({"id": attempt.candidate.id, "host": attempt.candidate.host, "error": error})
            })
            .collect();
        fields.insert("attempts".into(), tried.into());
    }
    if !outcome.notes.is_empty() {
        fields.insert("notes".into(), outcome.notes.clone().into());
    }
    Value::Object(fields)
}

fn task_after(task: Option<&Task>, outcome: &Outcome) -> Value {
    let dep: Vec<i64> = match task {
        Some(task) if !task.dep.is_empty() => task.dep.iter().map(|id| i64::from(id.0)).collect(),
        _ => vec![-1],
    };
    json!({"task": outcome.task, "id": outcome.id, "dep": dep, "args": outcome.args})
}

fn choice(outcome: &Outcome) -> Value {
    let (Some(selection), Some(performer)) = (&outcome.selection, outcome.performer()) else {
        return Value::String(String::new());
    };
    json!({"id": performer.id, "reason": reason(outcome).unwrap_or(&selection.reason)})
}

/// Why the model that performed a task did: the reason of the choice, or, for a fallback, that the choice failed.
pub fn reason(outcome: &Outcome) -> Option<&str> {
    let selection = outcome.selection.as_ref()?;
    let chosen = outcome.performer().is_none_or(|performer| *performer == selection.chosen);
    Some(if chosen { &selection.reason } else { "the model chosen first failed; this was the next candidate" })
}
