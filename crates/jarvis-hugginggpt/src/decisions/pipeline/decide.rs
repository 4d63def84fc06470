//! The flow of the pipeline form, reported as events and written down. The steps themselves are in [`super::steps`].

use std::time::Instant;

use futures::FutureExt;
use futures::future::BoxFuture;
use jarvis_ask::Events;
use jarvis_plan::{Level, Request, Usage};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::steps::{Steps, records};
use super::{Pipeline, convert};
use crate::decisions::examples::Scenario;
use crate::decisions::{DecisionError, Decisions, Method, PromptLog};
use crate::json::{set, take};
use crate::source::ServiceTask;
use crate::stages::Stages;

/// What was decided in the pipeline form. Nothing of it has been executed.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineDecision {
    pub request: String,
    /// The plan's id: that of the run that decided it.
    pub plan_id: String,
    /// The pipeline; empty when the scenario calls for no task.
    pub pipeline: Pipeline,
    /// Task types that were taken to mean others: as written, and as known.
    pub mapped: Vec<(String, String)>,
    /// What a reader should know: what was mended or guessed, the same for the same decision.
    pub warnings: Vec<String>,
    pub usage: Usage,
    pub ms: u64,
    /// Where the plan was saved, relative to the folder that holds the plans' folder.
    pub saved: Option<String>,
    /// Where the prompts were written down, likewise.
    pub prompt_logs: Option<String>,
}

impl PipelineDecision {
    /// The execution plan: `{"execution_config": {…}}`. The same decision gives the same bytes.
    pub fn execution_config(&self) -> Value {
        let mut config = convert::to_execution_config(&self.pipeline, &self.request);
        if !self.warnings.is_empty() {
            set(&mut config, "warnings", json!(self.warnings));
        }
        json!({ "execution_config": config })
    }

    /// The reply of the decision API in the pipeline form: `tasks`, then what is ours.
    pub fn reply(&self) -> Value {
        let mut reply = json!({
            "tasks": self.pipeline.tasks,
            "execution_config": take(self.execution_config(), "execution_config"),
            "plan_id": self.plan_id,
        });
        let mapped: Vec<Value> = self.mapped.iter().map(|(from, to)| json!({"from": from, "to": to})).collect();
        for (name, value) in [
            ("execution_config_file", json!(self.saved)),
            ("prompt_logs_directory", json!(self.prompt_logs)),
            ("mapped", json!(mapped)),
            ("warnings", json!(self.warnings)),
        ] {
            if !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()) {
                set(&mut reply, name, value);
            }
        }
        set(&mut reply, "llm_calls", self.usage.total_calls());
        set(&mut reply, "usage", json!(self.usage));
        set(&mut reply, "timing_ms", self.ms);
        reply
    }
}

impl Decisions {
    /// Decides for a scenario in the pipeline form. Reported as events as a decision is. The method is that of the
    /// settings: [`Method::Separate`] makes one call for the plan and one for each task with more than one model,
    /// [`Method::Unified`] makes one.
    ///
    /// # Errors
    /// When there is no plan. A task that no model serves is no error.
    pub async fn decide_pipeline(
        &self,
        scenario: &Scenario,
        events: &Events,
        cancel: CancellationToken,
    ) -> Result<PipelineDecision, DecisionError> {
        let began = Instant::now();
        let request = Request::new(&scenario.sample_description);
        let work = self.pipelined(scenario, events, began);
        self.report(&request, work, PipelineDecision::execution_config, events, &cancel, began).await
    }

    pub(crate) fn pipeline_stages(&self, events: &Events) -> Result<(Stages, Option<PromptLog>), DecisionError> {
        let (stages, log) = self.stages(events);
        Ok((stages.ok_or(DecisionError::NeedsModel("the pipeline form"))?, log))
    }

    pub(crate) fn steps<'a>(
        &'a self,
        stages: &'a Stages,
        records: &'a [ServiceTask],
        scenario: &'a Scenario,
    ) -> Steps<'a> {
        Steps { stages, source: self.source.as_ref(), settings: &self.settings, records, scenario }
    }

    fn pipelined<'a>(
        &'a self,
        scenario: &'a Scenario,
        events: &'a Events,
        began: Instant,
    ) -> BoxFuture<'a, Result<PipelineDecision, DecisionError>> {
        async move {
            if scenario.sample_description.trim().is_empty() {
                return Err(DecisionError::Scenario("`sample-description` is missing or empty".into()));
            }
            let (stages, log) = self.pipeline_stages(events)?;
            let (records, examples) = tokio::join!(records(self.source.as_ref()), self.source.examples());
            let (records, examples) = (records?, examples.few_shots());
            let steps = self.steps(&stages, &records.tasks, scenario);
            let mut planned = match self.settings.method {
                Method::Separate => {
                    let mut planned = steps.plan(&examples, true).await?;
                    steps.report_plan(&planned);
                    let notes = steps.choose(&mut planned.pipeline).await?;
                    planned.notes.extend(notes);
                    planned
                }
                Method::Unified => steps.unified(&examples).await?,
            };
            planned.notes.splice(0..0, records.notes);
            for note in &planned.notes {
                events.note(Level::Info, note.clone());
            }
            let mut decision = PipelineDecision {
                request: scenario.sample_description.clone(),
                plan_id: events.run_id().0.clone(),
                pipeline: planned.pipeline,
                mapped: planned.mapped,
                warnings: planned.notes,
                usage: Usage::default(),
                ms: 0,
                saved: None,
                prompt_logs: None,
            };
            if !decision.pipeline.tasks.is_empty() {
                let document = format!("{:#}", decision.execution_config());
                decision.saved = self.save(&decision.plan_id, document, events).await.ok().flatten();
            }
            decision.prompt_logs = PromptLog::finish(log).await;
            decision.usage = events.usage();
            decision.ms = began.elapsed().as_millis() as u64;
            Ok(decision)
        }
        .boxed()
    }
}
