//! What it costs to keep each outcome on the disk before anything follows from it: chains of tasks that do nothing. Run with
//! `cargo bench -p jarvis-pipeline`.
//!
//! The column `item/s` counts tasks. One chain alone tells the wait for the disk, many at once what a task takes.

use std::sync::Arc;

use divan::Bencher;
use divan::counter::ItemsCount;
use jarvis_engine::{Engine, Events, Job};
use jarvis_pipeline::Kept;
use jarvis_plan::{Draft, DraftTask, Limits, Plan, RunId, Vocabulary, check};
use jarvis_store::{Journal, Synchronous};

const LENGTH: usize = 100;

fn chain() -> Plan {
    let task = |at: usize| {
        let text: String = at.checked_sub(1).map(|of| format!("see <GENERATED>-{of}")).unwrap_or_default();
        DraftTask::new(at as i64, "idle").arg("text", text)
    };
    let draft = Draft { tasks: (0..LENGTH).map(task).collect(), ..Draft::default() };
    check(&draft, &Vocabulary::named(["idle"]), Limits { max_tasks: usize::MAX })
}

fn chains(bencher: Bencher, at_once: usize, synchronous: Option<Synchronous>) {
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_time().worker_threads(2).build() else {
        return;
    };
    let Ok(folder) = tempfile::tempdir() else { return };
    let journal = synchronous.map(|level| Journal::open_with(&folder.path().join("runs.db"), level));
    let Ok(journal) = journal.transpose() else { return };
    let kept = journal.map(|journal| Kept::awaited(Arc::new(journal)));
    let plan = Arc::new(chain());
    let mut number = 0;
    bencher.counter(ItemsCount::new(LENGTH * at_once)).bench_local(|| {
        let runs: Vec<_> = (0..at_once)
            .map(|_| {
                number += 1;
                let (events, receiver) = Events::channel(RunId(format!("run-{number}")));
                if let Some(kept) = &kept {
                    events.kept_in(Arc::new(kept.clone()));
                }
                let request = jarvis_plan::Request::new("a chain");
                events.emit(jarvis_plan::EventKind::run_started("bench", request, None));
                let engine = Engine::new(|_: Job| async { Ok("done".into()) }).events(events);
                let plan = Arc::clone(&plan);
                let run = async move { engine.run(&plan).await.into_outcomes() };
                (runtime.spawn(run), receiver)
            })
            .collect();
        for (run, receiver) in runs {
            let outcomes = runtime.block_on(run).unwrap_or_default();
            assert!(outcomes.len() == LENGTH && outcomes.iter().all(|outcome| outcome.succeeded()));
            drop(receiver);
        }
    });
}

#[divan::bench(args = [1, 32])]
fn in_memory(bencher: Bencher, at_once: usize) {
    chains(bencher, at_once, None);
}

#[divan::bench(args = [1, 32, 128])]
fn sqlite(bencher: Bencher, at_once: usize) {
    chains(bencher, at_once, Some(Synchronous::Full));
}

#[divan::bench(args = [1, 32])]
fn sqlite_normal(bencher: Bencher, at_once: usize) {
    chains(bencher, at_once, Some(Synchronous::Normal));
}

fn main() {
    divan::main();
}
