//! What is on record of a run that goes on: the results of its steps, each found by who needs it, and the events that were told.
//!
//! The pipeline of the run begins anew with its request. Wherever it comes to a step that has its result here, that is taken and
//! the step is not done; what it tells again was told before, and is not sent. So it comes to where it was cut off.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;

use indexmap::IndexMap;
use jarvis_plan::{Approval, Effect, ErrorCode, EventKind, Outcome, Request, RunId, Selection, Task, TaskId, Usage};
use serde::Deserialize;
use serde_json::Value;

mod read;

use self::read::same;

/// The record of a run cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} of the run cannot be read: {reason}")]
pub struct Unreadable {
    /// Its number.
    pub seq: u64,
    /// Why.
    pub reason: String,
}

/// Why a run cannot be tried anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRetry {
    /// All of it was done.
    #[error("every task succeeded; say from which task on it is to be done anew")]
    NothingFailed,
    /// It has no such task, or it came to no end.
    #[error("task {} has no result in that run", .0.number())]
    NoTask(TaskId),
}

/// What a model answered before.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// The event, as it was kept.
    pub event: Value,
    /// Whether another run made it.
    pub(crate) copied: bool,
}

impl RecordedCall {
    /// The event of a run that takes the call over.
    pub(crate) fn taken_over(&self, key: &str) -> EventKind {
        let text = |name: &str| self.event.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |name: &str| self.event.get(name).and_then(Value::as_u64).unwrap_or(0);
        let task = self.event.get("task").and_then(Value::as_u64).and_then(|task| u32::try_from(task).ok());
        EventKind::ModelCall {
            stage: text("stage"),
            task: task.map(TaskId),
            model: text("model"),
            provider: text("provider"),
            instead_of: text("instead_of"),
            prompt_tokens: number("prompt_tokens"),
            cached_tokens: number("cached_tokens"),
            completion_tokens: number("completion_tokens"),
            estimated: false,
            cost: None,
            ms: 0,
            reply: text("reply"),
            ok: true,
            given_up: false,
            key: key.to_owned(),
            whole: self.event.get("whole").cloned(),
            taken_over: true,
        }
    }
}

/// What somebody said who was asked for leave.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Leave {
    /// The tool it was about.
    pub tool: String,
    /// Whether it was given.
    pub approved: bool,
    /// The answer to a question of the planner.
    #[serde(default)]
    pub answer: Option<String>,
    /// Arguments in the place of the planned ones.
    #[serde(default)]
    pub arguments: Option<IndexMap<String, Value>>,
    /// Whether it holds for every call of the tool in the run.
    #[serde(default)]
    pub always: bool,
    /// Whether the call had been made.
    #[serde(default)]
    pub done: bool,
    /// Whether it was about a call that may have arrived.
    #[serde(skip)]
    pub unknown: bool,
}

/// The run as it began.
#[derive(Debug, Clone, Deserialize)]
pub struct Began {
    /// What was asked.
    pub request: Request,
    /// `offline`, `llm` or `plan`.
    pub planner: String,
    /// The chat model's name, or `offline`.
    pub model: String,
    /// The pipeline, or the command.
    #[serde(default)]
    pub pipeline: String,
    /// The user it is carried out for.
    #[serde(default)]
    pub user: String,
    /// What must be the same for the run to go on.
    #[serde(default)]
    pub settings: IndexMap<String, String>,
    /// The plan as it was given, where one was.
    #[serde(default)]
    pub given: Option<Value>,
}

/// How a task ended, and as what it was planned then, where that is known.
#[derive(Debug)]
struct Recorded {
    seq: u64,
    /// Whether it is of another run.
    copied: bool,
    planned: Option<Value>,
    outcome: Outcome,
}

/// The record of a run, see the module.
#[derive(Debug, Default)]
pub struct Past {
    began: Option<Began>,
    /// The number of the next event.
    next: u64,
    /// How long it had run.
    ran: Duration,
    /// The time of its latest event, in milliseconds since the Unix epoch.
    last_at_ms: u64,
    /// The run that it takes steps over from, and from which task on they were done anew.
    took_over: Option<(RunId, Option<TaskId>)>,
    usage: Usage,
    calls: HashMap<String, VecDeque<RecordedCall>>,
    outcomes: HashMap<TaskId, Vec<Recorded>>,
    /// With what their tasks were planned as, and whether another run chose.
    selections: HashMap<TaskId, (Option<Value>, Selection, bool)>,
    /// The models of this machine among them, with their weights.
    weights: BTreeMap<TaskId, (String, String)>,
    leaves: HashMap<TaskId, VecDeque<Leave>>,
    /// Tasks that were started and have no outcome.
    begun: HashSet<TaskId>,
    /// Questions about calls that may have arrived, while they are open, in the words of [`same`].
    unknown: HashMap<TaskId, String>,
    /// Questions that have no answer.
    asked: IndexMap<TaskId, Approval>,
    /// What was told, with how often.
    told: HashMap<String, u32>,
    /// Plans that were told and not told again.
    plans: u32,
    steps: u64,
    /// Events that were told of what was done: neither that it began, nor that it goes on.
    shown: u64,
    /// Whether it ended, and all of it was done.
    ended_well: bool,
    /// Whether what is taken is told in the run that takes it, because it is another run.
    copies: Option<(RunId, Option<TaskId>)>,
}

