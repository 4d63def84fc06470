//! A run: chooses the requests, asks for the plans that are missing, and writes each result as it arrives.

use std::collections::HashSet;
use std::sync::Arc;

use futures::stream::{self, StreamExt};
use indexmap::IndexMap;
use jarvis_ask::{Ask, Events};
use jarvis_batch::{Batch, Ended, Outcome, Summary, Watch};
use jarvis_chat::{ChatModel, ReplySchema};
use jarvis_planner::Basis;
use rayon::prelude::*;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::ask::{Answered, Asker, Calls, PLAN_STAGE, failed, prediction_line};
use super::log::{Level, SETTINGS};
use super::reply::ReadPlan;
use super::{
    Demo, InferError, InferOptions, MENDED, OfflinePlans, Outputs, PlanBy, Prompts, REFORMATTED, demos, reply_schema,
};
use crate::FailureKind;
use crate::data::{DependencyType, Domain, Requests, SampleId, ToolGraph, ToolList, UserRequest};

/// How many requests the offline planner takes between two looks at whether the run was stopped.
const BATCH: usize = 256;

/// How many unusable lines of the request file are listed.
const NAMED: usize = 5;

#[derive(Debug, Clone)]
pub struct Job {
    tools: ToolList,
    graph: Option<ToolGraph>,
    demos: Vec<Demo>,
    prompts: Prompts,
    requests: Vec<UserRequest>,
    notes: Vec<String>,
    options: InferOptions,
    events: Events,
}

impl Job {
    /// Reads the domain and chooses the requests: each id once (where it is repeated the last text, as the last gold plan
    /// of an id is the one that counts), without the examples, then as `ids` and `limit` say.
    ///
    /// # Errors
    /// When a file cannot be used, the tools do not fit the dependency type, or an example is missing.
    pub fn prepare(domain: &Domain, options: InferOptions) -> Result<Job, InferError> {
        let tools = domain.tools()?;
        if options.dependency == DependencyType::Resource {
            let untyped = |reason: String| InferError::Untyped { reason };
            if domain.known_as() == Some("dailylifeapis") {
                return Err(untyped("the tools of dailylifeapis have named parameters".into()));
            }
            if !tools.is_typed() {
                let path = domain.path("tool_desc.json");
                return Err(untyped(format!("those of {} have no `input-type`", path.display())));
            }
        }
        let demos = demos(domain, options.dependency, options.demos, &options.demo_ids)?;
        let prompts = Prompts::new(options.dependency, &tools, &demos)?.linked(options.links);

        // Some benchmarks, such as UltraTool, come with gold plans alone, which hold the requests.
        let (own, gold) = (domain.path("user_requests.json"), domain.path("data.json"));
        let borrowed = !own.exists() && gold.exists();
        let file = if borrowed { gold } else { own };
        let read = Requests::read(&file)?;
        if read.requests.is_empty() {
            let reason = read.bad.first().map_or_else(String::new, |bad| format!(": {bad}"));
            return Err(InferError::NoRequests { path: file, reason });
        }
        let named = read.bad.iter().take(NAMED);
        let mut notes: Vec<String> = named.map(|bad| format!("{}, {bad}; it is skipped", file.display())).collect();
        if borrowed {
            notes.push(format!("there is no user_requests.json; the requests are taken from {}", file.display()));
        }
        if read.bad.len() > NAMED {
            notes.push(format!("{}: {} more lines are not requests", file.display(), read.bad.len() - NAMED));
        }
        let mut chosen: IndexMap<SampleId, String> = IndexMap::new();
        for request in read.requests {
            chosen.insert(request.id, request.text);
        }
        if let Some(ids) = &options.ids {
            let known: HashSet<&str> = chosen.keys().map(SampleId::as_str).collect();
            let unknown = ids.iter().filter(|id| !known.contains(id.as_str())).count();
            if unknown > 0 {
                notes.push(format!("{unknown} of the {} ids asked for are not in {}", ids.len(), file.display()));
            }
            chosen.retain(|id, _| ids.contains(id.as_str()));
            if chosen.is_empty() {
                return Err(InferError::NoRequests { path: file, reason: " with one of the ids asked for".into() });
            }
        }
        if !options.include_demos {
            // The gold file may write as a number what the requests write as text.
            chosen.retain(|id, _| demos.iter().all(|demo| demo.id.as_str() != id.as_str()));
        }
        let requests = chosen.into_iter().take(options.limit.unwrap_or(usize::MAX));
        let requests = requests.map(|(id, text)| UserRequest { id, text }).collect();
        let graph =
            domain.path("graph_desc.json").exists().then(|| domain.graph()).transpose().unwrap_or_else(|error| {
                notes.push(format!("{error}; the offline planner plans without the tool graph"));
                None
            });
        Ok(Job { tools, graph, demos, prompts, requests, notes, options, events: Events::unread() })
    }

