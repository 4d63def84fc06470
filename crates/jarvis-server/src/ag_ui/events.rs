//! A run's events as those of AG-UI: the plan is an activity, a task a step and a call of a tool, the answer a message, what it waits for
//! an interrupt.

use std::fmt;
use std::str::FromStr;

use jarvis_pipeline::approval::{ASK_PERSON, question};
use jarvis_plan::{Approval, EventKind, Outcome, Status, TaskId, text_of};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::routes::openai::{Links, Text};
use crate::runs::{Frame, Place};
use crate::wire::ag_ui::RunAgentInput;
use crate::wire::set;

/// The name of an interrupt: what it is about, and the last event that was told before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Interrupt {
    pub(super) run: String,
    pub(super) task: TaskId,
    pub(super) after: Place,
}

impl fmt::Display for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}@{}", self.run, self.task, self.after)
    }
}

impl FromStr for Interrupt {
    type Err = ();

    fn from_str(text: &str) -> Result<Interrupt, ()> {
        let (run, rest) = text.split_once('/').ok_or(())?;
        let (task, after) = rest.split_once('@').ok_or(())?;
        let task = TaskId(task.parse().map_err(drop)?);
        Ok(Interrupt { run: run.to_owned(), task, after: after.parse().map_err(drop)? })
    }
}

/// A task of the plan, as it is told.
#[derive(Debug)]
struct Step {
    id: TaskId,
    task: String,
    args: Value,
    status: &'static str,
    /// Whether it was begun, and has not ended.
    is_open: bool,
}

impl Step {
    fn name(&self) -> String {
        format!("{}. {}", self.id.number(), self.task)
    }

    fn told(&self) -> Value {
        json!({"id": self.id.number(), "description": self.task, "status": self.status})
    }
}

/// Tells a run.
#[derive(Debug)]
pub(super) struct Teller {
    thread: String,
    /// The exchange, as the client calls it.
    exchange: String,
    run: String,
    state: Value,
    text: Text,
    steps: Vec<Step>,
    /// Whether the plan was told.
    has_plan: bool,
    asked: Vec<Approval>,
    /// The answer as far as it was written.
    written: String,
    at: Place,
    is_over: bool,
}

fn event(kind: &str, fields: Value) -> Value {
    let mut told = Map::from_iter([("type".to_owned(), kind.into())]);
    if let Value::Object(fields) = fields {
        told.extend(fields);
    }
    Value::Object(told)
}

