//! A run: which requests are asked, in what order they end up in files, and when it stops.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use futures::stream::{self, StreamExt};
use indexmap::IndexMap;
use jarvis_ask::{Ask, Events};
use jarvis_chat::{ChatModel, ReplySchema, TokenUsage};
use rayon::prelude::*;
use tokio_util::sync::CancellationToken;

use super::ask::{Answered, Asker, PLAN_STAGE, failed, prediction_line};
use super::log::{Level, SETTINGS};
use super::reply::ReadPlan;
use super::{
    Begun, Demo, Failed, InferError, InferOptions, OfflinePlans, Outputs, PlanBy, Progress, Prompts, Summary, Watch,
    demos, reply_schema,
};
use crate::FailureKind;
use crate::data::{DependencyType, Domain, Requests, SampleId, ToolGraph, ToolList, UserRequest};

/// How many requests the offline planner takes between two looks at whether the run was stopped.
const BATCH: usize = 256;

/// How many requests may fail in a row from the first on because nobody is there to answer, before the run gives up:
/// every one takes the time of its repeats, and the next thousands would too.
const HOPELESS: usize = 8;

/// The same where the endpoint answers that it lets nobody in, or has no such model.
const REFUSED: usize = 3;

/// Lines of the request file that are no requests: so many are named.
const NAMED: usize = 5;

/// What is asked of a domain.
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
        let prompts = Prompts::new(options.dependency, &tools, &demos)?;

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
        let mut notes: Vec<String> = named.map(|bad| format!("{}, {bad}; it is passed over", file.display())).collect();
        if borrowed {
            notes.push(format!("there is no user_requests.json; the requests are those of {}", file.display()));
        }
        if read.bad.len() > NAMED {
            notes.push(format!("{}: {} more lines are no requests", file.display(), read.bad.len() - NAMED));
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

    /// The requests that need a prediction.
    pub fn requests(&self) -> &[UserRequest] {
        &self.requests
    }

    /// The prompts.
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
        let mut pending: Vec<&UserRequest> =
            self.requests.iter().filter(|request| !outputs.is_done(&request.id)).collect();
        // What failed before comes last, so that runs that are stopped again and again get on all the same.
        pending.sort_by_key(|request| outputs.has_failed(&request.id));
        let mut notes: Vec<String> = self.notes.iter().chain(outputs.notes()).cloned().collect();
        let settings = self.settings();
        if outputs.done() > 0
            && let Some(other) = outputs.log.setting_before().filter(|before| *before != settings)
        {
            let path = outputs.path().display();
            notes.push(format!(
                "predictions in {path} were made with other settings: {}; --tag or --prediction-dir keep runs apart",
                difference(&other, &settings)
            ));
        }
        let mut run = Run::new(pending.len(), outputs, watch);
        for note in &notes {
            run.outputs.log.line(Level::Warning, note);
        }
        let (pending_now, of) = (run.of, self.requests.len());
        run.outputs.log.line(Level::Info, &format!("{pending_now} of {of} requests to ask"));
        run.outputs.log.line(Level::Info, &format!("{SETTINGS}{settings}"));
        watch.begun(&Begun { pending: run.of, already: self.requests.len() - run.of, notes });
        let result = match by {
            PlanBy::Model(model) => self.ask_all(model, &pending, &mut run, stop).await,
            PlanBy::Offline => self.plan_all(&pending, &mut run, stop).await,
        };
        run.outputs.settle()?;
        result?;
        let summary = run.summary(self);
        let Summary { completed, failed, left, .. } = summary;
        let message = match (run.of, left) {
            (0, _) => "all completed".to_owned(),
            (_, 0) => format!("completed: {completed}, failed: {failed}"),
            (_, left) if summary.gave_up => {
                format!("gave up; completed: {completed}, failed: {failed}, left: {left}")
            }
            (_, left) => format!("stopped; completed: {completed}, failed: {failed}, left: {left}"),
        };
        run.outputs.log.line(Level::Info, &message);
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
        run: &mut Run<'_>,
        stop: &CancellationToken,
    ) -> Result<(), InferError> {
        let schema: Option<ReplySchema> =
            self.options.structured.then(|| reply_schema(&self.tools, self.options.dependency));
        let ask = Ask::new(Arc::clone(model), &self.events);
        let asker = Asker { ask, prompts: &self.prompts, schema: schema.as_ref(), options: &self.options };
        // The one that is logged whole goes alone.
        let (first, rest) = pending.split_at(usize::from(self.options.log_first_detail).min(pending.len()));
        for (requests, keep, workers) in [(first, true, 1), (rest, false, self.options.workers.max(1))] {
            let asked = stream::iter(requests).map(|request| asker.ask(request, keep)).buffer_unordered(workers);
            let mut asked = std::pin::pin!(asked);
            loop {
                let answered = tokio::select! {
                    biased;
                    () = stop.cancelled() => return Ok(()),
                    answered = asked.next() => answered,
                };
                match answered {
                    Some(answered) => run.note(answered)?,
                    None => break,
                }
                if run.is_hopeless() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn plan_all(
        &self,
        pending: &[&UserRequest],
        run: &mut Run<'_>,
        stop: &CancellationToken,
    ) -> Result<(), InferError> {
        if pending.is_empty() {
            return Ok(());
        }
        let (tools, graph, dependency) = (self.tools.clone(), self.graph.clone(), self.options.dependency);
        let planner = tokio::task::spawn_blocking(move || OfflinePlans::new(&tools, graph.as_ref(), dependency)).await;
        let planner = Arc::new(planner.map_err(|_| InferError::Stopped)?);
        for batch in pending.chunks(BATCH) {
            if stop.is_cancelled() {
                return Ok(());
            }
            let batch: Vec<UserRequest> = batch.iter().map(|request| (*request).clone()).collect();
            let planner = Arc::clone(&planner);
            let planned = tokio::task::spawn_blocking(move || {
                batch.into_par_iter().map(|request| plan(&planner, request)).collect::<Vec<Answered>>()
            });
            for answered in planned.await.map_err(|_| InferError::Stopped)? {
                run.note(answered)?;
            }
        }
        Ok(())
    }
}

fn plan(planner: &OfflinePlans, request: UserRequest) -> Answered {
    let outcome = planner.plan(&request.text).map(|result| ReadPlan { result, notes: Vec::new() });
    let outcome = outcome.map_err(|message| failed(&request.id, FailureKind::Planner, PLAN_STAGE, message));
    let usage = TokenUsage::default();
    Answered { id: request.id, request: request.text, outcome, calls: 0, usage, said: Vec::new(), cut: false }
}

/// What differs between two settings: `temperature 0 → 1`.
fn difference(before: &str, now: &str) -> String {
    let pairs = |settings: &str| -> IndexMap<String, String> {
        let pair = |part: &str| part.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        settings.split("; ").filter_map(pair).collect()
    };
    let (before, now) = (pairs(before), pairs(now));
    let differs = now.iter().filter(|(key, value)| before.get(*key) != Some(*value));
    let told = differs.map(|(key, value)| {
        let was = before.get(key).map_or("-", String::as_str);
        format!("{} {} → {}", key.replace('_', " "), shown(was), shown(value))
    });
    told.collect::<Vec<_>>().join(", ")
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "none" } else { value }
}

/// A run's counts, and where it writes.
struct Run<'a> {
    outputs: &'a mut Outputs,
    watch: &'a dyn Watch,
    of: usize,
    completed: usize,
    failures: BTreeMap<FailureKind, usize>,
    failed: usize,
    /// Of these, by an endpoint that would refuse all others.
    refused: usize,
    mended: usize,
    reformatted: usize,
    calls: usize,
    usage: TokenUsage,
    /// Whether anybody has answered.
    reached: bool,
    since: Instant,
}

