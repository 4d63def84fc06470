//! The course of a run, a machine without clock and I/O: the same plan and the same reports in the same order give the same
//! steps, which is what a workflow that is replayed needs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use indexmap::IndexMap;
use jarvis_engine::{Resolver, Schedule, as_planned, barriers};
use jarvis_plan::{
    Approval, Arg, Attempt, Candidate, EACH, Effect, ErrorCode, EventKind, Outcome, Status, Task, TaskError, TaskId,
};
use serde_json::Value;

use crate::contract::{Decision, PlannedTask, Question, Report, Tried};

/// What the workflow is to do next.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// Call a worker, and tell [`Course::reported`] how it ended.
    Call { id: TaskId, candidate: Candidate, args: IndexMap<String, Value> },
    /// Ask a person, and tell [`Course::decided`] the answer.
    Ask { id: TaskId, question: Question, approval: Approval },
}

/// The tasks of a run, those that have ended, and what may start.
pub(crate) struct Course<'a> {
    resolver: &'a dyn Resolver,
    concurrency: usize,
    max_fallbacks: usize,
    /// Capabilities that some worker serves; `None` where that is unknown.
    served: Option<BTreeSet<String>>,
    schedule: Schedule,
    nodes: BTreeMap<TaskId, Node>,
    outcomes: BTreeMap<TaskId, Outcome>,
    /// Tasks that may start when there is room.
    to_call: BTreeSet<TaskId>,
    /// Questions to ask; a question needs no room.
    to_ask: VecDeque<(TaskId, Question)>,
    calling: usize,
    /// Calls that failed and may have changed something all the same.
    unsure: BTreeSet<String>,
    /// Tools that may be called without asking from now on.
    always: BTreeSet<String>,
    events: Vec<EventKind>,
}

/// A task that has not ended.
struct Node {
    planned: PlannedTask,
    /// Tasks that must have succeeded before it may change something.
    barrier: Vec<TaskId>,
    args: Option<IndexMap<String, Value>>,
    notes: Vec<String>,
    candidates: VecDeque<Candidate>,
    /// Whom a call is under way with, or whose call may have arrived.
    current: Option<Candidate>,
    allowed: bool,
    started: bool,
    attempts: Vec<Attempt>,
    ms: u64,
}

impl<'a> Course<'a> {
    pub(crate) fn new(resolver: &'a dyn Resolver, concurrency: usize, max_fallbacks: usize) -> Course<'a> {
        Course {
            resolver,
            concurrency: concurrency.max(1),
            max_fallbacks,
            served: None,
            schedule: Schedule::new(),
            nodes: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            to_call: BTreeSet::new(),
            to_ask: VecDeque::new(),
            calling: 0,
            unsure: BTreeSet::new(),
            always: BTreeSet::new(),
            events: Vec::new(),
        }
    }

    /// Adds capabilities that some worker serves. A call of another one would never return, and could not even be cancelled.
    pub(crate) fn served(&mut self, capabilities: BTreeSet<String>) {
        self.served.get_or_insert_default().extend(capabilities);
    }

    /// Adds tasks that were planned together, with the outcomes of all tasks before in sight.
    pub(crate) fn add(&mut self, tasks: Vec<PlannedTask>) {
        let plain: Vec<&Task> = tasks.iter().map(|planned| &planned.task).collect();
        let effects: Vec<Effect> = tasks.iter().map(|planned| planned.effect).collect();
        let barriers = barriers(&plain, &effects);
        self.schedule.extend(plain.iter().copied().zip(barriers.iter().map(Vec::as_slice)));
        for (planned, barrier) in tasks.iter().zip(barriers) {
            let mut candidates: VecDeque<Candidate> = VecDeque::new();
            for candidate in planned.candidates() {
                if candidates.len() <= self.max_fallbacks && !candidates.contains(&candidate) {
                    candidates.push_back(candidate);
                }
            }
            if let Some(selection) = &planned.selection {
                self.events.push(EventKind::ModelChosen { selection: selection.clone(), weights: None });
            }
            let node = Node {
                planned: planned.clone(),
                barrier,
                args: None,
                notes: Vec::new(),
                candidates,
                current: None,
                allowed: planned.allowed || planned.effect == Effect::Reads,
                started: false,
                attempts: Vec::new(),
                ms: 0,
            };
            self.nodes.insert(planned.task.id, node);
        }
    }

    /// The next thing to do; none when something must be told first, or everything has ended.
    pub(crate) fn step(&mut self) -> Option<Step> {
        loop {
            let ready = self.schedule.ready();
            if !ready.is_empty() {
                // One that cannot run ends at once, and lets others start.
                ready.into_iter().for_each(|id| self.ready(id));
            } else if let Some((id, question)) = self.to_ask.pop_front() {
                if let Some(step) = self.ask(id, question) {
                    return Some(step);
                }
            } else if self.calling < self.concurrency {
                let id = self.to_call.pop_first()?;
                if let Some(step) = self.call(id) {
                    return Some(step);
                }
            } else {
                return None;
            }
        }
    }

    /// Takes the events since the last call.
    pub(crate) fn events(&mut self) -> Vec<EventKind> {
        std::mem::take(&mut self.events)
    }

    /// A task that has not ended.
    pub(crate) fn planned(&self, id: TaskId) -> Option<&PlannedTask> {
        self.nodes.get(&id).map(|node| &node.planned)
    }

    pub(crate) fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.values()
    }

