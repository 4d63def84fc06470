//! Performs tasks for Restate: one private service for each capability, with a bounded number of tasks at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jarvis_engine::{Job, Worker};
use jarvis_plan::{Effect, ErrorCode, TaskError};
use restate_sdk::context::RunFuture;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::HandlerResult;
use restate_sdk::serde::Json;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::clock::now_ms;
use crate::contract::{Report, TaskCall, Tried};
use crate::endpoint::{Endpoint, Handle, Reply, Slots, Timeouts, definition};
use crate::error::Error;
use crate::names::{PERFORM, service_of};
use crate::step::{CANCELLED, Ended, LARGEST, Passing, TRIES, last_error, perform, tries};

/// Something that a worker can do: a task type or a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capability {
    /// Its name, as candidates have it in `effective_task`.
    pub name: String,
    /// Whether the far side does a call only once however often it comes with the key of [`Job::key`]. A call that changes
    /// something and may have arrived is then made again; otherwise a person is asked.
    pub idempotent: bool,
}

impl Capability {
    /// A capability that passes on no idempotency key.
    pub fn new(name: impl Into<String>) -> Capability {
        Capability { name: name.into(), idempotent: false }
    }

    /// The same with [`Capability::idempotent`].
    #[must_use]
    pub fn idempotent(self) -> Capability {
        Capability { idempotent: true, ..self }
    }
}

/// Serves capabilities of a worker to Restate.
pub struct TaskHost {
    worker: Arc<dyn Worker>,
    capabilities: Vec<Capability>,
    slots: usize,
    timeouts: Timeouts,
}

impl TaskHost {
    /// A host of one task at once.
    pub fn new(worker: Arc<dyn Worker>, capabilities: impl IntoIterator<Item = Capability>) -> TaskHost {
        let capabilities = capabilities.into_iter().collect();
        TaskHost { worker, capabilities, slots: 1, timeouts: Timeouts::default() }
    }

    /// The most tasks at once; those beyond wait here.
    #[must_use]
    pub fn slots(self, slots: usize) -> TaskHost {
        TaskHost { slots, ..self }
    }

    /// How long Restate waits for a task.
    #[must_use]
    pub fn timeouts(self, timeouts: Timeouts) -> TaskHost {
        TaskHost { timeouts, ..self }
    }

    /// Serves until `shutdown` fires and the tasks under way have ended.
    ///
    /// # Errors
    /// When the endpoint cannot be served.
    pub async fn serve(self, endpoint: Endpoint, shutdown: CancellationToken) -> Result<(), Error> {
        let slots = Slots::new(self.slots);
        let mut definitions = Vec::new();
        for Capability { name, idempotent } in &self.capabilities {
            let handlers =
                Performer { worker: Arc::clone(&self.worker), slots: Arc::clone(&slots), idempotent: *idempotent };
            definitions.push(definition(Arc::new(handlers), description(name, self.timeouts))?);
        }
        endpoint.serve(definitions, slots, shutdown).await
    }
}

/// A worker that is away for long is waited for, so attempts are many and close together.
fn description(capability: &str, timeouts: Timeouts) -> serde_json::Value {
    json!({
        "name": service_of(capability),
        "ty": "SERVICE",
        "handlers": [{"name": PERFORM}],
        "ingressPrivate": true,
        "inactivityTimeout": millis(timeouts.inactivity),
        "abortTimeout": millis(timeouts.abort),
        "retryPolicyInitialInterval": 100,
        "retryPolicyExponentiationFactor": 2.0,
        "retryPolicyMaxInterval": 10_000,
        "retryPolicyMaxAttempts": 10_000,
        "retryPolicyOnMaxAttempts": "PAUSE",
    })
}

pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The service of one capability.
struct Performer {
    worker: Arc<dyn Worker>,
    slots: Arc<Slots>,
    idempotent: bool,
}

