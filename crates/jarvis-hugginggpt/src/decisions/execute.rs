//! Executes a plan with the models it names.

use std::sync::Arc;

use jarvis_engine::Events;
use jarvis_plan::Request;
use tokio_util::sync::CancellationToken;

use super::Executable;
use crate::pipeline::{HuggingGpt, Run, RunError};

impl HuggingGpt {
    /// Executes a plan with the models it names, and answers. Told as [`HuggingGpt::run`] tells a run.
    ///
    /// # Errors
    /// When the answer's prompt cannot be made. Failed tasks are no error.
    pub async fn run_plan(
        &self,
        _request: Arc<Request>,
        _plan: &Executable,
        _events: &Events,
        _cancel: CancellationToken,
    ) -> Result<Run, RunError> {
        Err(RunError::Cancelled)
    }
}