impl<'a> Run<'a> {
    fn new(of: usize, outputs: &'a mut Outputs, watch: &'a dyn Watch) -> Run<'a> {
        Run {
            outputs,
            watch,
            of,
            completed: 0,
            failures: BTreeMap::new(),
            failed: 0,
            refused: 0,
            mended: 0,
            reformatted: 0,
            calls: 0,
            usage: TokenUsage::default(),
            reached: false,
            since: Instant::now(),
        }
    }

    /// Writes how a request ended.
    fn note(&mut self, answered: Answered) -> Result<(), InferError> {
        let Answered { id, request, outcome, calls, usage, said, cut: _ } = answered;
        self.calls += calls;
        self.usage.prompt += usage.prompt;
        self.usage.completion += usage.completion;
        for (stage, said) in said {
            self.outputs.log.line(Level::Info, &format!("request {id}: {stage} {said}"));
        }
        self.reached |= !outcome.as_ref().is_err_and(Failed::is_unreachable);
        let failure: Option<Failed> = match outcome {
            Ok(ReadPlan { result, notes }) => {
                self.outputs.predict(&id, &prediction_line(&id, &request, &result))?;
                self.completed += 1;
                self.reformatted += usize::from(calls > 1);
                self.mended += usize::from(calls < 2 && !notes.is_empty());
                let how = if notes.is_empty() { String::new() } else { format!(": {}", notes.join("; ")) };
                self.outputs.log.line(Level::Info, &format!("request {id}: completed{how}"));
                None
            }
            Err(failure) => {
                let line = serde_json::to_string(&failure).unwrap_or_default();
                self.outputs.fail(&id, line)?;
                self.failed += 1;
                self.refused += usize::from(failure.is_refused());
                *self.failures.entry(failure.kind).or_default() += 1;
                let message = format!("request {id}: {} at stage {}: {}", failure.kind, failure.stage, failure.message);
                self.outputs.log.line(Level::Error, &message);
                Some(failure)
            }
        };
        let (completed, failed) = (self.completed, self.failed);
        let progress = Progress { completed, failed, of: self.of, usage: self.usage, failure: failure.as_ref() };
        self.watch.answered(&progress);
        Ok(())
    }

    /// Whether so many requests failed from the first on that the endpoint must be down.
    fn is_hopeless(&self) -> bool {
        !self.reached && (self.failed >= HOPELESS || self.refused >= REFUSED)
    }

    fn summary(&self, job: &Job) -> Summary {
        let left = self.of - self.completed - self.failed;
        Summary {
            dependency_type: job.options.dependency.as_str(),
            predictions: self.outputs.path().to_owned(),
            errors: self.outputs.has_errors().then(|| self.outputs.errors_path().to_owned()),
            requests: job.requests.len(),
            already: job.requests.len() - self.of,
            completed: self.completed,
            failed: self.failed,
            left,
            interrupted: left > 0,
            gave_up: left > 0 && self.is_hopeless(),
            failures: self.failures.clone(),
            mended: self.mended,
            reformatted: self.reformatted,
            demos: job.demos.iter().map(|demo| demo.id.to_string()).collect(),
            calls: self.calls,
            prompt_tokens: self.usage.prompt,
            completion_tokens: self.usage.completion,
            seconds: (self.since.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
        }
    }
}
