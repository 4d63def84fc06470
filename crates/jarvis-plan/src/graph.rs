//! Facts about a plan's graph: order and levels.

use std::collections::{BTreeSet, HashMap};

use crate::{Plan, TaskId};

/// An order in which every task comes after its dependencies; among free tasks the lowest id first.
pub fn topological_order(plan: &Plan) -> Vec<TaskId> {
    let mut waiting: HashMap<TaskId, usize> = plan.tasks().iter().map(|task| (task.id, task.dep.len())).collect();
    let dependants = dependants(plan);
    let mut free: BTreeSet<TaskId> =
        plan.tasks().iter().filter(|task| task.dep.is_empty()).map(|task| task.id).collect();
    let mut order = Vec::with_capacity(plan.tasks().len());
    while let Some(id) = free.pop_first() {
        order.push(id);
        for next in dependants.get(&id).into_iter().flatten() {
            if let Some(left) = waiting.get_mut(next) {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    free.insert(*next);
                }
            }
        }
    }
    order
}

/// Which tasks wait for each task, in ascending id.
pub fn dependants(plan: &Plan) -> HashMap<TaskId, Vec<TaskId>> {
    let mut map: HashMap<TaskId, Vec<TaskId>> = HashMap::with_capacity(plan.tasks().len());
    for task in plan.tasks() {
        for dep in &task.dep {
            map.entry(*dep).or_default().push(task.id);
        }
    }
    map.values_mut().for_each(|ids| ids.sort_unstable());
    map
}

/// The level of each task: 0 without dependencies, else one more than the highest level among them.
pub fn levels(plan: &Plan) -> HashMap<TaskId, usize> {
    let by_id: HashMap<TaskId, &[TaskId]> = plan.tasks().iter().map(|task| (task.id, task.dep.as_slice())).collect();
    let mut levels = HashMap::with_capacity(plan.tasks().len());
    for id in topological_order(plan) {
        let level = by_id
            .get(&id)
            .into_iter()
            .flat_map(|deps| deps.iter())
            .filter_map(|dep| levels.get(dep))
            .map(|level: &usize| level + 1)
            .max()
            .unwrap_or(0);
        levels.insert(id, level);
    }
    levels
}

/// The tasks of each level, levels in order, ids ascending within one. What stands together may run together.
pub fn stages(plan: &Plan) -> Vec<Vec<TaskId>> {
    let levels = levels(plan);
    let depth = levels.values().max().map_or(0, |deepest| deepest + 1);
    let mut stages = vec![Vec::new(); depth];
    for (id, level) in levels {
        if let Some(stage) = stages.get_mut(level) {
            stage.push(id);
        }
    }
    stages.iter_mut().for_each(|stage| stage.sort_unstable());
    stages
}
