//! One run measured: the figures of [`evaluate()`], and what the page tells beside them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::{Map, Value};

use super::compare::{Diff, complaints};
use super::confusion::Confusion;
use super::plan::{Names, PlanView};
use crate::DataError;
use crate::data::{DependencyType, Gold, GoldRecord, Lines, SampleId, ToolList};
use crate::evaluate::legacy::{self, Catalogue};
use crate::evaluate::{Coverage, Evaluation, Grouping, Options, Prediction, Predictions, Profile, Wanted, evaluate};
use crate::infer::{Traces, demos_of_folder, demos_shown, known_demos};
use crate::json::Look;

/// What runs of a domain are measured against.
#[derive(Debug, Clone, Copy)]
pub struct Against<'a> {
    /// The tools.
    pub tools: &'a ToolList,
    /// The gold plans.
    pub gold: &'a Gold,
    /// What links mean.
    pub dependency: DependencyType,
    /// The published domain that it is, whose examples the strict figures leave out where prompts showed them.
    pub known: Option<&'static str>,
    /// Which figures.
    pub wanted: Wanted,
    /// How many of the worst samples are kept.
    pub worst: usize,
}

/// One file of predictions, measured.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its name: the file's, and the prediction folder's suffix where it has one.
    pub name: String,
    /// The file.
    pub file: PathBuf,
    /// The figures of each group, under the names of metrics files.
    pub groups: Map<String, Value>,
    /// How much of the gold they rest on.
    pub coverage: Coverage,
    /// Which tools were taken for which.
    pub confusion: Confusion,
    /// The samples whose nodes or links are not all right.
    pub wrong: usize,
    /// The worst of these, the worst first.
    pub worst: Vec<Sample>,
}

/// A sample with what is wrong with it.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Its id.
    pub id: String,
    /// The shape of the gold plan as the file says it.
    pub shape: Option<String>,
    /// What was asked.
    pub request: String,
    /// The gold plan.
    pub gold: PlanView,
    /// The prediction; `None` when it is no plan at all.
    pub predicted: Option<PlanView>,
    /// What they have in common.
    pub diff: Diff,
    /// What is wrong, one sentence each.
    pub complaints: Vec<String>,
    /// Why the original's figures leave it out, if they do.
    pub left_out: Option<String>,
}

/// The figures of each group as one object: those of the original under its own names, and ours under `strict`.
fn figures(evaluation: &Evaluation) -> Map<String, Value> {
    let mut groups: Map<String, Value> =
        evaluation.legacy.iter().map(|(group, figures)| (group.to_string(), figures.to_value())).collect();
    for (group, figures) in &evaluation.strict {
        if let Some(Value::Object(group)) = groups.get_mut(&group.to_string()) {
            group.insert("strict".into(), figures.to_value());
        }
    }
    groups
}

impl Run {
    /// Reads and measures a file of predictions.
    ///
    /// # Errors
    /// When it cannot be read, or no line of it is a prediction.
    pub fn read(name: impl Into<String>, file: &Path, against: &Against<'_>) -> Result<Run, DataError> {
        let run = Run::measure(name, &Lines::read(file)?, against);
        if run.coverage.predicted + run.coverage.surplus + run.coverage.repeated > 0 {
            return Ok(run);
        }
        let why = run.coverage.bad_predictions.first();
        let why = why.map_or_else(|| "it is empty".to_owned(), |bad| format!("no line is a prediction; {bad}"));
        Err(DataError::shape(file, why))
    }

