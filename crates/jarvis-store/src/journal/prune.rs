//! Removing runs that have ended, with the names of the media that no other run speaks of.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jarvis_plan::RunId;
use rusqlite::{Connection, TransactionBehavior, params};

use super::presence::Writers;
use super::read::WAITING;
use super::{experience, mentions, owned};
use crate::{Media, MediaError};

/// Which runs are removed: those that are old, and the oldest of those that take too much. Runs that have not ended stay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prune {
    /// Those whose last event is older than this, in milliseconds since the Unix epoch.
    pub before_ms: Option<u64>,
    /// The oldest, until all that is kept takes at most so many bytes.
    pub most_bytes: Option<u64>,
    /// Those of this user alone, and of the files that they spoke of only what belongs to nobody else.
    pub user: Option<String>,
    /// This run alone.
    pub only: Option<RunId>,
    /// Also runs that were cut off, whose process has died and which wait for nobody.
    pub cut_off: bool,
    /// Media that were stored so shortly ago stay: a request that has not begun may be about them.
    pub grace: Duration,
    /// Display paths that something besides runs and chats speaks of, such as saved plans: these files stay.
    pub spoken_of: BTreeSet<String>,
    /// Gives what is free back to the system, for which all other writers wait.
    pub shrink: bool,
    /// Only says what would be removed.
    pub dry: bool,
}

/// What was removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// How many runs.
    pub runs: u64,
    /// The bytes of their events.
    pub bytes: u64,
    /// Display paths that stood in them and stand in no run that is left.
    pub media: Vec<String>,
    /// Files that were there and could not be removed, with why.
    pub stuck: Vec<String>,
}

impl Pruned {
    /// Removes the media; those that are no longer there are left out of it. Blocks.
    pub(super) fn remove(mut self, media: &Media, prune: &Prune) -> Pruned {
        let is_young = |path: &str| {
            let modified = media.open_file(path).ok().and_then(|(file, _)| file.metadata().ok()?.modified().ok());
            modified.and_then(|at| at.elapsed().ok()).is_some_and(|age| age < prune.grace)
        };
        self.media.retain(|path| !is_young(path));
        if prune.dry {
            self.media.retain(|path| media.open_file(path).is_ok());
            return self;
        }
        let (mut gone, mut stuck) = (Vec::new(), Vec::new());
        for path in std::mem::take(&mut self.media) {
            match media.remove(&path) {
                Ok(true) => gone.push(path),
                // Not every path in a run is a medium of jarvis' own.
                Ok(false) | Err(MediaError::Forbidden { .. }) => {}
                Err(error) => stuck.push(error.to_string()),
            }
        }
        Pruned { media: gone, stuck, ..self }
    }
}

pub(super) fn prune(connection: &mut Connection, writers: &Writers, prune: &Prune) -> rusqlite::Result<Pruned> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut pruned = Pruned::default();
    let going = chosen(&transaction, writers, prune)?;
    // Each with the users whose runs spoke of it.
    let mut media: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in going {
        pruned.runs += 1;
        pruned.bytes += run.bytes;
        for path in mentions::of(&transaction, &run.id)? {
            media.entry(path).or_default().insert(run.user.clone());
        }
        mentions::forget(&transaction, &run.id)?;
        for table in ["events", "requests", "webhooks", "responses", "experience", "runs"] {
            transaction.prepare_cached(&format!("DELETE FROM {table} WHERE run_id = ?1"))?.execute([&run.id])?;
        }
    }
    if let Some(before) = prune.before_ms.filter(|_| prune.only.is_none()) {
        experience::prune(&transaction, before, prune.user.as_deref())?;
    }
    for (path, users) in media {
        // What somebody else sent or made too stays theirs.
        if !prune.spoken_of.contains(&path)
            && !mentions::is_spoken_of(&transaction, &path)?
            && owned::owners(&transaction, &path)?.is_subset(&users)
        {
            pruned.media.push(path);
        }
    }
    if prune.dry {
        transaction.rollback()?;
        return Ok(pruned);
    }
    transaction.commit()?;
    if pruned.runs > 0 && prune.shrink {
        // Another process may read or write; what is free is used again in any case.
        let _ = connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
    }
    Ok(pruned)
}

/// A run that goes.
struct Going {
    id: String,
    user: String,
    bytes: u64,
}

/// The runs that go, the oldest first.
fn chosen(connection: &Connection, writers: &Writers, prune: &Prune) -> rusqlite::Result<Vec<Going>> {
    let Prune { before_ms, most_bytes, user, only, .. } = prune;
    let whose = match user.as_deref() {
        Some("") => "user = ?1",
        Some(_) => "user <> '' AND user = ?1",
        None => "?1 IS NULL",
    };
    let which = if only.is_some() { "run_id = ?2" } else { "?2 IS NULL" };
    let sql = format!(
        "SELECT run_id, user, bytes, last_at_ms, ended IS NOT NULL, writer, {WAITING} FROM runs
         WHERE {whose} AND {which} ORDER BY last_at_ms"
    );
    let mut kept: u64 = match most_bytes {
        Some(_) => connection.query_row("SELECT coalesce(sum(bytes), 0) FROM runs", [], |row| row.get::<_, i64>(0))?,
        None => 0,
    }
    .unsigned_abs();
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params![user, only.as_ref().map(|run| &run.0)])?;
    let mut going = Vec::new();
    while let Some(row) = rows.next()? {
        let run = Going { id: row.get(0)?, user: row.get(1)?, bytes: row.get::<_, i64>(2)?.unsigned_abs() };
        let (last, has_ended): (i64, bool) = (row.get(3)?, row.get(4)?);
        let is_left = || -> rusqlite::Result<bool> {
            Ok(prune.cut_off && !row.get::<_, bool>(6)? && !writers.is_writing(&row.get::<_, String>(5)?))
        };
        let is_old = before_ms.is_some_and(|before| last.unsigned_abs() < before);
        let is_over = most_bytes.is_some_and(|most| kept > most);
        if (is_old || is_over || only.is_some()) && (has_ended || is_left()?) {
            kept = kept.saturating_sub(run.bytes);
            going.push(run);
        }
    }
    Ok(going)
}
