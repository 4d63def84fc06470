//! Media on disk under one confined folder, and the run journal in SQLite.

mod journal;
mod media;

pub use journal::{Journal, JournalError, RunRecord, RunStatus, RunSummary};
pub use media::{Media, MediaError};
