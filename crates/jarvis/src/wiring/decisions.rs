//! Decisions: the same pipeline stopped before execution, with its own source of tasks and models and its plan store.

use std::sync::Arc;
use std::time::Duration;

use jarvis_hugginggpt::decisions::{
    DecisionSettings, Decisions, Examples, PlanStore, Service, ServiceConfig, ServiceSource,
};
use jarvis_hugginggpt::{FileSource, ModelSource};
use jarvis_net::Secret;
use url::Url;

use super::{App, Folders};
use crate::config::{Config, DecisionsConfig};
use crate::failure::Failure;

impl App {
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

    /// The same with the catalogue of this machine, whatever is configured.
    pub(crate) fn local_decisions(&self) -> Result<Decisions, Failure> {
        let examples = self.examples()?;
        Ok(Decisions { source: Arc::new(self.file_source(examples)), ..self.decisions()? })
    }

    /// Where the tasks and models of decisions come from: the service that is configured, or the catalogue of this
    /// machine.
    fn source(&self) -> Result<Arc<dyn ModelSource>, Failure> {
        let config = &self.config.decisions;
        let shown = self.config.num_candidate_models;
        let examples = self.examples()?;
        let Some(base) = &config.model_api_base_url else { return Ok(Arc::new(self.file_source(examples))) };
        let mut source = ServiceSource::new(service(&self.config, base)?, shown);
        (source.served, source.examples) = (config.llm_served_tasks.clone(), examples);
        Ok(Arc::new(source))
    }

    fn file_source(&self, examples: Option<Arc<Examples>>) -> FileSource {
        let (sources, shown) = (Arc::clone(&self.pipeline.sources), self.config.num_candidate_models);
        let mut source = FileSource::for_planning(sources, self.pipeline.chat.is_some(), shown);
        source.served.clone_from(&self.config.decisions.llm_served_tasks);
        source.examples = examples.unwrap_or_default();
        source
    }

    fn examples(&self) -> Result<Option<Arc<Examples>>, Failure> {
        let config = &self.config.decisions;
        let Some(path) = &config.examples else { return Ok(None) };
        let examples = Examples::load(path, config.example_categories.as_deref())
            .map_err(|error| Failure::usage(error).hint("see `decisions.examples` in docs/configuration.md"))?;
        Ok(Some(Arc::new(examples)))
    }
}

fn service(config: &Config, base: &str) -> Result<Service, Failure> {
    let wrong = |key: &str, error: &dyn std::fmt::Display| {
        Failure::usage(format!("the configuration key `{key}` is wrong: {error}"))
    };
    let base: Url = base.parse().map_err(|error| wrong("decisions.model_api_base_url", &error))?;
    if !matches!(base.scheme(), "http" | "https") || base.host().is_none() {
        return Err(wrong("decisions.model_api_base_url", &"it is no http or https address"));
    }
    let proxy = config.proxy.as_deref().map(Url::parse).transpose().map_err(|error| wrong("proxy", &error))?;
    let token = config.decisions.model_api_key_env.as_deref().and_then(|name| std::env::var(name).ok());
    let service = ServiceConfig {
        token: token.as_deref().and_then(Secret::new),
        proxy,
        ttl: Duration::from_secs(config.decisions.cache_ttl_s),
        ..ServiceConfig::new(base)
    };
    Service::new(service).map_err(|error| {
        let hint = error.hint();
        Failure::work(error).hint(hint)
    })
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
