//! Tasks on their way: the engine runs them on a task of its own while the plan is written, looked at and planned on.

use std::collections::BTreeMap;

use jarvis_engine::{Engine, GrowingPlan, Growth, NotExtended, RunEnded};
use jarvis_plan::{Draft, Limits, Outcome, Plan, Task, TaskId, Vocabulary};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument as _, Span};

/// A plan that runs. Dropping it ends all work.
pub(crate) struct Course {
    plan: GrowingPlan,
    ended: UnboundedReceiver<Outcome>,
    outcomes: BTreeMap<TaskId, Outcome>,
    driven: AbortOnDropHandle<Vec<Outcome>>,
    stop: CancellationToken,
}

impl Course {
    /// Runs a plan, but for the tasks of it that have ended before.
    pub(crate) fn start(engine: Engine, cancel: &CancellationToken, plan: Plan, ended: Vec<Outcome>) -> Course {
        Course::on(engine, cancel, &Span::current(), GrowingPlan::new(plan), ended)
    }

    /// Runs the tasks of a plan that is still being written, as a part of the run whose span this is, not of its planning.
    pub(crate) fn unwritten(engine: Engine, cancel: &CancellationToken, run: &Span) -> Course {
        Course::on(engine, cancel, run, GrowingPlan::unwritten(), Vec::new())
    }

    fn on(
        engine: Engine,
        cancel: &CancellationToken,
        above: &Span,
        (plan, growth): (GrowingPlan, Growth),
        before: Vec<Outcome>,
    ) -> Course {
        let stop = cancel.child_token();
        let engine = engine.cancelled_by(stop.clone());
        let outcomes = before.iter().map(|outcome| (outcome.id, outcome.clone())).collect();
        let (sender, ended) = unbounded_channel();
        let driven = async move {
            let told = move |outcome: &Outcome| {
                // Nobody listens when the run has been given up.
                let _ = sender.send(outcome.clone());
            };
            engine.run_growing(growth, before, told).await
        };
        let span = tracing::debug_span!(parent: above, "execute");
        // What is logged in a run says which, also where nobody traces its parts.
        let span = if span.is_disabled() { above.clone() } else { span };
        let driven = AbortOnDropHandle::new(tokio::spawn(driven.instrument(span)));
        Course { plan, ended, outcomes, driven, stop }
    }

    /// The plan so far.
    pub(crate) fn plan(&self) -> &Plan {
        self.plan.plan()
    }

    /// How the tasks ended that have ended, as far as [`Course::settled`] heard of it.
    pub(crate) fn outcomes(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes.values()
    }

    /// Goes on with more of a plan that is being written, see [`GrowingPlan::extend`].
    pub(crate) fn extend(&mut self, plan: Plan, whole: bool) -> Result<&[Task], NotExtended> {
        self.plan.extend(plan, whole)
    }

    /// Goes on with tasks that follow from what came of those before, see [`GrowingPlan::grow`].
    pub(crate) fn grow(&mut self, draft: &Draft, vocabulary: &Vocabulary, limits: Limits) -> Result<&[Task], RunEnded> {
        self.plan.grow(draft, vocabulary, limits)
    }

    /// Waits until every task of the plan has ended; false when the run has ended, and nothing can follow.
    pub(crate) async fn settled(&mut self) -> bool {
        while self.outcomes.len() < self.plan.plan().tasks().len() {
            match self.ended.recv().await {
                Some(outcome) => drop(self.outcomes.insert(outcome.id, outcome)),
                None => return false,
            }
        }
        true
    }

    /// Waits until every task has ended; nothing is added any more.
    pub(crate) async fn end(self) -> (Plan, Vec<Outcome>) {
        let Course { plan, driven, stop, .. } = self;
        let whole = plan.plan().clone();
        drop(plan);
        let outcomes = driven.await;
        drop(stop);
        match outcomes.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(outcomes) => (whole, outcomes),
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            // Only dropping the handle aborts it, and it is here.
            Err(Err(_)) => (whole, Vec::new()),
        }
    }

    /// Ends all work, and returns what came of it.
    pub(crate) async fn give_up(self) -> (Plan, Vec<Outcome>) {
        self.stop.cancel();
        self.end().await
    }
}
