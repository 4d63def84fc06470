//! Fitting the offline planner: gold plans are read, weights are searched and bounded, and figures are those of `bench plan`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use jarvis_ask::Events;
use jarvis_plan::Tool;
use jarvis_planner::{Basis, Fitted, Learned, Weights};
use jarvis_taskbench::bench::score::figures;
use jarvis_taskbench::bench::{GoldSource, Options as PlanOptions, PlanSet, plan_set};
use jarvis_taskbench::evaluate::strict::Bootstrap;
use jarvis_taskbench::fit::{Folds, Hold, Options, Step, Watch, cross, cross_validate, learn, measure, search};
use jarvis_taskbench::infer::PlanBy;
use tokio_util::sync::CancellationToken;

const TOOLS: [(&str, &str); 6] = [
    ("find_recipe", "Find a recipe for a dish."),
    ("set_timer", "Set a kitchen timer."),
    ("send_message", "Send a text message to a person."),
    ("order_food", "Order groceries from a shop."),
    ("play_radio", "Play a radio station."),
    ("dim_lights", "Dim the lights of a room."),
];

const PLANS: [(&str, &[&str]); 10] = [
    ("Find a recipe for leek soup.", &["find_recipe"]),
    ("Set a timer for forty minutes.", &["set_timer"]),
    ("Send a message to Maud.", &["send_message"]),
    ("Find a recipe for plum cake and set a timer.", &["find_recipe", "set_timer"]),
    ("Order groceries, then send Maud a message.", &["order_food", "send_message"]),
    ("Play the radio.", &["play_radio"]),
    ("Dim the lights and play a radio station.", &["dim_lights", "play_radio"]),
    ("Dim the lights in the kitchen.", &["dim_lights"]),
    ("Order groceries for plum cake.", &["order_food"]),
    ("Set a timer, dim the lights and play the radio.", &["set_timer", "dim_lights", "play_radio"]),
];

/// The kitchen as a set in a folder.
fn kitchen(folder: &Path) -> Vec<PlanSet> {
    let tools: Vec<_> =
        TOOLS.iter().map(|(name, about)| serde_json::json!({"name": name, "description": about})).collect();
    std::fs::write(folder.join("tools.json"), serde_json::json!({"tools": tools}).to_string()).unwrap();
    let plan = |(at, (request, tools)): (usize, &(&str, &[&str]))| {
        let tasks: Vec<_> = tools.iter().map(|tool| serde_json::json!({"tool": tool})).collect();
        let line = serde_json::json!({"id": at.to_string(), "request": request, "plan": {"tasks": tasks, "links": []}});
        format!("{line}\n")
    };
    std::fs::write(folder.join("plans.jsonl"), PLANS.iter().enumerate().map(plan).collect::<String>()).unwrap();
    GoldSource::read_all(&[GoldSource::parse(folder)]).unwrap()
}

/// Weights with which too little is planned.
fn shy() -> Weights {
    let mut weights = Weights::default();
    (weights.set.text, weights.set.near, weights.set.none, weights.set.least) = (3.0, 0.0, 1.0, 0.9);
    weights.set.past = 0.0;
    weights
}

/// Keeps the steps, and stops after some.
#[derive(Default)]
struct Seen {
    steps: Mutex<Vec<Step>>,
    rounds: AtomicUsize,
    most: Option<usize>,
}

impl Watch for Seen {
    fn is_stopped(&self) -> bool {
        self.most.is_some_and(|most| self.steps.lock().unwrap().len() >= most)
    }

    fn stepped(&self, step: &Step) {
        self.steps.lock().unwrap().push(step.clone());
    }

    fn rounded(&self, round: usize, _: &Weights, _: f64) {
        self.rounds.store(round, Ordering::Relaxed);
    }
}

