//! The evaluator on 7,200 samples in fourteen groups, from the bytes of the two files to the figures.
//! The original takes 8.0 s for this, and 58 s with ROUGE.

#![allow(clippy::indexing_slicing, reason = "a bench without its data cannot run")]

use std::path::Path;

use divan::{Bencher, black_box};
use jarvis_taskbench::data::{DependencyType, Domain, Gold, Lines};
use jarvis_taskbench::evaluate::strict::Bootstrap;
use jarvis_taskbench::evaluate::{Grouping, Options, Predictions, Profile, Wanted, evaluate};

const SAMPLES: usize = 7_200;

fn main() {
    divan::main();
}

/// The lines of a file of the sample domain again and again, with the round's number behind each id.
fn repeated(path: &Path) -> Vec<u8> {
    let text = std::fs::read_to_string(path).expect("a file of the sample domain");
    let rounds = SAMPLES.div_ceil(text.lines().count());
    let mut lines = Vec::new();
    for round in 0..rounds {
        for line in text.lines() {
            let mut sample: serde_json::Value = serde_json::from_str(line).expect("JSON");
            sample["id"] = format!("{}-{round}", sample["id"].as_str().unwrap_or_default()).into();
            lines.push(sample.to_string());
        }
    }
    lines.truncate(SAMPLES);
    lines.join("\n").into_bytes()
}

fn run(bencher: Bencher<'_, '_>, wanted: Wanted, profile: Profile) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/taskbench/data_studio");
    let domain = Domain::open(&dir).expect("the sample domain");
    let tools = domain.tools().expect("its tools");
    let (gold, said) = (repeated(&dir.join("data.json")), repeated(&dir.join("predictions/example-model.json")));
    let options = Options {
        groups: Grouping::all().groups(),
        wanted,
        bootstrap: Some(Bootstrap { resamples: 1000, seed: 0, all: false }),
        ..Options::new(&tools, DependencyType::Resource, profile)
    };
    bencher.with_inputs(|| (gold.clone(), said.clone())).bench_values(|(gold, said)| {
        let gold = Gold { lines: Lines::of("data.json", gold) };
        let said = Lines::of("predictions.json", said);
        black_box(evaluate(&gold, &Predictions::of(&said), &options))
    });
}

#[divan::bench(sample_count = 20)]
fn legacy_without_rouge(bencher: Bencher<'_, '_>) {
    run(bencher, Wanted { rouge: false, bertscore: false, ..Wanted::ALL }, Profile::Legacy);
}

#[divan::bench(sample_count = 20)]
fn legacy_with_rouge(bencher: Bencher<'_, '_>) {
    run(bencher, Wanted::ALL, Profile::Legacy);
}

#[divan::bench(sample_count = 20)]
fn both_with_rouge_and_intervals(bencher: Bencher<'_, '_>) {
    run(bencher, Wanted::ALL, Profile::Both);
}
