//! Work that blocks a thread: files, and whatever keeps a processor busy.

use jarvis_plan::{ErrorCode, TaskError};

/// Runs blocking work off the runtime's threads.
///
/// # Errors
/// That of the work; `Panic` when it panicked, `Cancelled` when the runtime is shutting down.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TaskError> + Send + 'static,
) -> Result<T, TaskError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) if error.is_panic() => Err(TaskError::new(ErrorCode::Panic, "the work on a file panicked")),
        Err(_) => Err(TaskError::new(ErrorCode::Cancelled, "the runtime is shutting down")),
    }
}