#[test]
fn a_search_finds_weights_that_plan_rightly() {
    let folder = tempfile::tempdir().unwrap();
    let sets = kitchen(folder.path());
    let folds = Folds::new(&sets, &Options::default(), None);
    let seen = Seen::default();
    let found = search(&folds, None, &shy(), 3, &seen);
    assert!(found.objective.0 < 70.0 && found.objective.1 > 99.0, "{found:?}");
    assert_eq!((found.stopped, seen.rounds.load(Ordering::Relaxed)), (false, 3));
    // Each change made it better, and the last is what was found.
    let steps = seen.steps.into_inner().unwrap();
    assert!(steps.windows(2).all(|two| two[0].objective < two[1].objective), "{steps:?}");
    assert!(steps.iter().all(|step| step.name.starts_with("set.")), "{steps:?}");
    assert_eq!(search(&folds, None, &shy(), 3, &()), found);
    // What is found is good on plans that it never saw, too.
    let options = Options { rounds: 2, ..Options::default() };
    let figures = cross_validate(&sets, None, &shy(), &options, |_| Box::new(())).unwrap();
    let (start, fitted) = cross::aim(&figures);
    assert!(fitted.unwrap() > start + 10.0, "{figures:?}");
    assert_eq!(cross::table(&figures).rows.len(), 3);
}

#[test]
fn a_search_that_is_stopped_keeps_the_best_so_far() {
    let folder = tempfile::tempdir().unwrap();
    let sets = kitchen(folder.path());
    let folds = Folds::new(&sets, &Options::default(), None);
    let found = search(&folds, None, &shy(), 3, &Seen { most: Some(1), ..Seen::default() });
    assert!(found.stopped && found.objective.1 > found.objective.0, "{found:?}");
    let stopped = |_| -> Box<dyn Watch> { Box::new(Seen { most: Some(0), ..Seen::default() }) };
    assert_eq!(cross_validate(&sets, None, &shy(), &Options::default(), stopped), None);
}

#[test]
fn weights_that_lose_held_requests_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sets = kitchen(folder.path());
    let folds = Folds::new(&sets, &Options::default(), None);
    let tools = TOOLS.map(|(name, about)| Tool::typed(name, about, &[], &[]));
    let path = folder.path().join("held.txt");
    // What the shy planner makes of each request is what is held.
    let silent: String = PLANS.iter().map(|(request, _)| format!("{request}\n    nothing\n")).collect();
    std::fs::write(&path, &silent).unwrap();
    let untaught: Basis =
        Arc::new(Fitted { learned: Learned::default(), ..Fitted::built_in().as_ref().clone() }).into();
    let hold = Hold::read(&[&path], &tools, &untaught).unwrap();
    let found = search(&folds, Some(&hold), &shy(), 2, &());
    let free = search(&folds, None, &shy(), 2, &());
    assert_eq!(hold.len(), PLANS.len());
    assert!(found.kept.0 > 0 && found.kept.1 >= found.kept.0, "{found:?}");
    assert!(hold.kept(&free.weights)[0] < found.kept.0 && found.objective.1 < free.objective.1, "{found:?} {free:?}");
    // Each file is held for itself, and may be over tools of its own.
    let listed = folder.path().join("listed.json");
    std::fs::write(&listed, serde_json::to_string(&tools[..1]).unwrap()).unwrap();
    let with = |tools: &Path| PathBuf::from(format!("{}={}", path.display(), tools.display()));
    let both = Hold::read(&[path.clone(), with(&listed)], &tools, &untaught).unwrap();
    let kept = both.kept(&shy());
    assert!(both.len() == 2 * PLANS.len() && kept[0] == found.kept.0 && kept[1] >= kept[0], "{kept:?}");
    assert!(Hold::read(&[folder.path().join("none.txt")], &tools, &untaught).is_err());
    let wrong = Hold::read(&[with(&path)], &tools, &untaught).err().unwrap().to_string();
    assert!(wrong.contains("held.txt is no list of tools"), "{wrong}");
}