    /// A task whose dependencies have ended: it waits for room or for a person, or ends.
    fn ready(&mut self, id: TaskId) {
        let Some(node) = self.nodes.get(&id) else { return };
        let planned = &node.planned;
        let resolved = match (&planned.fault, self.held_back(node)) {
            (Some(fault), _) => Err((Status::Failed, fault.clone())),
            (None, Some(held)) => Err((Status::Skipped, held)),
            (None, None) => match self.resolver.resolve(&planned.task, &self.outcomes) {
                Ok(resolved) if self.is_unsure(planned, &resolved.args) => Err((Status::Failed, repeated(planned))),
                Ok(resolved) => Ok(resolved),
                Err(unresolved) => Err((unresolved.status, unresolved.error)),
            },
        };
        match resolved {
            Ok(resolved) => {
                let node = self.nodes.get_mut(&id).expect("it was there above");
                node.args = Some(resolved.args);
                node.notes = resolved.notes;
                self.admit(id);
            }
            Err((status, error)) => self.conclude(id, status, Err(error)),
        }
    }

    /// Lets a task start, once a person has allowed it where that is needed.
    fn admit(&mut self, id: TaskId) {
        let always = |node: &Node| self.always.contains(&node.planned.task.task);
        if self.nodes.get(&id).is_some_and(|node| node.allowed || always(node)) {
            self.to_call.insert(id);
        } else {
            self.to_ask.push_back((id, Question::Approval));
        }
    }

    fn call(&mut self, id: TaskId) -> Option<Step> {
        let node = self.nodes.get_mut(&id)?;
        let Some(candidate) = node.current.take().or_else(|| node.candidates.pop_front()) else {
            let error = TaskError::new(ErrorCode::NoModel, format!("`{}` has no candidate", node.planned.task.task));
            self.conclude(id, Status::Failed, Err(error));
            return None;
        };
        if self.served.as_ref().is_some_and(|served| !served.contains(&candidate.effective_task)) {
            let error = not_served(&candidate.effective_task);
            self.failed(id, candidate, error, 0);
            return None;
        }
        if !node.started {
            node.started = true;
            let (task, model) = (node.planned.task.task.clone(), candidate.id.clone());
            self.events.push(EventKind::TaskStarted { id, task, model });
        }
        node.current = Some(candidate.clone());
        self.calling += 1;
        Some(Step::Call { id, candidate, args: node.args.clone().unwrap_or_default() })
    }

