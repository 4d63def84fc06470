//! Requests of this server that Restate carries out: started there under the run's id, followed, and told here as they are told
//! there, so that page, journal, users and budgets see a run like any other. Whoever goes on with such a run follows it again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use jarvis_engine::Events;
use jarvis_hugginggpt::{HuggingGpt, NAME};
use jarvis_pipeline::approval::{Approver, Decision as Said};
use jarvis_pipeline::{Pipeline, Run, RunContext, RunError, report_end};
use jarvis_plan::{ENGINE, ErrorCode, EventKind, Request, RunId, TaskError, TaskId};
use jarvis_restate::{Cancelled, Client, Error, RunInput, RunLimits};
use jarvis_server::{Elsewhere, Setup, Waiting};
use tokio_util::sync::CancellationToken;

use super::checks::{check, in_time};

use self::elsewhere::{AtRestate, as_decision};
use self::told::{End, Ends, Meant, Told};

mod elsewhere;
mod told;

/// How long a cancelled run may take to say so before it is killed.
const GRACE: Duration = Duration::from_secs(10);

/// How soon Restate is asked again when it was away; each time later, up to the last.
const AGAIN: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(3), Duration::from_secs(10)];

/// What runs of Restate say of who carries them out.
const RESTATE: &str = "Restate";

/// Where the runs of Restate are told of.
pub(crate) fn told_by_restate(client: &Client) -> Arc<dyn Elsewhere> {
    Arc::new(AtRestate(client.clone()))
}

/// Lets Restate carry out the requests to HuggingGPT of a server. Those of a caller with a model of their own stay here, since their
/// key does.
pub(crate) fn carried_out_by_restate(mut setup: Setup, client: Client, approver: &Arc<dyn Approver>) -> Setup {
    setup.meter.engine = Some(RESTATE);
    let (look, admin) = (Arc::clone(&setup.checks), client.admin().clone());
    setup.checks = Arc::new(move || {
        let (look, admin) = (look(), admin.clone());
        async move {
            let (mut checks, found) = futures::join!(look, in_time(admin.health()));
            checks.push(check("Restate", found));
            checks
        }
        .boxed()
    });
    for named in setup.pipelines.iter_mut().filter(|named| named.name == NAME) {
        let (here, own) = (Arc::clone(&named.make), Arc::clone(&setup.pipeline));
        let (client, approver) = (client.clone(), Arc::clone(approver));
        named.make = Arc::new(move |configured| {
            if !Arc::ptr_eq(configured, &own) {
                return here(configured);
            }
            let (client, approver) = (client.clone(), Arc::clone(&approver));
            Ok(Arc::new(OnRestate { client, pipeline: Arc::clone(configured), approver }))
        });
    }
    setup
}

/// HuggingGPT, carried out by Restate.
struct OnRestate {
    client: Client,
    /// Names the model, the tools and the limits, and keeps the plans; it carries out nothing.
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
        // What takes over what another run did, or began in a process, is carried out in one: Restate knows nothing of those steps.
        // So is what brings tools of the caller's or a form of the reply, which workers do not know.
        if request.is_of_a_protocol()
            || events.takes_over()
            || (events.goes_on() && !events.began_with(ENGINE, RESTATE))
        {
            return self.pipeline.run(request, &cx.events, cx.cancel.clone()).await;
        }
        events.needs(ENGINE, RESTATE);
        let shown = events.shown();
        let model = self.pipeline.chat.as_ref().map(|chat| chat.model_name("parse_task"));
        events.emit(EventKind::run_started(NAME, (*request).clone(), model.clone()));
        let began = events.began();
        let ended = match events.written().await {
            Ok(()) => self.carry_out(&request, model, cx, shown, began).await,
            Err(why) => Err(RunError::Stopped(why)),
        };
        if let Ok(run) = &ended {
            self.pipeline.keep_plan(&request, run, false, events);
        }
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
        let mut told = Told::new(&self.pipeline, events, shown);
        let mut asked: FuturesUnordered<BoxFuture<'_, Option<(Waiting, Said)>>> = FuturesUnordered::new();
        // Withdraws what is asked here and was answered elsewhere.
        let mut open: HashMap<TaskId, CancellationToken> = HashMap::new();
        // Why it is cancelled from here, and what does it.
        let mut ends = None;
        let mut ending: Option<BoxFuture<'_, Result<Cancelled, Error>>> = None;
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
                            match told.take(event, &*self.approver) {
                                Meant::Asked(waiting) => {
                                    let token = CancellationToken::new();
                                    let before = open.insert(waiting.asked.task, token.clone());
                                    before.iter().for_each(CancellationToken::cancel);
                                    asked.push(self.ask(events, *waiting, token));
                                }
                                Meant::Settled(task) => {
                                    open.remove(&task).iter().for_each(CancellationToken::cancel);
                                    self.approver.settled(&run, task);
                                }
                                Meant::Nothing => {}
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
                                tracing::warn!(%error, %run, "a run of Restate is not heard of, and goes on there");
                            }
                            break;
                        }
                        None => break,
                    },
                    Some(said) = asked.next(), if !asked.is_empty() => {
                        if let Some((waiting, said)) = said
                            && !self.decide(&run, &waiting, said).await
                            && let Some(token) = open.get(&waiting.asked.task)
                        {
                            asked.push(self.ask(events, waiting, token.clone()));
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
            let end = cx.cancel.run_until_cancelled(self.end_of(&run)).await;
            told.end = end.or(told.end);
        }
        told.ended(request, ends)
    }

    /// How a run ended that has told its answer, and waits for Restate however long it is away.
    async fn end_of(&self, run: &RunId) -> End {
        let mut waits = AGAIN.iter();
        loop {
            match self.client.attach(run).await {
                Ok(end) => return End::Answered(Box::new(end)),
                // A proxy may answer for Restate.
                Err(Error::Unreachable { .. } | Error::Refused { status: 429 | 502..=504, .. }) => {
                    tokio::time::sleep(waits.next().or(AGAIN.last()).copied().unwrap_or_default()).await;
                }
                Err(Error::Ended { .. } | Error::NoRun { .. }) => return End::Killed,
                Err(error) => {
                    tracing::warn!(%error, %run, "how a run of Restate ended cannot be read");
                    return End::Killed;
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

    /// Asks here; none where the question is withdrawn.
    fn ask<'a>(
        &'a self,
        events: &'a Events,
        waiting: Waiting,
        withdrawn: CancellationToken,
    ) -> BoxFuture<'a, Option<(Waiting, Said)>> {
        let asking = async move {
            let _held = events.hold();
            let said = self.approver.ask(events.run_id(), &waiting.asked).await;
            (waiting, said)
        };
        async move { withdrawn.run_until_cancelled(asking).await }.boxed()
    }

    /// Tells the run there what was said here; false where it cannot be told, and must be asked again.
    async fn decide(&self, run: &RunId, waiting: &Waiting, said: Said) -> bool {
        let Waiting { seq, asked } = waiting;
        let decision = as_decision(asked, said);
        let mut waits = AGAIN.iter();
        while let Err(error) = self.client.answer(run, asked.task, *seq, decision.clone()).await {
            match (&error, waits.next()) {
                (Error::Unreachable { .. }, Some(wait)) => tokio::time::sleep(*wait).await,
                // It was decided before, or the run has ended.
                (Error::Refused { status: 409, .. }, _) => return true,
                _ => {
                    tracing::warn!(%error, %run, "an answer did not reach a run of Restate, and is asked for again");
                    return false;
                }
            }
        }
        true
    }
}