    /// Measures predictions that were read. Nothing here fails: what cannot be used is counted.
    pub fn measure(name: impl Into<String>, lines: &Lines, against: &Against<'_>) -> Run {
        let predictions = Predictions::of(lines);
        let folder = lines.path().parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let traces = Traces::beside(lines.path());
        let of_log: Vec<&str> = traces.examples.iter().map(String::as_str).collect();
        let shown = match demos_of_folder(&folder) {
            Some(count) if count != of_log.len() => {
                demos_shown(against.known.map(known_demos).unwrap_or_default(), count)
            }
            Some(_) | None => demos_shown(&of_log, of_log.len()),
        };
        let options = Options {
            shown,
            no_plan: traces.no_plan,
            wanted: against.wanted,
            groups: Grouping::all().groups(),
            ..Options::new(against.tools, against.dependency, Profile::Both)
        };
        let evaluation = evaluate(against.gold, &predictions, &options);
        let names = Names::of(against.tools);
        let pairs = pairs(against.gold, &predictions);
        let compared: Vec<Option<(PlanView, PlanView, Diff)>> = pairs
            .par_iter()
            .map(|(gold, prediction)| {
                let gold = gold_view(gold, against.dependency)?;
                let predicted = predicted_view(prediction, against.dependency)?;
                let diff = Diff::of(&gold, &predicted);
                Some((gold, predicted, diff))
            })
            .collect();
        let mut confusion = Confusion::default();
        let mut ranked = Vec::new();
        for (at, ((gold, _), compared)) in pairs.iter().zip(&compared).enumerate() {
            let score = match compared {
                Some((gold_view, predicted, diff)) => {
                    confusion.add(gold.id.as_str(), gold_view, predicted, diff);
                    diff.score()
                }
                None => 0.0,
            };
            if score < 1.0 {
                ranked.push((score, std::cmp::Reverse(gold.n().unwrap_or(0)), at));
            }
        }
        // The worst first; of equals the larger plan, of which more is lost; then in file order.
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let wrong = ranked.len();
        let worst = ranked.iter().take(against.worst).filter_map(|(_, _, at)| pairs.get(*at));
        let catalogue = Catalogue::new(against.tools, against.dependency);
        let worst = worst.map(|(gold, prediction)| sample(gold, prediction, against, &catalogue, &names)).collect();
        Run {
            name: name.into(),
            file: lines.path().to_owned(),
            groups: figures(&evaluation),
            coverage: evaluation.coverage,
            confusion,
            wrong,
            worst,
        }
    }
}

/// The gold plans that have a prediction, in file order: of lines with the same id the last.
fn pairs<'g, 'p, 'a>(gold: &'g Gold, predictions: &'p Predictions<'a>) -> Vec<(GoldRecord<'g>, &'p Prediction<'a>)> {
    let lines: Vec<(usize, &[u8])> = gold.lines.iter().collect();
    let records: Vec<Option<GoldRecord<'_>>> =
        lines.into_par_iter().map(|(line, text)| GoldRecord::read(line, text).ok()).collect();
    let mut last: HashMap<SampleId, usize> = HashMap::with_capacity(records.len());
    for record in records.iter().flatten() {
        last.insert(record.id.clone(), record.line);
    }
    let records = records.into_iter().flatten().filter(|record| last.get(&record.id) == Some(&record.line));
    records.filter_map(|record| predictions.get(&record.id).map(|prediction| (record, prediction))).collect()
}

fn gold_view(gold: &GoldRecord<'_>, dependency: DependencyType) -> Option<PlanView> {
    PlanView::read(gold.task_steps.as_ref(), gold.task_nodes.as_ref(), gold.task_links.as_ref(), dependency)
}

fn predicted_view(prediction: &Prediction<'_>, dependency: DependencyType) -> Option<PlanView> {
    let result = prediction.result.as_ref()?;
    PlanView::read(result.look("task_steps"), result.look("task_nodes"), result.look("task_links"), dependency)
}

fn sample(
    gold: &GoldRecord<'_>,
    prediction: &Prediction<'_>,
    against: &Against<'_>,
    catalogue: &Catalogue,
    names: &Names,
) -> Sample {
    let gold_plan = gold_view(gold, against.dependency).unwrap_or_default();
    let predicted = predicted_view(prediction, against.dependency);
    let result = prediction.result.as_ref().filter(|_| prediction.nested);
    let left_out = legacy::score(gold, result, catalogue, against.wanted.steps(), None).dropped;
    let nothing = PlanView::default();
    let diff = Diff::of(&gold_plan, predicted.as_ref().unwrap_or(&nothing));
    let complaints = match &predicted {
        Some(predicted) => complaints(&gold_plan, predicted, &diff, names),
        None => {
            // Of what the original says and what is found here, one reason is enough.
            let why =
                left_out.as_ref().map_or_else(|| "it has no list under `task_nodes`".to_owned(), ToString::to_string);
            vec![format!("The prediction is no plan: {why}")]
        }
    };
    let request = gold.user_request.as_ref();
    let request = request.map(|request| request.text().map_or_else(|| request.to_serde().to_string(), str::to_owned));
    Sample {
        id: gold.id.to_string(),
        shape: gold.shape.as_ref().map(ToString::to_string),
        request: request.unwrap_or_default(),
        gold: gold_plan,
        predicted,
        diff,
        complaints,
        left_out: left_out.map(|reason| reason.to_string()),
    }
}
