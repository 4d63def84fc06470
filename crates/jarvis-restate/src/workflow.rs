//! The workflow of a run: plans, calls workers, looks, answers. Between its journalled steps it is deterministic: no clock, no
//! randomness, no hash order. From the first release on, its code never changes under one name; a change is another version beside it.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use indexmap::IndexMap;
use jarvis_engine::Events;
use jarvis_plan::{Candidate, ErrorCode, EventKind, Plan, Request, RunId, Status, TaskError, TaskId};
use restate_sdk::context::{DurableFuture, DurableFuturesUnordered, Request as Call, RequestTarget, RunFuture};
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::{HandlerResult, TerminalError};
use restate_sdk::serde::Json;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::clock::now_ms;
use crate::contract::{Decision, Question, Report, RunEnd, RunInput, RunLimits, RunStatus, TaskCall, Tried};
use crate::course::{Course, Step};
use crate::host::Runs;
use crate::log::Log;
use crate::names::{PERFORM, service_of};
use crate::shared;
use crate::stages::{Concluded, StageContext};
use crate::step::{CANCELLED, Ended, Passing, TRIES, last_error, perform, tries};

mod grow;

/// The most bytes of a call. Restate refuses messages over 32 MiB, and would start the run again and again.
/// Its event has the arguments beside the result.
const LARGEST_CALL: usize = 16 << 20;

/// Why a run stops before its answer.
enum Stop {
    Failed(TaskError),
    Cancelled,
}

/// What a run waits for, and how it ended.
enum Woken {
    Reported(Box<Report>),
    Decided(Decision),
    TimeUp,
}

/// What a durable future of a run belongs to.
enum Waits {
    Call(TaskId),
    Question(TaskId),
    /// The planner's question.
    Person,
    Time,
}

type Pending<'c> = Pin<Box<dyn DurableFuture<Output = Result<Woken, TerminalError>> + Send + 'c>>;

/// One run while it goes on.
pub(crate) struct Scheduler<'c> {
    host: &'c Runs,
    ctx: &'c ContextInternal,
    invocation: String,
    run: &'c RunId,
    input: &'c RunInput,
    log: Log<'c>,
    course: Course<'c>,
    pending: DurableFuturesUnordered<Pending<'c>>,
    /// By the stable index of each future.
    waits: Vec<Waits>,
    /// Whether the run has a timer, which is none of its work.
    timed: bool,
    /// Whether the run has had its time.
    time_up: bool,
    plan: Plan,
    round: u32,
    /// What the look before wants to be remembered.
    memory: Value,
    /// What somebody said to its question.
    told: Option<Decision>,
}

