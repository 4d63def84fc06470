//! The subtasks of a question: what each waits for, and the order in which they run.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use jarvis_engine::{Engine, Events, Job, Limits};
use jarvis_plan::{ErrorCode, Outcome, Plan, TaskError, Vocabulary};
use jarvis_prompt::literal::Literal;
use serde_json::{Value, json};

use crate::log::Subtask;

pub(crate) fn independent(tasks: &[String]) -> Vec<Subtask> {
    tasks.iter().zip(1..).map(|(task, id)| Subtask { task: task.clone(), id, dep: vec![-1] }).collect()
}

/// Subtasks each of which waits for all before it: what is left when no order can be had.
pub(crate) fn one_after_another(tasks: &[String]) -> Vec<Subtask> {
    let row = |(task, id): (&String, i64)| Subtask { task: task.clone(), id, dep: or_none((1..id).collect()) };
    tasks.iter().zip(1..).map(row).collect()
}

fn or_none(dep: Vec<i64>) -> Vec<i64> {
    if dep.is_empty() { vec![-1] } else { dep }
}

/// The tasks of a decomposition with what a model says they wait for, in an order in which they can run: ready ones by id.
/// The texts are always those of the decomposition. Notes say what was corrected.
pub(crate) fn topology(tasks: &[String], rows: &[Literal]) -> (Vec<Subtask>, Vec<String>) {
    let mut notes = Vec::new();
    let ids = own_ids(tasks, rows);
    let known = |id: i64| ids.get(&id).copied();
    let mut dep: BTreeMap<i64, BTreeSet<i64>> = (1..).zip(tasks).map(|(id, _)| (id, BTreeSet::new())).collect();
    for row in rows {
        let Some(own) = row.field("id").and_then(Literal::id).and_then(known) else {
            notes.push(format!("the order names a task that is not one of the {}; ignored", tasks.len()));
            continue;
        };
        for id in deps_of(row.field("dep")) {
            match known(id) {
                Some(needs) if needs != own => drop(dep.entry(own).or_default().insert(needs)),
                Some(_) => notes.push(format!("task {own} waits for itself; ignored")),
                None => notes.push(format!("task {own} waits for {id}, which is not a task; ignored")),
            }
        }
    }
    let order = order(&dep).unwrap_or_else(|| {
        notes.push("the tasks wait for each other in a cycle; they run in their listed order".to_owned());
        for (id, needs) in &mut dep {
            needs.retain(|other| other < id);
        }
        dep.keys().copied().collect()
    });
    let row = |id: i64| {
        let task = usize::try_from(id - 1).ok().and_then(|at| tasks.get(at)).expect("only tasks are put in order");
        let dep = or_none(dep.get(&id).into_iter().flatten().copied().collect());
        Subtask { task: task.clone(), id, dep }
    };
    (order.into_iter().map(row).collect(), notes)
}

/// Which of our tasks each id of the reply is: by number where the numbers are ours, else by text, else by place.
fn own_ids(tasks: &[String], rows: &[Literal]) -> BTreeMap<i64, i64> {
    let all = || (1..).zip(tasks);
    let ids: Vec<i64> = rows.iter().filter_map(|row| row.field("id").and_then(Literal::id)).collect();
    let ours = |id: &i64| (1..=i64::try_from(tasks.len()).unwrap_or(i64::MAX)).contains(id);
    if ids.iter().all(ours) {
        return all().map(|(id, _)| (id, id)).collect();
    }
    let by_text = rows.iter().filter_map(|row| {
        let text = row.field("task")?.as_text()?.trim();
        let (own, _) = all().find(|(_, task)| task.trim() == text)?;
        Some((row.field("id")?.id()?, own))
    });
    let by_text: BTreeMap<i64, i64> = by_text.collect();
    match () {
        () if by_text.len() == rows.len() => by_text,
        () if ids.len() == tasks.len() => ids.into_iter().zip(1..).collect(),
        () => all().map(|(id, _)| (id, id)).collect(),
    }
}

