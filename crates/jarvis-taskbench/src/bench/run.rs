//! Plans every sample of a set with one planner, resumably, and scores the plans.
//!
//! Plans are written as TaskBench's predictions are, by [`crate::infer`]: `{name}.json` in the folder of the set, with its
//! errors and its log. A run that was stopped asks only for what is missing.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures::stream::{self, StreamExt};
use jarvis_ask::{Ask, Events};
use jarvis_batch::{Batch, Summary, Watch};
use jarvis_chat::ChatModel;
use jarvis_plan::Request;
use jarvis_planner::Basis;
use rayon::prelude::*;
use tokio_util::sync::CancellationToken;

use super::score::{SampleScore, score};
use super::{BenchError, PlanGraph, PlanSet, Sample, floors};
use crate::data::{DependencyType, Lines, SampleId, ToolList, UserRequest};
use crate::evaluate::strict::Catalogue;
use crate::evaluate::strict::plan::{Cause, Plan};
use crate::evaluate::{Prediction, Predictions};
use crate::infer::ask::{Answered, Asker, PLAN_STAGE, failed};
use crate::infer::job::{begin_log, keep, planned};
use crate::infer::{InferError, InferOptions, Links, OfflinePlans, Outputs, PlanBy, Prompts, reply_schema};
use crate::{DataError, FailureKind};

/// How many samples the offline planner takes between two looks at whether the run was stopped.
const CHUNK: usize = 256;

/// What can be set.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What links mean; by the form of the set unless given.
    pub links: Option<Links>,
    /// As for TaskBench's inference; dependency type and links are those of the set.
    pub infer: InferOptions,
}

/// A set with its plans, scored.
#[derive(Debug, Clone)]
pub struct PlannedSet {
    pub summary: Summary,
    /// A score for each sample, in the order of the set.
    pub scores: Vec<SampleScore>,
}

/// Plans what has no plan yet and scores the set. `dir` is the folder of the set, `name` the stem of its files; without a
/// folder nothing is kept.
///
/// # Errors
/// When files cannot be written. What went wrong with a single sample is in the error file, the summary and its reasons.
pub async fn plan_set(
    set: &PlanSet,
    by: &PlanBy,
    options: &Options,
    (dir, name): (Option<&Path>, &str),
    (events, watch, stop): (&Events, &dyn Watch, &CancellationToken),
) -> Result<PlannedSet, BenchError> {
    let temporary = tempfile::tempdir().map_err(|error| DataError::write(Path::new("a temporary folder"), error))?;
    let mut outputs = Outputs::open(dir.unwrap_or(temporary.path()), name)?;
    let asked: Vec<(SampleId, &str)> = set.samples.iter().map(|sample| (id(sample), sample.request.as_str())).collect();
    outputs.begin(asked.iter().map(|(id, text)| (id, *text)))?;
    let pending: Vec<&Sample> = set.samples.iter().filter(|sample| !outputs.is_done(&id(sample))).collect();
    let (all, of) = (set.samples.len(), pending.len());
    let links = options.links.unwrap_or(set.form.links());
    let infer = InferOptions { dependency: set.dependency, links, ..options.infer.clone() };
    let told = set.notes.iter().map(|note| format!("{}: {note}", set.name));
    let mut notes: Vec<String> = told.chain(outputs.notes().iter().cloned()).collect();
    begin_log(&mut outputs, &settings(&infer), "name another folder with --out", [all, of], &mut notes);
    let mut batch = Batch::begin(all, of, notes, watch, stop);
    let result = match by {
        PlanBy::Model(model) => ask_all(model, events, &infer, &pending, &mut batch, &mut outputs).await,
        PlanBy::Offline(basis) => plan_all(set, links, basis, &pending, &mut batch, &mut outputs).await,
    };
    outputs.settle()?;
    result?;
    let summary = batch.end();
    let path = outputs.path().to_owned();
    drop(outputs);
    let lines = match Lines::read(&path) {
        Ok(lines) => lines,
        // Nothing was planned.
        Err(error) if error.is_missing() => Lines::of(&path, Vec::new()),
        Err(error) => return Err(error.into()),
    };
    Ok(PlannedSet { summary, scores: score_predictions(set, &Predictions::of(&lines)) })
}

fn id(sample: &Sample) -> SampleId {
    SampleId::Text(sample.id.as_str().into())
}

fn request(sample: &Sample) -> UserRequest {
    UserRequest { id: id(sample), text: sample.request.clone() }
}

/// What plans depend on.
fn settings(options: &InferOptions) -> String {
    let InferOptions { planner, links, structured, sampling, .. } = options;
    format!(
        "planner={planner}; links={links}; structured={structured}; temperature={}; top_p={}; max_tokens={}",
        sampling.temperature, sampling.top_p, sampling.max_tokens
    )
}

