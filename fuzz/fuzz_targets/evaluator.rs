//! Any gold file and any file of predictions give figures, never a panic. The input is split at its first zero byte: gold
//! before, predictions after.

#![no_main]

use std::sync::LazyLock;

use jarvis_taskbench::data::{DependencyType, Gold, Lines, ToolList};
use jarvis_taskbench::evaluate::strict::Bootstrap;
use jarvis_taskbench::evaluate::{Grouping, Options, Predictions, Profile, evaluate};
use libfuzzer_sys::fuzz_target;

static TOOLS: LazyLock<ToolList> = LazyLock::new(|| {
    let nodes = serde_json::json!({"nodes": [
        {"id": "a", "desc": "", "input-type": ["text"], "output-type": ["image"]},
        {"id": "b b", "desc": "", "input-type": ["image", "text"], "output-type": []},
        {"id": "c_c", "desc": "", "input-type": [], "output-type": ["audio"]},
        {"id": "a", "desc": "", "parameters": [{"name": "x", "type": "string", "desc": ""}]},
    ]});
    ToolList::parse(nodes.to_string().as_bytes()).expect("a list of tools")
});

fuzz_target!(|data: &[u8]| {
    let (gold, said) = match data.iter().position(|byte| *byte == 0) {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, data),
    };
    let gold = Gold { lines: Lines::of("gold", gold.to_vec()) };
    let said = Lines::of("predictions", said.to_vec());
    let predictions = Predictions::of(&said);
    for dependency in [DependencyType::Resource, DependencyType::Temporal] {
        let options = Options {
            groups: Grouping::all().groups(),
            bootstrap: Some(Bootstrap { resamples: 3, seed: 1, all: true }),
            ..Options::new(&TOOLS, dependency, Profile::Both)
        };
        let done = evaluate(&gold, &predictions, &options);
        for (_, figures) in &done.legacy {
            let _ = figures.to_value().to_string();
        }
        for (_, figures) in &done.strict {
            let _ = figures.to_value().to_string();
        }
        for sample in &done.samples {
            let _ = sample.to_value().to_string();
        }
    }
});
