//! Calls of tools as tasks: who is chosen, how it is called, and what comes of it in words and pictures.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_engine::{Events, Job, Selector, Worker};
use jarvis_net::http::blocking;
use jarvis_net::sniff::sniff;
use jarvis_plan::{Candidate, ErrorCode, Host, Inference, Kind, Outcome, Selection, Task, TaskError};
use jarvis_store::Media;
use jarvis_tools::{Artifact, CallError, CallFault, Registry, Scope, ToolSource};
use serde_json::Value;

/// The argument of a task that holds the input of the call, JSON.
pub(super) const INPUT: &str = "input";

/// Chooses the tool that the task names: there is nothing to choose.
pub(super) struct Named(pub(super) Arc<Registry>);

#[async_trait]
impl Selector for Named {
    async fn select(&self, task: &Task, _events: &Events) -> Result<Selection, TaskError> {
        let native = self.0.spec(&task.task).is_some_and(|spec| spec.source == ToolSource::Native);
        let host = if native { Host::Native } else { Host::Tool };
        let chosen = Candidate { id: task.task.clone(), host, effective_task: task.task.clone() };
        let reason = "the agent named it".to_owned();
        Ok(Selection { task: task.id, chosen, fallbacks: Vec::new(), reason, notes: Vec::new() })
    }
}

/// Calls the tool of the registry.
pub(super) struct Caller {
    pub(super) registry: Arc<Registry>,
    pub(super) media: Arc<Media>,
    pub(super) scope: Scope,
}

#[async_trait]
impl Worker for Caller {
    async fn perform(&self, job: &Job) -> Result<Inference, TaskError> {
        let input: Value = job.arg(INPUT).and_then(|input| serde_json::from_str(input).ok()).unwrap_or_default();
        let scope = Scope { cancel: job.cancel.clone(), ..self.scope.clone() };
        let observation = self.registry.call(&job.task.task, &input, &scope).await.map_err(failed)?;
        let mut images: Vec<String> = Vec::new();
        for artifact in observation.artifacts {
            images.extend(self.keep(artifact).await?);
        }
        let inference = Inference::text(observation.text);
        Ok(match images.last().cloned() {
            Some(last) if images.len() == 1 => inference.with("generated image", last),
            Some(last) => inference.with("generated image", last).with("images", images),
            None => inference,
        })
    }
}

impl Caller {
    /// Puts a picture under the public root; other files are left out.
    async fn keep(&self, artifact: Artifact) -> Result<Option<String>, TaskError> {
        let found = sniff(&artifact.bytes).filter(|found| found.fits(Kind::Image));
        let Some(found) = found else { return Ok(None) };
        let media = Arc::clone(&self.media);
        let stored = blocking(move || {
            let stored = media.create(Kind::Image, found.extension, &artifact.bytes);
            stored.map_err(|error| TaskError::new(ErrorCode::Internal, format!("the picture cannot be kept: {error}")))
        });
        stored.await.map(Some)
    }
}

/// A failed call as the failure of a task.
fn failed(error: CallError) -> TaskError {
    let code = match error.kind {
        CallFault::NoSuchApi => ErrorCode::NotFound,
        CallFault::BadInput => ErrorCode::InvalidInput,
        CallFault::Timeout => ErrorCode::Timeout,
        CallFault::NotWorking | CallFault::Transport => ErrorCode::Unavailable,
        CallFault::Unauthorized | CallFault::Unsubscribed => ErrorCode::Unauthorized,
        CallFault::TooManyRequests | CallFault::RateLimit => ErrorCode::RateLimited,
        CallFault::Message => ErrorCode::Upstream,
    };
    TaskError::new(code, error.message)
}

/// What an outcome tells the agent.
pub(super) fn observed(outcome: &Outcome) -> String {
    match (&outcome.error, &outcome.inference) {
        // What is wrong with the input is said by the tool in its own words.
        (Some(error), _) if error.code == ErrorCode::InvalidInput => error.message.clone(),
        (Some(error), _) => format!("Error: {}", error.message),
        (None, Some(inference)) => inference.as_text().unwrap_or_default(),
        (None, None) => format!("Error: the call was {}", outcome.status.as_str()),
    }
}

/// The pictures of an inference.
pub(super) fn images(inference: &Inference) -> Vec<String> {
    match inference.0.get("images").and_then(Value::as_array) {
        Some(images) => images.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => inference.media(Kind::Image).map(str::to_owned).into_iter().collect(),
    }
}
