//! Runs that stop early: after the plan, as the original's `/tasks`, and before the answer, as its `/results`.

use std::sync::Arc;
use std::time::Instant;

use jarvis_engine::Events;
use jarvis_plan::{EventKind, Outcome, Request};
use tokio_util::sync::CancellationToken;

use crate::pipeline::{HuggingGpt, Planned};
use jarvis_pipeline::{RunError, not_done};

impl HuggingGpt {
    pub async fn run_plan_only(
        &self,
        request: &Request,
        events: &Events,
        cancel: CancellationToken,
    ) -> Result<Planned, RunError> {
        self.report_start(request, events);
        let began = events.began();
        let planned = self.plan_within(request, events, &cancel, None).await;
        match &planned {
            Ok(_) => self.report_done(true, false, events, began),
            Err(error) => events.emit(error.event(began)),
        }
        planned
    }

    /// Plans, chooses and executes, and writes no answer. A conversation has no outcomes.
    pub async fn run_without_answer(
        &self,
        request: Arc<Request>,
        events: &Events,
        cancel: CancellationToken,
    ) -> Result<(Planned, Vec<Outcome>), RunError> {
        self.report_start(&request, events);
        let began = events.began();
        let planned = match self.plan_within(&request, events, &cancel, None).await {
            Ok(planned) => planned,
            Err(error) => {
                events.emit(error.event(began));
                return Err(error);
            }
        };
        let outcomes = match &planned {
            Planned::Tasks(plan) => {
                let engine = self.engine(&request, Arc::new(self.chooser(&request, events)), events, began);
                engine.cancelled_by(cancel.clone()).run(plan).await.into_outcomes()
            }
            Planned::Conversation(..) => Vec::new(),
        };
        let done = match &planned {
            Planned::Tasks(plan) => outcomes.iter().any(Outcome::succeeded) && not_done(plan, &outcomes).is_empty(),
            Planned::Conversation(..) => true,
        };
        let ok = !cancel.is_cancelled() && done;
        self.report_done(ok, cancel.is_cancelled(), events, began);
        Ok((planned, outcomes))
    }

    fn report_done(&self, ok: bool, cancelled: bool, events: &Events, began: Instant) {
        let ms = began.elapsed().as_millis() as u64;
        events.emit(EventKind::Done { ok, cancelled, usage: events.usage(), ms });
    }
}
