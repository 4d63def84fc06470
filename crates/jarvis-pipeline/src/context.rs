//! What a run is given.

use std::sync::Arc;
use std::time::Duration;

use jarvis_ask::Ask;
use jarvis_engine::{Engine, Limits as EngineLimits};
use jarvis_events::Events;
use jarvis_plan::{EventKind, Limits as PlanLimits, Request};
use jarvis_tools::Registry;
use tokio_util::sync::CancellationToken;

use crate::{Run, RunError, Shelf, put_out, report_end};

/// Bounds of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Size of the plan.
    pub plan: PlanLimits,
    /// Concurrency and time. `run_timeout` covers the run from its request to its answer.
    pub engine: EngineLimits,
}

/// What a run may use. Made anew for each run; cheap to clone.
#[derive(Debug, Clone)]
pub struct RunContext {
    /// Asks the chat model and reports to this run. `None` where no model is configured: see [`RunContext::model`].
    pub ask: Option<Ask>,
    /// Runs task graphs. Its worker calls the tools of [`RunContext::tools`]; events, limits and cancellation are those of
    /// this run.
    pub engine: Engine,
    /// Every tool, by name.
    pub tools: Arc<Registry>,
    /// The run's event stream.
    pub events: Events,
    /// Fires when the run is to end.
    pub cancel: CancellationToken,
    /// Bounds of the run.
    pub limits: Limits,
    /// Where the files of the answer are put for a person at this machine, if anywhere.
    pub shelf: Option<Arc<dyn Shelf>>,
}

impl RunContext {
    /// A context whose parts report to the same run and end with it.
    pub fn new(
        ask: Option<Ask>,
        engine: Engine,
        tools: Arc<Registry>,
        events: &Events,
        cancel: CancellationToken,
        limits: Limits,
    ) -> RunContext {
        RunContext {
            ask: ask.map(|ask| ask.reporting_to(events)),
            engine: engine.events(events.clone()).limits(limits.engine).cancelled_by(cancel.clone()),
            tools,
            events: events.clone(),
            cancel,
            limits,
            shelf: None,
        }
    }

    /// The same with a place for the files of the answer.
    pub fn shelf(self, shelf: Option<Arc<dyn Shelf>>) -> RunContext {
        RunContext { shelf, ..self }
    }

    /// The chat model, for a pipeline that cannot work without one.
    ///
    /// # Errors
    /// [`RunError::NoModel`].
    pub fn model(&self, pipeline: &str) -> Result<&Ask, RunError> {
        self.ask.as_ref().ok_or_else(|| RunError::NoModel { pipeline: pipeline.to_owned() })
    }

    /// Does `work` as a whole run of the pipeline of this name: reports the request first, puts the files of the answer on the shelf, and reports the
    /// answer or the error last.
    ///
    /// # Errors
    /// Those of `work`.
    pub async fn report(
        &self,
        pipeline: &str,
        request: &Request,
        work: impl Future<Output = Result<Run, RunError>>,
    ) -> Result<Run, RunError> {
        let model = self.ask.as_ref().map(|ask| ask.model().model_name(""));
        self.events.emit(EventKind::run_started(pipeline, request.clone(), model));
        let began = self.events.began();
        let mut ended = work.await;
        if let Ok(run) = &mut ended {
            let resources = std::mem::take(&mut run.answer.resources);
            run.answer.resources = put_out(self.shelf.as_ref(), resources, &self.events).await;
        }
        report_end(ended, &self.events, began)
    }

    /// Does a part of the run within `allowed`, unless the run is cancelled first.
    ///
    /// # Errors
    /// [`RunError::Cancelled`], [`RunError::Timeout`], and those of `work`.
    pub async fn within<T>(
        &self,
        allowed: Duration,
        work: impl Future<Output = Result<T, RunError>>,
    ) -> Result<T, RunError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(RunError::Cancelled),
            done = tokio::time::timeout(allowed, work) => done.unwrap_or(Err(RunError::timeout(allowed))),
        }
    }
}
