//! Requests of this server that Restate carries out: started there under the run's id, followed, and told here as they are told
//! there, so that page, journal, users and budgets see a run like any other. Whoever goes on with such a run follows it again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, FuturesUnordered};
use futures::{FutureExt, StreamExt};
use jarvis_engine::Events;
use jarvis_hugginggpt::{HuggingGpt, NAME, template_answer};
use jarvis_pipeline::approval::{Approver, Decision as Said};
use jarvis_pipeline::{Pipeline, Run, RunContext, RunError, not_done, report_end, resources};
use jarvis_plan::{Approval, ENGINE, ErrorCode, EventKind, Level, Outcome, Request, RunId, TaskError};
use jarvis_restate::{Client, Decision, Error, RunEnd, RunInput, RunLimits, take_plan};
use jarvis_server::{Elsewhere, NotSaid, Parts};
use serde_json::Value;

/// How long a cancelled run may take to say so before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// How soon Restate is asked again when it was away; each time later, up to the last.
const AGAIN: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(10)];

/// Lets Restate carry out the requests to HuggingGPT of a server. Those of a caller with a model of their own stay here, since their
/// key does.
pub(crate) fn carried_out_by_restate(mut parts: Parts, client: Client, approver: &Arc<dyn Approver>) -> Parts {
    let mut settings = (*parts.meter.settings).clone();
    settings.insert(ENGINE.to_owned(), "Restate".to_owned());
    parts.meter.settings = Arc::new(settings);
    parts.elsewhere = Some(Arc::new(AtRestate(client.clone())));
    for named in parts.pipelines.iter_mut().filter(|named| named.name == NAME) {
        let (here, own) = (Arc::clone(&named.make), Arc::clone(&parts.pipeline));
        let (client, approver) = (client.clone(), Arc::clone(approver));
        named.make = Arc::new(move |configured| {
            if !Arc::ptr_eq(configured, &own) {
                return here(configured);
            }
            let (client, approver) = (client.clone(), Arc::clone(&approver));
            Ok(Arc::new(OnRestate { client, pipeline: Arc::clone(configured), approver }))
        });
    }
    parts
}

/// Runs of Restate that another server started, or a client of its own.
struct AtRestate(Client);

fn not_said(error: &Error) -> NotSaid {
    match error {
        Error::NoRun { .. } => NotSaid::Unknown,
        Error::Refused { status: 409, .. } => NotSaid::NotOpen,
        error => NotSaid::Away(error.to_string()),
    }
}

/// An event without what only those need who go on with its run.
fn for_readers(mut event: Value) -> Value {
    take_plan(&mut event);
    event
}

/// What was said, in the words of Restate's runs.
fn as_decision(asked: &Approval, said: Said) -> Decision {
    match said {
        Said::Approve { .. } | Said::ApproveAlways if asked.unknown => Decision::Retry,
        Said::Refuse { .. } if asked.unknown => Decision::Skip,
        Said::Approve { arguments } => Decision::Approve { args: arguments, always: false },
        Said::ApproveAlways => Decision::Approve { args: None, always: true },
        Said::Done => Decision::Done { output: Value::Null },
        Said::Refuse { reason, .. } => Decision::Refuse { reason: Some(reason) },
    }
}

#[async_trait]
impl Elsewhere for AtRestate {
    async fn events(&self, run: &RunId) -> Result<BoxStream<'static, Value>, NotSaid> {
        let mut events = Box::pin(self.0.follow(run.clone(), 0));
        // Whether there is such a run shows with its first event.
        let first = match events.next().await {
            Some(Ok(event)) => event,
            Some(Err(error)) => return Err(not_said(&error)),
            None => return Err(NotSaid::Unknown),
        };
        // Where Restate goes away the stream ends without an end, as with a server that does.
        let rest = events.take_while(|event| std::future::ready(event.is_ok())).filter_map(async |event| event.ok());
        Ok(futures::stream::iter([first]).chain(rest).map(for_readers).boxed())
    }

    async fn so_far(&self, run: &RunId) -> Result<Vec<Value>, NotSaid> {
        let events = self.0.so_far(run).await.map_err(|error| not_said(&error))?;
        Ok(events.into_iter().map(for_readers).collect())
    }

    async fn decide(&self, run: &RunId, asked: &Approval, said: Said) -> Result<(), NotSaid> {
        let decided = self.0.approve(run, asked.task, as_decision(asked, said)).await;
        decided.map_err(|error| not_said(&error))
    }

    async fn cancel(&self, run: &RunId) -> Result<(), NotSaid> {
        self.0.cancel(run, GRACE).await.map(drop).map_err(|error| not_said(&error))
    }
}

