//! How good planning is: plans for examples with known pipelines, compared with these.
//!
//! Two figures: the share of samples whose tasks are all right, and the share of the right paths from `source` to
//! `pipeline-end` that were found. Reasons do not count, nor does the order inside lists. Source: the evaluation tool of
//! PantheraXpoint/JARVIS; the counts here are our own reading of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::stream::{self, StreamExt as _};
use jarvis_ask::Events;
use jarvis_batch::{Batch, Ended, Log, Outcome, Summary, Watch, is_hopeless};
use jarvis_chat::{ChatError, ChatModel, TokenUsage};
use jarvis_plan::Usage;
use jarvis_store::files::FileError;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::examples::{Example, Examples};
use super::pipeline::steps::{Planned, records};
use super::pipeline::{END, PipelineTask, SOURCE};
use super::trial::is_same;
use super::{DecisionError, Decisions};
use crate::source::ServiceTask;

/// The most paths of one pipeline that are counted.
const MAX_PATHS: usize = 10_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub id: String,
    pub category: String,
    /// Whether every task is right: no more, no fewer, each with the same five fields.
    pub all_match: bool,
    pub tasks_matched: usize,
    pub tasks_true: usize,
    /// Tasks planned that the true pipeline does not have.
    pub tasks_extra: usize,
    pub paths_matched: usize,
    pub paths_true: usize,
    /// Paths planned that the true pipeline does not have.
    pub paths_extra: usize,
    /// Why there is no plan, when there is none; it counts as all wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The figures of an evaluation. Shares are from 0 to 1, and 0 when there are no samples.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    pub samples: usize,
    /// Those without a plan.
    pub failed: usize,
    /// Examples shown as few-shots.
    pub few_shots: usize,
    /// Method 1: the share of samples whose tasks are all right.
    pub exact_match: f64,
    /// Method 2: the share of true paths found, averaged over the samples.
    pub path_recall: f64,
    pub categories: BTreeMap<String, CategoryFigures>,
    /// Each sample, in the order of the examples.
    pub per_sample: Vec<Sample>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CategoryFigures {
    pub samples: usize,
    /// Method 1.
    pub exact_match: f64,
    /// Method 2.
    pub path_recall: f64,
}

impl Evaluation {
    pub fn of(per_sample: Vec<Sample>, few_shots: usize) -> Evaluation {
        let mut by_category: BTreeMap<String, Vec<&Sample>> = BTreeMap::new();
        for sample in &per_sample {
            by_category.entry(sample.category.clone()).or_default().push(sample);
        }
        let all: Vec<&Sample> = per_sample.iter().collect();
        let categories = by_category
            .into_iter()
            .map(|(name, samples)| {
                let figures = CategoryFigures {
                    samples: samples.len(),
                    exact_match: exact_match(&samples),
                    path_recall: path_recall(&samples),
                };
                (name, figures)
            })
            .collect();
        Evaluation {
            samples: all.len(),
            failed: all.iter().filter(|sample| sample.error.is_some()).count(),
            few_shots,
            exact_match: exact_match(&all),
            path_recall: path_recall(&all),
            categories,
            per_sample,
        }
    }

    /// The first figure in words: each sample, what is right in it, and the share.
    pub fn tasks_report(&self) -> String {
        let line = |sample: &Sample| {
            let mark = if sample.all_match { "right" } else { "wrong" };
            let (matched, truth, extra) = (sample.tasks_matched, sample.tasks_true, sample.tasks_extra);
            format!("{mark}  {}: {matched} of {truth} tasks, {extra} too many", sample.id)
        };
        self.report(line, "samples whose tasks are all right", self.exact_match)
    }

    /// The second figure in words: each sample, which share of its paths was found, and the average.
    pub fn paths_report(&self) -> String {
        let line = |sample: &Sample| {
            let (matched, truth, extra) = (sample.paths_matched, sample.paths_true, sample.paths_extra);
            format!("{}: {matched} of {truth} paths, {extra} too many", sample.id)
        };
        self.report(line, "paths found, averaged over the samples", self.path_recall)
    }

    fn report(&self, line: impl Fn(&Sample) -> String, what: &str, share: f64) -> String {
        let mut text = String::new();
        for sample in &self.per_sample {
            let error = sample.error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
            text.push_str(&format!("{}{error}\n", line(sample)));
        }
        text.push_str(&format!("\n{what}: {:.1}% of {} samples\n", share * 100.0, self.samples));
        text
    }
}

fn exact_match(samples: &[&Sample]) -> f64 {
    mean(samples.iter().map(|sample| f64::from(u8::from(sample.all_match))))
}

