//! `jarvis._native`: TaskBench's figures and drawings of plans, computed without Python.
//!
//! Samples and figures cross as JSON text: `jarvis_taskbench` reads text as the original evaluator's language does, and floats come
//! back with every digit. The package is the interface; this module is its own.

mod draw;
mod input;

use std::collections::{HashMap, HashSet};

use jarvis_taskbench::data::{DependencyType, Gold, SampleId, Traces};
use jarvis_taskbench::evaluate::strict::Bootstrap;
use jarvis_taskbench::evaluate::{Coverage, Evaluation, Grouping, Mode, Options, Predictions, Profile, Sample, Wanted};
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use serde_json::{Map, Value, json};

use self::input::{Failure, Input, ids};

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::draw::draw;
    #[pymodule_export]
    use super::evaluate;
}

/// What to compute, in the words of `jarvis taskbench evaluate`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Settings {
    /// `None` takes the type that the tools have.
    dependency_type: Option<String>,
    profile: String,
    metrics: Vec<String>,
    prompting: String,
    splits: Vec<String>,
    n_tools: Vec<String>,
    mode: String,
    /// A JSON list of the only samples to score.
    ids: Option<Vec<u8>>,
    /// A JSON list of the samples that the prompt showed.
    examples: Vec<u8>,
    intervals: Option<u32>,
    seed: u64,
    per_sample: bool,
    threads: usize,
}

/// Scores predictions and returns the figures as JSON.
#[pyfunction]
fn evaluate(py: Python<'_>, gold: Input, predictions: Input, tools: Input, settings: Settings) -> PyResult<String> {
    let figures = py.detach(move || {
        // A pool for each call: the threads of a global one would be missing in a child of `fork`, where the call would wait for
        // ever.
        let pool = ThreadPoolBuilder::new().num_threads(settings.threads).build();
        let pool = pool.map_err(|error| Failure::work(format!("no threads for the evaluation: {error}")))?;
        pool.install(|| scored(gold, predictions, tools, &settings))
    });
    figures.map_err(|failure| failure.raise(py))
}

fn scored(gold: Input, predictions: Input, tools: Input, settings: &Settings) -> Result<String, Failure> {
    let profile = match settings.profile.as_str() {
        "legacy" => Profile::Legacy,
        "strict" => Profile::Strict,
        "both" => Profile::Both,
        other => return Err(Failure::usage(format!("unknown profile `{other}`; use `legacy`, `strict` or `both`"))),
    };
    let mode = match settings.mode.as_str() {
        "add" => Mode::Add,
        "mul" => Mode::Mul,
        other => return Err(Failure::usage(format!("unknown mode `{other}`; use `add` or `mul`"))),
    };
    let grouping = Grouping::from_words(&settings.splits, &settings.n_tools, mode).map_err(Failure::usage)?;
    let wanted = Wanted::from_words(settings.metrics.iter().map(String::as_str), &settings.prompting);
    let wanted = wanted.map_err(Failure::usage)?;
    let tools = tools.tools()?;
    let dependency: DependencyType = match &settings.dependency_type {
        Some(word) => word.parse().map_err(Failure::usage)?,
        None => tools.dependency(),
    };
    let traces = predictions.path().map(Traces::beside).unwrap_or_default();
    let mut examples: HashSet<SampleId> = ids("examples", &settings.examples)?;
    // As the command does: what the log beside the predictions names.
    examples.extend(traces.examples.iter().flat_map(|id| {
        let id: Box<str> = id.as_str().into();
        [SampleId::Text(id.clone()), SampleId::Number(id)]
    }));
    let options = Options {
        tools: &tools,
        dependency,
        profile,
        wanted: Wanted { bertscore: false, ..wanted },
        groups: grouping.groups(),
        only: settings.ids.as_ref().map(|text| ids("ids", text)).transpose()?,
        examples,
        no_plan: traces.no_plan,
        bootstrap: Some(Bootstrap {
            resamples: settings.intervals.unwrap_or(1000),
            seed: settings.seed,
            all: settings.intervals.is_some(),
        }),
        similarity: None,
        progress: None,
    };
    let gold = Gold { lines: gold.lines("gold")? };
    let lines = predictions.lines("predictions")?;
    let evaluation = jarvis_taskbench::evaluate::evaluate(&gold, &Predictions::of(&lines), &options);
    if evaluation.coverage.gold == 0 {
        return Err(no_gold(&gold, &evaluation, options.only.is_some()));
    }
    Ok(document(&evaluation, profile, settings.per_sample).to_string())
}

/// Figures of nothing say nothing, so there are none.
fn no_gold(gold: &Gold, evaluation: &Evaluation, filtered: bool) -> Failure {
    let path = gold.lines.path().display();
    if filtered {
        return Failure::usage(format!("none of the ids is in {path}")).hint("1 and \"1\" are different ids");
    }
    let first = evaluation.coverage.bad_gold.first().map_or(String::new(), |bad| format!(": {bad}"));
    Failure::usage(format!("{path} holds no gold plan{first}"))
        .hint("a gold plan is an object with `id`, `type`, `task_steps`, `task_nodes` and `task_links`")
}

fn document(evaluation: &Evaluation, profile: Profile, per_sample: bool) -> Value {
    let mut document = Map::new();
    if profile.legacy() {
        let groups = evaluation.legacy.iter().map(|(group, figures)| (group.to_string(), figures.to_value()));
        document.insert("legacy".into(), Value::Object(groups.collect()));
    }
    if profile.strict() {
        let groups = evaluation.strict.iter().map(|(group, figures)| (group.to_string(), figures.to_value()));
        document.insert("strict".into(), Value::Object(groups.collect()));
    }
    document.insert("coverage".into(), coverage(&evaluation.coverage));
    if per_sample {
        document.insert("samples".into(), evaluation.samples.iter().map(Sample::to_value).collect());
    }
    Value::Object(document)
}

fn coverage(coverage: &Coverage) -> Value {
    let Coverage { gold, predicted, surplus, repeated, dropped, malformed_links, bad_gold, bad_predictions } = coverage;
    let dropped: HashMap<&String, &usize> = dropped.iter().collect();
    let bad =
        |lines: &[jarvis_taskbench::data::BadLine]| -> Vec<String> { lines.iter().map(ToString::to_string).collect() };
    json!({
        "gold": gold,
        "predicted": predicted,
        "surplus": surplus,
        "repeated": repeated,
        "dropped": dropped,
        "malformed_links": malformed_links,
        "bad_gold": bad(bad_gold),
        "bad_predictions": bad(bad_predictions),
    })
}
