//! Where events are kept, so that a run survives its process.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use jarvis_plan::{Event, RunId};
use serde_json::Value;
use tokio::sync::watch;

/// Keeps the events of runs. A result is kept before anything that follows from it starts or is shown: whoever has one waits for
/// [`Events::written`](crate::Events::written).
///
/// Events of a run are kept in their order, so that nothing is kept without what it follows from.
pub trait Journal: Send + Sync + std::fmt::Debug {
    /// Takes an event to be kept; never waits.
    fn append(&self, event: &Event);

    /// Waits until everything that was taken of a run is kept.
    fn written<'a>(&'a self, run: &'a RunId) -> Written<'a>;
}

/// The wait of [`Journal::written`].
pub type Written<'a> = Pin<Box<dyn Future<Output = Result<(), NotWritten>> + Send + 'a>>;

/// Why a run cannot go on here: its steps cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotWritten {
    /// The journal cannot be written, as when the disk is full.
    #[error("its steps cannot be kept: {0}")]
    Lost(String),
    /// Another process goes on with the run.
    #[error("another process has taken the run over")]
    TakenOver,
    /// A call that changes something may have arrived, and there is nobody here who could say so.
    #[error("{0}")]
    Unknown(String),
    /// What the run does now is not what it did before.
    #[error("it cannot go on as it began: {0}")]
    Diverged(String),
}

/// A journal in memory, for tests and for runs that need not survive their process.
#[derive(Debug, Default)]
pub struct Memory {
    kept: Mutex<Vec<Value>>,
    /// How many events are kept; none after the last.
    most: Option<usize>,
    full: watch::Sender<bool>,
}

impl Memory {
    /// An empty one.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// One that keeps `most` events, and none after: what waits for those waits for ever, as if the process had ended there.
    pub fn ending_after(most: usize) -> Memory {
        Memory { most: Some(most), ..Memory::default() }
    }

    /// Waits until an event comes that is not kept.
    pub async fn ended(&self) {
        // The sender is here.
        let _ = self.full.subscribe().wait_for(|full| *full).await;
    }

    /// Whether an event came that is not kept.
    pub fn is_full(&self) -> bool {
        *self.full.borrow()
    }

    /// What is kept, as JSON.
    pub fn events(&self) -> Vec<Value> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Value>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Journal for Memory {
    fn append(&self, event: &Event) {
        let mut kept = self.lock();
        if self.most.is_some_and(|most| kept.len() >= most) {
            self.full.send_replace(true);
        } else {
            kept.push(event.to_value());
        }
    }

    fn written<'a>(&'a self, _: &'a RunId) -> Written<'a> {
        let full = *self.full.borrow();
        Box::pin(async move { if full { std::future::pending().await } else { Ok(()) } })
    }
}
