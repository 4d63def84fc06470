//! One durable step of work: performed in `ctx.run`, tried again where that may help, its events collected beside its result.

use std::future::Future;
use std::time::{Duration, Instant};

use jarvis_engine::Events;
use jarvis_plan::{ErrorCode, EventKind, RunId, TaskError};
use restate_sdk::context::RunRetryPolicy;
use restate_sdk::errors::TerminalError;
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

use crate::clock::{ms_since, now_ms};

/// How often work is tried whose failure is likely to pass.
pub(crate) const TRIES: u32 = 3;

/// The most bytes of a result. Restate refuses messages over 32 MiB, and starts the work that made one again and again.
pub(crate) const LARGEST: usize = 8_000_000;

/// Code of [`TerminalError`] when an invocation was cancelled.
pub(crate) const CANCELLED: u16 = 409;

/// How the tries of a step are spaced.
pub(crate) fn tries(most: u32) -> RunRetryPolicy {
    RunRetryPolicy::new()
        .initial_delay(Duration::from_millis(250))
        .exponentiation_factor(4.0)
        .max_delay(Duration::from_secs(10))
        .max_attempts(most)
}

/// A failure that may pass. Its text is the error as JSON: when all tries are used up, Restate gives back the text of the last one.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Passing(String);

impl Passing {
    /// The error as one that is tried again, where that may help.
    pub(crate) fn of(error: &TaskError) -> Option<Passing> {
        let passes = matches!(error.code, ErrorCode::RateLimited | ErrorCode::Unavailable);
        passes.then(|| Passing(serde_json::to_string(error).unwrap_or_else(|_| error.message.clone())))
    }
}

/// The error of the last try.
pub(crate) fn last_error(error: &TerminalError) -> TaskError {
    let own = serde_json::from_str(error.message());
    own.unwrap_or_else(|_| TaskError::new(ErrorCode::Internal, error.message().to_owned()))
}

/// Work that has ended.
pub(crate) struct Ended<T> {
    pub(crate) result: Result<T, TaskError>,
    /// What it reported, without run, number and time.
    pub(crate) events: Vec<Value>,
    pub(crate) ms: u64,
    pub(crate) at_ms: u64,
}

/// Performs work on a task of its own, so that a panic fails it alone and dropping this ends it.
pub(crate) async fn perform<T, F>(
    run: &RunId,
    within: Duration,
    work: impl FnOnce(Events, CancellationToken) -> F,
) -> Ended<T>
where
    T: Send + 'static,
    F: Future<Output = Result<T, TaskError>> + Send + 'static,
{
    let since = Instant::now();
    let (events, mut reported) = Events::channel(run.clone());
    let cancel = CancellationToken::new();
    let _guard: DropGuard = cancel.clone().drop_guard();
    let task = AbortOnDropHandle::new(tokio::spawn(work(events, cancel)));
    let result = match timeout(within, task).await {
        Ok(Ok(result)) => result,
        Ok(Err(error)) => Err(TaskError::new(ErrorCode::Panic, panicked(error))),
        Err(_) => Err(TaskError::new(ErrorCode::Timeout, format!("it did not end within {} s", within.as_secs_f64()))),
    };
    let mut events = Vec::new();
    while let Ok(event) = reported.try_recv() {
        events.push(value_of(&event.kind));
    }
    Ended { result, events, ms: ms_since(since), at_ms: now_ms() }
}

/// An event without run, number and time.
pub(crate) fn value_of(kind: &EventKind) -> Value {
    serde_json::to_value(kind).unwrap_or_default()
}

fn panicked(error: tokio::task::JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => {
            let text =
                panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            format!("the worker panicked: {}", text.unwrap_or("without a message"))
        }
        Err(_) => "the worker was stopped before it ended".to_owned(),
    }
}
