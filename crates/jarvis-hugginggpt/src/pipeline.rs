//! One request through the four stages: plan, choose, execute, answer.
//!
//! [`HuggingGpt::run`] goes all the way; `stops.rs` has the runs that end earlier. Progress is reported as [`Events`];
//! nothing here prints, stores or reads files.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::BoxFuture;
use jarvis_ask::{Ask, Events};
use jarvis_chat::ChatModel;
use jarvis_engine::{Engine, Gate, Limits, OpenGate, Resolver, Selector, Worker};
use jarvis_pipeline::approval::{Approver, Nobody};
use jarvis_pipeline::{
    Pipeline, Run, RunContext, RunError, Shelf, not_done, put_out, report_end, resources, unplanned,
};
use jarvis_plan::{
    Answer, AnswerResource, Effect, EventKind, Kind, Level, Note, Outcome, Plan, Request, Tool, Vocabulary, export,
};
use jarvis_planner::{Offline, Planner};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::cache::ToolCache;
use crate::callers::handed_back;
use crate::choose::Chooser;
use crate::course::Course;
use crate::each::ForEach;
use crate::experience::PlanMemory;
use crate::grow::{Looking, Rounds, make_up};
use crate::json::take;
use crate::live::Live;
use crate::logs::RequestLogs;
use crate::prompts::Prompts;
use crate::resolve::ByKind;
use crate::results::{result, results_map};
use crate::settings::Settings;
use crate::source::{FileSource, Sources};
use crate::stages::Stages;
use crate::{answer, attached, paths, template};

/// What the pipeline is made of. Cheap to clone; holds nothing of any one run.
#[derive(Clone)]
pub struct HuggingGpt {
    /// The chat model; without one the offline planner, ranking and template answers take its place.
    pub chat: Option<Arc<dyn ChatModel>>,
    /// A language model too small to plan. Without a chat model it answers, as conversation, what the offline planner finds no task
    /// in.
    pub conversation_model: Option<Arc<dyn ChatModel>>,
    /// Plans when there is no chat model.
    pub planner: Arc<dyn Planner>,
    pub vocabulary: Arc<Vocabulary>,
    pub sources: Arc<Sources>,
    pub worker: Arc<dyn Worker>,
    /// Who lets calls of tools that change something go on.
    pub gate: Arc<dyn Gate>,
    pub prompts: Arc<Prompts>,
    pub logs: Option<Arc<RequestLogs>>,
    /// Whether a path leads to a file under the public root, which a plan may name though the request does not.
    pub exists: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// Where the files of answers are put for a person at this machine. Without it answers name them by their display paths.
    pub shelf: Option<Arc<dyn Shelf>>,
    /// Who answers what the planner asks the person.
    pub approver: Arc<dyn Approver>,
    pub settings: Settings,
    /// Plans of finished runs; `None` keeps none and uses none.
    pub memory: Option<PlanMemory>,
    /// Lists of tools made once.
    pub cache: ToolCache,
}

pub const NAME: &str = "hugginggpt";

/// The least time the answer gets, however late it is.
const ANSWER_TIME: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, PartialEq)]
pub enum Planned {
    /// There are tasks to run. Without a chat model the plan may be empty.
    Tasks(Plan),
    /// The request is conversation; this is the reply. The plan is what was drafted, if anything was.
    Conversation(Answer, Plan),
}

/// The chat model, the tools and the limits are those it was built with; of the context it takes the events and the
/// cancellation.
#[async_trait]
impl Pipeline for HuggingGpt {
    fn name(&self) -> &str {
        NAME
    }

    async fn run(&self, request: Arc<Request>, cx: &RunContext) -> Result<Run, RunError> {
        HuggingGpt::run(self, request, &cx.events, cx.cancel.clone()).await
    }
}

impl HuggingGpt {
    /// A pipeline that keeps no logs, puts files nowhere but under the public root and has the default settings.
    pub fn new(
        chat: Option<Arc<dyn ChatModel>>,
        mut sources: Sources,
        worker: Arc<dyn Worker>,
        prompts: Arc<Prompts>,
    ) -> HuggingGpt {
        sources.chat = chat.as_ref().map(|chat| chat.model_name("task_llm"));
        HuggingGpt {
            chat,
            conversation_model: None,
            planner: Arc::new(Offline::new()),
            vocabulary: Arc::new(sources.vocabulary()),
            sources: Arc::new(sources),
            worker,
            gate: Arc::new(OpenGate),
            prompts,
            logs: None,
            exists: Arc::new(|_| true),
            shelf: None,
            approver: Arc::new(Nobody { hint: String::new() }),
            settings: Settings::default(),
            memory: None,
            cache: ToolCache::default(),
        }
    }

