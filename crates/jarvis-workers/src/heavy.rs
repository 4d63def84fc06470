//! Pixel and sample work on threads of its own, a few pieces at a time for all workers together. Knows no task.

use std::sync::Arc;

use jarvis_plan::{ErrorCode, TaskError};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// How much heavy work is done at once: more of it would be slower and take more memory.
#[derive(Debug)]
pub(crate) struct Heavy(Arc<Semaphore>);

impl Heavy {
    /// As much at once as there are cores, four at most.
    pub(crate) fn new() -> Heavy {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Heavy::at_once(cores.clamp(1, 4))
    }

    fn at_once(count: usize) -> Heavy {
        Heavy(Arc::new(Semaphore::new(count)))
    }

    /// Runs work of more than a millisecond on a thread of its own. The work is given the token to look at between its
    /// steps; it fires as well when this future is dropped.
    pub(crate) async fn run<T, F>(&self, cancel: &CancellationToken, work: F) -> Result<T, TaskError>
    where
        T: Send + 'static,
        F: FnOnce(&Cancel) -> Result<T, TaskError> + Send + 'static,
    {
        let permit = Arc::clone(&self.0).acquire_owned().await;
        let token = cancel.child_token();
        let _stop_when_dropped = token.clone().drop_guard();
        let joined = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            let cancel = Cancel(token);
            cancel.check()?;
            work(&cancel)
        });
        match joined.await {
            Ok(result) => result,
            Err(failure) if failure.is_panic() => {
                Err(TaskError::new(ErrorCode::Panic, "the work on this input broke down"))
            }
            Err(_) => Err(cancelled()),
        }
    }
}

/// Tells work on another thread to stop because its caller has gone.
#[derive(Debug)]
pub(crate) struct Cancel(pub(crate) CancellationToken);

impl Cancel {
    /// An error once the try should end.
    pub(crate) fn check(&self) -> Result<(), TaskError> {
        if self.0.is_cancelled() { Err(cancelled()) } else { Ok(()) }
    }
}

pub(crate) fn cancelled() -> TaskError {
    TaskError::new(ErrorCode::Cancelled, "the task was cancelled")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn no_more_than_so_many_run_at_once() {
        let heavy = Heavy::at_once(2);
        let running = Arc::new(AtomicUsize::new(0));
        let most = Arc::new(AtomicUsize::new(0));
        let token = CancellationToken::new();
        let work = (0..16).map(|_| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            heavy.run(&token, move |_| {
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            })
        });
        assert!(futures::future::join_all(work).await.into_iter().all(|done| done.is_ok()));
        assert!((1..=2).contains(&most.load(Ordering::SeqCst)));
    }
}