/// HuggingGPT, carried out by Restate.
struct OnRestate {
    client: Client,
    /// Names the model, the tools and the limits; it carries out nothing.
    pipeline: Arc<HuggingGpt>,
    approver: Arc<dyn Approver>,
}

#[async_trait]
impl Pipeline for OnRestate {
    fn name(&self) -> &str {
        NAME
    }

    async fn run(&self, request: Arc<Request>, cx: &RunContext) -> Result<Run, RunError> {
        let events = &cx.events;
        let shown = events.shown();
        let model = self.pipeline.chat.as_ref().map(|chat| chat.model_name("parse_task"));
        events.emit(EventKind::run_started(NAME, (*request).clone(), model.clone()));
        let began = events.began();
        let ended = match events.written().await {
            Ok(()) => self.carry_out(&request, model, cx, shown, began).await,
            Err(why) => Err(RunError::Stopped(why)),
        };
        report_end(ended, events, began)
    }
}

impl OnRestate {
    async fn carry_out(
        &self,
        request: &Arc<Request>,
        model: Option<String>,
        cx: &RunContext,
        shown: u64,
        began: Instant,
    ) -> Result<Run, RunError> {
        let events = &cx.events;
        let engine = self.pipeline.settings.engine;
        let limits = RunLimits {
            concurrency: engine.concurrency,
            max_fallbacks: engine.max_fallbacks,
            task_timeout_ms: u64::try_from(engine.task_timeout.as_millis()).unwrap_or(u64::MAX),
            // Its clock would not stand still while somebody is asked; it is looked after here.
            run_timeout_ms: None,
            // One more than the stages allow, which say so.
            rounds: self.pipeline.settings.max_rounds.saturating_add(1),
        };
        let input = RunInput { pipeline: NAME.to_owned(), model, limits, ..RunInput::new((**request).clone()) };
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return Err(RunError::Cancelled),
            started = self.start(&input, events, shown > 0) => started?,
        }
        let mut told = Told {
            pipeline: &self.pipeline,
            events,
            skip: shown,
            seen: 0,
            run: Run::default(),
            end: None,
            is_ending: false,
        };
        let mut asked: FuturesUnordered<BoxFuture<'_, (Approval, Said)>> = FuturesUnordered::new();
        // Why it is cancelled from here, and what does it.
        let mut ends = None;
        let mut ending: Option<BoxFuture<'_, Result<bool, Error>>> = None;
        let (run, mut from, mut away) = (events.run_id().clone(), 0, 0);
        while told.end.is_none() {
            let mut stream = Box::pin(self.client.follow(run.clone(), from));
            loop {
                let left = self.left(began, events);
                tokio::select! {
                    biased;
                    event = stream.next() => match event {
                        Some(Ok(event)) => {
                            (from, away) = (from + 1, 0);
                            if let Some(approval) = told.take(event, &*self.approver) {
                                asked.push(self.ask(events, approval));
                            }
                            if ends.is_none() && events.spent().is_some() {
                                ends = Some(Ends::Spent);
                            }
                        }
                        Some(Err(Error::Ended { .. } | Error::NoRun { .. })) => {
                            told.end = Some(End::Killed);
                            break;
                        }
                        Some(Err(error)) => {
                            if away == 1 {
                                events.note(Level::Warning, format!("{error}; the run goes on when it answers"));
                            }
                            break;
                        }
                        None => break,
                    },
                    Some((approval, said)) = asked.next(), if !asked.is_empty() => {
                        if !self.decide(events, &approval, said).await {
                            asked.push(self.ask(events, approval));
                        }
                    }
                    () = cx.cancel.cancelled(), if ends.is_none() => ends = Some(Ends::Cancelled),
                    () = tokio::time::sleep(left), if ends.is_none() && asked.is_empty() => ends = Some(Ends::TimeUp),
                    Some(ended) = async { Some(ending.as_mut()?.await) }, if ending.is_some() => {
                        ending = None;
                        if let Err(error) = ended {
                            tracing::warn!(%error, run = %run, "a run of Restate could not be cancelled yet");
                            told.is_ending = false;
                            break;
                        }
                    }
                }
                if ends.is_some() && ending.is_none() && told.end.is_none() && !told.is_ending {
                    told.is_ending = true;
                    let (client, run) = (&self.client, run.clone());
                    ending = Some(async move { client.cancel(&run, GRACE).await }.boxed());
                }
                if told.end.is_some() {
                    break;
                }
            }
            if told.end.is_none() {
                let wait = AGAIN.get(away).or(AGAIN.last()).copied().unwrap_or_default();
                away += 1;
                tokio::time::sleep(wait).await;
            }
        }
        if let Some(End::Done) = told.end {
            told.end = Some(self.end_of(&run).await?);
        }
        told.ended(request, ends)
    }

    /// How a run ended that has told its answer, and waits for Restate however long it is away.
    async fn end_of(&self, run: &RunId) -> Result<End, RunError> {
        let mut waits = AGAIN.iter();
        loop {
            match self.client.attach(run).await {
                Ok(end) => return Ok(End::Answered(Box::new(end))),
                Err(Error::Unreachable { .. }) => {
                    tokio::time::sleep(waits.next().or(AGAIN.last()).copied().unwrap_or_default()).await;
                }
                Err(Error::Ended { .. } | Error::NoRun { .. }) => return Ok(End::Killed),
                Err(error) => {
                    return Err(RunError::Elsewhere(TaskError::new(ErrorCode::Unavailable, error.to_string())));
                }
            }
        }
    }

    /// Starts it there. A run that goes on was most likely started, and waits for Restate however long it is away.
    async fn start(&self, input: &RunInput, events: &Events, goes_on: bool) -> Result<(), RunError> {
        let mut waits = AGAIN.iter();
        loop {
            match self.client.start(events.run_id(), input).await {
                Ok(_) => return Ok(()),
                Err(Error::Unreachable { .. }) if goes_on => {
                    tokio::time::sleep(waits.next().or(AGAIN.last()).copied().unwrap_or_default()).await;
                }
                Err(error) => {
                    let hint = error.hint();
                    let error = TaskError::new(ErrorCode::Unavailable, error.to_string());
                    return Err(RunError::Elsewhere(match hint {
                        Some(hint) => error.hint(hint),
                        None => error,
                    }));
                }
            }
        }
    }

    fn left(&self, began: Instant, events: &Events) -> Duration {
        let ran = began.elapsed().saturating_sub(events.excused());
        self.pipeline.settings.engine.run_timeout.saturating_sub(ran)
    }

    fn ask<'a>(&'a self, events: &'a Events, asked: Approval) -> BoxFuture<'a, (Approval, Said)> {
        async move {
            let _held = events.hold();
            let said = self.approver.ask(events.run_id(), &asked).await;
            (asked, said)
        }
        .boxed()
    }

    /// Tells the run there what was said here; false where it cannot be told, and must be asked again.
    async fn decide(&self, events: &Events, asked: &Approval, said: Said) -> bool {
        let decision = as_decision(asked, said);
        let mut waits = AGAIN.iter();
        while let Err(error) = self.client.approve(events.run_id(), asked.task, decision.clone()).await {
            match (&error, waits.next()) {
                (Error::Unreachable { .. }, Some(wait)) => tokio::time::sleep(*wait).await,
                // It was decided before, or the run has ended.
                (Error::Refused { status: 409, .. }, _) => return true,
                _ => {
                    let message = format!("the answer did not reach the run, and is asked for again: {error}");
                    events.note(Level::Warning, message);
                    return false;
                }
            }
        }
        true
    }
}

