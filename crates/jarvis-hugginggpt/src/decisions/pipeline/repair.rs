//! Makes tasks as a model wrote them a pipeline: links both ways, no cycle, from `source` to `pipeline-end`.
//!
//! What came out once comes out unchanged again.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::{END, NONE, Pipeline, PipelineTask, is_none, or_none, some};
use crate::source::ServiceTask;
use crate::untrusted::folded;

/// What is known where a model left something out.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    pub tasks: &'a [ServiceTask],
    /// The most tasks of a pipeline, `source` and `pipeline-end` not counted.
    pub max_tasks: usize,
}

impl Known<'_> {
    fn task(&self, id: &str) -> Option<&ServiceTask> {
        self.tasks.iter().find(|task| task.id == id)
    }
}

/// Makes the tasks consistent and says what had to be mended, one sentence each. No tasks give an empty pipeline.
pub fn repair(tasks: Vec<PipelineTask>, known: Known<'_>) -> (Pipeline, Vec<String>) {
    let mut notes = Vec::new();
    let mut tasks = named(tasks, &mut notes);
    if tasks.is_empty() {
        return (Pipeline::default(), notes);
    }
    let added = ends(&mut tasks, known, &mut notes);
    let count = tasks.len();
    let last = count - 1;
    let places: HashMap<String, usize> = tasks.iter().enumerate().map(|(at, task)| (folded(&task.id), at)).collect();
    let mut graph = Graph { after: vec![Vec::new(); count] };
    for (from, to, sure) in claims(&tasks, &places, &mut notes) {
        let name = |at: usize| tasks.get(at).expect("links are between tasks").id.as_str();
        if from == to || to == 0 || from == last {
            notes.push(format!("the link from `{}` to `{}` cannot be and was left out", name(from), name(to)));
        } else if graph.reaches(to, from) {
            notes.push(format!("the link from `{}` to `{}` closes a cycle and was left out", name(from), name(to)));
        } else {
            // An end that was not there could not tell of its links.
            if !sure && !added.iter().any(|id| *id == name(from) || *id == name(to)) {
                notes.push(format!("the link from `{}` to `{}` stood at one end only", name(from), name(to)));
            }
            graph.add(from, to);
        }
    }
    for (at, task) in tasks.iter().enumerate().take(last).skip(1) {
        if graph.before(at).is_empty() {
            notes.push(format!("`{}` follows nothing; it was linked to `source`", task.id));
            graph.add(0, at);
        }
    }
    for (at, task) in tasks.iter().enumerate().take(last) {
        if graph.after(at).is_empty() {
            notes.push(format!("nothing follows `{}`; it was linked to `pipeline-end`", task.id));
            graph.add(at, last);
        }
    }
    write(&mut tasks, &graph, &places, known);
    (Pipeline { tasks }, notes)
}

/// Tasks with usable ids, each once; what was written twice is joined.
fn named(tasks: Vec<PipelineTask>, notes: &mut Vec<String>) -> Vec<PipelineTask> {
    let mut by_id: IndexMap<String, PipelineTask> = IndexMap::new();
    for mut task in tasks {
        let mut key = folded(&task.id);
        if is_none(&task.id) || key.is_empty() {
            notes.push("a task without an id was left out".to_owned());
            continue;
        }
        if key == "end" {
            key = END.to_owned();
        }
        // The two ends are known by these spellings alone.
        if key == super::SOURCE || key == END {
            task.id.clone_from(&key);
        }
        match by_id.get_mut(&key) {
            None => {
                by_id.insert(key, task);
            }
            Some(first) => {
                notes.push(format!("`{}` is in the plan more than once; the entries were joined", first.id));
                join(first, task);
            }
        }
    }
    by_id.into_values().collect()
}

fn join(first: &mut PipelineTask, again: PipelineTask) {
    for (list, more) in [
        (&mut first.inputs_from_upstreams, again.inputs_from_upstreams),
        (&mut first.upstreams, again.upstreams),
        (&mut first.outputs_for_downstreams, again.outputs_for_downstreams),
        (&mut first.downstreams, again.downstreams),
    ] {
        for item in more {
            if !list.contains(&item) {
                list.push(item);
            }
        }
    }
    for (id, why) in again.sample_reasoning {
        first.sample_reasoning.entry(id).or_insert(why);
    }
    if is_none(&first.model_id) {
        first.model_id = again.model_id;
        first.model_chosen_reason = again.model_chosen_reason;
    }
}

/// Puts `source` first and `pipeline-end` last, and keeps no more tasks between them than there may be. Says which of the
/// two were missing.
fn ends(tasks: &mut Vec<PipelineTask>, known: Known<'_>, notes: &mut Vec<String>) -> Vec<&'static str> {
    let mut added = Vec::new();
    let mut take = |id: &'static str| match tasks.iter().position(|task| task.id == id) {
        Some(at) => tasks.remove(at),
        None => {
            notes.push(format!("`{id}` was missing and was added"));
            added.push(id);
            PipelineTask { id: id.to_owned(), ..PipelineTask::default() }
        }
    };
    let source = take(super::SOURCE);
    let end = take(END);
    if tasks.len() > known.max_tasks {
        let (count, max) = (tasks.len(), known.max_tasks);
        notes.push(format!("the plan has {count} tasks; only the first {max} are kept"));
        tasks.truncate(max);
    }
    tasks.insert(0, source);
    tasks.push(end);
    added
}

