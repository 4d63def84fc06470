//! Local models: a model that is on this machine performs the task, run by jarvis itself. Tasks of other models at the host `local` go
//! on to the model server, where there is one.

mod input;
mod output;
mod reading;
mod speech;
mod translation;

pub use reading::{LocalReader, OCR};

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jarvis_catalogue::TaskOutput;
use jarvis_engine::{Job, Worker};
use jarvis_experts::{Call, ExpertError, Input, LocalModels, ModelFiles};
use jarvis_plan::{ErrorCode, TaskError};
use serde_json::Value;

use crate::Inputs;
use crate::native::{Programs, beyond_experts};

/// The models on this machine by the id of their candidates. It may change while jarvis runs: a model can be pulled meanwhile.
#[derive(Debug, Clone, Default)]
pub struct LocalFiles(Arc<RwLock<HashMap<String, LocalFile>>>);

/// A model on this machine.
#[derive(Debug, Clone)]
struct LocalFile {
    files: ModelFiles,
    /// What it was made for.
    tasks: Vec<String>,
}

impl LocalFiles {
    fn find(&self, id: &str) -> Option<LocalFile> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// A model that was made for a task type: the first by its id.
    fn for_task(&self, task: &str) -> Option<ModelFiles> {
        let models = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let made_for = models.values().filter(|model| model.tasks.iter().any(|known| known == task));
        made_for.map(|model| &model.files).min_by(|one, other| one.id.cmp(&other.id)).cloned()
    }

    /// Replaces all of them: each with the task types that it was made for.
    pub fn set(&self, models: impl IntoIterator<Item = (ModelFiles, Vec<String>)>) {
        let models = models.into_iter().map(|(files, tasks)| (files.id.clone(), LocalFile { files, tasks })).collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = models;
    }
}

/// A language model too small to mind how a task is wanted: what goes beyond the plain task is left to others.
pub struct SmallLanguageModel(pub Arc<dyn Worker>);

#[async_trait]
impl Worker for SmallLanguageModel {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        if let Some(beyond) = beyond_experts(job, &job.candidate.effective_task) {
            let message = format!("this language model is small, and does not mind what is asked here: {beyond}");
            return Err(
                TaskError::new(ErrorCode::CannotDo, message).hint("a larger one does (`jarvis models suggest`)")
            );
        }
        self.0.perform(job).await
    }
}

/// Task types of models, each with that of plans which asks for it: who wants a background removed asks for a changed picture.
pub const ASKED_FOR_AS: [(&str, &str); 2] =
    [("background-removal", "image-to-image"), ("voice-activity-detection", "audio-classification")];

/// What performs tasks with the language model of this id, if it is on this machine.
pub type LanguageModels = Arc<dyn Fn(&str) -> Option<Arc<dyn Worker>> + Send + Sync>;

/// Performs tasks with the models of this machine.
pub struct LocalWorker {
    models: LocalModels,
    files: LocalFiles,
    inputs: Arc<Inputs>,
    programs: Programs,
    /// The longest that one use may take, waiting for memory and loading included.
    timeout: Duration,
    /// The language models of this machine, which perform tasks as any chat model does.
    pub language: LanguageModels,
    /// Performs the tasks of models that are not on this machine: the model server.
    pub next: Option<Arc<dyn Worker>>,
}

impl std::fmt::Debug for LocalWorker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LocalWorker").field("models", &self.models).field("next", &self.next.is_some()).finish()
    }
}

impl LocalWorker {
    pub fn new(
        models: LocalModels,
        files: LocalFiles,
        inputs: Arc<Inputs>,
        programs: Programs,
        timeout: Duration,
    ) -> LocalWorker {
        LocalWorker { models, files, inputs, programs, timeout, language: Arc::new(|_| None), next: None }
    }

    async fn on_this_machine(&self, job: &Job, model: &LocalFile) -> Result<TaskOutput, TaskError> {
        let files = &model.files;
        let asked = job.candidate.effective_task.as_str();
        let is_made_for =
            |(made, as_asked): &&(&str, &str)| asked == *as_asked && model.tasks.iter().any(|task| task == made);
        let task = ASKED_FOR_AS.iter().find(is_made_for).map_or(asked, |(made, _)| made);
        if let Some(beyond) = beyond_experts(job, task) {
            let message = format!("this model does what it was trained for, and not what is asked here: {beyond}");
            let hint = match task {
                "image-to-text" => "`jarvis models pull read` brings a model that reads, or install tesseract",
                _ => "a chat model can do more: configure one (`llm.model`)",
            };
            return Err(TaskError::new(ErrorCode::CannotDo, message).hint(hint));
        }
        let medium = input::Medium::read(job, &self.inputs, &self.programs).await?;
        let call =
            Call { cancel: job.cancel.clone(), deadline: Some(Instant::now() + self.timeout), ..Call::default() };
        let mut input = input::of(job, &medium)?;
        if let Input::Speak { text, voice, .. } = &mut input {
            *text = speech::prepared(text, voice.as_deref(), files, &self.programs).await?;
        }
        let output = self.models.run(files, task, input, call).await.map_err(task_error)?;
        output::of(job, output, medium, &self.inputs).await
    }
}

#[async_trait]
impl Worker for LocalWorker {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        let id = job.candidate.id.as_str();
        if let Some(model) = self.files.find(id) {
            return self.on_this_machine(job, &model).await.map(Value::from);
        }
        match (self.language)(id).or_else(|| self.next.clone()) {
            Some(next) => next.perform(job).await,
            None => {
                let message = format!("the model `{id}` is not on this machine");
                Err(TaskError::new(ErrorCode::NotConfigured, message).hint(
                    "get it with `jarvis models pull`, or start a model server and set `local_inference_endpoint`",
                ))
            }
        }
    }
}

/// A local model's error as that of a task.
pub fn task_error(error: ExpertError) -> TaskError {
    let code = match error {
        ExpertError::MissingFile { .. } | ExpertError::BadFile { .. } | ExpertError::TooLarge { .. } => {
            ErrorCode::NotConfigured
        }
        ExpertError::Unsupported { .. } => ErrorCode::CannotDo,
        ExpertError::BadInput(_) => ErrorCode::InvalidInput,
        ExpertError::Failed { .. } => ErrorCode::Upstream,
        ExpertError::Timeout => ErrorCode::Timeout,
        ExpertError::Cancelled => ErrorCode::Cancelled,
    };
    let hint = error.hint().map(str::to_owned);
    TaskError { hint, ..TaskError::new(code, error.to_string()) }
}

#[cfg(test)]
mod tests;
