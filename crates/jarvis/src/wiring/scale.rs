//! Runs on many machines by Restate: what this process serves, and the stages of runs that it hosts.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jarvis_hugginggpt::{Begun, HuggingGpt, Looked, Rounds, SoFar};
use jarvis_pipeline::Run;
use jarvis_pipeline::approval::{Rules, question_of};
use jarvis_plan::{Effect, ErrorCode, Note, Request, Task, TaskError, TaskId};
use jarvis_restate::{
    self as restate, Capability, Concluded, Decision, Growth, Next, Planned, PlannedTask, Progress, RunHost,
    StageContext, Stages, TaskHost, Timeouts, Verdict,
};
use serde::{Deserialize, Serialize};

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
        if let Some(other) = kinds.iter().find(|kind| !offered.contains(*kind)) {
            return Err(Failure::usage(format!("nothing is configured here that performs `{other}`")).hint(
                "a model, a key or a tool for it is missing: `jarvis doctor` and `jarvis models suggest` say which",
            ));
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
        let rules = super::bounds::rules(&self.config, &ApprovalArgs::default())?;
        // A stage does not know whose run it is of, and experience belongs to somebody.
        let pipeline = Arc::new(HuggingGpt { memory: None, ..(*self.pipeline).clone() });
        let stages = PipelineStages { pipeline, rules };
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

/// The stages of HuggingGPT as steps of a run.
struct PipelineStages {
    pipeline: Arc<HuggingGpt>,
    /// Which calls wait for leave.
    rules: Rules,
}

/// What a look wants to be remembered.
#[derive(Default, Serialize, Deserialize)]
struct Remembered {
    rounds: Rounds,
    /// What the planner asked the person.
    asked: Option<String>,
}

impl PipelineStages {
    /// Tasks with who performs them.
    async fn planned(
        &self,
        request: &Arc<Request>,
        tasks: &[Task],
        notes: Vec<Note>,
        more: bool,
        cx: &StageContext,
    ) -> Planned {
        let choices = self.pipeline.choose(request, tasks, &cx.events).await;
        let planned = tasks.iter().zip(choices).map(|(task, choice)| {
            let effect = self.pipeline.gate.effect(task);
            let allowed = !self.rules.asks(&task.task, effect);
            let (selection, error) = match choice {
                Some(Ok(selection)) => (Some(selection), None),
                Some(Err(error)) => (None, Some(error)),
                None => (None, None),
            };
            let planned = PlannedTask::new(task, effect, selection);
            PlannedTask { allowed, fault: planned.fault.or(error), ..planned }
        });
        Planned { tasks: planned.collect(), notes, more }
    }

    /// A run as it has come, with what was said to the question of the look before.
    fn so_far(progress: &Progress) -> Result<SoFar, TaskError> {
        let Progress { request, plan, outcomes, memory, told, .. } = progress;
        let remembered: Option<Remembered> = serde_json::from_value(memory.clone()).map_err(|error| {
            TaskError::new(ErrorCode::Internal, format!("what the last look came to cannot be read: {error}"))
        })?;
        let Remembered { mut rounds, asked } =
            remembered.unwrap_or_else(|| Remembered { rounds: Rounds::of(plan), asked: None });
        if let Some(question) = asked {
            rounds.told(question, told.as_ref().and_then(Decision::answer));
        }
        Ok(SoFar { request: Arc::new(request.clone()), plan: plan.clone(), outcomes: outcomes.clone(), rounds })
    }
}

#[async_trait]
impl Stages for PipelineStages {
    async fn plan(&self, request: &Request, cx: &StageContext) -> Result<restate::Begun, TaskError> {
        let begun =
            self.pipeline.begin(request, &cx.events, &cx.cancel).await.map_err(|error| error.as_task_error())?;
        Ok(match begun {
            Begun::Plan(plan) => {
                let (notes, more) = (plan.notes().to_vec(), plan.may_grow());
                self.planned(&Arc::new(request.clone()), plan.tasks(), notes, more, cx).await.into()
            }
            Begun::Ended(run) => {
                let planned = Planned::with(&run.plan, |task| PlannedTask::new(task, Effect::Reads, None));
                restate::Begun { planned, ended: Some(concluded(*run)) }
            }
        })
    }

    async fn look(&self, progress: &Progress, cx: &StageContext) -> Result<restate::Looked, TaskError> {
        let mut so_far = Self::so_far(progress)?;
        let looked = self.pipeline.look(&mut so_far, &cx.events, &cx.cancel).await;
        let mut asked = None;
        let next = match looked.map_err(|error| error.as_task_error())? {
            Looked::End => Next::Answer,
            Looked::Ask(question) => {
                let next = TaskId(u32::try_from(so_far.plan.tasks().len()).unwrap_or(u32::MAX));
                let approval = question_of(next, &question, None);
                asked = Some(question);
                Next::Ask(approval)
            }
            Looked::Grown { why, tasks, notes, more } => {
                let planned = self.planned(&so_far.request, &tasks, notes, more, cx).await;
                Next::Grow(Growth { why, planned })
            }
        };
        let memory = serde_json::to_value(Remembered { rounds: so_far.rounds, asked });
        let memory = memory.map_err(|error| TaskError::new(ErrorCode::Internal, error.to_string()))?;
        Ok(restate::Looked { next, memory })
    }

    async fn answer(&self, progress: &Progress, cx: &StageContext) -> Result<Concluded, TaskError> {
        let so_far = Self::so_far(progress)?;
        let known = so_far.plan.notes().len();
        let run = self.pipeline.end(so_far, &cx.events, &cx.cancel).await;
        let run = run.map_err(|error| error.as_task_error())?;
        let notes = run.plan.notes().iter().skip(known).cloned().collect();
        let Concluded { answer, verdict } = concluded(run);
        Ok(Concluded { answer, verdict: Verdict { notes, ..verdict } })
    }
}

/// The end of a run whose plan is told with all its notes.
fn concluded(run: Run) -> Concluded {
    let ok = run.ok();
    let made_up_for = run.outcomes.iter().filter(|outcome| outcome.made_up_for).map(|outcome| outcome.id).collect();
    let Run { answer, not_done, question, conversation, .. } = run;
    Concluded { answer, verdict: Verdict { ok, not_done, question, conversation, made_up_for, notes: Vec::new() } }
}

/// How long a checkup at the start may take before the server starts without it.
pub(crate) const CHECKUP: Duration = Duration::from_secs(5);