impl Past {
    /// Reads the events of a run, in their order.
    ///
    /// # Errors
    /// When one is not what is written now.
    pub fn of(events: &[Value]) -> Result<Past, Unreadable> {
        let mut past = Past::default();
        let mut planned: HashMap<TaskId, Value> = HashMap::new();
        let mut last_at = None;
        for event in events {
            past.take_in(event, &mut planned, &mut last_at)?;
        }
        // The begun ones that ended are no longer open.
        past.begun.retain(|id| !past.outcomes.contains_key(id));
        Ok(past)
    }

    /// What a new run takes over of this one: what was done without a task, or without the tasks that did not succeed. A task that
    /// needs one of those is done anew, and so is every model call that came after the first of them had ended; not where tasks were
    /// handed back to the caller, which no model was told.
    ///
    /// # Errors
    /// When there is nothing to be done anew, or no such task.
    pub fn for_retry(mut self, run: RunId, from: Option<TaskId>) -> Result<Past, NoRetry> {
        let mut open: HashSet<TaskId> = match from {
            Some(task) => HashSet::from([task]),
            None => self.last_outcomes().filter(|outcome| !outcome.succeeded()).map(|outcome| outcome.id).collect(),
        };
        match from {
            Some(task) if !self.outcomes.contains_key(&task) => return Err(NoRetry::NoTask(task)),
            None if open.is_empty() && self.ended_well => return Err(NoRetry::NothingFailed),
            Some(_) | None => {}
        }
        loop {
            let before = open.len();
            for (id, recorded) in &self.outcomes {
                let needs = recorded.iter().filter_map(|recorded| recorded.planned.as_ref()).any(|task| {
                    let dep = task.get("dep").and_then(Value::as_array);
                    let is_open = |dep: u64| open.iter().any(|id| u64::from(id.0) == dep);
                    dep.into_iter().flatten().filter_map(Value::as_u64).any(is_open)
                });
                if needs {
                    open.insert(*id);
                }
            }
            if open.len() == before {
                break;
            }
        }
        let ends = self.outcomes.iter().filter(|(id, _)| open.contains(*id));
        let first = ends.flat_map(|(_, recorded)| recorded).map(|recorded| recorded.seq).min();
        // Without any outcome it is the last call that led to nothing.
        let number = |event: &Value, name: &str| event.get(name).and_then(Value::as_u64);
        let last = self.calls.values().flatten().filter_map(|call| number(&call.event, "seq")).max();
        let is_handed_back =
            |outcome: &Outcome| outcome.error.as_ref().is_some_and(|error| error.code == ErrorCode::HandedBack);
        let is_for_results = from.is_none() && self.last_outcomes().any(is_handed_back);
        let first = first.or(last.filter(|_| open.is_empty())).filter(|_| !is_for_results);
        let is_before = |call: &RecordedCall| {
            let is_open = number(&call.event, "task").is_some_and(|task| open.iter().any(|id| u64::from(id.0) == task));
            !is_open && first.is_none_or(|first| number(&call.event, "seq").is_some_and(|seq| seq < first))
        };
        // A change of which it is not known whether it was made is asked about before it is made again.
        let unsure = |outcome: &Outcome| outcome.error.as_ref().is_some_and(|error| error.code.may_have_arrived());
        let unknown: Vec<TaskId> = self
            .last_outcomes()
            .filter(|outcome| open.contains(&outcome.id) && unsure(outcome))
            .map(|o| o.id)
            .collect();
        self.begun.extend(unknown);
        self.outcomes.retain(|id, _| !open.contains(id));
        self.selections.retain(|id, _| !open.contains(id));
        self.leaves.clear();
        self.asked.clear();
        self.unknown.clear();
        self.calls.values_mut().for_each(|calls| calls.retain(is_before));
        self.calls.retain(|_, calls| !calls.is_empty());
        self.calls.values_mut().flatten().for_each(|call| call.copied = true);
        self.outcomes.values_mut().flatten().for_each(|recorded| recorded.copied = true);
        self.selections.values_mut().for_each(|selection| selection.2 = true);
        let calls: usize = self.calls.values().map(VecDeque::len).sum();
        let steps = calls + self.outcomes.len() + self.selections.len();
        Ok(Past {
            next: 0,
            ran: Duration::ZERO,
            usage: Usage::default(),
            told: HashMap::new(),
            plans: 0,
            steps: steps as u64,
            shown: 0,
            copies: Some((run, from)),
            ..self
        })
    }