impl<'c> Scheduler<'c> {
    pub(crate) fn new(
        host: &'c Runs,
        ctx: &'c ContextInternal,
        invocation: String,
        run: &'c RunId,
        input: &'c RunInput,
    ) -> Scheduler<'c> {
        let RunLimits { concurrency, max_fallbacks, .. } = input.limits;
        Scheduler {
            host,
            ctx,
            invocation,
            run,
            input,
            log: Log::new(ctx, run, input.started_at_ms),
            course: Course::new(&*host.resolver, concurrency, max_fallbacks),
            pending: DurableFuturesUnordered::new(),
            waits: Vec::new(),
            timed: false,
            time_up: false,
            plan: Plan::default(),
            round: 0,
            memory: Value::Null,
            told: None,
        }
    }

    pub(crate) async fn run(mut self) -> HandlerResult<RunEnd> {
        let RunInput { request, pipeline, model, .. } = self.input;
        if self.input.started_at_ms == 0 {
            // Whoever started it told no time.
            let now = self.ctx.run(async || Ok(now_ms())).name("clock").await;
            self.log.starts(now.unwrap_or_default());
        }
        self.log.emit(&EventKind::run_started(pipeline, request.clone(), model.clone()));
        let answered = self.answered().await;
        let (ms, usage) = (self.log.ms(), self.log.usage());
        let succeeded = self.course.outcomes().filter(|outcome| outcome.succeeded()).count();
        let mut end = RunEnd { succeeded, tasks: self.plan.tasks().len(), ..RunEnd::default() };
        match answered {
            Ok(Concluded { answer, verdict }) => {
                self.log.emit(&EventKind::Answer { answer: answer.clone() });
                self.log.emit(&EventKind::Done { ok: verdict.ok, cancelled: false, usage, ms });
                let (status, answer) = (RunStatus::Answered, Some(answer));
                end = RunEnd { status, answer, verdict, ..end };
            }
            Err(Stop::Cancelled) => {
                self.log.emit(&EventKind::Done { ok: false, cancelled: true, usage, ms });
                end.status = RunStatus::Cancelled;
            }
            Err(Stop::Failed(failure)) => {
                let TaskError { code, message, hint } = failure.clone();
                self.log.emit(&EventKind::Error { code: code.as_str().to_owned(), message, hint, ms });
                end.error = Some(failure);
            }
        }
        self.log.flush();
        end.events = self.log.len();
        Ok(end)
    }

    /// Runs a stage as one durable step.
    async fn stage<T, F>(&mut self, name: &str, work: impl FnOnce(StageContext) -> F + Clone + Send) -> Result<T, Stop>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        F: Future<Output = Result<T, TaskError>> + Send + 'static,
    {
        let within = self.host_timeout();
        let (run, slots) = (self.run, &self.host.slots);
        let step = async move || -> HandlerResult<Json<StageDone<T>>> {
            let _slot = slots.take().await?;
            let run = run.clone();
            let staged =
                |events: Events, cancel: CancellationToken| work(StageContext { run: run.clone(), events, cancel });
            let Ended { result, events, at_ms, .. } = perform(&run, within, staged).await;
            if let Err(error) = &result
                && let Some(passing) = Passing::of(error)
            {
                return Err(passing.into());
            }
            Ok(Json(StageDone { result, events, at_ms }))
        };
        self.log.flush();
        match self.ctx.run(step).name(name).retry_policy(tries(TRIES)).await {
            Ok(Json(StageDone { result, events, at_ms })) => {
                self.log.take(at_ms, events);
                result.map_err(Stop::Failed)
            }
            Err(error) if error.code() == CANCELLED => Err(Stop::Cancelled),
            Err(error) => Err(Stop::Failed(last_error(&error))),
        }
    }

    /// The longest that one stage may take: it looks at models, not at far sides with deadlines of their own.
    fn host_timeout(&self) -> Duration {
        Duration::from_millis(self.input.limits.task_timeout_ms.saturating_mul(4))
    }

    fn wait(&mut self, waits: Waits, future: Pending<'c>) {
        let at = self.pending.push(future);
        debug_assert_eq!(at, self.waits.len(), "indices are dense");
        self.waits.push(waits);
    }

    /// Performs the tasks that were added, until all of them have ended.
    async fn perform(&mut self) -> Result<(), Stop> {
        let mut stopped = None;
        loop {
            while let Some(step) = self.course.step() {
                match step {
                    Step::Call { id, candidate, args } => self.call(id, candidate, args),
                    Step::Ask { id, question, .. } => {
                        // Its event is the last so far.
                        self.tell();
                        let asked = self.log.len().saturating_sub(1);
                        self.ask(id, question, asked, Waits::Question(id));
                    }
                }
            }
            self.tell();
            if self.pending.len() <= usize::from(self.timed) {
                break;
            }
            self.log.flush();
            match self.pending.next().await {
                Ok(Some((at, woken))) => match (self.waits.get(at), woken) {
                    (Some(Waits::Time), _) => {
                        (self.timed, self.time_up) = (false, true);
                        stopped =
                            Some((Status::Failed, TaskError::new(ErrorCode::Timeout, "the run did not end in time")));
                        break;
                    }
                    (Some(Waits::Call(id) | Waits::Question(id)), woken) => self.woken(*id, woken),
                    // The planner asks when all tasks have ended.
                    (Some(Waits::Person) | None, _) => {}
                },
                Ok(None) => break,
                Err(_) => {
                    stopped = Some((Status::Cancelled, TaskError::new(ErrorCode::Cancelled, "the run was cancelled")));
                    break;
                }
            }
        }
        let (status, error) = stopped.clone().unwrap_or_else(|| {
            (Status::Failed, TaskError::new(ErrorCode::BadPlan, "the task waits for one that never ends"))
        });
        self.course.end(status, error.code, &error.message);
        self.tell();
        // When time is up, the request is answered with what there is.
        match stopped {
            Some((Status::Cancelled, _)) => Err(Stop::Cancelled),
            Some(_) | None => Ok(()),
        }
    }

    /// Tells what the course has to tell.
    fn tell(&mut self) {
        for kind in self.course.events() {
            self.log.emit(&kind);
        }
    }

    fn call(&mut self, id: TaskId, candidate: Candidate, args: IndexMap<String, Value>) {
        let Some(planned) = self.course.planned(id) else { return };
        let target = RequestTarget::service(service_of(&candidate.effective_task), PERFORM);
        let call = TaskCall {
            run: self.run.clone(),
            request: request_of(&self.input.request),
            task: planned.task.clone(),
            args,
            candidate,
            effect: planned.effect,
            timeout_ms: self.input.limits.task_timeout_ms,
            until_ms: self.input.limits.run_timeout_ms.map(|timeout| self.log.started_at_ms().saturating_add(timeout)),
        };
        match serde_json::to_vec(&call) {
            Ok(bytes) if bytes.len() <= LARGEST_CALL => {
                let request: Call<'c, Bytes, Json<Report>> = self.ctx.request(target, Bytes::from(bytes));
                let call = request.call().map(|ended| Ok(Woken::Reported(Box::new(report_of(ended)))));
                self.wait(Waits::Call(id), Box::pin(call));
            }
            Ok(bytes) => {
                let message = format!("the call has {} bytes, and a call may have {LARGEST_CALL}", bytes.len());
                self.course.reported(id, failed(TaskError::new(ErrorCode::TooLarge, message)));
            }
            Err(error) => {
                let message = format!("the call cannot be written: {error}");
                self.course.reported(id, failed(TaskError::new(ErrorCode::Internal, message)));
            }
        }
    }

    /// Waits for the answer to what the event of this number asked.
    fn ask(&mut self, id: TaskId, question: Question, seq: u64, waits: Waits) {
        let at = self.waits.len();
        let invocation = self.invocation.clone();
        self.ctx.set(&shared::question_of(id), Json(shared::Asked { question, at, seq, invocation }));
        let decided = self.ctx.signal::<Json<Decision>>(&shared::decision_of(id, at));
        let decided = decided.map_ok(|Json(decision)| Woken::Decided(decision));
        self.wait(waits, Box::pin(decided));
    }

    fn woken(&mut self, id: TaskId, woken: Result<Woken, TerminalError>) {
        match woken {
            Ok(Woken::Reported(report)) => {
                let mut report = *report;
                self.log.take(report.at_ms, std::mem::take(&mut report.events));
                self.course.reported(id, report);
            }
            Ok(Woken::Decided(decision)) => {
                self.ctx.clear(&shared::question_of(id));
                self.course.decided(id, decision);
            }
            Ok(Woken::TimeUp) => {}
            Err(error) => self.course.decided(id, Decision::Refuse { reason: Some(error.message().to_owned()) }),
        }
    }
}

/// The result of a stage in the journal.
#[derive(Serialize, Deserialize)]
struct StageDone<T> {
    result: Result<T, TaskError>,
    events: Vec<Value>,
    at_ms: u64,
}

fn stop(error: &TerminalError) -> Stop {
    match error.code() {
        CANCELLED => Stop::Cancelled,
        _ => Stop::Failed(last_error(error)),
    }
}

/// The request as workers get it: earlier turns are for the stages.
fn request_of(request: &Request) -> Request {
    Request { history: Vec::new(), results: Vec::new(), ..request.clone() }
}

fn failed(error: TaskError) -> Report {
    Report { result: Tried::Failed(error), events: Vec::new(), ms: 0, at_ms: 0 }
}

fn report_of(ended: Result<Json<Report>, TerminalError>) -> Report {
    match ended {
        Ok(Json(report)) => report,
        Err(error) => {
            let code = if error.code() == CANCELLED { ErrorCode::Cancelled } else { ErrorCode::Internal };
            failed(TaskError::new(code, format!("the worker's invocation ended with an error: {}", error.message())))
        }
    }
}
