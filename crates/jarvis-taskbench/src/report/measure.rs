//! One run measured: the figures of [`evaluate()`], and its worst samples.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::DataError;
use crate::data::{DependencyType, Gold, Lines, ToolList};
use crate::evaluate::strict::{Bootstrap, StrictSample};
use crate::evaluate::{Counts, Coverage, Evaluation, Options, Predictions, Profile, Wanted, evaluate};
use crate::infer::{Traces, demos_of_folder, demos_shown, known_demos};

#[derive(Debug, Clone, Copy)]
pub struct Against<'a> {
    pub tools: &'a ToolList,
    pub gold: &'a Gold,
    pub dependency: DependencyType,
    /// The published domain, if it is one: the strict figures leave out its examples where prompts contained them.
    pub known: Option<&'static str>,
    pub wanted: Wanted,
    pub worst: usize,
    pub intervals: bool,
}

#[derive(Debug, Clone)]
pub struct Run {
    /// The file's name, and the prediction folder's suffix where it has one.
    pub name: String,
    pub file: PathBuf,
    /// The figures of all samples under the names of metrics files, the strict ones under `strict`.
    pub figures: Value,
    pub coverage: Coverage,
    /// The predictions whose nodes or links are not all right.
    pub wrong: usize,
    /// The worst of these, the worst first.
    pub worst: Vec<Sample>,
}

#[derive(Debug, Clone)]
pub struct Sample {
    pub id: String,
    /// `None` where neither plan has nodes.
    pub node_f1: Option<f64>,
    /// `None` where neither plan has links.
    pub link_f1: Option<f64>,
    /// Why it lost points, one reason each.
    pub lost: Vec<String>,
}

impl Sample {
    fn of(sample: &StrictSample) -> Sample {
        let f1 = |counts: Counts| (counts.gold + counts.predicted > 0).then(|| counts.f1());
        Sample {
            id: sample.id.to_string(),
            node_f1: f1(sample.nodes),
            link_f1: f1(sample.links),
            lost: sample.lost.iter().map(ToString::to_string).collect(),
        }
    }

    /// The mean of both F1, from 0 to 1; what neither plan has does not count.
    fn score(&self) -> f64 {
        let node_f1 = self.node_f1.unwrap_or(1.0);
        self.link_f1.map_or(node_f1, |link_f1| f64::midpoint(node_f1, link_f1))
    }
}

fn figures(evaluation: &Evaluation) -> Value {
    let mut figures = evaluation.legacy.first().map_or(Value::Null, |(_, figures)| figures.to_value());
    if let (Value::Object(figures), Some((_, strict))) = (&mut figures, evaluation.strict.first()) {
        figures.insert("strict".into(), strict.to_value());
    }
    figures
}

impl Run {
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
        let examples = match demos_of_folder(&folder) {
            Some(count) if count != of_log.len() => {
                demos_shown(against.known.map(known_demos).unwrap_or_default(), count)
            }
            Some(_) | None => demos_shown(&of_log, of_log.len()),
        };
        let options = Options {
            examples,
            no_plan: traces.no_plan,
            wanted: against.wanted,
            bootstrap: against.intervals.then(|| Bootstrap { all: true, ..Bootstrap::default() }),
            ..Options::new(against.tools, against.dependency, Profile::Both)
        };
        let evaluation = evaluate(against.gold, &predictions, &options);
        let scored =
            evaluation.samples.iter().filter_map(|sample| sample.strict.as_ref()).filter(|sample| !sample.missing);
        let mut worst: Vec<(Sample, u64)> =
            scored.map(|sample| (Sample::of(sample), sample.nodes.gold + sample.links.gold)).collect();
        worst.retain(|(sample, _)| sample.score() < 1.0);
        worst.sort_by(|(a, a_size), (b, b_size)| {
            a.score().total_cmp(&b.score()).then_with(|| Reverse(a_size).cmp(&Reverse(b_size)))
        });
        let wrong = worst.len();
        worst.truncate(against.worst);
        Run {
            name: name.into(),
            file: lines.path().to_owned(),
            figures: figures(&evaluation),
            coverage: evaluation.coverage,
            wrong,
            worst: worst.into_iter().map(|(sample, _)| sample).collect(),
        }
    }
}