/// Every link that some task speaks of, as places, each once: first those that both ends tell (true), then the others.
fn claims(
    tasks: &[PipelineTask],
    places: &HashMap<String, usize>,
    notes: &mut Vec<String>,
) -> Vec<(usize, usize, bool)> {
    let mut by_upstream: IndexMap<(usize, usize), ()> = IndexMap::new();
    let mut by_downstream: IndexMap<(usize, usize), ()> = IndexMap::new();
    let place = |id: &str| {
        let key = folded(id);
        places.get(if key == "end" { END } else { key.as_str() }).copied()
    };
    for (at, task) in tasks.iter().enumerate() {
        for (ids, forward) in [(&task.downstreams, true), (&task.upstreams, false)] {
            for id in some(ids) {
                match place(id) {
                    None => notes.push(format!("`{}` is linked to `{id}`, which is not in the plan", task.id)),
                    Some(other) if forward => drop(by_downstream.insert((at, other), ())),
                    Some(other) => drop(by_upstream.insert((other, at), ())),
                }
            }
        }
    }
    let mutual = by_downstream.keys().filter(|edge| by_upstream.contains_key(*edge)).map(|edge| (edge.0, edge.1, true));
    let forward =
        by_downstream.keys().filter(|edge| !by_upstream.contains_key(*edge)).map(|edge| (edge.0, edge.1, false));
    let backward =
        by_upstream.keys().filter(|edge| !by_downstream.contains_key(*edge)).map(|edge| (edge.0, edge.1, false));
    mutual.chain(forward).chain(backward).collect()
}

/// The links as they stand so far; never a cycle.
struct Graph {
    after: Vec<Vec<usize>>,
}

impl Graph {
    fn add(&mut self, from: usize, to: usize) {
        if let Some(after) = self.after.get_mut(from) {
            after.push(to);
        }
    }

    fn after(&self, at: usize) -> &[usize] {
        self.after.get(at).expect("the graph has a place for each task")
    }

    fn before(&self, at: usize) -> Vec<usize> {
        (0..self.after.len()).filter(|from| self.after(*from).contains(&at)).collect()
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = HashSet::new();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            if seen.insert(at) {
                open.extend(self.after(at));
            }
        }
        false
    }
}

/// Writes the links into the tasks, in the order the tasks gave them, and fills what was left out.
fn write(tasks: &mut [PipelineTask], graph: &Graph, places: &HashMap<String, usize>, known: Known<'_>) {
    let ids: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
    let last = ids.len().saturating_sub(1);
    let in_order = |given: &[String], linked: Vec<usize>| {
        let place = |id: &String| places.get(&folded(id)).copied();
        let mut order: Vec<usize> = Vec::with_capacity(linked.len());
        for at in given.iter().filter_map(place).chain(linked.iter().copied()) {
            if linked.contains(&at) && !order.contains(&at) {
                order.push(at);
            }
        }
        or_none(order.into_iter().filter_map(|at| ids.get(at).cloned()).collect())
    };
    for (at, task) in tasks.iter_mut().enumerate() {
        let mut after = graph.after(at).to_vec();
        after.sort_unstable();
        task.downstreams = in_order(&task.downstreams, after);
        task.upstreams = in_order(&task.upstreams, graph.before(at));
        let reasons = std::mem::take(&mut task.sample_reasoning);
        task.sample_reasoning = some(&task.downstreams)
            .filter_map(|id| {
                let why = reasons.iter().find(|(key, _)| folded(key) == folded(id))?.1;
                Some((id.to_owned(), why.clone()))
            })
            .collect();
        let outputs: Vec<String> = some(&task.outputs_for_downstreams).map(str::to_owned).collect();
        task.outputs_for_downstreams = or_none(if at == last {
            Vec::new()
        } else if outputs.is_empty() {
            let listed = known.task(&task.id).map(|task| task.outputs.clone()).unwrap_or_default();
            if listed.is_empty() && at == 0 { vec!["image".to_owned()] } else { listed }
        } else {
            outputs
        });
        if at == 0 || at == last || is_none(&task.model_id) {
            task.model_id = NONE.to_owned();
        }
    }
    let outputs: Vec<Vec<String>> =
        tasks.iter().map(|task| some(&task.outputs_for_downstreams).map(str::to_owned).collect()).collect();
    for (at, task) in tasks.iter_mut().enumerate() {
        let mut inputs: Vec<String> = some(&task.inputs_from_upstreams).map(str::to_owned).collect();
        if at == 0 {
            inputs.clear();
        } else if inputs.is_empty() {
            for item in graph.before(at).into_iter().filter_map(|from| outputs.get(from)).flatten() {
                if !inputs.contains(item) {
                    inputs.push(item.clone());
                }
            }
        }
        task.inputs_from_upstreams = or_none(inputs);
    }
}

#[cfg(test)]
mod tests;