fn path_recall(samples: &[&Sample]) -> f64 {
    mean(samples.iter().map(|sample| match sample.paths_true {
        // There was nothing to find: right when nothing was planned.
        0 => f64::from(u8::from(sample.paths_extra == 0 && sample.error.is_none())),
        paths => sample.paths_matched as f64 / paths as f64,
    }))
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len();
    if count == 0 { 0.0 } else { values.sum::<f64>() / count as f64 }
}

pub fn compare(example: &Example, planned: &[PipelineTask]) -> Sample {
    let truth: BTreeSet<String> = example.tasks.iter().map(fields).collect();
    let found: BTreeSet<String> = planned.iter().map(fields).collect();
    let true_paths = paths(&example.tasks);
    let found_paths = paths(planned);
    Sample {
        id: example.id.clone(),
        category: example.base_pipeline_id.clone(),
        all_match: truth == found,
        tasks_matched: truth.intersection(&found).count(),
        tasks_true: truth.len(),
        tasks_extra: found.difference(&truth).count(),
        paths_matched: true_paths.intersection(&found_paths).count(),
        paths_true: true_paths.len(),
        paths_extra: found_paths.difference(&true_paths).count(),
        error: None,
    }
}

/// The five fields that count, lists sorted.
fn fields(task: &PipelineTask) -> String {
    let lists = [
        sorted(&task.inputs_from_upstreams),
        sorted(&task.upstreams),
        sorted(&task.outputs_for_downstreams),
        sorted(&task.downstreams),
    ];
    serde_json::json!([task.id, lists]).to_string()
}

fn sorted(list: &[String]) -> BTreeSet<&str> {
    super::pipeline::some(list).collect()
}

/// Every path from `source` to `pipeline-end` as the ids on it, at most [`MAX_PATHS`].
fn paths(tasks: &[PipelineTask]) -> BTreeSet<Vec<&str>> {
    let after: BTreeMap<&str, Vec<&str>> =
        tasks.iter().map(|task| (task.id.as_str(), task.after().collect())).collect();
    let mut found = BTreeSet::new();
    let mut open: Vec<Vec<&str>> = if after.contains_key(SOURCE) { vec![vec![SOURCE]] } else { Vec::new() };
    let mut steps = 0;
    while let Some(path) = open.pop() {
        steps += 1;
        if found.len() >= MAX_PATHS || steps > MAX_PATHS * 64 {
            break;
        }
        let Some(last) = path.last() else { continue };
        if *last == END {
            found.insert(path);
            continue;
        }
        for next in after.get(last).into_iter().flatten() {
            // Truths are data: they may hold a cycle.
            if !path.contains(next) {
                let mut longer = path.clone();
                longer.push(next);
                open.push(longer);
            }
        }
    }
    found
}

/// The file of an evaluation: a line for each sample that has a plan, from which a later evaluation goes on.
#[derive(Debug)]
pub struct SampleLog {
    log: Log<String>,
    /// What the file held when it was opened.
    samples: HashMap<String, Sample>,
}

impl SampleLog {
    /// Opens or makes the file. `measured` says in a line what is measured with what: the file begins with it.
    ///
    /// # Errors
    /// When another evaluation has it, it cannot be read or written, or it holds samples of something else.
    pub fn open(path: &Path, measured: &str) -> Result<SampleLog, EvaluationError> {
        let mut samples = HashMap::new();
        let mut head = None;
        let mut log = Log::open(path, |line| {
            if let Ok(found) = serde_json::from_slice::<Head>(line) {
                head = Some(found.measured);
                return Some(String::new());
            }
            let sample: Sample = serde_json::from_slice(line).ok()?;
            let id = sample.id.clone();
            samples.insert(id.clone(), sample);
            Some(id)
        })?;
        match head {
            Some(before) if before != measured => {
                return Err(EvaluationError::Other { path: path.to_owned(), before, now: measured.to_owned() });
            }
            Some(_) => {}
            None => {
                let head = Head { measured: measured.to_owned() };
                log.write(String::new(), &serde_json::to_string(&head).expect("its key is a text"))?;
            }
        }
        Ok(SampleLog { log, samples })
    }

    /// Whether there is nothing to go on from.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }
}

/// First line of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    measured: String,
}

