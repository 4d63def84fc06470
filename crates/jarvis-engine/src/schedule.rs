//! Which tasks may start now: a machine without clock, threads or I/O, told what was added and what has finished.

use std::collections::{HashMap, HashSet};

use jarvis_plan::{Task, TaskId};

/// The order of a task graph that may still grow.
///
/// A task becomes ready once, when all its dependencies have finished, however they ended. A dependency may be added
/// after the task that names it. The work is constant for each task and each dependency.
///
/// ```text
/// extend(tasks)…  →  ready() → do them → finish(id) → ready() …  until is_done()
/// close() says that nothing more is added
/// ```
#[derive(Debug, Default)]
pub struct Schedule {
    rows: HashMap<TaskId, Row>,
    ready: Vec<Ready>,
    /// Tasks added and not finished.
    unfinished: usize,
    /// Tasks that are ready, taken or not, and not finished.
    released: usize,
    closed: bool,
}

/// A task whose waiting is over, and what is to be done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// Its dependencies have finished: it may start.
    Run(TaskId),
    /// It can never start: a task it waits for was not added before the schedule was closed.
    Missing {
        /// The task.
        id: TaskId,
        /// What it waits for.
        dep: TaskId,
    },
    /// It can never start: it waits for itself, by way of other tasks or directly.
    Cycle(TaskId),
}

impl Ready {
    /// The task.
    pub fn id(self) -> TaskId {
        match self {
            Ready::Run(id) | Ready::Missing { id, .. } | Ready::Cycle(id) => id,
        }
    }
}

#[derive(Debug, Default)]
struct Row {
    state: State,
    /// Dependencies that have not finished, repeats counted.
    open: usize,
    deps: Vec<TaskId>,
    dependants: Vec<TaskId>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Named as a dependency, not added yet.
    #[default]
    Unknown,
    Waiting,
    Released,
    Finished,
}

impl Schedule {
    /// An empty schedule, open for tasks.
    pub fn new() -> Schedule {
        Schedule::default()
    }

    /// Adds tasks. Returns those that were refused: their id is taken, or the schedule is closed.
    pub fn extend<'a>(&mut self, tasks: impl IntoIterator<Item = &'a Task>) -> Vec<TaskId> {
        let mut refused = Vec::new();
        let tasks = tasks.into_iter();
        self.rows.reserve(tasks.size_hint().0);
        for task in tasks {
            let row = self.rows.entry(task.id).or_default();
            if self.closed || row.state != State::Unknown {
                refused.push(task.id);
                continue;
            }
            row.state = State::Waiting;
            row.deps.clone_from(&task.dep);
            self.unfinished += 1;
            let mut open = 0;
            for dep in &task.dep {
                let dep = self.rows.entry(*dep).or_default();
                if dep.state != State::Finished {
                    dep.dependants.push(task.id);
                    open += 1;
                }
            }
            if let Some(row) = self.rows.get_mut(&task.id) {
                row.open = open;
            }
            if open == 0 {
                self.release(Ready::Run(task.id));
            }
        }
        refused
    }

    /// Says that a task has finished, however it ended; it need not have been ready. False when there is no such task or
    /// it had finished before.
    pub fn finish(&mut self, id: TaskId) -> bool {
        let Some(row) = self.rows.get_mut(&id) else { return false };
        match row.state {
            State::Unknown | State::Finished => return false,
            State::Waiting => {}
            State::Released => self.released -= 1,
        }
        row.state = State::Finished;
        self.unfinished -= 1;
        for dependant in std::mem::take(&mut row.dependants) {
            if let Some(row) = self.rows.get_mut(&dependant) {
                row.open = row.open.saturating_sub(1);
                if row.open == 0 {
                    self.release(Ready::Run(dependant));
                }
            }
        }
        true
    }

    /// Says that no more tasks are added. What waits for a task that was never added becomes [`Ready::Missing`].
    pub fn close(&mut self) {
        if self.closed {
            return;
        }
        self.closed = true;
        let mut missing: Vec<(TaskId, TaskId)> = self
            .rows
            .iter()
            .filter(|(_, row)| row.state == State::Unknown)
            .flat_map(|(dep, row)| row.dependants.iter().map(|id| (*id, *dep)))
            .collect();
        missing.sort_unstable();
        for (id, dep) in missing {
            self.release(Ready::Missing { id, dep });
        }
    }

    /// Takes the tasks that became ready since the last call, in the order they did.
    pub fn ready(&mut self) -> Vec<Ready> {
        if self.closed && self.released == 0 && self.unfinished > 0 {
            self.release_cycle();
        }
        let mut ready = std::mem::take(&mut self.ready);
        ready.retain(|ready| self.rows.get(&ready.id()).is_some_and(|row| row.state == State::Released));
        ready
    }

    /// True when the schedule is closed and every task has finished.
    pub fn is_done(&self) -> bool {
        self.closed && self.unfinished == 0
    }

    /// The tasks that have not finished, in ascending id.
    pub fn unfinished(&self) -> Vec<TaskId> {
        let unfinished = |row: &Row| matches!(row.state, State::Waiting | State::Released);
        let mut ids: Vec<TaskId> = self.rows.iter().filter(|(_, row)| unfinished(row)).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }

    /// Ends the waiting of a task, once.
    fn release(&mut self, ready: Ready) {
        if let Some(row) = self.rows.get_mut(&ready.id())
            && row.state == State::Waiting
        {
            row.state = State::Released;
            self.released += 1;
            self.ready.push(ready);
        }
    }

    /// When nothing can move, the tasks of one cycle are released. Called only when every unfinished task waits for
    /// another one, so that walking from dependency to dependency must come round.
    fn release_cycle(&mut self) {
        let waiting = |id: &TaskId| self.rows.get(id).is_some_and(|row| row.state == State::Waiting);
        let mut path: Vec<TaskId> = Vec::new();
        let mut seen: HashSet<TaskId> = HashSet::new();
        let mut next = self.rows.keys().copied().filter(waiting).min();
        while let Some(id) = next {
            if !seen.insert(id) {
                let from = path.iter().position(|on_path| *on_path == id).unwrap_or_default();
                path.drain(..from);
                break;
            }
            path.push(id);
            next = self.rows.get(&id).and_then(|row| row.deps.iter().copied().find(waiting));
        }
        path.sort_unstable();
        for id in path {
            self.release(Ready::Cycle(id));
        }
    }
}

#[cfg(test)]
mod tests;
