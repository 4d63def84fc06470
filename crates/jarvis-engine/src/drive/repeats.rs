//! Calls that are not made twice, where a plan grows and its later tasks ask for what was done.

use std::collections::HashMap;

use indexmap::IndexMap;
use jarvis_plan::{Effect, ErrorCode, Outcome, TaskError, TaskId};
use serde_json::Value;

use super::Driver;
use super::node::call;

/// A call that was made.
#[derive(Debug)]
struct Call {
    plan: u32,
    id: TaskId,
    writes: bool,
}

/// The calls that were made, each with its task and the plan that this was part of.
#[derive(Debug, Default)]
pub(super) struct Made {
    calls: HashMap<String, Call>,
    /// How often tasks were planned anew.
    pub(super) plan: u32,
}

impl Made {
    /// Remembers a call; the first of equal ones counts.
    pub(super) fn note(&mut self, tool: &str, args: &IndexMap<String, Value>, id: TaskId, effect: Effect) {
        let writes = effect != Effect::Reads;
        if writes {
            // What was read before a change may be something else after it.
            self.calls.retain(|_, call| call.writes);
        }
        let plan = self.plan;
        self.calls.entry(call(tool, args)).or_insert(Call { plan, id, writes });
    }

    /// The task of an earlier plan that made an equal call. Within a plan two equal calls are two.
    pub(super) fn before(&self, tool: &str, args: &IndexMap<String, Value>) -> Option<TaskId> {
        if self.calls.is_empty() {
            return None;
        }
        let made = self.calls.get(&call(tool, args))?;
        (made.plan < self.plan).then_some(made.id)
    }
}

impl Driver<'_> {
    /// Ends a task as the one before it ended that made the same call.
    pub(super) fn end_as(&mut self, id: TaskId, before: &Outcome) {
        let number = before.id.number();
        let result = match (&before.output, &before.error) {
            (Some(output), _) => Ok(output.clone()),
            (None, error) => {
                let why = error.as_ref().map_or("it gave nothing", |error| error.message.as_str());
                let code = error.as_ref().map_or(ErrorCode::NoOutput, |error| error.code);
                Err(TaskError::new(code, format!("task {number} made the same call, and it is not made again: {why}")))
            }
        };
        if let Some(resolved) = self.nodes.get_mut(&id).and_then(|node| node.resolved.as_mut()) {
            resolved.notes.push(format!("task {number} made the same call before; this is its result"));
        }
        self.conclude(id, before.status, result);
    }
}