#[derive(Debug, thiserror::Error)]
pub enum EvaluationError {
    #[error(transparent)]
    Decision(#[from] DecisionError),
    #[error(transparent)]
    Log(#[from] FileError),
    #[error("{} holds samples of another measurement: {before}; this one is: {now}", .path.display())]
    Other { path: PathBuf, before: String, now: String },
}

impl Decisions {
    /// Plans for every example that is not among the few-shots (one of each category, or none with `few_shots` false)
    /// and measures the plans. With a log, samples that it holds are not planned for again, and new ones are added to it.
    /// Makes one call for each sample; to make none again, use a recording.
    ///
    /// A plan that fails is a sample that failed. The summary says whether samples are left, because `stop` was cancelled
    /// or nobody answered the first ones; the figures then cover the samples that ended.
    ///
    /// # Errors
    /// When nothing can be planned at all: no chat model, no tasks, or a recording that does not hold a call; and when the
    /// log cannot be written.
    pub async fn evaluate(
        &self,
        examples: &Examples,
        few_shots: bool,
        mut log: Option<&mut SampleLog>,
        watch: &dyn Watch,
        stop: &CancellationToken,
    ) -> Result<(Evaluation, Summary), EvaluationError> {
        let chat = self.pipeline.chat.as_ref().ok_or(DecisionError::NeedsModel("the pipeline form"))?;
        let fetched = stop.run_until_cancelled(records(self.source.as_ref())).await;
        // What is stopped here plans for nothing, and leaves every sample.
        let tasks = fetched.transpose()?.map_or_else(Vec::new, |records| records.tasks);
        let shots = if few_shots { examples.few_shots() } else { Vec::new() };
        let measured = || examples.all.iter().filter(|example| !shots.iter().any(|shot| is_same(shot, example)));
        let mut samples = log.as_ref().map_or_else(HashMap::new, |log| log.samples.clone());
        let pending: Vec<&Example> = measured().filter(|example| !samples.contains_key(&example.id)).collect();
        let notes = log.as_ref().map_or_else(Vec::new, |log| log.log.notes("sample"));
        let mut batch = Batch::begin(measured().count(), pending.len(), notes, watch, stop);
        // Collected first, so that the future of an evaluation can be sent between threads.
        let plans: Vec<_> = pending.into_iter().map(|example| self.sample(chat, &tasks, example, &shots)).collect();
        // In the order of the examples, so that progress reads like the report.
        let plans = stream::iter(plans).buffered(self.settings.concurrency.max(1));
        let keep = |(example, planned, usage): (&Example, Result<Planned, DecisionError>, Usage), _: &Summary| {
            let (sample, ended) = ended(example, planned, &usage)?;
            if let Some(log) = log.as_mut().filter(|_| sample.error.is_none()) {
                log.log.write(sample.id.clone(), &serde_json::to_string(&sample).expect("its keys are texts"))?;
            }
            samples.insert(sample.id.clone(), sample);
            Ok::<_, EvaluationError>(ended)
        };
        batch.drain(plans, keep).await?;
        let per_sample = measured().filter_map(|example| samples.remove(&example.id)).collect();
        Ok((Evaluation::of(per_sample, shots.len()), batch.end()))
    }

    async fn sample<'a>(
        &self,
        chat: &Arc<dyn ChatModel>,
        records: &[ServiceTask],
        example: &'a Example,
        shots: &[Example],
    ) -> (&'a Example, Result<Planned, DecisionError>, Usage) {
        let events = Events::unread();
        let stages = self.pipeline.stages(Arc::clone(chat), &events);
        let planned = self.steps(&stages, records, &example.scenario).plan_in_time(shots, true).await;
        (example, planned, events.usage())
    }
}

/// The sample that a plan is, and how it counts.
fn ended(
    example: &Example,
    planned: Result<Planned, DecisionError>,
    usage: &Usage,
) -> Result<(Sample, Ended), DecisionError> {
    let (sample, error) = match planned {
        Ok(planned) => (compare(example, &planned.pipeline.tasks), None),
        // A replay must not go other ways than the recorded run.
        Err(error @ DecisionError::Model { source: ChatError::ReplayMiss { .. }, .. }) => return Err(error),
        Err(error) => {
            let failed = Sample { all_match: false, error: Some(error.to_string()), ..compare(example, &[]) };
            (failed, Some(error))
        }
    };
    let message = match (&sample.error, sample.all_match) {
        (Some(error), _) => error.clone(),
        (None, true) => "right".to_owned(),
        (None, false) => format!("{} of {} paths right", sample.paths_matched, sample.paths_true),
    };
    let ended = Ended {
        id: sample.id.clone(),
        outcome: if error.is_none() { Outcome::Done } else { Outcome::Failed },
        message,
        kind: error.as_ref().map(DecisionError::code),
        hopeless: matches!(&error, Some(DecisionError::Model { source, .. }) if is_hopeless(source)),
        calls: usage.total_calls() as usize,
        usage: TokenUsage { prompt: usage.prompt_tokens, completion: usage.completion_tokens, ..TokenUsage::default() },
        ..Ended::default()
    };
    Ok((sample, ended))
}

#[cfg(test)]
mod tests;
