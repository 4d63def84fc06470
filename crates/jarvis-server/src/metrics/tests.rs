//! What is counted, by which names, and that `deploy/` asks for these.

use std::collections::BTreeSet;

use jarvis_plan::{Attempt, Candidate, ErrorCode, Outcome, Selection, Spent, Status, TaskError, TaskId, Usage};
use serde_json::Value;

use super::*;

/// What was told, a line each.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl MetricsSink for Told {
    fn add(&self, name: &'static str, labels: &[(&'static str, &str)], value: f64) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.0.lock().expect("no panic").push(format!("{name}{{{}}} {value}", labels.join(",")));
    }
}

fn call(model: &str, instead_of: &str) -> EventKind {
    EventKind::ModelCall {
        stage: "parse_task".into(),
        task: None,
        model: model.into(),
        provider: "openai".into(),
        instead_of: instead_of.into(),
        prompt_tokens: 7,
        cached_tokens: 0,
        completion_tokens: 2,
        estimated: false,
        cost: Some(Money { amount: 0.5, currency: "USD".into() }),
        ms: 1500,
        reply: String::new(),
        ok: true,
        given_up: false,
        key: String::new(),
        whole: None,
        taken_over: false,
    }
}

#[test]
fn calls_are_counted_by_model_and_told_on() {
    let told = Arc::new(Told::default());
    let metrics = Arc::new(Metrics::new(Some(Arc::clone(&told) as Arc<dyn MetricsSink>)));
    metrics.observe(&call("small", "large"));
    let live = metrics.live();
    metrics.waited(Duration::from_millis(250));
    let text = metrics.text().expect("it is written");
    let who = r#"stage="parse_task",model="small",provider="openai""#;
    for line in [
        format!("jarvis_model_calls_total{{{who},ok=\"true\"}} 1"),
        format!("jarvis_model_call_duration_seconds_sum{{{who},ok=\"true\"}} 1.5"),
        format!("jarvis_tokens_total{{{who},kind=\"prompt\"}} 7"),
        format!("jarvis_model_cost_total{{{who},currency=\"USD\"}} 0.5"),
        r#"jarvis_model_fallbacks_total{model="large"} 1"#.to_owned(),
        "jarvis_queue_wait_seconds_sum 0.25".to_owned(),
        "jarvis_runs_live 1".to_owned(),
        "process_resident_memory_bytes ".to_owned(),
    ] {
        assert!(text.contains(&line), "{line} is not in\n{text}");
    }
    assert!(text.ends_with("# EOF\n") && text.matches("# EOF").count() == 1);
    drop(live);
    assert!(metrics.text().expect("it is written").contains("jarvis_runs_live 0"));
    let told = told.0.lock().expect("no panic");
    for line in [
        "model_call_duration{stage=parse_task,model=small,provider=openai,ok=true} 1.5",
        "model_cost{stage=parse_task,model=small,provider=openai,currency=USD} 0.5",
        "runs_live{} -1",
    ] {
        assert!(told.iter().any(|told| told == line), "{line} is not in {told:?}");
    }
}

#[test]
fn whoever_names_many_models_makes_no_more_labels() {
    let metrics = Metrics::new(None);
    for at in 0..2 * MOST_MODELS {
        metrics.observe(&call(&format!("m{at}"), ""));
    }
    let text = metrics.text().expect("it is written");
    assert_eq!(text.lines().filter(|line| line.starts_with("jarvis_model_calls_total")).count(), MOST_MODELS + 1);
    let rest = format!(r#"model="other",provider="other",ok="true"}} {MOST_MODELS}"#);
    assert!(text.contains(&rest), "{text}");
}

const DASHBOARD: &str = include_str!("../../../../deploy/grafana.json");
const ALERTS: &str = include_str!("../../../../deploy/alerts.yaml");

/// The names of metrics in a text.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let ours = words.filter(|word| word.starts_with("jarvis_") || word.starts_with("process_"));
    ours.map(str::to_owned).collect()
}

#[test]
fn dashboard_and_alerts_name_metrics_that_there_are() {
    let metrics = Metrics::new(None);
    metrics.answered("GET", "/runs", 200, Duration::ZERO);
    let done = EventKind::Done { ok: true, cancelled: false, ms: 1, usage: Usage::default() };
    let spent = Spent { bound: "calls".into(), most: "1".into(), used: "1".into() };
    let (first, second) = (Candidate::tool("first"), Candidate::tool("second"));
    let selection = Selection {
        task: TaskId(0),
        chosen: first.clone(),
        fallbacks: vec![second.clone()],
        reason: String::new(),
        notes: Vec::new(),
    };
    let attempt = |candidate, error| Attempt { candidate, error, ms: 1 };
    let outcome = Outcome {
        id: TaskId(0),
        task: "image-to-text".into(),
        status: Status::Succeeded,
        args: Default::default(),
        selection: Some(selection),
        attempts: vec![attempt(first, Some(TaskError::new(ErrorCode::Timeout, "late"))), attempt(second, None)],
        output: None,
        error: None,
        notes: Vec::new(),
        made_up_for: false,
        ms: 1,
    };
    for event in [
        call("small", "large"),
        done,
        EventKind::Budget { spent },
        EventKind::TaskFinished { outcome: Box::new(outcome) },
    ] {
        metrics.observe(&event);
    }
    let text = metrics.text().expect("it is written");
    // As a scraper names them: a sum, and the parts of a spread.
    let kinds = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let there: BTreeSet<String> = kinds
        .flat_map(|(name, kind)| match kind {
            "counter" => vec![format!("{name}_total")],
            "histogram" => ["bucket", "sum", "count"].map(|part| format!("{name}_{part}")).to_vec(),
            _ => vec![name.to_owned()],
        })
        .collect();
    let dashboard: Value = serde_json::from_str(DASHBOARD).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let asked = panels.iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let asked: BTreeSet<String> = asked.flat_map(|target| named(target["expr"].as_str().expect("a query"))).collect();
    assert!(asked.len() > 15, "{asked:?}");
    for (file, names) in [("grafana.json", asked), ("alerts.yaml", named(ALERTS))] {
        let unknown: Vec<&String> = names.difference(&there).collect();
        assert!(unknown.is_empty(), "{file} asks for {unknown:?}; there are {there:?}");
    }
}