async fn ask_all(
    model: &Arc<dyn ChatModel>,
    events: &Events,
    options: &InferOptions,
    pending: &[&Sample],
    batch: &mut Batch<'_>,
    outputs: &mut Outputs,
) -> Result<(), InferError> {
    let prompts: Mutex<Last<Prompts>> = Mutex::new(None);
    let (prompts, model) = (&prompts, model.clone());
    let ask = |sample: &Sample| {
        let (ask, tools) = (Ask::new(Arc::clone(&model), events), Arc::clone(&sample.tools));
        let (request, dialogue) = (request(sample), sample.dialogue.clone());
        async move {
            let made = last(prompts, &tools, || {
                Prompts::new(options.dependency, &tools, &[]).map(|prompts| prompts.linked(options.links))
            });
            let made = match made {
                Ok(made) => made,
                Err(error) => {
                    let message = format!("the prompt cannot be made: {error}");
                    let failed = failed(&request.id, FailureKind::Config, PLAN_STAGE, message);
                    return Answered::failed(request, failed);
                }
            };
            let schema = options.structured.then(|| reply_schema(&tools, options.dependency));
            let asker = Asker { ask, prompts: &made, schema: schema.as_ref(), options };
            asker.ask(&request, &dialogue, false).await
        }
    };
    batch.run(pending.iter().copied(), options.workers, ask, |answered, _| keep(answered, outputs)).await
}

/// What was made of a tool list last, with the list.
type Last<T> = Option<(Arc<ToolList>, Arc<T>)>;

/// What is made of a tool list, kept for the next sample with the same list.
fn last<T, E>(kept: &Mutex<Last<T>>, tools: &Arc<ToolList>, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
    let lock = || kept.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((own, made)) = lock().as_ref()
        && Arc::ptr_eq(own, tools)
    {
        return Ok(Arc::clone(made));
    }
    let made = Arc::new(make()?);
    *lock() = Some((Arc::clone(tools), Arc::clone(&made)));
    Ok(made)
}

async fn plan_all(
    set: &PlanSet,
    links: Links,
    basis: &Basis,
    pending: &[&Sample],
    batch: &mut Batch<'_>,
    outputs: &mut Outputs,
) -> Result<(), InferError> {
    let kept: Arc<Mutex<Last<OfflinePlans>>> = Arc::default();
    let graph = set.graph.clone().map(Arc::new);
    let planned = stream::iter(pending.chunks(CHUNK)).then(|chunk| {
        let chunk: Vec<Sample> = chunk.iter().map(|sample| (*sample).clone()).collect();
        let (kept, graph, dependency) = (Arc::clone(&kept), graph.clone(), set.dependency);
        let basis = basis.clone();
        let planned = tokio::task::spawn_blocking(move || {
            let planner = |tools: &Arc<ToolList>| {
                let made = last(&kept, tools, || {
                    Ok::<_, std::convert::Infallible>(
                        OfflinePlans::new(tools, graph.as_deref(), dependency).linked(links).on(&basis),
                    )
                });
                made.unwrap_or_else(|never| match never {})
            };
            // Neighbours with the same list share its index; lists of their own are indexed side by side.
            let groups: Vec<&[Sample]> = chunk.chunk_by(|a, b| Arc::ptr_eq(&a.tools, &b.tools)).collect();
            let plan = |group: &&[Sample]| -> Vec<Result<Answered, InferError>> {
                let Some(first) = group.first() else { return Vec::new() };
                let planner = planner(&first.tools);
                let one = |sample: &Sample| {
                    let asked = Request { history: sample.dialogue.clone(), ..Request::new(&sample.request) };
                    Ok(planned(request(sample), planner.plan_request(&asked)))
                };
                group.par_iter().map(one).collect()
            };
            groups.par_iter().flat_map(plan).collect::<Vec<_>>()
        });
        async move { stream::iter(planned.await.unwrap_or_else(|_| vec![Err(InferError::Stopped)])) }
    });
    batch.drain(planned.flatten(), |answered, _| keep(answered?, outputs)).await
}

/// Scores the predictions of a set; a sample without one, or with one that answers another request, counts as an empty plan.
pub fn score_predictions(set: &PlanSet, predictions: &Predictions<'_>) -> Vec<SampleScore> {
    let kept = Mutex::new(None);
    let one = |sample: &Sample| {
        let catalogue = catalogue(&kept, &sample.tools, set.dependency);
        let answers =
            |prediction: &&Prediction<'_>| prediction.request.as_ref().is_none_or(|asked| *asked == sample.request);
        let plan = predictions.get(&id(sample)).filter(answers).map(|prediction| match &prediction.result {
            Some(result) => Plan::of_result(result, &catalogue),
            None => Plan::malformed(Cause::NoNodes, "it has no `task_nodes`".to_owned()),
        });
        score(set.form, sample, plan, &catalogue)
    };
    set.samples.iter().map(one).collect()
}

fn catalogue(kept: &Mutex<Last<Catalogue>>, tools: &Arc<ToolList>, dependency: DependencyType) -> Arc<Catalogue> {
    let made = last(kept, tools, || Ok::<_, std::convert::Infallible>(Catalogue::new(tools, dependency)));
    made.unwrap_or_else(|never| match never {})
}

/// The floors of a set, with their names.
pub fn score_floors(set: &PlanSet) -> [(&'static str, Vec<SampleScore>); 2] {
    let kept = Mutex::new(None);
    let scored = |plans: Vec<PlanGraph>| {
        let pairs = set.samples.iter().zip(plans);
        let one = |(sample, plan): (&Sample, PlanGraph)| {
            score(set.form, sample, Some(plan.to_plan()), &catalogue(&kept, &sample.tools, set.dependency))
        };
        pairs.map(one).collect()
    };
    [
        ("every listed tool", scored(set.samples.iter().map(floors::every_tool).collect())),
        ("a constant plan", scored(floors::constant(&set.samples))),
    ]
}
