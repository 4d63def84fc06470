//! What the engine itself costs: graphs of tasks that do nothing. Run with `cargo bench -p jarvis-engine`.
//!
//! The column `item/s` counts tasks, so 50,000 tasks a second are 20 µs a task.

use std::sync::Arc;

use async_trait::async_trait;
use divan::Bencher;
use divan::counter::ItemsCount;
use jarvis_engine::{Engine, Events, Job, Selector, Tell, Worker};
use jarvis_plan::{Candidate, Draft, DraftTask, Limits, Plan, RunId, Selection, Task, TaskError, Vocabulary, check};
use serde_json::Value;

struct Idle;

#[async_trait]
impl Selector for Idle {
    async fn select(&self, task: &Task, _: &Events, _: Tell<'_>) -> Result<Selection, TaskError> {
        let chosen = Candidate::tool(&task.task);
        Ok(Selection { task: task.id, chosen, fallbacks: Vec::new(), reason: "only one".to_owned(), notes: Vec::new() })
    }
}

#[async_trait]
impl Worker for Idle {
    async fn perform(&self, _job: &Job) -> Result<Value, TaskError> {
        Ok("done".into())
    }
}

/// A task whose text holds the outputs of others.
fn task(id: usize, from: impl IntoIterator<Item = usize>) -> DraftTask {
    let text: String = from.into_iter().map(|of| format!(" <GENERATED>-{of}")).collect();
    DraftTask::new(id as i64, "idle").arg("text", format!("see{text}"))
}

fn plan(tasks: impl Iterator<Item = DraftTask>) -> Plan {
    let draft = Draft { tasks: tasks.collect(), ..Draft::default() };
    check(&draft, &Vocabulary::named(["idle"]), Limits { max_tasks: usize::MAX })
}

fn chain(length: usize) -> Plan {
    plan((0..length).map(|at| task(at, at.checked_sub(1))))
}

fn fan_out(width: usize) -> Plan {
    plan((0..=width).map(|at| task(at, (at > 0).then_some(0))))
}

fn layered(layers: usize, width: usize) -> Plan {
    let previous =
        |at: usize| (at / width).checked_sub(1).map(|layer| [0, 1, 2].map(|step| layer * width + (at + step) % width));
    plan((0..layers * width).map(|at| task(at, previous(at).into_iter().flatten())))
}

fn run(bencher: Bencher, plan: Plan) {
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_time().worker_threads(2).build() else {
        return;
    };
    let plan = Arc::new(plan);
    let idle = Arc::new(Idle);
    bencher.counter(ItemsCount::new(plan.tasks().len())).bench_local(|| {
        let (events, receiver) = Events::channel(RunId("bench".to_owned()));
        let engine = Engine::shared(idle.clone()).selector(idle.clone()).events(events);
        // On the runtime, as a server runs it: a driver that is polled from outside pays for waking its thread each time.
        let on_runtime = Arc::clone(&plan);
        let drive = async move { engine.run(&on_runtime).await.into_outcomes() };
        let outcomes = runtime.block_on(runtime.spawn(drive)).unwrap_or_default();
        assert!(outcomes.len() == plan.tasks().len() && outcomes.iter().all(|outcome| outcome.succeeded()));
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

fn main() {
    divan::main();
}