    /// The run that this one took steps over from when it began, and from which task on they were to be done anew.
    pub fn took_over(&self) -> Option<&(RunId, Option<TaskId>)> {
        self.took_over.as_ref()
    }

    /// Adds what this run took over and had not come to: the record of the other run, as [`Past::for_retry`] makes it.
    #[must_use]
    pub fn over(mut self, base: Past) -> Past {
        for (key, calls) in base.calls {
            self.calls.entry(key).or_insert(calls);
        }
        for (task, recorded) in base.outcomes {
            self.outcomes.entry(task).or_insert(recorded);
        }
        for (task, selection) in base.selections {
            self.selections.entry(task).or_insert(selection);
        }
        self.begun.extend(base.begun.into_iter().filter(|task| !self.outcomes.contains_key(task)));
        self.steps += base.steps;
        self
    }

    /// How the tasks ended, in no order.
    pub fn last_outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.values().filter_map(|recorded| recorded.last()).map(|recorded| &recorded.outcome)
    }

    /// The models that were chosen for tasks which have not ended, each with the weights that it had, where it had some of this machine.
    pub fn weights(&self) -> impl Iterator<Item = (&str, &str)> {
        let open = self.weights.iter().filter(|(id, _)| !self.outcomes.contains_key(id));
        open.map(|(_, (model, weights))| (model.as_str(), weights.as_str()))
    }

    /// The run as it began; `None` when that is not on record.
    pub fn began(&self) -> Option<&Began> {
        self.began.as_ref()
    }

    /// Questions that were put and have no answer.
    pub fn asked(&self) -> impl Iterator<Item = &Approval> {
        self.asked.values()
    }

    /// How many steps have their result here.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    pub(crate) fn shown(&self) -> u64 {
        self.shown
    }

    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn last_at_ms(&self) -> u64 {
        self.last_at_ms
    }

    pub(crate) fn ran(&self) -> Duration {
        self.ran
    }

    pub(crate) fn usage(&self) -> &Usage {
        &self.usage
    }

    /// The run that this one takes over, and from which task on it is done anew.
    pub(crate) fn from(&self) -> Option<&(RunId, Option<TaskId>)> {
        self.copies.as_ref()
    }

    /// Takes the reply to a call with this key.
    pub(crate) fn take_reply(&mut self, key: &str) -> Option<RecordedCall> {
        self.calls.get_mut(key)?.pop_front()
    }

    /// Takes how a task ended, if it is the one that was planned.
    pub(crate) fn take_outcome(&mut self, task: &Task) -> Option<(Outcome, bool)> {
        let recorded = self.outcomes.get(&task.id)?;
        let now = serde_json::to_value(task).ok()?;
        let is_same = |Recorded { planned, outcome, .. }: &Recorded| {
            outcome.task == task.task && planned.as_ref().is_none_or(|planned| *planned == now)
        };
        let at = recorded.iter().rposition(is_same)?;
        let mut recorded = self.outcomes.remove(&task.id)?;
        let Recorded { outcome, copied, .. } = recorded.swap_remove(at);
        Some((outcome, copied))
    }

    /// Takes who was chosen for a task.
    pub(crate) fn take_selection(&mut self, task: &Task) -> Option<(Selection, bool)> {
        let (planned, selection, copied) = self.selections.remove(&task.id)?;
        let is_same = planned.is_none_or(|planned| serde_json::to_value(task).is_ok_and(|now| now == planned));
        is_same.then_some((selection, copied))
    }

    /// Takes what was said about a call of a tool for a task, in the order in which it was said.
    pub(crate) fn take_leave(&mut self, task: TaskId, tool: &str, unknown: bool) -> Option<Leave> {
        let given = self.leaves.get_mut(&task)?;
        let at = given.iter().position(|leave| leave.tool == tool && leave.unknown == unknown)?;
        given.remove(at)
    }

    /// Whether a call for this task was begun and may have arrived. It is asked once.
    pub(crate) fn take_begun(&mut self, task: TaskId, effect: Effect) -> bool {
        self.begun.remove(&task) && effect != Effect::Reads
    }

    /// Whether an event was told before; it counts once.
    pub(crate) fn was_told(&mut self, event: &Value) -> Result<bool, String> {
        let name = event.get("event").and_then(Value::as_str);
        let (is_start, is_plan) = (name == Some("run_started"), name == Some("plan"));
        // Its request may be kept in part.
        if is_start && self.copies.is_none() {
            return Ok(self.began.is_some());
        }
        let Some(times) = self.told.get_mut(&same(event)).filter(|times| **times > 0) else {
            return match is_plan && self.plans > 0 {
                true => Err("its plan is another now; the tools, the models or the program changed".to_owned()),
                false => Ok(false),
            };
        };
        *times -= 1;
        self.plans -= u32::from(is_plan);
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