    /// Reports the calls to the run of these events.
    #[must_use]
    pub fn reporting_to(self, events: &Events) -> Job {
        Job { events: events.clone(), ..self }
    }

    pub fn requests(&self) -> &[UserRequest] {
        &self.requests
    }

    pub fn demos(&self) -> &[Demo] {
        &self.demos
    }

    pub fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    /// Asks for what has no prediction yet and writes each answer as it comes. When `stop` is cancelled, calls under way
    /// are dropped and the summary says what is left. Dropping the future at any moment loses no line either.
    ///
    /// # Errors
    /// When an output cannot be written. What went wrong with a single request is in the error file and the summary.
    pub async fn run(
        &self,
        by: &PlanBy,
        outputs: &mut Outputs,
        watch: &dyn Watch,
        stop: &CancellationToken,
    ) -> Result<Summary, InferError> {
        outputs.begin(self.requests.iter().map(|request| (&request.id, request.text.as_str())))?;
        let mut pending: Vec<&UserRequest> =
            self.requests.iter().filter(|request| !outputs.is_done(&request.id)).collect();
        // What failed before comes last, so that runs that are stopped again and again get on all the same.
        pending.sort_by_key(|request| outputs.has_failed(&request.id));
        let mut notes: Vec<String> = self.notes.iter().chain(outputs.notes()).cloned().collect();
        let settings = self.settings();
        let (all, of) = (self.requests.len(), pending.len());
        begin_log(outputs, &settings, "--tag or --prediction-dir keep runs apart", [all, of], &mut notes);
        let mut batch = Batch::begin(all, of, notes, watch, stop);
        let result = match by {
            PlanBy::Model(model) => self.ask_all(model, &pending, &mut batch, outputs).await,
            PlanBy::Offline(basis) => self.plan_all(basis, &pending, &mut batch, outputs).await,
        };
        outputs.settle()?;
        result?;
        let summary = batch.end();
        let Summary { done, failed, left, .. } = summary;
        let how = match (of, left) {
            (0, _) => "all completed".to_owned(),
            (_, 0) => format!("completed: {done}, failed: {failed}"),
            (_, left) => {
                let how = if summary.gave_up { "gave up" } else { "stopped" };
                format!("{how}; completed: {done}, failed: {failed}, left: {left}")
            }
        };
        outputs.log.line(Level::Info, &how);
        Ok(summary)
    }

    /// What predictions depend on, as `key=value` with `; ` between, for the log and the next run.
    fn settings(&self) -> String {
        let InferOptions { planner, dependency, reformat, structured, sampling, .. } = &self.options;
        let demos: Vec<&str> = self.demos.iter().map(|demo| demo.id.as_str()).collect();
        format!(
            "planner={planner}; dependency_type={dependency}; examples={}; reformat={reformat}; structured={structured}; \
             temperature={}; top_p={}; max_tokens={}",
            demos.join(","),
            sampling.temperature,
            sampling.top_p,
            sampling.max_tokens
        )
    }

    async fn ask_all(
        &self,
        model: &Arc<dyn ChatModel>,
        pending: &[&UserRequest],
        batch: &mut Batch<'_>,
        outputs: &mut Outputs,
    ) -> Result<(), InferError> {
        let schema: Option<ReplySchema> =
            self.options.structured.then(|| reply_schema(&self.tools, self.options.dependency));
        let ask = Ask::new(Arc::clone(model), &self.events);
        let asker = Asker { ask, prompts: &self.prompts, schema: schema.as_ref(), options: &self.options };
        // The one that is logged whole goes alone.
        let (first, rest) = pending.split_at(usize::from(self.options.log_first_detail).min(pending.len()));
        for (requests, whole, workers) in [(first, true, 1), (rest, false, self.options.workers)] {
            let requests = requests.iter().copied();
            batch
                .run(requests, workers, |request| asker.ask(request, &[], whole), |answered, _| keep(answered, outputs))
                .await?;
        }
        Ok(())
    }

