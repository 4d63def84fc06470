//! Ranked candidates, a task that fails, and one that is skipped for it: `cargo run -p jarvis-engine --example fallback`.
//!
//! ```text
//! fetch succeeded after 2 tries
//!   "fetch at far"
//! count succeeded after 1 tries
//!   "count at near"
//! translate failed after 2 tries
//!   no dictionary for this language
//! print skipped after 0 tries
//!   `text` needs the output of task 3 (`translate`), which failed
//! ```
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_engine::{Engine, Events, Graph, Job, Selector, Tell, out};
use jarvis_plan::{Candidate, ErrorCode, Selection, Task, TaskError, Vocabulary};
use serde_json::{Value, json};

/// Ranks two mirrors for every task. It needs no inputs, so choices are made while earlier tasks run.
struct Mirrors;

#[async_trait]
impl Selector for Mirrors {
    async fn select(&self, task: &Task, _: &Events, _: Tell<'_>) -> Result<Selection, TaskError> {
        let at = |host: &str| Candidate { host: host.to_owned(), ..Candidate::tool(&task.task) };
        Ok(Selection {
            task: task.id,
            chosen: at("near"),
            fallbacks: vec![at("far")],
            reason: "the nearest first".to_owned(),
            notes: Vec::new(),
        })
    }
}

async fn perform(job: Job) -> Result<Value, TaskError> {
    match (job.name(), job.candidate.host.as_str()) {
        ("fetch", "near") => Err(TaskError::new(ErrorCode::Unavailable, "the near mirror is down")),
        ("translate", _) => Err(TaskError::new(ErrorCode::CannotDo, "no dictionary for this language")),
        (name, host) => Ok(json!(format!("{name} at {host}"))),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Graph::builder()
        .task("fetch", json!({"url": "https://example.org/a"}))
        .task_after("count", ["fetch"], json!({"text": out("fetch")}))
        .task_after("translate", ["fetch"], json!({"text": out("fetch")}))
        .task_after("print", ["translate"], json!({"text": out("translate")}))
        .check(&Vocabulary::named(["fetch", "count", "translate", "print"]))?;
    let run = Engine::new(perform).selector(Arc::new(Mirrors)).run(&graph).await;
    for outcome in run.iter() {
        println!("{} {} after {} tries", outcome.task, outcome.status.as_str(), outcome.attempts.len());
        match (&outcome.output, &outcome.error) {
            (Some(output), _) => println!("  {output}"),
            (None, Some(error)) => println!("  {error}"),
            (None, None) => {}
        }
    }
    Ok(())
}
