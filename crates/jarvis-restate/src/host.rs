//! Hosts runs for Restate: the workflow as a service.

use std::sync::Arc;
use std::time::Duration;

use jarvis_engine::{ByOutput, Resolver};
use jarvis_plan::RunId;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::HandlerResult;
use restate_sdk::serde::Json;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::admin::Admin;
use crate::contract::RunInput;
use crate::endpoint::{Endpoint, Handle, Reply, Slots, Timeouts, definition};
use crate::error::Error;
use crate::shared;
use crate::stages::Stages;
use crate::worker::millis;
use crate::workflow::Scheduler;

/// The workflow as it is now.
pub const WORKFLOW: &str = "Run.v1";

/// Hosts runs.
pub struct RunHost {
    stages: Arc<dyn Stages>,
    resolver: Arc<dyn Resolver>,
    name: String,
    slots: usize,
    timeouts: Timeouts,
    retention: Duration,
}

impl RunHost {
    /// A host of runs with these stages, whose references stand for whole outputs.
    pub fn new(stages: Arc<dyn Stages>) -> RunHost {
        RunHost {
            stages,
            resolver: Arc::new(ByOutput),
            name: WORKFLOW.to_owned(),
            slots: 64,
            timeouts: Timeouts::default(),
            retention: Duration::from_secs(24 * 60 * 60),
        }
    }

    /// What references stand for. It is asked again whenever a run is replayed, and must say the same each time.
    #[must_use]
    pub fn resolver(self, resolver: Arc<dyn Resolver>) -> RunHost {
        RunHost { resolver, ..self }
    }

    /// Another name than [`WORKFLOW`]: for stages or a resolver that would not go on with the runs of that name as they began.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> RunHost {
        RunHost { name: name.into(), ..self }
    }

    /// The most stages that run at once in this process; runs themselves are not bounded.
    #[must_use]
    pub fn slots(self, slots: usize) -> RunHost {
        RunHost { slots, ..self }
    }

    /// How long Restate waits for a stage.
    #[must_use]
    pub fn timeouts(self, timeouts: Timeouts) -> RunHost {
        RunHost { timeouts, ..self }
    }

    /// How long a run that has ended is kept, with its events.
    #[must_use]
    pub fn retention(self, retention: Duration) -> RunHost {
        RunHost { retention, ..self }
    }

    /// Serves until `shutdown` fires and the stages under way have ended. Runs go on elsewhere, or when a host is back.
    ///
    /// # Errors
    /// When the endpoint cannot be served.
    pub async fn serve(self, endpoint: Endpoint, shutdown: CancellationToken) -> Result<(), Error> {
        let slots = Slots::new(self.slots);
        let description = self.description();
        let handlers = Runs {
            stages: self.stages,
            resolver: self.resolver,
            admin: endpoint.admin.clone(),
            slots: Arc::clone(&slots),
        };
        let definition = definition(Arc::new(handlers), description)?;
        endpoint.serve([definition], slots, shutdown).await
    }

    fn description(&self) -> Value {
        let shared = |name: &str| {
            json!({
                "name": name,
                "ty": "SHARED",
                "input": {"required": true, "contentType": "application/json"},
                "journalRetention": 0,
            })
        };
        json!({
            "name": self.name,
            "ty": "WORKFLOW",
            "handlers": [
                {
                    "name": "run",
                    "ty": "WORKFLOW",
                    "input": {"required": true, "contentType": "application/json"},
                    "workflowCompletionRetention": millis(self.retention),
                },
                shared(shared::NEXT),
                shared(shared::APPROVE),
            ],
            "enableLazyState": true,
            "inactivityTimeout": millis(self.timeouts.inactivity),
            "abortTimeout": millis(self.timeouts.abort),
            "retryPolicyInitialInterval": 100,
            "retryPolicyExponentiationFactor": 2.0,
            "retryPolicyMaxInterval": 10_000,
            "retryPolicyMaxAttempts": 10_000,
            "retryPolicyOnMaxAttempts": "PAUSE",
        })
    }
}

/// What runs need of their host.
pub(crate) struct Runs {
    pub(crate) stages: Arc<dyn Stages>,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) admin: Admin,
    pub(crate) slots: Arc<Slots>,
}

impl Handle for Runs {
    async fn handle(self: Arc<Self>, ctx: ContextInternal) -> Option<HandlerResult<Reply>> {
        match ctx.handler_name() {
            "run" => {
                let (Json(input), meta) = ctx.input::<Json<RunInput>>().await;
                let run = RunId(meta.key);
                Some(match Scheduler::new(&self, &ctx, meta.invocation_id, &run, &input).run().await {
                    Ok(end) => Reply::of(&end),
                    Err(error) => Err(error),
                })
            }
            shared::NEXT => Some(shared::next(&ctx).await),
            shared::APPROVE => Some(shared::approve(&ctx).await),
            _ => None,
        }
    }
}
