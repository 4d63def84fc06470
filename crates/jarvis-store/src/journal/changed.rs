//! Runs by when something last happened in them, of one conversation or of all.

use std::path::Path;

use rusqlite::params;

use super::presence::Writers;
use super::read::{self, RunSummary};
use super::{JournalError, file};

/// Which runs are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// Those of this user; of all unless set.
    pub user: Option<String>,
    /// Those of this conversation ([`jarvis_plan::Thread`]); one that names none is a conversation of its own, by its id.
    pub thread: Option<String>,
    /// Those in which something happened then or later, in milliseconds since the Unix epoch.
    pub since_ms: u64,
    /// At most so many.
    pub most: u32,
}

/// The runs with the time of their last event, the latest first.
pub(super) fn changed(path: &Path, writers: &Writers, which: &Changed) -> Result<Vec<(RunSummary, u64)>, JournalError> {
    let failed = |source| JournalError::sqlite("read", path, source);
    let connection = file::open_to_read(path)?;
    let sql = format!(
        "SELECT {}, {} FROM runs WHERE (?1 IS NULL OR (user <> '' AND user = ?1))
            AND (?2 IS NULL OR thread = ?2 OR (thread = '' AND run_id = ?2)) AND last_at_ms >= ?3
            ORDER BY last_at_ms DESC, run_id DESC LIMIT ?4",
        read::COLUMNS,
        read::WAITING
    );
    let mut statement = connection.prepare(&sql).map_err(failed)?;
    let since = i64::try_from(which.since_ms).unwrap_or(i64::MAX);
    let rows = statement
        .query_map(params![which.user, which.thread, since, which.most], |row| {
            Ok((read::summary(row, writers)?, read::unsigned(row.get("last_at_ms")?)?))
        })
        .map_err(failed)?;
    rows.collect::<rusqlite::Result<Vec<_>>>().map_err(failed)
}
