//! Measures the offline planner: plans every request of each domain folder and scores the plans against the gold, with the
//! strict profile.
//!
//! `cargo run --release -p jarvis-taskbench --example offline -- [NAME=VALUE …] [--ablate] [--lost] FOLDER …`
//!
//! `NAME=VALUE` sets one of the planner's weights; `--ablate` repeats the measurement with each part taken out;
//! `--lost` prints the plans that differ from the gold.

use std::collections::BTreeMap;
use std::time::Instant;

use jarvis_planner::decoding::Weights;
use jarvis_taskbench::data::{Domain, Gold, Lines, ToolList, UserRequest};
use jarvis_taskbench::evaluate::strict::Prf;
use jarvis_taskbench::evaluate::{Options, Predictions, Profile, Wanted, evaluate};
use jarvis_taskbench::infer::OfflinePlans;
use rayon::prelude::*;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

struct Measured {
    domain: Domain,
    tools: ToolList,
    requests: Vec<UserRequest>,
    gold: Gold,
}

fn main() -> Result<(), Failure> {
    let (mut folders, mut set, mut ablate, mut lost) = (Vec::new(), BTreeMap::new(), false, false);
    for word in std::env::args().skip(1) {
        match (word.as_str(), word.split_once('=')) {
            ("--ablate", _) => ablate = true,
            ("--lost", _) => lost = true,
            (_, Some((name, value))) => {
                set.insert(name.to_owned(), serde_json::from_str::<Value>(value)?);
            }
            (folder, None) => folders.push(folder.to_owned()),
        }
    }
    let mut domains = Vec::new();
    for folder in &folders {
        let domain = Domain::open(folder)?;
        let (tools, requests, gold) = (domain.tools()?, domain.requests()?.requests, domain.gold()?);
        domains.push(Measured { domain, tools, requests, gold });
    }
    let weights = with(&Weights::default(), &set)?;
    println!(
        "{:<28} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8}",
        "", "samples", "n-P", "n-R", "n-F1", "e-F1", "t-F1", "v-F1", "plans/s"
    );
    for measured in &domains {
        show(&measured.domain.name(), measured, &weights, lost)?;
    }
    if ablate {
        let value = serde_json::to_value(&weights)?;
        for name in value.as_object().into_iter().flatten().map(|(name, _)| name) {
            if matches!(name.as_str(), "cost" | "beam" | "choices") {
                continue;
            }
            let without = with(&weights, &BTreeMap::from([(name.clone(), json!(0.0))]))?;
            for measured in &domains {
                show(&format!("{} - {name}", measured.domain.name()), measured, &without, false)?;
            }
        }
    }
    Ok(())
}

fn figure(sums: Option<&Prf>, at: usize) -> Option<f64> {
    sums.and_then(|sums| sums.figures.get(at)).and_then(|figure| figure.value)
}

fn with(weights: &Weights, set: &BTreeMap<String, Value>) -> Result<Weights, Failure> {
    let mut value = serde_json::to_value(weights)?;
    for (name, to) in set {
        let slot = value.get_mut(name).ok_or_else(|| format!("no weight is called {name}"))?;
        *slot = to.clone();
    }
    Ok(serde_json::from_value(value)?)
}

fn show(title: &str, measured: &Measured, weights: &Weights, lost: bool) -> Result<(), Failure> {
    let dependency = measured.tools.dependency();
    let graph = measured.domain.graph().ok();
    let planner = OfflinePlans::new(&measured.tools, graph.as_ref(), dependency).weighed(weights.clone());
    let begun = Instant::now();
    let plans: Vec<(String, Value)> = measured
        .requests
        .par_iter()
        .filter_map(|request| {
            let result = planner.plan(&request.text).ok()?;
            let line = json!({"id": request.id.to_value(), "user_request": request.text, "result": result});
            Some((request.text.clone(), line))
        })
        .collect();
    let speed = plans.len() as f64 / begun.elapsed().as_secs_f64();
    let bytes: Vec<u8> = plans.iter().flat_map(|(_, line)| format!("{line}\n").into_bytes()).collect();
    let said = Lines::of("predictions.json", bytes);
    let wanted = Wanted { rouge: false, bertscore: false, ..Wanted::ALL };
    let options = Options { wanted, ..Options::new(&measured.tools, dependency, Profile::Strict) };
    let evaluation = evaluate(&measured.gold, &Predictions::of(&said), &options);
    let Some((_, figures)) = evaluation.strict.first() else { return Err("nothing was scored".into()) };
    let nodes = figures.nodes.as_ref().map(|(nodes, _)| nodes);
    let arguments = figures.arguments.as_ref();
    let percent = |figure: Option<f64>| figure.map_or("-".to_owned(), |figure| format!("{:.1}", figure * 100.0));
    println!(
        "{title:<28} {:>7} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8.0}",
        figures.samples,
        percent(figure(nodes, 0)),
        percent(figure(nodes, 1)),
        percent(figure(nodes, 2)),
        percent(figure(figures.links.as_ref(), 2)),
        percent(figure(arguments.map(|[names, _]| names), 2)),
        percent(figure(arguments.map(|[_, values]| values), 2)),
        speed,
    );
    if lost {
        for ((request, plan), sample) in plans.iter().zip(&evaluation.samples) {
            if let Some(strict) = sample.strict.as_ref().filter(|strict| !strict.lost.is_empty()) {
                println!("\n## {}\n   {}", request.trim(), strict.lost.join("; "));
                let nodes = plan.pointer("/result/task_nodes").and_then(Value::as_array);
                for node in nodes.into_iter().flatten() {
                    println!("   {node}");
                }
            }
        }
    }
    Ok(())
}
