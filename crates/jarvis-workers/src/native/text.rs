//! Native text models. None yet.

use jarvis_engine::Job;
use jarvis_plan::{Inference, TaskError};

/// Performs the job when its candidate is a native text model.
pub(super) async fn perform(_job: &Job) -> Option<Result<Inference, TaskError>> {
    None
}