impl Teller {
    pub(super) fn new(input: &RunAgentInput, run: &str, links: Links) -> Teller {
        let state = if input.state.is_object() { input.state.clone() } else { json!({}) };
        Teller {
            thread: input.thread_id.clone(),
            exchange: input.run_id.clone(),
            run: run.to_owned(),
            state,
            text: Text::new(links),
            steps: Vec::new(),
            has_plan: false,
            asked: Vec::new(),
            written: String::new(),
            at: Place::default(),
            is_over: false,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) fn is_asking(&self) -> bool {
        !self.asked.is_empty()
    }

    /// The beginning of an exchange, with what the run has come to.
    pub(super) fn begins(&mut self) -> Vec<Value> {
        let started = json!({"threadId": self.thread, "runId": self.exchange});
        set(&mut self.state, "jarvis", json!({"run_id": self.run, "status": "running", "files": []}));
        let mut told = vec![event("RUN_STARTED", started), event("STATE_SNAPSHOT", json!({"snapshot": self.state}))];
        if self.has_plan {
            told.push(self.plan());
        }
        let open = self.steps.iter().filter(|step| step.is_open);
        told.extend(open.map(|step| event("STEP_STARTED", json!({"stepName": step.name()}))));
        told
    }

    /// The end of an exchange because the run waits.
    pub(super) fn interrupted(&mut self) -> Vec<Value> {
        let mut told = self.closed();
        told.push(self.becomes("waiting"));
        let interrupts: Vec<Value> = self.asked.iter().map(|asked| self.interrupt(asked)).collect();
        told.push(self.finished(json!({"type": "interrupt", "interrupts": interrupts}), Value::Null, None));
        told
    }

    fn interrupt(&self, asked: &Approval) -> Value {
        let id = Interrupt { run: self.run.clone(), task: asked.task, after: self.at };
        let is_question = asked.tool == ASK_PERSON;
        let words = if asked.unknown { ["retry", "done", "skip"] } else { ["approve", "approve_always", "refuse"] };
        let schema = match is_question {
            true => json!({"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}),
            false => json!({
                "type": "object",
                "properties": {"decision": {"enum": words}, "arguments": {"type": "object"}, "reason": {"type": "string"}},
                "required": ["decision"],
            }),
        };
        let mut told = json!({
            "id": id.to_string(), "reason": if is_question { "input_required" } else { "tool_approval" },
            "message": question(asked).trim_end(), "responseSchema": schema, "metadata": {"jarvis": asked},
        });
        if self.steps.iter().any(|step| step.id == asked.task && step.is_open) {
            set(&mut told, "toolCallId", self.call(asked.task));
        }
        told
    }

    /// The end of an exchange because the server stops.
    pub(super) fn breaks_off(&mut self) -> Vec<Value> {
        let message = "the server stops; the run goes on when it is back";
        vec![event("RUN_ERROR", json!({"message": message, "code": "stopping"}))]
    }

    /// The name of the call that a task is.
    fn call(&self, task: TaskId) -> String {
        format!("{}-task-{}", self.run, task.number())
    }

    fn plan(&self) -> Value {
        let steps: Vec<Value> = self.steps.iter().map(Step::told).collect();
        let id = format!("{}-plan", self.run);
        event("ACTIVITY_SNAPSHOT", json!({"messageId": id, "activityType": "PLAN", "content": {"steps": steps}}))
    }

    fn patch(&self, patch: Value) -> Value {
        let id = format!("{}-plan", self.run);
        event("ACTIVITY_DELTA", json!({"messageId": id, "activityType": "PLAN", "patch": patch}))
    }

    /// Says how the run is.
    fn becomes(&self, status: &str) -> Value {
        event("STATE_DELTA", json!({"delta": [{"op": "replace", "path": "/jarvis/status", "value": status}]}))
    }

    fn finished(&self, outcome: Value, result: Value, usage: Option<Value>) -> Value {
        let mut fields = json!({"threadId": self.thread, "runId": self.exchange, "outcome": outcome});
        if !result.is_null() {
            set(&mut fields, "result", result);
        }
        if let Some(usage) = usage {
            set(&mut fields, "usage", usage);
        }
        event("RUN_FINISHED", fields)
    }

    /// Ends what is open: the answer and the steps.
    fn closed(&self) -> Vec<Value> {
        let open = self.steps.iter().filter(|step| step.is_open);
        open.map(|step| event("STEP_FINISHED", json!({"stepName": step.name()}))).collect()
    }

    /// Takes the next event of the run, and says what it is.
    pub(super) fn take(&mut self, frame: &Frame) -> Vec<Value> {
        self.at = frame.at;
        let Ok(value) = serde_json::from_str::<Value>(&frame.data) else { return Vec::new() };
        let planned = match &*frame.name {
            "plan" => value.pointer("/plan/tasks"),
            "plan_grew" => value.get("tasks"),
            _ => None,
        };
        if let Some(tasks) = planned.and_then(Value::as_array) {
            return self.planned(tasks);
        }
        let Ok(kind) = EventKind::deserialize(&value) else { return Vec::new() };
        match kind {
            EventKind::TaskStarted { id, task, .. } => self.task_began(id, &task),
            EventKind::TaskFinished { outcome } => self.task_ended(&outcome),
            EventKind::Token { text } => {
                let text = self.text.push(&text);
                self.writes(&text)
            }
            EventKind::Answer { answer } => {
                let rest = self.text.end(&answer);
                let mut told = self.writes(&rest);
                if !self.written.is_empty() {
                    told.push(event("TEXT_MESSAGE_END", json!({"messageId": self.answer()})));
                }
                let files: Vec<&str> = answer.resources.iter().map(|made| made.url.as_str()).collect();
                if !files.is_empty() {
                    let delta = json!([{"op": "replace", "path": "/jarvis/files", "value": files}]);
                    told.push(event("STATE_DELTA", json!({"delta": delta})));
                }
                told
            }
            EventKind::Thought { text, .. } => {
                let id = format!("{}-thought-{}", self.run, frame.at);
                vec![
                    event("REASONING_START", json!({"messageId": id})),
                    event("REASONING_MESSAGE_START", json!({"messageId": id, "role": "reasoning"})),
                    event("REASONING_MESSAGE_CONTENT", json!({"messageId": id, "delta": text})),
                    event("REASONING_MESSAGE_END", json!({"messageId": id})),
                    event("REASONING_END", json!({"messageId": id})),
                ]
            }
            EventKind::ApprovalNeeded { approval } => {
                self.asked.retain(|asked| asked.task != approval.task);
                self.asked.push(approval);
                Vec::new()
            }
            EventKind::ApprovalGiven { id, .. } => {
                self.asked.retain(|asked| asked.task != id);
                Vec::new()
            }
            EventKind::Note { level, message } => {
                vec![event("CUSTOM", json!({"name": "note", "value": {"level": level, "message": message}}))]
            }
            EventKind::Done { ok, cancelled, usage, .. } => {
                let (status, outcome) = match (cancelled, ok) {
                    (true, _) => ("cancelled", "cancelled"),
                    (false, true) => ("done", "success"),
                    (false, false) => ("failed", "success"),
                };
                let (sent, received) = (usage.prompt_tokens, usage.completion_tokens);
                let tokens = json!([{"inputTokens": sent, "outputTokens": received, "totalTokens": sent + received}]);
                let result = json!({"run_id": self.run, "ok": ok});
                let outcome = self.finished(json!({"type": outcome}), result, (sent + received > 0).then_some(tokens));
                self.ends(status, outcome)
            }
            EventKind::Error { code, .. } if code == "cancelled" => {
                let outcome = self.finished(json!({"type": "cancelled"}), Value::Null, None);
                self.ends("cancelled", outcome)
            }
            EventKind::Error { code, message, hint, .. } => {
                let message = hint.map_or_else(|| message.clone(), |hint| format!("{message}; {hint}"));
                self.ends("failed", event("RUN_ERROR", json!({"message": message, "code": code})))
            }
            EventKind::Queued { .. }
            | EventKind::RunStarted { .. }
            | EventKind::Resumed { .. }
            | EventKind::ModelCall { .. }
            | EventKind::Plan { .. }
            | EventKind::PlanGrew { .. }
            | EventKind::Budget { .. }
            | EventKind::Mapped { .. }
            | EventKind::ModelChosen { .. }
            | EventKind::ExecutionConfig { .. }
            | EventKind::TaskAttempt { .. }
            | EventKind::Action { .. }
            | EventKind::Observation { .. } => Vec::new(),
        }
    }

    fn ends(&mut self, status: &str, last: Value) -> Vec<Value> {
        self.is_over = true;
        let mut told = self.closed();
        told.push(self.becomes(status));
        told.push(last);
        told
    }

    /// Tasks of the plan: those that are new are told.
    fn planned(&mut self, tasks: &[Value]) -> Vec<Value> {
        let known = self.steps.len();
        for task in tasks {
            let id = task.get("id").and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok());
            let Some(id) = id.map(TaskId).filter(|id| self.steps.iter().all(|step| step.id != *id)) else { continue };
            let name = task.get("task").and_then(Value::as_str).unwrap_or_default().to_owned();
            let args = task.get("args").cloned().unwrap_or_else(|| json!({}));
            self.steps.push(Step { id, task: name, args, status: "pending", is_open: false });
        }
        let new = self.steps.get(known..).unwrap_or_default();
        if new.is_empty() {
            return Vec::new();
        }
        if !std::mem::replace(&mut self.has_plan, true) {
            return vec![self.plan()];
        }
        let adds: Vec<Value> =
            new.iter().map(|step| json!({"op": "add", "path": "/steps/-", "value": step.told()})).collect();
        vec![self.patch(adds.into())]
    }

    /// A step enters a state; one that the plan does not tell of has none.
    fn step_is(&mut self, id: TaskId, status: &'static str) -> Option<Value> {
        let at = self.steps.iter().position(|step| step.id == id)?;
        self.steps.get_mut(at)?.status = status;
        Some(self.patch(json!([{"op": "replace", "path": format!("/steps/{at}/status"), "value": status}])))
    }

    fn task_began(&mut self, id: TaskId, task: &str) -> Vec<Value> {
        if self.steps.iter().all(|step| step.id != id) {
            let (task, args) = (task.to_owned(), json!({}));
            let more = json!({"id": id.0, "task": task, "args": args});
            let mut told = self.planned(&[more]);
            told.extend(self.task_began(id, &task));
            return told;
        }
        let Some(step) = self.steps.iter_mut().find(|step| step.id == id && !step.is_open) else { return Vec::new() };
        step.is_open = true;
        let (name, args, call_name) = (step.name(), step.args.to_string(), step.task.clone());
        let call = self.call(id);
        let mut told = vec![
            event("STEP_STARTED", json!({"stepName": name})),
            event("TOOL_CALL_START", json!({"toolCallId": call, "toolCallName": call_name})),
            event("TOOL_CALL_ARGS", json!({"toolCallId": call, "delta": args})),
            event("TOOL_CALL_END", json!({"toolCallId": call})),
        ];
        told.extend(self.step_is(id, "running"));
        told
    }

    fn task_ended(&mut self, outcome: &Outcome) -> Vec<Value> {
        let status = match outcome.status {
            Status::Succeeded => "done",
            Status::Failed => "failed",
            Status::Skipped => "skipped",
            Status::Cancelled => "cancelled",
        };
        let (id, mut told) = (outcome.id, Vec::new());
        if let Some(step) = self.steps.iter_mut().find(|step| step.id == id && step.is_open) {
            step.is_open = false;
            let name = step.name();
            let content = match (&outcome.output, outcome.failure()) {
                (Some(output), _) => text_of(output).into_owned(),
                (None, Some(failure)) => failure,
                (None, None) => status.to_owned(),
            };
            let call = self.call(id);
            let result =
                json!({"messageId": format!("{call}-result"), "toolCallId": call, "content": content, "role": "tool"});
            told.push(event("TOOL_CALL_RESULT", result));
            told.push(event("STEP_FINISHED", json!({"stepName": name})));
        }
        told.extend(self.step_is(id, status));
        told
    }

    fn answer(&self) -> String {
        format!("{}-answer", self.run)
    }

    /// A piece of the answer.
    fn writes(&mut self, piece: &str) -> Vec<Value> {
        if piece.is_empty() {
            return Vec::new();
        }
        let mut told = Vec::new();
        if self.written.is_empty() {
            told.push(event("TEXT_MESSAGE_START", json!({"messageId": self.answer(), "role": "assistant"})));
        }
        self.written.push_str(piece);
        told.push(event("TEXT_MESSAGE_CONTENT", json!({"messageId": self.answer(), "delta": piece})));
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupts_are_named_and_found_again() {
        let interrupt = Interrupt { run: "0198-a".to_owned(), task: TaskId(3), after: Place { seq: 12, piece: 1 } };
        assert_eq!(interrupt.to_string(), "0198-a/3@12.1");
        assert_eq!(interrupt.to_string().parse(), Ok(interrupt));
        for wrong in ["", "a", "a/1", "a/x@1", "a/1@x", "a@1/1"] {
            assert_eq!(wrong.parse::<Interrupt>(), Err(()), "{wrong}");
        }
    }
}
