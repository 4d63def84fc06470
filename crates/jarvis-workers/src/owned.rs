//! Whose files a task may read: those of the user its run is carried out for, where a server has several users.

use std::sync::Arc;

use async_trait::async_trait;
use jarvis_engine::{Job, Worker};
use jarvis_plan::{ErrorCode, TaskError};
use jarvis_store::{Journal, blocking, named};
use serde_json::Value;

/// A worker that performs no task whose arguments name a file of somebody else, whoever wrote its path there: the request, a
/// model, a document or a tool. To its run such a file does not exist.
pub struct OwnFiles {
    worker: Arc<dyn Worker>,
    journal: Arc<Journal>,
}

impl OwnFiles {
    /// The worker, confined where there is a journal that knows whose the files are; without one there are no several users.
    pub fn confine(worker: Arc<dyn Worker>, journal: Option<&Arc<Journal>>) -> Arc<dyn Worker> {
        match journal {
            Some(journal) => Arc::new(OwnFiles { worker, journal: Arc::clone(journal) }),
            None => worker,
        }
    }

    async fn check(&self, job: &Job) -> Result<(), TaskError> {
        let user = job.events.user();
        if user.is_empty() {
            return Ok(());
        }
        let mut paths = Vec::new();
        job.args.values().for_each(|arg| collect(arg, &mut paths));
        if paths.is_empty() {
            return Ok(());
        }
        let journal = Arc::clone(&self.journal);
        let foreign = blocking(move || {
            let found = journal.first_foreign(&user, &paths);
            found.map_err(|error| TaskError::new(ErrorCode::Internal, format!("whose the files are: {error}")))
        });
        match foreign.await? {
            Some(path) => Err(TaskError::new(ErrorCode::NotFound, format!("there is no file `{path}`"))
                .hint("Name a file that you sent, or that a run of yours made")),
            None => Ok(()),
        }
    }
}

/// The display paths that stand anywhere in an argument.
fn collect(arg: &Value, paths: &mut Vec<String>) {
    match arg {
        Value::String(text) => paths.extend(named(text).map(str::to_owned)),
        Value::Array(values) => values.iter().for_each(|value| collect(value, paths)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, paths)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[async_trait]
impl Worker for OwnFiles {
    async fn perform(&self, job: &Job) -> Result<Value, TaskError> {
        self.check(job).await?;
        self.worker.perform(job).await
    }
}
