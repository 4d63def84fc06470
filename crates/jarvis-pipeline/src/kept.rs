//! Runs kept in the journal of a file.

use std::sync::Arc;

use jarvis_events::{Journal, NotWritten, Written};
use jarvis_plan::{Event, RunId};
use jarvis_store::JournalError;

/// Keeps the events of runs in a file, see [`jarvis_store::Journal`].
#[derive(Debug, Clone)]
pub struct Kept {
    journal: Arc<jarvis_store::Journal>,
    /// Whether results wait until they are on the disk.
    awaited: bool,
}

impl Kept {
    /// A result is on the disk before anything follows from it.
    pub fn awaited(journal: Arc<jarvis_store::Journal>) -> Kept {
        Kept { journal, awaited: true }
    }

    /// Nothing waits: for work that has a log of its own to go on from.
    pub fn told(journal: Arc<jarvis_store::Journal>) -> Kept {
        Kept { journal, awaited: false }
    }

    /// Whether results wait until they are on the disk, so that the run can go on after its process.
    pub fn is_awaited(&self) -> bool {
        self.awaited
    }

    /// Whether somebody wants the run cancelled, as far as that can be read.
    pub async fn is_to_be_cancelled(&self, run: &RunId) -> bool {
        let (journal, run) = (Arc::clone(&self.journal), run.clone());
        let asked = tokio::task::spawn_blocking(move || journal.is_to_be_cancelled(&run)).await;
        matches!(asked, Ok(Ok(true)))
    }

    /// Leaves a run to whoever claims it next.
    pub fn abandon(&self, run: &RunId) {
        self.journal.abandon(run);
    }

    /// Waits until everything that was taken is on the disk, of whichever run.
    ///
    /// # Errors
    /// When something could not be written.
    pub async fn flush(&self) -> Result<(), JournalError> {
        self.journal.flush().await
    }
}

impl Journal for Kept {
    fn append(&self, event: &Event) {
        self.journal.append(event);
    }

    fn written<'a>(&'a self, run: &'a RunId) -> Written<'a> {
        Box::pin(async move {
            if !self.awaited {
                return Ok(());
            }
            self.journal.flush_run(run).await.map_err(|error| match error {
                JournalError::Taken { .. } => NotWritten::TakenOver,
                JournalError::Corrupt { .. }
                | JournalError::NotAJournal { .. }
                | JournalError::TooNew { .. }
                | JournalError::NotFound { .. }
                | JournalError::Ambiguous { .. }
                | JournalError::Lost { .. }
                | JournalError::Sqlite { .. }
                | JournalError::InUse { .. }
                | JournalError::Io { .. } => NotWritten::Lost(error.to_string()),
            })
        })
    }
}
