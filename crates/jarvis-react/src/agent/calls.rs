//! Calls of tools as tasks: who is chosen, how it is called, and what comes of it in words and pictures.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_catalogue::{Host, TaskOutput};
use jarvis_engine::{Events, Job, Selector, Tell, Worker};
use jarvis_plan::{Candidate, ErrorCode, Kind, Outcome, Selection, Task, TaskError};
use jarvis_store::Media;
use jarvis_tools::{Registry, Scope, ToolSource};
use jarvis_workers::{call_failed, inference_of};
use serde_json::Value;

/// The key of an output that holds the result of the call as data.
pub(super) const VALUE: &str = "value";

/// Chooses the tool that the task names: there is nothing to choose.
pub(super) struct Named(pub(super) Arc<Registry>);

#[async_trait]
impl Selector for Named {
    async fn select(&self, task: &Task, _: &Events, _: Tell<'_>) -> Result<Selection, TaskError> {
        let native = self.0.spec(&task.task).is_some_and(|spec| spec.source == ToolSource::Native);
        let host = if native { Host::Native } else { Host::Tool };
        let chosen = Candidate { id: task.task.clone(), host: host.into(), effective_task: task.task.clone() };
        let reason = "the agent named it".to_owned();
        Ok(Selection { task: task.id, chosen, fallbacks: Vec::new(), reason, notes: Vec::new() })
    }
}

pub(super) struct Caller {
    pub(super) registry: Arc<Registry>,
    pub(super) media: Arc<Media>,
    pub(super) scope: Scope,
}

#[async_trait]
impl Worker for Caller {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        let scope = Scope { cancel: job.cancel.clone(), key: job.key(), ..self.scope.clone() };
        let called = self.registry.call(&job.task.task, &job.object(), &scope).await;
        let observation = called.map_err(|error| call_failed(&error))?;
        let value = observation.value.clone();
        let output = inference_of(observation, &self.media).await?;
        Ok(match value {
            Some(value) => output.with(VALUE, value).into(),
            None => output.into(),
        })
    }
}

pub(super) fn observed(outcome: &Outcome) -> String {
    match (&outcome.error, TaskOutput::of(outcome)) {
        // What is wrong with the input is said by the tool in its own words.
        (Some(error), _) if error.code == ErrorCode::InvalidInput => error.message.clone(),
        (Some(error), _) => format!("Error: {}", error.message),
        (None, Some(output)) => output.as_text().unwrap_or_default(),
        (None, None) => format!("Error: the call was {}", outcome.status.as_str()),
    }
}

pub(super) fn images(outcome: &Outcome) -> Vec<String> {
    let Some(output) = TaskOutput::of(outcome) else { return Vec::new() };
    match output.0.get("images").and_then(Value::as_array) {
        Some(images) => images.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => output.media(Kind::Image).map(str::to_owned).into_iter().collect(),
    }
}