    /// Tools with a configured backend: those that the chat model plans with.
    pub fn offered(&self) -> Arc<[Tool]> {
        self.cache.offered(&self.vocabulary, &self.sources, self.chat.is_some())
    }

    pub fn planner_name(&self) -> &'static str {
        if self.chat.is_some() { "llm" } else { "offline" }
    }

    /// The chat model's name, or `offline`.
    pub fn model_name(&self) -> String {
        self.chat.as_ref().map_or_else(|| "offline".into(), |chat| chat.model_name("parse_task"))
    }

    /// The name of the chat model that performs tasks itself.
    pub(crate) fn worker_name(&self) -> Option<String> {
        self.chat.as_ref().map(|chat| chat.model_name("task_llm"))
    }

    /// The whole way: plan, choose, execute, answer, within the run's deadline. Once there is a plan, neither the deadline
    /// nor a cancellation loses what was done: every task has its outcome, and the answer is written by template.
    ///
    /// # Errors
    /// When there is no plan: the planning call fails, the deadline passes, the run is cancelled. Failed tasks are no error.
    pub async fn run(
        &self,
        request: Arc<Request>,
        events: &Events,
        cancel: CancellationToken,
    ) -> Result<Run, RunError> {
        if let Some(own) = self.with_callers_tools(&request) {
            return own.run_reported(request, events, cancel).await;
        }
        self.run_reported(request, events, cancel).await
    }

    async fn run_reported(
        &self,
        request: Arc<Request>,
        events: &Events,
        cancel: CancellationToken,
    ) -> Result<Run, RunError> {
        self.report_start(&request, events);
        let began = events.began();
        let ended = self.run_stages(&request, events, &cancel, began).await;
        if let Ok(run) = &ended {
            self.keep_plan(&request, run, false, events);
        }
        report_end(ended, events, began)
    }

    pub(crate) fn report_start(&self, request: &Request, events: &Events) {
        let model = self.chat.as_ref().map(|chat| chat.model_name("parse_task"));
        events.emit(EventKind::run_started(NAME, request.clone(), model));
    }

    /// Stage 1 within the run's deadline, unless the run is cancelled before.
    pub(crate) async fn plan_within(
        &self,
        request: &Request,
        events: &Events,
        cancel: &CancellationToken,
        live: Option<&mut Live<'_>>,
    ) -> Result<Planned, RunError> {
        let allowed = self.settings.engine.run_timeout;
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(RunError::Cancelled),
            planned = tokio::time::timeout(allowed, self.plan(request, events, live).instrument(tracing::debug_span!("plan"))) => {
                planned.unwrap_or(Err(RunError::timeout(allowed)))
            }
        }
    }

    async fn run_stages(
        &self,
        request: &Arc<Request>,
        events: &Events,
        cancel: &CancellationToken,
        began: Instant,
    ) -> Result<Run, RunError> {
        let mut live = Live::new(self, request, events, cancel, began);
        match self.plan_within(request, events, cancel, Some(&mut live)).await {
            Ok(Planned::Tasks(plan)) => {
                let course = live.whole(plan).await;
                self.carry_out(request, course, events, cancel, began).await
            }
            Ok(Planned::Conversation(answer, plan)) => {
                live.give_up_unused().await;
                Ok(Run { not_done: unplanned(&plan), plan, answer, conversation: true, ..Run::default() })
            }
            Err(error) => {
                let (mut plan, outcomes) = live.give_up().await;
                if !outcomes.iter().any(Outcome::succeeded) {
                    return Err(error);
                }
                // What was done before the plan was whole is not lost.
                plan.note(Note::left_out(format!("the plan was not written to its end: {error}")));
                events.emit(EventKind::Plan { plan: plan.clone() });
                let resources = put_out(self.shelf.as_ref(), resources(request, &outcomes), events).await;
                let answer = template_answer(request, &plan, &outcomes, &resources);
                let (not_done, cancelled) = (not_done(&plan, &outcomes), cancel.is_cancelled());
                Ok(Run { plan, outcomes, answer, not_done, cancelled, ..Run::default() })
            }
        }
    }

    /// The rest of a run whose tasks are on their way: looks at what comes of them, plans on, and answers.
    pub(crate) fn carry_out<'a>(
        &'a self,
        request: &'a Arc<Request>,
        mut course: Course,
        events: &'a Events,
        cancel: &'a CancellationToken,
        began: Instant,
    ) -> BoxFuture<'a, Result<Run, RunError>> {
        async move {
            let looking = Looking { pipeline: self, request, events, cancel, began };
            let rounds = looking.rounds(&mut course).await?;
            let (plan, outcomes) = course.end().await;
            self.conclude(&looking, plan, outcomes, &rounds).await
        }
        .boxed()
    }

    /// The run whose tasks have ended: what was made up for, what was not done, the files of the answer, and the answer.
    pub(crate) async fn conclude(
        &self,
        looking: &Looking<'_>,
        mut plan: Plan,
        mut outcomes: Vec<Outcome>,
        rounds: &Rounds,
    ) -> Result<Run, RunError> {
        let Looking { request, events, cancel, began, .. } = *looking;
        if rounds.answered {
            make_up(&mut outcomes, rounds.first_added, |failed, later| self.stands_in(&plan, failed, later));
        }
        rounds.missing(&plan).into_iter().for_each(|what| plan.note(Note::left_out(what)));
        self.log_failures(request, &plan, &outcomes, events);
        let resources = put_out(self.shelf.as_ref(), resources(request, &outcomes), events).await;
        let not_done = not_done(&plan, &outcomes);
        if let Some(question) = &rounds.question {
            let answer = Answer { text: question.clone(), resources, ..Answer::default() };
            let (question, rounds) = (Some(question.clone()), rounds.grown);
            return Ok(Run { plan, outcomes, answer, not_done, question, rounds, ..Run::default() });
        }
        let calls = handed_back(request, &plan, &outcomes);
        if !calls.is_empty() && !cancel.is_cancelled() {
            let answer = Answer { calls, ..Answer::default() };
            return Ok(Run { plan, outcomes, answer, rounds: rounds.grown, ..Run::default() });
        }
        // The answer has a little time of its own, so that a run that used up its deadline still ends in words.
        let left = self.left(began, events).max(ANSWER_TIME.min(self.settings.engine.run_timeout));
        let writing =
            self.answer(request, &plan, &outcomes, &resources, events).instrument(tracing::debug_span!("answer"));
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => None,
            answer = tokio::time::timeout(left, writing) => answer.ok(),
        };
        let answer = match answer {
            Some(answer) => answer?,
            None => template_answer(request, &plan, &outcomes, &resources),
        };
        self.log_success(
            request,
            events,
            json!({
                "task": export::tasks_json(&plan), "results": results_map(&plan, &outcomes), "response": answer.text,
                "during": began.elapsed().as_secs_f64(), "op": "response",
            }),
        );
        let (cancelled, rounds) = (cancel.is_cancelled(), rounds.grown);
        Ok(Run { plan, outcomes, answer, not_done, cancelled, rounds, ..Run::default() })
    }

    pub(crate) fn stages(&self, chat: Arc<dyn ChatModel>, events: &Events) -> Stages {
        let Settings { reserve_tokens, structured, .. } = self.settings;
        let ask = Ask::new(chat, events).reserving(reserve_tokens).structured(structured);
        Stages { ask, prompts: Arc::clone(&self.prompts), settings: self.settings.clone() }
    }

    pub(crate) fn chooser(&self, request: &Arc<Request>, events: &Events) -> Chooser {
        let (sources, shown) = (Arc::clone(&self.sources), self.settings.num_candidates);
        Chooser {
            stages: self.chat.clone().map(|chat| self.stages(chat, events)),
            source: Arc::new(FileSource::for_running(sources, self.worker_name(), shown)),
            request: Arc::clone(request),
            explain_single: false,
        }
    }

    /// The time that is left to a run that began then; what somebody took to answer does not count.
    pub(crate) fn left(&self, began: Instant, events: &Events) -> Duration {
        self.settings.engine.run_timeout.saturating_sub(began.elapsed().saturating_sub(events.excused()))
    }

    /// Whether a task that succeeded did what one that failed was for: the same tool, or one that gives the same kind; of those that
    /// change something, the same tool where the first did certainly nothing.
    fn stands_in(&self, plan: &Plan, failed: &Outcome, later: &Outcome) -> bool {
        let changes =
            |outcome: &Outcome| plan.task(outcome.id).is_some_and(|task| self.gate.effect(task) != Effect::Reads);
        let unsure = failed.error.as_ref().is_some_and(|error| error.code.may_have_arrived());
        if changes(failed) {
            return failed.task == later.task && !unsure;
        }
        let outputs = |outcome: &Outcome| {
            self.vocabulary.find(&outcome.task).map(|tool| tool.outputs.as_slice()).unwrap_or_default()
        };
        failed.task == later.task || outputs(failed).iter().any(|kind| outputs(later).contains(kind))
    }

    /// Performs tasks as runs do: once for each element where the plan says so, with the contents of attached texts.
    pub fn performer(&self) -> Arc<dyn Worker> {
        let (worker, vocabulary) = (Arc::clone(&self.worker), Arc::clone(&self.vocabulary));
        let worker = Arc::new(attached::Expand { worker, vocabulary });
        Arc::new(ForEach { worker, gate: Arc::clone(&self.gate), concurrency: self.settings.engine.concurrency })
    }

    /// What references in its plans stand for.
    pub fn resolver(&self) -> Arc<dyn Resolver> {
        Arc::new(ByKind { vocabulary: Arc::clone(&self.vocabulary), max_each: self.settings.max_each })
    }

    /// The engine of a run that began then, with whoever chooses.
    pub(crate) fn engine(
        &self,
        request: &Arc<Request>,
        selector: Arc<dyn Selector>,
        events: &Events,
        began: Instant,
    ) -> Engine {
        let run_timeout = self.left(began, events);
        Engine::shared(self.performer())
            .selector(selector)
            .resolver(self.resolver())
            .gate(Arc::clone(&self.gate))
            .request(Arc::clone(request))
            .events(events.clone())
            .limits(Limits { run_timeout, ..self.settings.engine })
            .without_repeats()
            .speculating(self.settings.speculate)
    }

    /// Stage 4. Without a chat model, or when its call fails, the answer is written by template.
    pub async fn answer(
        &self,
        request: &Request,
        plan: &Plan,
        outcomes: &[Outcome],
        resources: &[AnswerResource],
        events: &Events,
    ) -> Result<Answer, RunError> {
        let told_first = template::told_first(request, plan, outcomes);
        let written = match self.chat.as_ref().filter(|_| !plan.tasks().is_empty()) {
            Some(chat) => {
                let stages = self.stages(Arc::clone(chat), events);
                match answer::write(&stages, request, plan, outcomes, resources, &told_first).await {
                    Ok(text) => Some(format!("{told_first}{text}")),
                    // A template follows no schema.
                    Err(error) if error.is_replay_miss() || request.form.schema.is_some() => return Err(error.into()),
                    Err(error) => match RunError::from(error) {
                        RunError::Model { source, .. } => {
                            events.note(Level::Warning, format!("the model could not write the answer ({source})"));
                            None
                        }
                        error => return Err(error),
                    },
                }
            }
            None => None,
        };
        let Some(text) = written else { return Ok(template_answer(request, plan, outcomes, resources)) };
        let known = known_media(request, plan, outcomes, resources);
        let notes: Vec<String> = paths::unknown_media(&text, &known)
            .into_iter()
            .map(|path| format!("the answer names `{path}`, which no task made"))
            .collect();
        for note in &notes {
            events.note(Level::Warning, note.clone());
        }
        Ok(Answer { text, resources: resources.to_vec(), notes, calls: Vec::new() })
    }

    fn log_failures(&self, request: &Request, plan: &Plan, outcomes: &[Outcome], events: &Events) {
        for outcome in outcomes.iter().filter(|outcome| !outcome.succeeded()) {
            let record = result(plan.task(outcome.id), outcome);
            let reason = outcome.error.as_ref().map(|error| error.message.as_str());
            let task = take(record, "task");
            self.log_fail(request, events, json!({"task": task, "reason": reason, "op": "message"}));
        }
    }

    pub(crate) fn log_fail(&self, request: &Request, events: &Events, fields: Value) {
        if let Some(logs) = &self.logs {
            logs.fail(events.run_id(), &request.text, fields);
        }
    }

    pub(crate) fn log_success(&self, request: &Request, events: &Events, fields: Value) {
        if let Some(logs) = &self.logs {
            logs.success(events.run_id(), &request.text, fields);
        }
    }
}

/// The answer without a model: what was done and what was not, by template.
pub fn template_answer(request: &Request, plan: &Plan, outcomes: &[Outcome], resources: &[AnswerResource]) -> Answer {
    let text = template::answer(request, plan, outcomes, resources);
    Answer { text, resources: resources.to_vec(), ..Answer::default() }
}

/// Every media path the model may truthfully name: what the request brought, what the plan took, what tasks made.
fn known_media(request: &Request, plan: &Plan, outcomes: &[Outcome], resources: &[AnswerResource]) -> HashSet<String> {
    let words = request.text.split_whitespace().map(str::to_owned);
    let attached = request.attachments.iter().map(|resource| resource.as_arg().to_owned());
    let taken =
        outcomes.iter().flat_map(|outcome| outcome.args.values()).map(|arg| jarvis_plan::text_of(arg).into_owned());
    let planned = plan
        .tasks()
        .iter()
        .flat_map(|task| task.args.values())
        .filter_map(jarvis_plan::Arg::as_literal)
        .map(Cow::into_owned);
    let made = resources.iter().map(|resource| resource.url.clone());
    words.chain(attached).chain(taken).chain(planned).chain(made).filter(|path| Kind::of_name(path).is_some()).collect()
}