/// The ids that a `dep` names: a number, a list, or a text such as `1, 2`; −1 and nothing name none.
fn deps_of(dep: Option<&Literal>) -> Vec<i64> {
    let ids: Vec<i64> = match dep {
        None | Some(Literal::Null | Literal::Bool(_) | Literal::Float(_) | Literal::Map(_)) => Vec::new(),
        Some(Literal::Text(text)) => {
            text.split(|c: char| !c.is_ascii_digit() && c != '-').filter_map(|part| part.parse().ok()).collect()
        }
        Some(Literal::List(items)) => items.iter().filter_map(Literal::id).collect(),
        Some(one @ Literal::Int(_)) => one.id().into_iter().collect(),
    };
    ids.into_iter().filter(|id| *id != -1).collect()
}

/// An order in which every task stands after what it waits for, the smallest id first; `None` when there is a cycle.
fn order(dep: &BTreeMap<i64, BTreeSet<i64>>) -> Option<Vec<i64>> {
    let mut done: Vec<i64> = Vec::with_capacity(dep.len());
    let mut left: BTreeMap<i64, BTreeSet<i64>> = dep.clone();
    while !left.is_empty() {
        let (next, _) = left.iter().find(|(_, needs)| needs.is_empty())?;
        let next = *next;
        left.remove(&next);
        for needs in left.values_mut() {
            needs.remove(&next);
        }
        done.push(next);
    }
    Some(done)
}

/// The ids that a subtask needs, directly and by way of others, ascending.
pub(crate) fn needed(subtasks: &[Subtask], of: &Subtask) -> Vec<i64> {
    let mut found = BTreeSet::new();
    let mut open = of.dep.clone();
    while let Some(id) = open.pop() {
        if id != -1 && found.insert(id) {
            open.extend(subtasks.iter().filter(|task| task.id == id).flat_map(|task| &task.dep).copied());
        }
    }
    found.into_iter().collect()
}

const SUBTASK: &str = "subtask";

/// Runs subtasks on the engine, each after those it waits for. `solve` is given a subtask and what the finished ones gave,
/// and returns what to keep of it and its output. How they ended comes back in the order of `subtasks`; the error of one
/// that kept nothing says why, such as its deadline.
pub(crate) async fn run<T, F>(
    subtasks: &[Subtask],
    limits: Limits,
    events: &Events,
    solve: impl Fn(Subtask, Arc<IndexMap<i64, T>>) -> F + Send + Sync + 'static,
) -> Vec<Result<T, TaskError>>
where
    T: Clone + Send + Sync + 'static,
    F: Future<Output = (T, Result<Value, TaskError>)> + Send,
{
    let kept: Arc<Mutex<Arc<IndexMap<i64, T>>>> = Arc::default();
    let (all, keep) = (subtasks.to_vec(), Arc::clone(&kept));
    let worker = move |job: Job| {
        let subtask = all.get(job.task.id.index()).expect("the plan has a task for each subtask");
        let (id, finished) = (subtask.id, Arc::clone(&lock(&keep)));
        let (solving, keep) = (solve(subtask.clone(), finished), Arc::clone(&keep));
        async move {
            let (solved, output) = solving.await;
            Arc::make_mut(&mut lock(&keep)).insert(id, solved);
            output
        }
    };
    let plan = plan(subtasks, limits.concurrency <= 1);
    let outcomes = Engine::new(worker).limits(limits).events(events.clone()).run(&plan).await.into_outcomes();
    let kept = lock(&kept);
    let ended = |(subtask, outcome): (&Subtask, Outcome)| match (kept.get(&subtask.id), outcome.error) {
        (Some(solved), _) => Ok(solved.clone()),
        (None, Some(error)) => Err(error),
        (None, None) => Err(TaskError::new(ErrorCode::Internal, "the subtask left nothing")),
    };
    subtasks.iter().zip(outcomes).map(ended).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The subtasks as a plan, its ids in their order. The engine starts tasks in the order in which they become ready, so
/// `one_by_one` makes each wait for the one before it: recordings answer in the order of `subtasks`.
fn plan(subtasks: &[Subtask], one_by_one: bool) -> Plan {
    let mut graph = Plan::builder();
    let mut before = None;
    for Subtask { task, id, dep } in subtasks {
        let dep = dep.iter().filter(|dep| **dep != -1).chain(before.filter(|_| one_by_one));
        let after: Vec<String> = dep.map(i64::to_string).collect();
        graph = graph.named(&id.to_string(), SUBTASK, after.iter().map(String::as_str), json!({"task": task}));
        before = Some(id);
    }
    graph.check(&Vocabulary::named([SUBTASK])).expect("subtasks have one number each, and an order")
}

#[cfg(test)]
mod tests;
