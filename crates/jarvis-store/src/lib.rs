//! Media on disk under one confined folder, the run journal in SQLite, and files that survive being stopped.

pub mod files;

mod journal;
mod media;

pub use journal::{Journal, JournalError, RunRecord, RunStatus, RunSummary};
pub use media::{Media, MediaError};
