//! Runs that are carried out elsewhere, by a system that several servers share. A run that this server has nothing on record of is
//! told, answered and cancelled there.

use async_trait::async_trait;
use futures::stream::BoxStream;
use jarvis_pipeline::approval::Decision;
use jarvis_plan::{Approval, RunId};
use jarvis_store::{RunStatus, RunSummary};
use serde_json::Value;

use crate::wire::reply::{RunLine, RunReply};

/// Why something cannot be said to a run elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotSaid {
    /// There is no such run.
    Unknown,
    /// It waits for nothing of that kind: it was answered, or has ended.
    NotOpen,
    /// It has ended.
    Ended,
    /// The place does not answer.
    Away(String),
}

/// What a run elsewhere waits for.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    /// The number of the event that asked, in the numbers of that place.
    pub seq: u64,
    /// What is asked.
    pub asked: Approval,
}

/// Where runs are carried out that every server can tell of.
#[async_trait]
pub trait Elsewhere: Send + Sync {
    /// The events of a run from its beginning, as they come, in the JSON of [`jarvis_plan::Event`].
    ///
    /// # Errors
    /// When there is no such run, or the place does not answer.
    async fn events(&self, run: &RunId) -> Result<BoxStream<'static, Value>, NotSaid>;

    /// Those of them that there are now.
    ///
    /// # Errors
    /// When there is no such run, or the place does not answer.
    async fn so_far(&self, run: &RunId) -> Result<Vec<Value>, NotSaid>;

    /// Answers what a run asks, and no later question about the same task.
    ///
    /// # Errors
    /// Why it cannot be said.
    async fn decide(&self, run: &RunId, waiting: &Waiting, decision: Decision) -> Result<(), NotSaid>;

    /// Cancels a run.
    ///
    /// # Errors
    /// Why it cannot be said.
    async fn cancel(&self, run: &RunId) -> Result<(), NotSaid>;
}

fn name_of(event: &Value) -> &str {
    event.get("event").and_then(Value::as_str).unwrap_or_default()
}

/// What a run waits for that has told these events.
pub(crate) fn waiting(events: &[Value]) -> Vec<Waiting> {
    let mut open: Vec<Waiting> = Vec::new();
    for event in events {
        match name_of(event) {
            "approval_needed" => {
                let seq = event.get("seq").and_then(Value::as_u64).unwrap_or_default();
                let asked = serde_json::from_value::<Approval>(event.clone()).ok();
                open.retain(|open| asked.as_ref().is_none_or(|asked| asked.task != open.asked.task));
                open.extend(asked.map(|asked| Waiting { seq, asked }));
            }
            "approval_given" => open.retain(|open| event.get("id") != Some(&Value::from(open.asked.task.0))),
            "task_finished" => {
                let id = event.pointer("/outcome/id");
                open.retain(|open| id != Some(&Value::from(open.asked.task.0)));
            }
            "done" | "error" => open.clear(),
            _ => {}
        }
    }
    open
}

impl RunReply {
    /// A run by what it has told so far.
    pub(crate) fn told(run_id: RunId, events: Vec<Value>) -> RunReply {
        let waiting = waiting(&events);
        let number = |event: &Value, name: &str| event.get(name).and_then(Value::as_u64).unwrap_or_default();
        let mut summary = RunSummary {
            run_id,
            started_at_ms: events.first().map_or(0, |first| number(first, "at_ms")),
            request: String::new(),
            user: String::new(),
            status: if waiting.is_empty() { RunStatus::Running } else { RunStatus::Waiting },
            tasks: 0,
            ok: 0,
            failed: 0,
            resumable: false,
            ms: 0,
        };
        for event in &events {
            let text = |at: &str| event.pointer(at).and_then(Value::as_str).unwrap_or_default();
            let tasks = |at: &str| event.pointer(at).and_then(Value::as_array).map_or(0, |tasks| tasks.len() as u32);
            summary.ms = number(event, "at_ms").saturating_sub(summary.started_at_ms);
            match name_of(event) {
                "run_started" => summary.request = text("/request/text").to_owned(),
                "plan" => summary.tasks = tasks("/plan/tasks"),
                "plan_grew" => summary.tasks += tasks("/tasks"),
                "task_finished" if text("/outcome/status") == "succeeded" => summary.ok += 1,
                "task_finished" => summary.failed += 1,
                "done" if event.get("cancelled") == Some(&Value::Bool(true)) => summary.status = RunStatus::Cancelled,
                "done" if event.get("ok") == Some(&Value::Bool(true)) => summary.status = RunStatus::Done,
                "done" | "error" => summary.status = RunStatus::Failed,
                _ => {}
            }
        }
        let waiting = waiting.into_iter().map(|open| open.asked).collect();
        RunReply { run: RunLine::of(summary, false), waiting, events }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(events: &Value, status: &str, counts: [u32; 3], waits: &[u32]) {
        let reply = RunReply::told(RunId("r".to_owned()), events.as_array().cloned().unwrap_or_default());
        let told = json!(reply);
        assert_eq!(told["status"], status, "{told}");
        assert_eq!(
            [&told["tasks"], &told["ok"], &told["failed"]],
            counts.map(|count| json!(count)).each_ref(),
            "{told}"
        );
        let open: Vec<u32> = reply.waiting.iter().map(|asked| asked.task.0).collect();
        assert_eq!(open, waits, "{told}");
    }

    #[test]
    fn a_run_is_what_it_has_told() {
        let started = json!({"event": "run_started", "at_ms": 5, "request": {"text": "book it"}});
        let plan = json!({"event": "plan", "at_ms": 6, "plan": {"tasks": [{}, {}]}});
        let asked = |task: u32| json!({"event": "approval_needed", "task": task, "tool": "book", "effect": "writes", "arguments": {}, "sources": {}});
        let given = |task: u32| json!({"event": "approval_given", "id": task, "tool": "book", "approved": true});
        let ended = |id: u32, status: &str| json!({"event": "task_finished", "outcome": {"id": id, "status": status}});
        let done = |ok: bool, cancelled: bool| json!({"event": "done", "ok": ok, "cancelled": cancelled});
        check(&json!([started]), "running", [0, 0, 0], &[]);
        check(&json!([started, plan, asked(0), asked(1)]), "waiting", [2, 0, 0], &[0, 1]);
        check(&json!([started, plan, asked(0), given(0), asked(1)]), "waiting", [2, 0, 0], &[1]);
        check(&json!([started, plan, asked(0), ended(0, "cancelled"), done(false, true)]), "cancelled", [2, 0, 1], &[]);
        check(
            &json!([started, plan, ended(0, "succeeded"), ended(1, "failed"), done(false, false)]),
            "failed",
            [2, 1, 1],
            &[],
        );
        check(&json!([started, plan, ended(0, "succeeded"), done(true, false)]), "done", [2, 1, 0], &[]);
    }
}
