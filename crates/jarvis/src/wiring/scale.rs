//! Runs on many machines by Restate: what this process serves, and the stages of runs that it hosts.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jarvis_engine::{Events, Gate};
use jarvis_hugginggpt::HuggingGpt;
use jarvis_hugginggpt::decisions::{DecisionError, Decisions};
use jarvis_pipeline::approval::Rules;
use jarvis_pipeline::resources;
use jarvis_plan::{
    Answer, Draft, DraftTask, Effect, ErrorCode, EventKind, Limits, Plan, Request, Selection, Task, TaskError,
};
use jarvis_restate::{Capability, Planned, PlannedTask, Progress, RunHost, StageContext, Stages, TaskHost, Timeouts};

use super::App;
use crate::approval::ApprovalArgs;
use crate::failure::Failure;

impl App {
    /// A worker of what a backend is configured for, or of these kinds alone.
    ///
    /// # Errors
    /// When one of the kinds is unknown.
    pub(crate) fn task_host(&self, kinds: &[String], slots: Option<usize>) -> Result<(TaskHost, Vec<String>), Failure> {
        let offered: BTreeSet<String> = self.pipeline.offered().iter().map(|tool| tool.name.clone()).collect();
        if let Some(unknown) = kinds.iter().find(|kind| self.pipeline.vocabulary.find(kind).is_none()) {
            return Err(Failure::usage(format!("nothing here performs `{unknown}`"))
                .hint("`jarvis tools list` and `jarvis models list` say what there is"));
        }
        let served: Vec<String> = if kinds.is_empty() { offered.into_iter().collect() } else { kinds.to_vec() };
        let slots = slots.unwrap_or(self.config.limits.concurrency);
        let tools = &self.base.tools.registry;
        let capability = |name: &String| match tools.takes_key(name) {
            true => Capability::new(name).idempotent(),
            false => Capability::new(name),
        };
        let host = TaskHost::new(self.pipeline.performer(), served.iter().map(capability));
        Ok((host.slots(slots).timeouts(self.restate_timeouts()), served))
    }

    /// A host of runs with the stages of this pipeline.
    pub(crate) fn run_host(&self) -> Result<RunHost, Failure> {
        let (pipeline, decisions) = (Arc::clone(&self.pipeline), self.decisions()?);
        let rules = super::bounds::rules(&self.config, &ApprovalArgs::default())?;
        let stages = PipelineStages { pipeline, decisions, rules };
        let host = RunHost::new(Arc::new(stages)).resolver(self.pipeline.resolver());
        Ok(host.timeouts(self.restate_timeouts()))
    }

    /// Longer than any task and its wait for a slot.
    fn restate_timeouts(&self) -> Timeouts {
        let longest = self.pipeline.settings.engine.task_timeout;
        let usual = Timeouts::default();
        Timeouts { inactivity: usual.inactivity.max(longest * 4), abort: usual.abort.max(longest * 8) }
    }
}

/// The stages of HuggingGPT as steps of a run: a decision, and the answer.
struct PipelineStages {
    pipeline: Arc<HuggingGpt>,
    decisions: Decisions,
    /// Which calls wait for leave.
    rules: Rules,
}

#[async_trait]
impl Stages for PipelineStages {
    async fn plan(&self, request: &Request, cx: &StageContext) -> Result<Planned, TaskError> {
        // A decision tells of a beginning and an end of its own, which are not those of the run.
        let (events, mut told) = Events::channel(cx.run.clone());
        let decided = self.decisions.decide(Arc::new(request.clone()), &events, cx.cancel.clone()).await;
        while let Ok(event) = told.try_recv() {
            if matches!(event.kind, EventKind::ModelCall { .. } | EventKind::Note { .. } | EventKind::Mapped { .. }) {
                cx.events.emit(event.kind);
            }
        }
        let decision = decided.map_err(undecided)?;
        let mut planned = Planned::with(&decision.plan, |task| {
            let choice = decision.choice(task.id).map(|choice| choice.result.clone());
            let planned = planned_task(&*self.pipeline.gate, task, choice);
            PlannedTask { allowed: !self.rules.asks(&task.task, planned.effect), ..planned }
        });
        // Notes of the plan are among the warnings.
        let more = decision.warnings.into_iter().filter(|warning| !planned.notes.contains(warning)).collect::<Vec<_>>();
        planned.notes.extend(more);
        Ok(planned)
    }

    async fn answer(&self, progress: &Progress, cx: &StageContext) -> Result<Answer, TaskError> {
        let plan = plan_of(&progress.tasks, &self.pipeline);
        let made = resources(&progress.request, &progress.outcomes);
        let answer = self.pipeline.answer(&progress.request, &plan, &progress.outcomes, &made, &cx.events).await;
        answer.map_err(|error| TaskError::new(ErrorCode::Internal, error.to_string()))
    }
}

fn planned_task(gate: &dyn Gate, task: &Task, choice: Option<Result<Selection, TaskError>>) -> PlannedTask {
    let effect: Effect = gate.effect(task);
    match choice {
        Some(Ok(selection)) => PlannedTask::new(task, effect, Some(selection)),
        Some(Err(error)) => {
            let planned = PlannedTask::new(task, effect, None);
            PlannedTask { fault: planned.fault.or(Some(error)), ..planned }
        }
        None => PlannedTask::new(task, effect, None),
    }
}

/// The plan of a run, checked again: tasks travel one by one.
fn plan_of(tasks: &[PlannedTask], pipeline: &HuggingGpt) -> Plan {
    let draft = tasks.iter().map(|planned| {
        let task = &planned.task;
        let mut draft = DraftTask::new(i64::from(task.id.0), &task.task);
        draft.dep = task.dep.iter().map(|dep| i64::from(dep.0)).collect();
        task.args.iter().fold(draft, |draft, (name, arg)| draft.arg(name, arg.to_value()))
    });
    let draft = Draft { tasks: draft.collect(), ..Draft::default() };
    let mut plan = Plan::default();
    plan.grow(&draft, &pipeline.vocabulary, Limits { max_tasks: tasks.len() });
    plan
}

/// A decision that failed, as a stage's failure: one that may pass is tried again.
fn undecided(error: DecisionError) -> TaskError {
    let message = error.to_string();
    let hint = error.hint();
    let code = match error {
        DecisionError::Model { source, .. } => source.code(),
        DecisionError::NoTasks(error) => error.code,
        DecisionError::NeedsModel(_) => ErrorCode::NotConfigured,
        DecisionError::Timeout { .. } => ErrorCode::Timeout,
        DecisionError::Cancelled => ErrorCode::Cancelled,
        DecisionError::Unreadable { .. } => ErrorCode::BadReply,
        DecisionError::EmptyRequest | DecisionError::Scenario(_) => ErrorCode::InvalidInput,
        DecisionError::Planner(_) | DecisionError::Prompt { .. } => ErrorCode::Internal,
    };
    let error = TaskError::new(code, message);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// How long a checkup at the start may take before the server starts without it.
pub(crate) const CHECKUP: Duration = Duration::from_secs(5);
