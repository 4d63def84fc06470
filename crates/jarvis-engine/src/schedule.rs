//! Which tasks may start now: a machine without clock, threads or I/O, told what was added and what has finished.

use jarvis_plan::{Task, TaskId};
use rustc_hash::FxHashMap;

/// The order of a task graph that may still grow.
///
/// A task becomes ready once, when all its dependencies have finished, however they ended. A dependency may be added
/// after the task that names it. The work is constant for each task and each dependency. The tasks are those of one
/// checked plan, so there is no cycle and nothing waits for a task that never comes.
///
/// ```text
/// extend(tasks)…  →  ready() → do them → finish(id) → ready() …  until is_done()
/// close() says that nothing more is added
/// ```
#[derive(Debug, Default)]
pub struct Schedule {
    rows: FxHashMap<TaskId, Row>,
    ready: Vec<TaskId>,
    /// Tasks added and not finished.
    unfinished: usize,
    closed: bool,
}

#[derive(Debug, Default)]
struct Row {
    state: State,
    /// Dependencies that have not finished, repeats counted.
    open: usize,
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

    /// Adds tasks of one plan, each with further tasks that it waits for. What they wait for may come later, but no later than [`Schedule::close`].
    pub fn extend<'a>(&mut self, tasks: impl IntoIterator<Item = (&'a Task, &'a [TaskId])>) {
        let tasks = tasks.into_iter();
        self.rows.reserve(tasks.size_hint().0);
        for (task, further) in tasks {
            let row = self.rows.entry(task.id).or_default();
            debug_assert!(!self.closed && row.state == State::Unknown, "a plan holds each id once");
            row.state = State::Waiting;
            self.unfinished += 1;
            let mut open = 0;
            for dep in task.dep.iter().chain(further) {
                let dep = self.rows.entry(*dep).or_default();
                if dep.state != State::Finished {
                    dep.dependants.push(task.id);
                    open += 1;
                }
            }
            self.rows.get_mut(&task.id).expect("the row was made above").open = open;
            if open == 0 {
                self.release(task.id);
            }
        }
    }

    /// Says that a task has finished, however it ended; it need not have been ready. False when there is no such task or
    /// it had finished before.
    pub fn finish(&mut self, id: TaskId) -> bool {
        let Some(row) = self.rows.get_mut(&id) else { return false };
        match row.state {
            State::Unknown | State::Finished => return false,
            State::Waiting | State::Released => {}
        }
        row.state = State::Finished;
        self.unfinished -= 1;
        for dependant in std::mem::take(&mut row.dependants) {
            if let Some(row) = self.rows.get_mut(&dependant) {
                row.open = row.open.saturating_sub(1);
                if row.open == 0 {
                    self.release(dependant);
                }
            }
        }
        true
    }

    /// Says that no more tasks are added.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Takes the tasks that became ready since the last call, in the order they did.
    pub fn ready(&mut self) -> Vec<TaskId> {
        let mut ready = std::mem::take(&mut self.ready);
        ready.retain(|id| self.rows.get(id).is_some_and(|row| row.state == State::Released));
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
    fn release(&mut self, id: TaskId) {
        if let Some(row) = self.rows.get_mut(&id)
            && row.state == State::Waiting
        {
            row.state = State::Released;
            self.ready.push(id);
        }
    }
}

#[cfg(test)]
mod tests;