    async fn plan_all(
        &self,
        basis: &Basis,
        pending: &[&UserRequest],
        batch: &mut Batch<'_>,
        outputs: &mut Outputs,
    ) -> Result<(), InferError> {
        if pending.is_empty() {
            return Ok(());
        }
        let (tools, graph) = (self.tools.clone(), self.graph.clone());
        let (dependency, links) = (self.options.dependency, self.options.links);
        let basis = basis.clone();
        let read = move || OfflinePlans::new(&tools, graph.as_ref(), dependency).linked(links).on(&basis);
        let planner = tokio::task::spawn_blocking(read).await;
        let planner = Arc::new(planner.map_err(|_| InferError::Stopped)?);
        let planned = stream::iter(pending.chunks(BATCH)).then(|chunk| {
            let chunk: Vec<UserRequest> = chunk.iter().map(|request| (*request).clone()).collect();
            let planner = Arc::clone(&planner);
            let planned = tokio::task::spawn_blocking(move || {
                chunk.into_par_iter().map(|request| Ok(plan(&planner, request))).collect::<Vec<_>>()
            });
            async move { stream::iter(planned.await.unwrap_or_else(|_| vec![Err(InferError::Stopped)])) }
        });
        batch.drain(planned.flatten(), |answered, _| keep(answered?, outputs)).await
    }
}

/// Writes the start of a run into its log, and adds to the notes what differs from the settings of earlier predictions.
/// `counts` are all requests and those to be asked.
pub(crate) fn begin_log(
    outputs: &mut Outputs,
    settings: &str,
    hint: &str,
    [all, pending]: [usize; 2],
    notes: &mut Vec<String>,
) {
    let mut made = settings;
    let before;
    if outputs.done() > 0
        && let Some(other) = outputs.log.before.clone().filter(|before| before != settings)
    {
        let path = outputs.path().display();
        let difference = difference(&other, settings);
        notes.push(format!("predictions in {path} were made with other settings: {difference}; {hint}"));
        // What is there stays what it is, and the next run with these settings is to be told, too.
        before = other;
        made = &before;
    }
    for note in notes.iter() {
        outputs.log.line(Level::Warning, note);
    }
    outputs.log.line(Level::Info, &format!("{pending} of {all} requests to ask"));
    outputs.log.line(Level::Info, &format!("{SETTINGS}{made}"));
}

/// Writes down how a request ended.
pub(crate) fn keep(answered: Answered, outputs: &mut Outputs) -> Result<Ended, InferError> {
    let Answered { id, request, outcome, calls } = answered;
    for (stage, text) in calls.texts {
        outputs.log.line(Level::Info, &format!("request {id}: {stage} {text}"));
    }
    let (calls, usage) = (calls.count, calls.usage);
    let ended = Ended { id: id.to_string(), calls, usage, ..Ended::default() };
    match outcome {
        Ok(ReadPlan { result, notes }) => {
            outputs.predict(&id, &prediction_line(&id, &request, &result))?;
            let how = if notes.is_empty() { String::new() } else { format!(": {}", notes.join("; ")) };
            outputs.log.line(Level::Info, &format!("request {id}: completed{how}"));
            let mended = calls < 2 && !notes.is_empty();
            let counts = vec![(REFORMATTED, usize::from(calls > 1)), (MENDED, usize::from(mended))];
            Ok(Ended { counts, ..ended })
        }
        Err(failure) => {
            let line = serde_json::to_string(&failure).expect("a failure is texts and numbers");
            outputs.fail(&id, line)?;
            let message = format!("request {id}: {} at stage {}: {}", failure.kind, failure.stage, failure.message);
            outputs.log.line(Level::Error, &message);
            Ok(Ended {
                outcome: Outcome::Failed,
                message: format!("{}: {}", failure.kind, failure.message),
                kind: Some(failure.kind.as_str()),
                hopeless: failure.hopeless,
                ..ended
            })
        }
    }
}

fn plan(planner: &OfflinePlans, request: UserRequest) -> Answered {
    let result = planner.plan(&request.text);
    planned(request, result)
}

/// What the offline planner made of a request.
pub(crate) fn planned(request: UserRequest, result: Result<Value, String>) -> Answered {
    let outcome = result.map(|result| ReadPlan { result, notes: Vec::new() });
    let outcome = outcome.map_err(|message| failed(&request.id, FailureKind::Planner, PLAN_STAGE, message));
    Answered { id: request.id, request: request.text, outcome, calls: Calls::default() }
}

/// What differs between two settings: `temperature 0 → 1`.
fn difference(before: &str, now: &str) -> String {
    let pairs = |settings: &str| -> IndexMap<String, String> {
        let pair = |part: &str| part.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        settings.split("; ").filter_map(pair).collect()
    };
    let (before, now) = (pairs(before), pairs(now));
    let differs = now.iter().filter(|(key, value)| before.get(*key) != Some(*value));
    let changes = differs.map(|(key, value)| {
        let was = before.get(key).map_or("-", String::as_str);
        format!("{} {} → {}", key.replace('_', " "), shown(was), shown(value))
    });
    changes.collect::<Vec<_>>().join(", ")
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "none" } else { value }
}
