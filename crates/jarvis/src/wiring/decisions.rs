//! Decisions: the same pipeline stopped before execution, with its own source of tasks and models and its plan store.

use std::sync::Arc;
use std::time::Duration;

use jarvis_hugginggpt::decisions::{DecisionSettings, Decisions, PlanStore};
use jarvis_hugginggpt::{FileSource, ModelSource};

use super::{App, Folders};
use crate::config::{Config, DecisionsConfig};
use crate::failure::Failure;

impl App {
    /// What decides, as configured.
    pub(crate) fn decisions(&self) -> Result<Decisions, Failure> {
        let config = &self.config.decisions;
        let folders = Folders::of(&self.config)?;
        Ok(Decisions {
            pipeline: Arc::clone(&self.pipeline),
            settings: settings(&self.config),
            source: self.source()?,
            plans: config.save_plan.then(|| Arc::new(PlanStore::new(folders.plans, config.plan_keep))),
            prompt_logs: config.save_prompts.then_some(folders.prompts),
        })
    }

    /// Where the tasks and models of decisions come from: the catalogue of this machine.
    fn source(&self) -> Result<Arc<dyn ModelSource>, Failure> {
        let (sources, shown) = (Arc::clone(&self.pipeline.sources), self.config.num_candidate_models);
        let source = FileSource::for_planning(sources, self.pipeline.chat.is_some(), shown);
        Ok(Arc::new(match &self.config.decisions.llm_served_tasks {
            Some(tasks) => source.llm_serves(tasks.clone()),
            None => source,
        }))
    }
}

fn settings(config: &Config) -> DecisionSettings {
    let DecisionsConfig { semantic_mapping, replace_generated_images, describe, .. } = config.decisions;
    let DecisionsConfig { concurrency, explain_single, method, timeout_s, .. } = config.decisions;
    let settings = DecisionSettings::default();
    DecisionSettings {
        semantic_mapping,
        replace_generated_images,
        describe,
        concurrency,
        explain_single,
        method,
        timeout: Duration::from_secs(timeout_s),
        llm_served_tasks: config.decisions.llm_served_tasks.clone().unwrap_or(settings.llm_served_tasks),
        max_models: settings.max_models,
    }
}
