//! What the engine itself costs: graphs of tasks that do nothing. Run with `cargo bench -p jarvis-engine`.
//!
//! The column `item/s` counts tasks, so 50,000 tasks a second are 20 µs a task.
#![allow(missing_docs)]

use std::sync::Arc;

use async_trait::async_trait;
use divan::Bencher;
use divan::counter::ItemsCount;
use indexmap::IndexMap;
use jarvis_engine::{Events, Job, Limits, Schedule, Selector, Setup, Worker, drive};
use jarvis_plan::{
    Arg, Candidate, Host, Inference, Piece, Plan, Request, RunId, Selection, Task, TaskError, TaskId, Vocabulary,
};
use tokio_util::sync::CancellationToken;

struct Idle;

#[async_trait]
impl Selector for Idle {
    async fn select(&self, task: &Task, _events: &Events) -> Result<Selection, TaskError> {
        let chosen = Candidate { id: "idle".to_owned(), host: Host::Native, effective_task: task.task.clone() };
        Ok(Selection { task: task.id, chosen, fallbacks: Vec::new(), reason: "only one".to_owned(), notes: Vec::new() })
    }
}

#[async_trait]
impl Worker for Idle {
    async fn perform(&self, _job: &Job) -> Result<Inference, TaskError> {
        Ok(Inference::text("done"))
    }
}

/// A task whose text holds the outputs of others.
fn task(id: usize, from: impl IntoIterator<Item = usize>) -> Task {
    let id_of = |at: usize| TaskId(u32::try_from(at).unwrap_or(u32::MAX));
    let dep: Vec<TaskId> = from.into_iter().map(id_of).collect();
    let mut pieces = vec![Piece::Text("see ".to_owned())];
    pieces.extend(dep.iter().map(|dep| Piece::Output(*dep)));
    let args = IndexMap::from([("text".to_owned(), Arg(pieces))]);
    Task { task: "idle".to_owned(), id: id_of(id), dep, args, unfolded_from: None, fault: None }
}

fn chain(length: usize) -> Vec<Task> {
    (0..length).map(|at| task(at, at.checked_sub(1))).collect()
}

fn fan_out(width: usize) -> Vec<Task> {
    (0..=width).map(|at| task(at, (at > 0).then_some(0))).collect()
}

fn layered(layers: usize, width: usize) -> Vec<Task> {
    let previous =
        |at: usize| (at / width).checked_sub(1).map(|layer| [0, 1, 2].map(|step| layer * width + (at + step) % width));
    (0..layers * width).map(|at| task(at, previous(at).into_iter().flatten())).collect()
}

fn run(bencher: Bencher, tasks: Vec<Task>) {
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_time().worker_threads(2).build() else {
        return;
    };
    let plan = Arc::new(Plan { tasks, notes: Vec::new() });
    let idle = Arc::new(Idle);
    bencher.counter(ItemsCount::new(plan.tasks.len())).bench_local(|| {
        let (events, receiver) = Events::channel(RunId("bench".to_owned()));
        let setup = Setup {
            selector: idle.clone(),
            worker: idle.clone(),
            request: Arc::new(Request::new("bench")),
            vocabulary: Arc::new(Vocabulary::default()),
            events,
            limits: Limits::default(),
            cancel: CancellationToken::new(),
        };
        // On the runtime, as a server runs it: a driver that is polled from outside pays for waking its thread each time.
        let on_runtime = Arc::clone(&plan);
        let drive = async move { drive(&on_runtime, setup).await };
        let outcomes = runtime.block_on(runtime.spawn(drive)).unwrap_or_default();
        assert!(outcomes.len() == plan.tasks.len() && outcomes.iter().all(|outcome| outcome.succeeded()));
        receiver
    });
}

#[divan::bench]
fn drive_chain_100(bencher: Bencher) {
    run(bencher, chain(100));
}

#[divan::bench]
fn drive_fan_out_100(bencher: Bencher) {
    run(bencher, fan_out(100));
}

#[divan::bench]
fn drive_fan_out_1000(bencher: Bencher) {
    run(bencher, fan_out(1000));
}

#[divan::bench]
fn drive_layered_10x100(bencher: Bencher) {
    run(bencher, layered(10, 100));
}

#[divan::bench]
fn schedule_layered_10x100(bencher: Bencher) {
    let tasks = layered(10, 100);
    bencher.counter(ItemsCount::new(tasks.len())).bench_local(|| {
        let mut schedule = Schedule::new();
        schedule.extend(&tasks);
        schedule.close();
        while !schedule.is_done() {
            for ready in schedule.ready() {
                schedule.finish(ready.id());
            }
        }
        schedule
    });
}

fn main() {
    divan::main();
}