#[tokio::test]
async fn figures_are_those_of_bench_plan() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plans");
    let sets = GoldSource::read_all(&[GoldSource::parse(&examples)]).unwrap();
    // What was learned is another for each fold: it is to count for nothing here.
    let mut weights = Weights::default();
    (weights.past, weights.past_whole, weights.past_link, weights.set.past) = (0.0, 0.0, 0.0, 0.0);
    let fitted =
        Fitted { weights: weights.clone(), learned: Learned::default(), ..Fitted::built_in().as_ref().clone() };
    let by = PlanBy::Offline(Arc::new(fitted).into());
    let measured = measure(&sets, &Options::default(), &weights);
    // A row for plans with what was learned, and one for plans with nothing learned.
    assert_eq!(measured.len(), 2 * sets.len());
    for (set, measured) in sets.iter().flat_map(|set| [set; 2]).zip(&measured) {
        let (events, _receiver) = Events::channel(jarvis_plan::RunId("r".into()));
        let stop = CancellationToken::new();
        let planned = plan_set(set, &by, &PlanOptions::default(), (None, "p"), (&events, &(), &stop)).await.unwrap();
        let figures = figures(planned.scores.iter(), None, Bootstrap { resamples: 1, ..Bootstrap::default() });
        let percent = |value: Option<f64>| value.map(|value| value * 100.0);
        let near = |a: f64, b: Option<f64>| (a - b.unwrap_or(0.0)).abs() < 0.01;
        assert!(near(measured.start.nodes, percent(figures.nodes[2].value)), "{}: {measured:?}", set.name);
        if let Some(links) = measured.start.links {
            assert!(near(links, percent(figures.links[2].value)), "{}: {measured:?} {:?}", set.name, figures.links);
        }
    }
}

#[test]
fn gold_plans_may_stand_apart_from_their_tools() {
    let domain = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/taskbench/data_studio");
    let folder = tempfile::tempdir().unwrap();
    let requests = std::fs::read_to_string(domain.join("user_requests.json")).unwrap();
    let asked: Vec<serde_json::Value> = requests.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tools: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(domain.join("tool_desc.json")).unwrap()).unwrap();
    let name = |at: usize| tools["nodes"][at]["id"].as_str().unwrap();
    let lines = [
        serde_json::json!({"id": asked[0]["id"], "nodes": [name(0), name(1)], "links": [[name(0), name(1)]]}),
        serde_json::json!({"id": "own", "user_request": "say hello", "nodes": [name(2)],
            "links": [{"source": name(2), "target": name(2)}]}),
        serde_json::json!({"id": asked[1]["id"], "task_steps": [], "task_nodes": [{"task": name(1), "arguments": []}]}),
        serde_json::json!({"id": "nobody asked", "nodes": [name(0)]}),
        serde_json::json!({"id": asked[2]["id"], "nodes": [name(0)], "links": [[name(0), "another"]]}),
    ];
    let gold = folder.path().join("gold.jsonl");
    std::fs::write(&gold, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let written = format!("{}={}", domain.display(), gold.display());
    let source = GoldSource::parse(Path::new(&written));
    assert_eq!(source, GoldSource { path: domain, gold: Some(gold) });
    assert_eq!(source.to_string(), written);
    let [set, rest @ ..] = &GoldSource::read_all(&[source.clone(), source]).unwrap()[..] else { panic!("no set") };
    assert!(rest.is_empty(), "a plan is read once");
    let requests: Vec<&str> = set.samples.iter().map(|sample| sample.request.as_str()).collect();
    let text = |at: usize| asked[at]["user_request"].as_str().unwrap();
    assert_eq!(requests, [text(0), "say hello", text(1)]);
    assert_eq!((&set.samples[0].gold.links, set.samples[1].gold.links.len()), (&vec![(0, 1)], 1));
    assert!(set.graph.is_some() && set.notes.len() == 2, "{:?}", set.notes);
    assert!(set.notes[0].contains("line 4 is left out: no request has its id") && set.notes[1].contains("another"));
    assert!(learn(std::slice::from_ref(set), 1).len() <= 3 && learn(std::slice::from_ref(set), 0).is_empty());
    for missing in ["nowhere", "nowhere=gold.jsonl"] {
        let error = GoldSource::read_all(&[GoldSource::parse(&PathBuf::from(missing))]).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("nowhere"), "{error}");
    }
}
