//! What journaling costs. Run with `cargo bench -p jarvis-store`.
//!
//! Four events make a task: chosen, started, finished, and a note. `item/s` counts tasks.

use divan::Bencher;
use divan::counter::ItemsCount;
use jarvis_plan::{Event, EventKind, Level, RunId, TaskId};
use jarvis_store::Journal;

const EVENTS_PER_TASK: u64 = 4;

fn event(run: u64, seq: u64) -> Event {
    let kind = match seq % EVENTS_PER_TASK {
        0 => EventKind::TaskStarted { id: TaskId(0), task: "image-to-text".into(), model: "native/caption".into() },
        _ => EventKind::Note { level: Level::Info, message: "something worth saying about a task".repeat(8) },
    };
    Event { run_id: RunId(format!("run-{run}")), seq, piece: 0, at_ms: seq, kind }
}

/// `flush_each`: every task waits for the disk; otherwise only the run does.
fn journal(bencher: Bencher, tasks: u64, flush_each: bool) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build() else { return };
    let Ok(journal) = Journal::open(&folder.path().join("journal.db")) else { return };
    let mut run = 0;
    bencher.counter(ItemsCount::new(tasks)).bench_local(|| {
        run += 1;
        for task in 0..tasks {
            for seq in 0..EVENTS_PER_TASK {
                journal.append(&event(run, task * EVENTS_PER_TASK + seq));
            }
            if flush_each {
                assert!(runtime.block_on(journal.flush()).is_ok());
            }
        }
        assert!(runtime.block_on(journal.flush()).is_ok());
    });
}

#[divan::bench]
fn run_of_100_tasks(bencher: Bencher) {
    journal(bencher, 100, false);
}

#[divan::bench]
fn run_of_100_tasks_each_flushed(bencher: Bencher) {
    journal(bencher, 100, true);
}

fn main() {
    divan::main();
}