impl Handle for Performer {
    async fn handle(self: Arc<Self>, ctx: ContextInternal) -> Option<HandlerResult<Reply>> {
        if ctx.handler_name() != PERFORM {
            return None;
        }
        let (Json(call), _) = ctx.input::<Json<TaskCall>>().await;
        Some(match self.perform(&ctx, call).await {
            Ok(report) => Reply::of(&report),
            Err(error) => Err(error),
        })
    }
}

impl Performer {
    async fn perform(&self, ctx: &ContextInternal, call: TaskCall) -> HandlerResult<Report> {
        let _slot = self.slots.take().await?;
        let once = call.effect != Effect::Reads && !self.idempotent;
        // The step is journalled before the call is made. Where it is replayed instead of run, another attempt got this far, and
        // may have made the call: one that was stopped for a while may even make it later.
        let began_here = AtomicBool::new(!once);
        if once {
            ctx.run(async || {
                began_here.store(true, Ordering::Relaxed);
                Ok(())
            })
            .name("begin")
            .await?;
        }
        let began_here = began_here.load(Ordering::Relaxed);
        let most = if once { 1 } else { TRIES };
        let work = async || -> HandlerResult<Json<Report>> {
            if !began_here {
                return Ok(Json(Report { result: Tried::Unknown, events: Vec::new(), ms: 0, at_ms: now_ms() }));
            }
            let report = self.once(&call).await;
            match &report.result {
                Tried::Failed(error) if !once => match Passing::of(error) {
                    Some(passing) => Err(passing.into()),
                    None => Ok(Json(report)),
                },
                Tried::Failed(_) | Tried::Output(_) | Tried::Unknown => Ok(Json(report)),
            }
        };
        match ctx.run(work).name(PERFORM).retry_policy(tries(most)).await {
            Ok(Json(report)) => Ok(report),
            Err(error) if error.code() == CANCELLED => Err(error.into()),
            Err(error) => Ok(Report { result: Tried::Failed(last_error(&error)), events: Vec::new(), ms: 0, at_ms: 0 }),
        }
    }

    /// Performs a task once.
    async fn once(&self, call: &TaskCall) -> Report {
        let worker = Arc::clone(&self.worker);
        let left = call.until_ms.map(|until| until.saturating_sub(now_ms()));
        let timeout_ms = left.map_or(call.timeout_ms, |left| left.min(call.timeout_ms));
        if timeout_ms == 0 {
            let error = TaskError::new(ErrorCode::Timeout, "the run ended before the task had its turn");
            return Report { result: Tried::Failed(error), events: Vec::new(), ms: 0, at_ms: now_ms() };
        }
        let Ended { result, events, ms, at_ms } =
            perform(&call.run, Duration::from_millis(timeout_ms), |events, cancel| {
                let job = Job {
                    request: Arc::new(call.request.clone()),
                    task: Arc::new(call.task.clone()),
                    args: call.args.clone(),
                    candidate: call.candidate.clone(),
                    events,
                    cancel,
                    part: 0,
                };
                async move { worker.perform(&job).await }
            })
            .await;
        let result = result.map_or_else(Tried::Failed, Tried::Output);
        let report = Report { result, events, ms, at_ms };
        match serde_json::to_vec(&report) {
            Ok(bytes) if bytes.len() <= LARGEST => report,
            Ok(bytes) => {
                let result = Tried::Failed(too_large(&call.candidate.effective_task, bytes.len()));
                Report { result, events: Vec::new(), ms, at_ms }
            }
            Err(error) => {
                let error = TaskError::new(ErrorCode::Internal, format!("the result cannot be written: {error}"));
                Report { result: Tried::Failed(error), events: Vec::new(), ms, at_ms }
            }
        }
    }
}

fn too_large(capability: &str, bytes: usize) -> TaskError {
    let message = format!("the result of `{capability}` has {bytes} bytes, and a result may have {LARGEST}");
    TaskError::new(ErrorCode::TooLarge, message).hint("put the data into the store and give a reference to it")
}
