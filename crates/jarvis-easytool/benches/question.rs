//! One question end to end, with a model and tools that answer at once: what the pipeline itself costs.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use jarvis_chat::Replay;
use jarvis_easytool::funcqa::{Funcqa, Kind};
use jarvis_tools::hub::Mode;
use jarvis_tools::local::HubFunction;
use serde_json::json;

fn main() {
    divan::main();
}

/// A pipeline whose model has an answer to everything; the question has three subtasks, the last of which needs both others.
fn pipeline() -> Arc<Funcqa> {
    let say = |stage: &str, reply: &str| json!({"stage": stage, "reply": reply, "sticky": true}).to_string();
    let tasks = r#"{"Tasks": ["Multiply 3 by 4 by 'multiply_'", "Divide 1 by 3 by 'divide_'", "Add both by 'add_'"]}"#;
    let lines = [
        say("task_decompose", tasks),
        say("task_topology", r#"[{"id": 1, "dep": [-1]}, {"id": 2, "dep": [-1]}, {"id": 3, "dep": [1, 2]}]"#),
        say("choose_tool", r#"{"ID": 2}"#),
        say("choose_parameter", r#"{"Parameters": {"input": [3, 4]}}"#),
        say("choose_parameter_depend", r#"{"Parameters": {"input": [12, 0.333333333333]}}"#),
        say("answer_generation", "It is 12."),
        say("answer_generation_depend", "It is 4."),
        say("answer_summarize", "The answer is 4."),
        say("answer_check", r#"{"Reason": "It is.", "Choice": "Yes"}"#),
    ];
    let model = Arc::new(Replay::parse("answers", &lines.join("\n")).unwrap());
    Arc::new(Funcqa::new(model, Arc::new(HubFunction::registry(Mode::Precise))))
}

fn measure(bencher: divan::Bencher<'_, '_>, question: &str, kind: Kind) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let pipeline = pipeline();
    bencher.bench_local(|| runtime.block_on(pipeline.answer(1, question, kind)));
}

/// Thirteen calls of the model, three of the hub.
#[divan::bench]
fn multi_hop(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, "What do 12 and a third make?", Kind::MultiHop);
}

/// Five calls of the model, one of the hub.
#[divan::bench]
fn one_hop(bencher: divan::Bencher<'_, '_>) {
    measure(bencher, "What is 3 times 4?", Kind::OneHop);
}
