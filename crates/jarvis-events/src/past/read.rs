//! How the record of a run is read, event by event.

use std::collections::HashMap;
use std::time::Duration;

use jarvis_plan::{Approval, Outcome, RunId, Selection, Status, TaskId, Tokens};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Leave, Past, Recorded, RecordedCall, Unreadable};

impl Past {
    pub(super) fn take_in(
        &mut self,
        event: &Value,
        planned: &mut HashMap<TaskId, Value>,
        last_at: &mut Option<u64>,
    ) -> Result<(), Unreadable> {
        let number = |name: &str| event.get(name).and_then(Value::as_u64);
        let seq = number("seq").unwrap_or(self.next);
        self.next = seq + 1;
        let name = event.get("event").and_then(Value::as_str).unwrap_or_default();
        let at = number("at_ms").unwrap_or(0);
        if name == "resumed" {
            // What lies before was not run in one piece.
            self.ran = Duration::from_millis(number("ran_ms").unwrap_or(0));
        } else if let Some(before) = last_at.filter(|_| self.asked.is_empty()) {
            // A clock that was set back gives no time back, and while somebody is asked it stands still.
            self.ran += Duration::from_millis(at.saturating_sub(before));
        }
        *last_at = Some(at);
        self.last_at_ms = self.last_at_ms.max(at);
        let at = At { seq, event };
        match name {
            "run_started" => self.began = Some(at.read(None)?),
            "resumed" => {
                let from = event.get("from").and_then(Value::as_str).map(|run| RunId(run.to_owned()));
                let task = event.get("from_task").and_then(Value::as_u64).and_then(|task| u32::try_from(task).ok());
                self.took_over = from.map(|run| (run, task.map(TaskId))).or(self.took_over.take());
            }
            "model_call" => self.take_call(&at),
            "model_chosen" => {
                let selection: Selection = at.read(Some("selection"))?;
                let planned = planned.get(&selection.task).cloned();
                if let Some(weights) = event.get("weights").and_then(Value::as_str) {
                    self.weights.insert(selection.task, (selection.chosen.id.clone(), weights.to_owned()));
                }
                self.steps += u64::from(self.selections.insert(selection.task, (planned, selection, false)).is_none());
            }
            "plan" | "plan_grew" => {
                let tasks = event.pointer("/plan/tasks").or_else(|| event.get("tasks")).and_then(Value::as_array);
                for task in tasks.into_iter().flatten() {
                    planned.insert(at.id(task, "id")?, task.clone());
                }
            }
            "approval_needed" => {
                let asked: Approval = at.read(None)?;
                if asked.unknown {
                    self.unknown.insert(asked.task, same(event));
                }
                self.asked.insert(asked.task, asked);
            }
            "approval_given" => {
                let (id, mut leave): (TaskId, Leave) = (at.id(event, "id")?, at.read(None)?);
                self.steps += 1;
                self.asked.shift_remove(&id);
                match self.unknown.remove(&id) {
                    // The call may be made again, once: begun after this, it may have arrived again.
                    Some(question) if leave.approved && !leave.done => {
                        self.begun.remove(&id);
                        self.told.remove(&question);
                    }
                    about => {
                        leave.unknown = about.is_some();
                        self.leaves.entry(id).or_default().push_back(leave);
                    }
                }
            }
            "task_started" => {
                self.begun.insert(at.id(event, "id")?);
            }
            "task_finished" => {
                let outcome: Outcome = at.read(Some("outcome"))?;
                self.asked.shift_remove(&outcome.id);
                // One that was cut short with its run, or while its plan was written, has no result.
                if outcome.status != Status::Cancelled {
                    let before = self.outcomes.entry(outcome.id).or_default();
                    self.steps += u64::from(before.is_empty());
                    before.push(Recorded { seq, copied: false, planned: planned.get(&outcome.id).cloned(), outcome });
                }
            }
            _ => {}
        }
        self.plans += u32::from(name == "plan");
        self.shown += u64::from(!matches!(name, "run_started" | "resumed" | "note" | "budget"));
        self.ended_well = name == "done" && event.get("ok").is_some_and(|ok| ok == true);
        // What is taken from here is not told again; if it is told, it happened again.
        let is_result = matches!(
            name,
            "task_started"
                | "task_attempt"
                | "task_finished"
                | "model_call"
                | "model_chosen"
                | "approval_given"
                | "resumed"
        );
        if is_result {
            return Ok(());
        }
        *self.told.entry(same(event)).or_default() += 1;
        Ok(())
    }

    fn take_call(&mut self, at: &At<'_>) {
        let text = |name: &str| at.event.get(name).and_then(Value::as_str).unwrap_or_default();
        let number = |name: &str| at.event.get(name).and_then(Value::as_u64).unwrap_or(0);
        let is = |name: &str| at.event.get(name).and_then(Value::as_bool).unwrap_or(false);
        if !is("taken_over") {
            let tokens = Tokens {
                prompt: number("prompt_tokens"),
                cached: number("cached_tokens"),
                completion: number("completion_tokens"),
                estimated: is("estimated"),
            };
            let cost = at.event.get("cost").and_then(|cost| serde_json::from_value(cost.clone()).ok());
            self.usage.add_call(text("stage"), text("model"), tokens, cost);
        }
        if is("ok") && !text("key").is_empty() {
            let call = RecordedCall { event: at.event.clone(), copied: false };
            self.calls.entry(text("key").to_owned()).or_default().push_back(call);
            self.steps += 1;
        }
    }
}

/// An event on record.
struct At<'e> {
    seq: u64,
    event: &'e Value,
}

impl At<'_> {
    fn read<T: DeserializeOwned>(&self, field: Option<&str>) -> Result<T, Unreadable> {
        let value = match field {
            Some(field) => self.event.get(field).cloned().unwrap_or(Value::Null),
            None => self.event.clone(),
        };
        serde_json::from_value(value).map_err(|error| Unreadable { seq: self.seq, reason: error.to_string() })
    }

    fn id(&self, value: &Value, field: &str) -> Result<TaskId, Unreadable> {
        let id = value.get(field).and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok());
        id.map(TaskId)
            .ok_or_else(|| Unreadable { seq: self.seq, reason: format!("its `{field}` is no number of a task") })
    }
}

/// An event in words that are the same when it is told again: without its number and without times.
pub(super) fn same(event: &Value) -> String {
    fn without_times(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let kept =
                    fields.iter().filter(|(name, _)| !matches!(name.as_str(), "ms" | "seq" | "at_ms" | "run_id"));
                Value::Object(kept.map(|(name, value)| (name.clone(), without_times(value))).collect())
            }
            Value::Array(items) => items.iter().map(without_times).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }
    without_times(event).to_string()
}
