//! One task on its way through the driver.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_plan::{Attempt, Candidate, Effect, ErrorCode, Outcome, Selection, Status, Task, TaskError, TaskId};
use serde_json::Value;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::guess::Guess;
use crate::resolve::as_planned;
use crate::{Resolved, Unresolved};

/// How far the choice of who performs a task has come.
pub(super) enum Choice {
    Pending,
    Made(Selection),
    /// The engine has no selector: the tool that the task names performs it.
    Unneeded,
    Failed(TaskError),
}

/// All that is known of a task that has not finished.
pub(super) struct Node {
    pub(super) task: Arc<Task>,
    pub(super) choice: Choice,
    /// What performing it does to the world.
    pub(super) effect: Effect,
    /// The tasks that must have succeeded before it may change the world.
    pub(super) barrier: Vec<TaskId>,
    /// Whether the gate has let it go on.
    pub(super) admitted: bool,
    /// Whether it may have been performed before its run was cut off, and the gate has not said what becomes of it.
    pub(super) unknown: bool,
    /// Its arguments, once its dependencies have finished.
    pub(super) resolved: Option<Resolved>,
    /// Whom to try next.
    pub(super) candidates: VecDeque<Candidate>,
    pub(super) started: Option<Instant>,
    /// When all its tries together must have ended; set with `started`.
    pub(super) until: Option<Instant>,
    /// The deadline in force: of the choice, then of the try or, between tries, of all of them; none before the first.
    pub(super) deadline: Option<Instant>,
    /// What it is busy with.
    pub(super) slot: Option<AbortHandle>,
    pub(super) done: bool,
    pub(super) guess: Guess,
    attempts: Vec<Attempt>,
}

impl Node {
    pub(super) fn new(task: Task, effect: Effect, barrier: Vec<TaskId>) -> Node {
        Node {
            task: Arc::new(task),
            effect,
            barrier,
            admitted: effect == Effect::Reads,
            unknown: false,
            choice: Choice::Pending,
            resolved: None,
            candidates: VecDeque::new(),
            started: None,
            until: None,
            deadline: None,
            slot: None,
            done: false,
            guess: Guess::default(),
            attempts: Vec::new(),
        }
    }

    /// Records a try that has ended, and returns the record.
    pub(super) fn attempt(&mut self, candidate: Candidate, since: Instant, error: Option<TaskError>) -> &Attempt {
        self.attempts.push_mut(Attempt { candidate, error, ms: millis(since) })
    }

    /// Ends the task. What it held moves into the outcome.
    pub(super) fn conclude(&mut self, status: Status, result: Result<Value, TaskError>) -> Outcome {
        self.done = true;
        self.deadline = None;
        let (output, error) = match result {
            Ok(output) => (Some(output), None),
            Err(error) => (None, Some(error)),
        };
        let selection = match std::mem::replace(&mut self.choice, Choice::Pending) {
            Choice::Made(selection) => Some(selection),
            Choice::Pending | Choice::Unneeded | Choice::Failed(_) => None,
        };
        let Resolved { args, notes } =
            self.resolved.take().unwrap_or_else(|| Resolved { args: as_planned(&self.task), notes: Vec::new() });
        Outcome {
            made_up_for: false,
            id: self.task.id,
            task: self.task.task.clone(),
            status,
            args,
            selection,
            attempts: std::mem::take(&mut self.attempts),
            output,
            error,
            notes,
            ms: self.started.map_or(0, millis),
        }
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Why a task that changes the world may not, when one before it did not succeed.
pub(super) fn held_back(node: &Node, outcomes: &BTreeMap<TaskId, Outcome>) -> Option<Unresolved> {
    let failed = node.barrier.iter().filter_map(|id| outcomes.get(id)).find(|outcome| !outcome.succeeded())?;
    let message = format!(
        "`{}` changes something, and waits for all tasks before it, of which task {} (`{}`) did not succeed",
        node.task.task,
        failed.id.number(),
        failed.task
    );
    Some(Unresolved::skipped(ErrorCode::NoOutput, message))
}

/// A call in words that tell it from others: the tool and its arguments, whatever their order.
pub(super) fn call(tool: &str, args: &IndexMap<String, Value>) -> String {
    let mut args: Vec<(&String, &Value)> = args.iter().collect();
    args.sort_by_key(|(name, _)| *name);
    format!("{tool} {args:?}")
}

/// Why a call that changes something is not made again.
pub(super) fn repeated(task: &Task) -> Unresolved {
    let message = format!(
        "`{}` was called with the same arguments before, and what it was to change may have been changed then; it is not \
         called again",
        task.task
    );
    Unresolved::failed(ErrorCode::NotApproved, message)
}

/// Whom to try, in order: the chosen one and at most `fallbacks` others, nobody twice.
pub(super) fn candidates(selection: &Selection, fallbacks: usize) -> VecDeque<Candidate> {
    let mut list: VecDeque<Candidate> = VecDeque::with_capacity(1 + fallbacks.min(selection.fallbacks.len()));
    for candidate in std::iter::once(&selection.chosen).chain(&selection.fallbacks) {
        if list.len() <= fallbacks && !list.contains(candidate) {
            list.push_back(candidate.clone());
        }
    }
    list
}

/// How many tries the time that is left is shared among: the one that starts now and those that may follow.
pub(super) fn tries_left(following: &VecDeque<Candidate>) -> u32 {
    u32::try_from(following.len()).unwrap_or(u32::MAX).saturating_add(1)
}
