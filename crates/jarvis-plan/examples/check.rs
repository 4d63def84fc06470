//! What becomes of a draft with faults: `cargo run -p jarvis-plan --example check`.
//!
//! ```text
//! 2. text-to-speech
//! 1. summarization
//! 0. image-to-text
//! 3. text-to-speech
//!    cannot run: it refers to `<GENERATED>-9`, and no task of the plan has that id
//! 4. send-fax
//!    cannot run: no tool of this name is known
//! note: task 4 refers to `<GENERATED>-9`, and no task of the plan has that id
//! note: task 4: dependency on 9 (not in the plan) was left out
//! note: task 2: dependency on task 3 made a cycle and was dropped
//! stages: [0, 3, 4], then [1], then [2]
//! flowchart LR
//!   t2["2. text-to-speech<br/>text: &lt;GENERATED&gt;-1"]
//!   t1["1. summarization<br/>text: &lt;GENERATED&gt;-0"]
//!   t0["0. image-to-text<br/>image: /images/photo.jpg"]
//!   t3["3. text-to-speech<br/>text: &lt;GENERATED-9&gt;"]
//!   t4["4. send-fax<br/>text: Hello"]
//!   t1 --> t2
//!   t0 --> t1
//!   style t3 stroke-dasharray: 5 5
//!   style t4 stroke-dasharray: 5 5
//! ```
#![allow(clippy::print_stdout, reason = "an example shows its result")]

use jarvis_plan::{Kind, Limits, Tool, Vocabulary, check, dialect, export, graph};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tools = Vocabulary::new(vec![
        Tool::typed("image-to-text", "Describes a picture.", &[Kind::Image], &[Kind::Text]),
        Tool::typed("summarization", "Shortens a text.", &[Kind::Text], &[Kind::Text]),
        Tool::typed("text-to-speech", "Reads a text aloud.", &[Kind::Text], &[Kind::Audio]),
    ]);
    // As a model might write it: out of order, with names of its own, a cycle, and a reference to a task that it forgot.
    let reply = json!([
        {"task": "TextToSpeech", "id": 2, "dep": [1], "args": {"text": "<GENERATED>-1"}},
        {"task": "summarization", "id": 1, "dep": [0, 2], "args": {"text": "<GENERATED>-0"}},
        {"task": "image-to-text", "id": 0, "dep": [-1], "args": {"image": "/images/photo.jpg"}},
        {"task": "text-to-speech", "id": 3, "dep": [9], "args": {"text": "<GENERATED>-9"}},
        {"task": "send-fax", "id": 4, "dep": [-1], "args": {"text": "Hello"}},
    ]);
    let plan = check(&dialect::read(&reply)?, &tools, Limits::default());

    for task in plan.tasks() {
        println!("{}. {}", task.id, task.task);
        for fault in &task.faults {
            println!("   cannot run: {fault}");
        }
    }
    for note in plan.notes() {
        println!("note: {note}");
    }
    let stages: Vec<String> =
        graph::stages(&plan).iter().map(|ids| format!("{:?}", Vec::from_iter(ids.iter().map(|id| id.0)))).collect();
    println!("stages: {}", stages.join(", then "));
    print!("{}", export::plan(&plan, |_| Vec::new()).mermaid());
    Ok(())
}
