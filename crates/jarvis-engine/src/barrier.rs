//! What a task that changes the world waits for: every task that stands before it in the plan, whether it depends on it or
//! not.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use jarvis_plan::{Effect, Task, TaskId};

/// For each task of a batch, what it waits for beside its dependencies: nothing for those that only read, for the others all
/// tasks before it. A task that stands before one that it depends on counts as standing after that.
pub fn barriers(tasks: &[&Task], effects: &[Effect]) -> Vec<Vec<TaskId>> {
    let mut barriers = vec![Vec::new(); tasks.len()];
    if effects.iter().all(|effect| *effect == Effect::Reads) {
        return barriers;
    }
    let mut before: Vec<TaskId> = Vec::with_capacity(tasks.len());
    for at in order(tasks) {
        let writes = effects.get(at).is_some_and(|effect| *effect != Effect::Reads);
        if let Some(barrier) = barriers.get_mut(at).filter(|_| writes) {
            barrier.clone_from(&before);
        }
        before.extend(tasks.get(at).map(|task| task.id));
    }
    barriers
}

#[allow(clippy::indexing_slicing, reason = "every place is that of a task")]
/// The places of the tasks, each after what it depends on and otherwise in the order of the plan.
fn order(tasks: &[&Task]) -> Vec<usize> {
    let places: HashMap<TaskId, usize> = tasks.iter().zip(0..).map(|(task, at)| (task.id, at)).collect();
    let mut open = vec![0; tasks.len()];
    let mut dependants: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
    for (task, at) in tasks.iter().zip(0..) {
        // What is in an earlier batch stands before all of these.
        for dep in task.dep.iter().filter_map(|dep| places.get(dep)) {
            open[at] += 1;
            dependants[*dep].push(at);
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> =
        open.iter().zip(0..).filter(|(open, _)| **open == 0).map(|(_, at)| Reverse(at)).collect();
    let mut order = Vec::with_capacity(tasks.len());
    while let Some(Reverse(at)) = ready.pop() {
        order.push(at);
        for dependant in &dependants[at] {
            open[*dependant] -= 1;
            if open[*dependant] == 0 {
                ready.push(Reverse(*dependant));
            }
        }
    }
    order
}
