//! A graph of two tasks, written down and run: `cargo run -p jarvis-engine --example graph`.
//!
//! ```text
//! "sum({\"text\":\"fetch({\\\"url\\\":\\\"a\\\"})\"})"
//! ```

use jarvis_engine::{Engine, Graph, Job, out};
use jarvis_plan::Vocabulary;
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = Graph::builder()
        .task("fetch", json!({"url": "a"}))
        .task_after("sum", ["fetch"], json!({"text": out("fetch")}))
        .check(&Vocabulary::named(["fetch", "sum"]))?;
    let run = Engine::new(|job: Job| async move { Ok(json!(format!("{}({})", job.name(), job.object()))) })
        .concurrency(8)
        .run(&graph)
        .await;
    #[allow(clippy::print_stdout, reason = "an example shows its result")]
    {
        println!("{}", run.value("sum")?);
    }
    Ok(())
}