/// Why a run is cancelled from here.
enum Ends {
    Cancelled,
    TimeUp,
    Spent,
}

/// How it ended there.
enum End {
    /// With an answer, which is still to be read.
    Done,
    Answered(Box<RunEnd>),
    Cancelled,
    Failed(TaskError),
    /// Without a word.
    Killed,
}

/// What was told of a run so far.
struct Told<'a> {
    pipeline: &'a HuggingGpt,
    events: &'a Events,
    /// How many events a process before told.
    skip: u64,
    seen: u64,
    run: Run,
    end: Option<End>,
    /// Whether it is being cancelled.
    is_ending: bool,
}

impl Told<'_> {
    /// Tells an event here. A question that is open is given back.
    fn take(&mut self, mut event: Value, approver: &dyn Approver) -> Option<Approval> {
        let name = event.get("event").and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = name.as_str();
        // What has a result is told once; of anything else the record knows that it was told.
        let is_result = matches!(
            name,
            "model_call" | "model_chosen" | "task_started" | "task_attempt" | "task_finished" | "approval_given"
        );
        let mut asked = None;
        let kind = match name {
            // The run began here, and its answer is told with its end.
            "run_started" | "answer" => return None,
            "done" => {
                let is_cancelled = event.get("cancelled").is_some_and(|cancelled| cancelled == true);
                self.end = Some(if is_cancelled { End::Cancelled } else { End::Done });
                return None;
            }
            "error" => {
                let code = event.get("code").cloned().unwrap_or_default();
                let code = serde_json::from_value(code).unwrap_or(ErrorCode::Internal);
                let message = event.get("message").and_then(Value::as_str).unwrap_or_default();
                self.end = Some(End::Failed(TaskError::new(code, message)));
                return None;
            }
            "plan" => {
                self.run.plan = take_plan(&mut event).unwrap_or_default();
                Some(EventKind::Plan { plan: self.run.plan.clone() })
            }
            "plan_grew" => {
                let before = self.run.plan.tasks().len();
                self.run.plan = take_plan(&mut event).unwrap_or_default();
                self.run.rounds += 1;
                let (round, why) = (self.run.rounds, event.get("why").and_then(Value::as_str).unwrap_or("more"));
                let tasks = self.run.plan.tasks().get(before..).unwrap_or_default().to_vec();
                let notes = event.get("notes").and_then(Value::as_array).into_iter().flatten();
                let notes = notes.filter_map(Value::as_str).map(str::to_owned).collect();
                Some(EventKind::PlanGrew { round, why: why.to_owned(), tasks, notes })
            }
            _ => match serde_json::from_value::<EventKind>(event.clone()) {
                Ok(mut kind) => {
                    match &mut kind {
                        EventKind::TaskFinished { outcome } => self.run.outcomes.push((**outcome).clone()),
                        EventKind::ApprovalNeeded { approval } => {
                            approval.place = approver.place(self.events.run_id(), approval.task);
                            asked = Some(approval.clone());
                        }
                        _ => {}
                    }
                    Some(kind)
                }
                Err(error) => {
                    tracing::warn!(%error, name, "an event of a run of Restate cannot be read");
                    None
                }
            },
        };
        let was_told = self.seen < self.skip;
        self.seen += 1;
        if let Some(kind) = kind.filter(|_| !(was_told && is_result)) {
            self.events.emit(kind);
        }
        asked
    }

    /// The run as it ended.
    fn ended(self, request: &Request, ends: Option<Ends>) -> Result<Run, RunError> {
        let Told { mut run, pipeline, .. } = self;
        run.outcomes.sort_by_key(|outcome| outcome.id);
        let made = resources(request, &run.outcomes);
        let cut_short = |run: &Run| template_answer(request, &run.plan, &run.outcomes, &made);
        run.not_done = not_done(&run.plan, &run.outcomes);
        match self.end {
            Some(End::Answered(end)) => {
                let RunEnd { answer, not_done, question, conversation, made_up_for, notes, .. } = *end;
                notes.into_iter().for_each(|note| run.plan.note(note));
                run = Run { answer: answer.unwrap_or_default(), not_done, question, conversation, ..run };
                for outcome in run.outcomes.iter_mut().filter(|outcome| made_up_for.contains(&outcome.id)) {
                    outcome.made_up_for = true;
                }
            }
            Some(End::Failed(error)) => return Err(RunError::Elsewhere(error)),
            Some(End::Done | End::Cancelled | End::Killed) | None => match ends {
                Some(Ends::TimeUp) if !run.outcomes.iter().any(Outcome::succeeded) => {
                    return Err(RunError::timeout(pipeline.settings.engine.run_timeout));
                }
                Some(Ends::Spent | Ends::TimeUp) => run.answer = cut_short(&run),
                Some(Ends::Cancelled) | None => {
                    run.answer = cut_short(&run);
                    run.cancelled = true;
                }
            },
        }
        Ok(run)
    }
}