    fn ask(&mut self, id: TaskId, question: Question) -> Option<Step> {
        let node = self.nodes.get(&id)?;
        let args = node.args.clone().unwrap_or_default();
        let source = |arg: Option<&Arg>| match arg.and_then(|arg| arg.references().next()) {
            Some(of) => format!("task {}", of.number()),
            None => "the plan".to_owned(),
        };
        let task = &node.planned.task;
        let sources = args.keys().map(|name| (name.clone(), source(task.args.get(name)))).collect();
        let approval = Approval {
            task: id,
            tool: task.task.clone(),
            effect: node.planned.effect,
            each: args.contains_key(EACH) && task.each().is_some(),
            arguments: args,
            unknown: question == Question::Arrived,
            sources,
            place: None,
        };
        if question == Question::Arrived {
            let message = format!(
                "task {} (`{}`) began, and its worker was gone before it told how it ended: say whether to try it again, \
                 that it was done, or to go on without it",
                id.number(),
                task.task
            );
            self.events.push(EventKind::Note { level: jarvis_plan::Level::Warning, message });
        }
        self.events.push(EventKind::ApprovalNeeded { approval: approval.clone() });
        Some(Step::Ask { id, question, approval })
    }

    /// Goes on with a task whose call has ended.
    pub(crate) fn reported(&mut self, id: TaskId, report: Report) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let Some(candidate) = node.current.take() else { return };
        self.calling -= 1;
        match report.result {
            Tried::Output(output) => {
                node.ms += report.ms;
                node.attempts.push(Attempt { candidate, error: None, ms: report.ms });
                self.conclude(id, Status::Succeeded, Ok(output));
            }
            Tried::Failed(error) => self.failed(id, candidate, error, report.ms),
            Tried::Unknown => {
                node.current = Some(candidate);
                self.to_ask.push_back((id, Question::Arrived));
            }
        }
    }

    /// Goes on after a try that failed: with the next candidate where that may help and can do no harm.
    fn failed(&mut self, id: TaskId, candidate: Candidate, mut error: TaskError, ms: u64) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        node.ms += ms;
        let attempt = Attempt { candidate, error: Some(error.clone()), ms };
        node.attempts.push(attempt.clone());
        self.events.push(EventKind::TaskAttempt { id, attempt });
        let reads = node.planned.effect == Effect::Reads;
        let harmless = reads || error.code.is_before_any_call();
        if harmless && error.code.next_candidate_may_help() && !node.candidates.is_empty() {
            // Leave is given to one who performs it, not to the next.
            node.allowed = reads || node.planned.allowed;
            return self.admit(id);
        }
        if !reads && error.code.may_have_arrived() {
            let args = node.args.clone().unwrap_or_default();
            self.unsure.insert(call_of(&node.planned.task.task, &args));
            error.message.push_str("; what it was to change may have been changed");
        }
        self.conclude(id, Status::Failed, Err(error));
    }

    /// Goes on with a task that a person was asked about.
    pub(crate) fn decided(&mut self, id: TaskId, decision: Decision) {
        let Some(node) = self.nodes.get_mut(&id) else { return };
        let tool = node.planned.task.task.clone();
        let approved = matches!(decision, Decision::Approve { .. } | Decision::Retry);
        let (arguments, always) = match &decision {
            Decision::Approve { args, always } => (args.clone(), *always),
            Decision::Refuse { .. } | Decision::Retry | Decision::Done { .. } | Decision::Skip => (None, false),
        };
        self.events.push(EventKind::ApprovalGiven {
            id,
            tool: tool.clone(),
            approved,
            answer: None,
            arguments,
            always,
            done: matches!(decision, Decision::Done { .. }),
        });
        match decision {
            Decision::Approve { args, always } => {
                node.allowed = true;
                if always {
                    self.always.insert(tool);
                }
                if let Some(args) = args {
                    node.args = Some(args);
                }
                self.to_call.insert(id);
            }
            Decision::Retry => {
                self.to_call.insert(id);
            }
            Decision::Refuse { reason } => {
                let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
                let error = TaskError::new(ErrorCode::NotApproved, format!("`{tool}` was not allowed{reason}"));
                self.conclude(id, Status::Failed, Err(error));
            }
            Decision::Done { output } => {
                let candidate = node.current.take();
                node.attempts.extend(candidate.map(|candidate| Attempt { candidate, error: None, ms: 0 }));
                self.conclude(id, Status::Succeeded, Ok(output));
            }
            Decision::Skip => {
                let message = format!("whether `{tool}` was carried out is unknown, and the run went on without it");
                self.conclude(id, Status::Skipped, Err(TaskError::new(ErrorCode::NotApproved, message)));
            }
        }
    }

    /// Ends every task that has not ended, in ascending id.
    pub(crate) fn end(&mut self, status: Status, code: ErrorCode, message: &str) {
        for id in self.schedule.unfinished() {
            let started = self.nodes.get(&id).filter(|node| node.current.is_some());
            let unsure = started.is_some_and(|node| node.planned.effect != Effect::Reads);
            let suffix = if unsure { "; what it was to change may have been changed" } else { "" };
            self.conclude(id, status, Err(TaskError::new(code, format!("{message}{suffix}"))));
        }
        self.to_call.clear();
        self.to_ask.clear();
    }

    fn conclude(&mut self, id: TaskId, status: Status, result: Result<Value, TaskError>) {
        let Some(node) = self.nodes.remove(&id) else { return };
        let (output, error) = match result {
            Ok(output) => (Some(output), None),
            Err(error) => (None, Some(error)),
        };
        let task = &node.planned.task;
        let outcome = Outcome {
            id,
            task: task.task.clone(),
            status,
            args: node.args.unwrap_or_else(|| as_planned(task)),
            selection: node.planned.selection,
            attempts: node.attempts,
            output,
            error,
            notes: node.notes,
            made_up_for: false,
            ms: node.ms,
        };
        self.events.push(EventKind::TaskFinished { outcome: Box::new(outcome.clone()) });
        self.outcomes.insert(id, outcome);
        self.schedule.finish(id);
    }

    /// Why a task that changes something may not, when one before it did not succeed.
    fn held_back(&self, node: &Node) -> Option<TaskError> {
        let failed = node.barrier.iter().filter_map(|id| self.outcomes.get(id)).find(|outcome| !outcome.succeeded())?;
        let message = format!(
            "`{}` changes something, and waits for all tasks before it, of which task {} (`{}`) did not succeed",
            node.planned.task.task,
            failed.id.number(),
            failed.task
        );
        Some(TaskError::new(ErrorCode::NoOutput, message))
    }

    fn is_unsure(&self, planned: &PlannedTask, args: &IndexMap<String, Value>) -> bool {
        planned.effect != Effect::Reads && self.unsure.contains(&call_of(&planned.task.task, args))
    }
}

/// A call in words that tell it from others: the tool and its arguments, whatever their order.
fn call_of(tool: &str, args: &IndexMap<String, Value>) -> String {
    let mut args: Vec<(&String, &Value)> = args.iter().collect();
    args.sort_by_key(|(name, _)| *name);
    format!("{tool} {args:?}")
}

fn repeated(planned: &PlannedTask) -> TaskError {
    let message = format!(
        "`{}` was called with the same arguments before, and what it was to change may have been changed then; it is not \
         called again",
        planned.task.task
    );
    TaskError::new(ErrorCode::NotApproved, message)
}

fn not_served(capability: &str) -> TaskError {
    TaskError::new(ErrorCode::NotConfigured, format!("no worker serves `{capability}`"))
        .hint("start a worker that serves it, or one more of a kind that does")
}

#[cfg(test)]
mod tests;
