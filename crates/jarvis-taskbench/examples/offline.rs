//! Measures the offline planner: plans every request of each domain folder and scores the plans against the gold, with the
//! strict profile.
//!
//! `cargo run --release -p jarvis-taskbench --example offline -- [NAME=VALUE …] [--ablate] [--lost] [--explain] FOLDER …`
//!
//! `NAME=VALUE` sets one of the planner's weights; `--ablate` repeats the measurement with each part taken out;
//! `--lost` prints the plans that differ from the gold, and `--explain` with them what each clause might have meant.

#![allow(clippy::print_stdout, reason = "a measurement is printed")]

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use jarvis_plan::Request;
use jarvis_planner::{Experience, Offline, ToolIndex, Weights};
use jarvis_taskbench::data::{Domain, Gold, Lines, ToolList, UserRequest};
use jarvis_taskbench::evaluate::strict::{Prf, StrictSample};
use jarvis_taskbench::evaluate::{Options, Predictions, Profile, Wanted, evaluate};
use jarvis_taskbench::infer::OfflinePlans;
use rayon::prelude::*;
use serde_json::{Value, json};

/// The parts that can be taken out, and the weights that do it.
const PARTS: &[(&str, &[(&str, f64)])] = &[
    ("names", &[("name", 0.0)]),
    ("descriptions and parameters", &[("text", 0.0)]),
    ("the thesaurus", &[("sense", 0.0)]),
    ("the lexicon of phrases", &[("phrase", 0.0)]),
    ("agreement on what is done", &[("action", 0.0)]),
    ("inputs and kinds", &[("inputs", 0.0)]),
    ("words of earlier clauses", &[("context", 0.0)]),
    ("words that no tool knows", &[("unknown", 0.0)]),
    ("telling apart what is given and what is asked", &[("telling", 1.0)]),
    ("the price of doing a thing twice", &[("repeat", 0.0), ("alike", 0.0)]),
    ("links between the tools chosen", &[("link", 0.0), ("gap", 0.0)]),
    ("steps that no clause names", &[("bridge_cost", 9.0), ("edge_cost", 9.0), ("tail_cost", 9.0)]),
    ("care with what was not asked for", &[("lookup", 0.0), ("unasked", 0.0)]),
    ("a beam", &[("beam", 1.0)]),
];

#[derive(Clone, Copy, PartialEq)]
enum Show {
    Figures,
    Lost,
    Explained,
}

type Failure = Box<dyn std::error::Error>;

struct Measured {
    domain: Domain,
    tools: ToolList,
    requests: Vec<UserRequest>,
    gold: Gold,
}

fn main() -> Result<(), Failure> {
    let (mut folders, mut set, mut ablate, mut wanted) = (Vec::new(), BTreeMap::new(), false, Show::Figures);
    for word in std::env::args().skip(1) {
        match (word.as_str(), word.split_once('=')) {
            ("--ablate", _) => ablate = true,
            ("--lost", _) => wanted = Show::Lost,
            ("--explain", _) => wanted = Show::Explained,
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
        show(&measured.domain.name(), measured, &weights, wanted)?;
    }
    if ablate {
        for (part, off) in PARTS {
            let off = off.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
            let without = with(&weights, &off)?;
            println!("without {part}:");
            for measured in &domains {
                show(&measured.domain.name(), measured, &without, Show::Figures)?;
            }
        }
    }
    Ok(())
}

/// What each clause of a request might mean.
fn explain(index: &ToolIndex, request: &str, weights: &Weights) {
    let clauses = Offline::explain(index, &Request::new(request), weights, &Experience::default());
    println!("{clauses}      (a step costs {:.2})", weights.cost);
}

fn figure(sums: Option<&Prf>, at: usize) -> Option<f64> {
    sums.and_then(|sums| sums.figures.get(at)).and_then(|figure| figure.value)
}

fn with(weights: &Weights, set: &BTreeMap<String, Value>) -> Result<Weights, Failure> {
    let mut value = serde_json::to_value(weights)?;
    for (name, to) in set {
        let slot = value.get_mut(name).ok_or_else(|| format!("no weight is called {name}"))?;
        // A count stays one.
        *slot = match to.as_f64() {
            Some(number) if slot.is_u64() => json!(number as u64),
            Some(_) | None => to.clone(),
        };
    }
    Ok(serde_json::from_value(value)?)
}

fn show(title: &str, measured: &Measured, weights: &Weights, wanted: Show) -> Result<(), Failure> {
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
    let figures_wanted = Wanted { rouge: false, bertscore: false, ..Wanted::ALL };
    let options = Options { wanted: figures_wanted, ..Options::new(&measured.tools, dependency, Profile::Strict) };
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
    if wanted != Show::Figures {
        let by_id: HashMap<&str, &StrictSample> = evaluation
            .samples
            .iter()
            .filter_map(|sample| Some((sample.id.as_str(), sample.strict.as_ref()?)))
            .collect();
        for (request, plan) in &plans {
            let id = plan.get("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
            let strict = id.and_then(|id| by_id.get(id.as_str()).copied());
            if let Some(strict) = strict.filter(|strict| !strict.lost.is_empty()) {
                println!("\n## {}\n   {}", request.trim(), strict.lost.join("; "));
                let nodes = plan.pointer("/result/task_nodes").and_then(Value::as_array);
                for node in nodes.into_iter().flatten() {
                    println!("   {node}");
                }
                if wanted == Show::Explained {
                    explain(planner.index(), request, weights);
                }
            }
        }
    }
    Ok(())
}
