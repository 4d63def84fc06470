//! What comes to the driver: tasks of plans, whole or still being written.

use std::collections::HashMap;

use jarvis_plan::{Effect, ErrorCode, Status, Task, TaskError, TaskId};
use tokio::sync::mpsc::UnboundedReceiver;

use super::Driver;
use super::node::{Choice, Node, call};
use crate::barrier::barriers;
use crate::engine::Batch;

impl Driver<'_> {
    /// Takes in tasks that were sent.
    pub(super) fn add(&mut self, Batch { tasks, anew, whole }: Batch) {
        if anew {
            self.made.plan += 1;
        }
        if whole && (anew || self.unwritten.is_empty()) {
            let effects = self.effects(&tasks);
            let barriers = barriers(&tasks.iter().collect::<Vec<_>>(), &effects);
            return self.start(tasks, &effects, barriers);
        }
        self.unwritten.extend(tasks.iter().cloned());
        let effects = self.effects(&tasks);
        let (mut reading, mut held) = (Vec::new(), std::mem::take(&mut self.held));
        for (task, effect) in tasks.into_iter().zip(effects) {
            if effect == Effect::Reads { reading.push(task) } else { held.push(task) }
        }
        let barrierless = vec![Vec::new(); reading.len()];
        self.start(reading, &vec![Effect::Reads; barrierless.len()], barrierless);
        if !whole {
            self.held = held;
            return;
        }
        let written = std::mem::take(&mut self.unwritten);
        let all = barriers(&written.iter().collect::<Vec<_>>(), &self.effects(&written));
        let mut barriers: HashMap<TaskId, Vec<TaskId>> = written.iter().map(|task| task.id).zip(all).collect();
        let barriers = held.iter().map(|task| barriers.remove(&task.id).unwrap_or_default()).collect();
        let effects = self.effects(&held);
        self.start(held, &effects, barriers);
    }

    fn effects(&self, tasks: &[Task]) -> Vec<Effect> {
        tasks.iter().map(|task| self.engine.gate.effect(task)).collect()
    }

    /// Takes in tasks, each with what it does and with what it waits for beside its dependencies.
    fn start(&mut self, tasks: Vec<Task>, effects: &[Effect], barriers: Vec<Vec<TaskId>>) {
        self.nodes.reserve(tasks.len());
        self.to_select.reserve(tasks.len());
        self.schedule.extend(tasks.iter().zip(barriers.iter().map(Vec::as_slice)));
        for ((task, effect), barrier) in tasks.into_iter().zip(effects.iter().copied()).zip(barriers) {
            let id = task.id;
            if let Some(outcome) = self.goes_on.then(|| self.engine.events.take_outcome(&task)).flatten() {
                (self.finished)(&outcome);
                self.outcomes.insert(id, outcome);
            }
            if let Some(outcome) = self.outcomes.get(&id) {
                let code = outcome.error.as_ref().map(|error| error.code);
                if effect != Effect::Reads && code.is_some_and(ErrorCode::may_have_arrived) {
                    self.unsure.insert(call(&task.task, &outcome.args));
                }
                if !self.engine.repeats && !outcome.attempts.is_empty() {
                    self.made.note(&task.task, &outcome.args, id, effect);
                }
                self.schedule.finish(id);
                continue;
            }
            let before = self.goes_on.then(|| self.engine.events.take_selection(&task)).flatten();
            let mut node = Node::new(task, effect, barrier);
            node.unknown = self.goes_on && self.engine.events.take_begun(id, effect);
            match &self.engine.selector {
                None => node.choice = Choice::Unneeded,
                Some(_) if let Some(selection) = before => node.choice = Choice::Made(selection),
                Some(_) if node.task.faults.is_empty() => self.to_select.push_back(id),
                Some(_) => {}
            }
            self.nodes.insert(id, node);
        }
    }

    /// Takes what was sent and not yet received: those tasks are part of the run and have outcomes too.
    pub(super) fn take_rest(&mut self, batches: &mut UnboundedReceiver<Batch>) {
        batches.close();
        while let Ok(batch) = batches.try_recv() {
            self.add(batch);
        }
        self.take_held();
    }

    /// Takes in the tasks that wait for the rest of their plan, as part of the run. They must be ended before they start.
    fn take_held(&mut self) -> Vec<TaskId> {
        let held = std::mem::take(&mut self.held);
        let ids: Vec<TaskId> = held.iter().map(|task| task.id).collect();
        let effects = self.effects(&held);
        let barriers = vec![Vec::new(); held.len()];
        self.start(held, &effects, barriers);
        ids
    }

    /// Ends the tasks whose plan was never whole: what changes something is not done on half a plan.
    pub(super) fn give_up_held(&mut self) {
        for id in self.take_held() {
            let error = TaskError::new(ErrorCode::Cancelled, "the plan that it is part of was given up");
            self.conclude(id, Status::Cancelled, Err(error));
        }
    }
}
