//! Removing runs that have ended, with the names of the media that no other run speaks of.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior, params};

use super::owned::named;
use crate::{Media, MediaError};

/// Which runs are removed. Runs that have not ended stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Prune {
    /// Those whose last event is older than this, in milliseconds since the Unix epoch.
    pub before_ms: Option<u64>,
    /// The oldest, until all that is kept takes at most so many bytes.
    pub most_bytes: Option<u64>,
    /// Media that were stored so shortly ago stay: a request that has not begun may be about them.
    pub grace: Duration,
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
    pub(super) fn remove(mut self, media: &Media, prune: Prune) -> Pruned {
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

pub(super) fn prune(connection: &mut Connection, prune: &Prune) -> rusqlite::Result<Pruned> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut pruned = Pruned::default();
    let mut going: Vec<String> = Vec::new();
    {
        let mut statement = transaction.prepare(
            "SELECT r.run_id, r.last_at_ms, r.ended IS NOT NULL,
                (SELECT coalesce(sum(length(CAST(e.body AS BLOB))), 0) FROM events AS e WHERE e.run_id = r.run_id)
             FROM runs AS r ORDER BY r.last_at_ms",
        )?;
        let rows = statement.query_map([], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, bool>(2)?, row.get::<_, i64>(3)?))
        })?;
        let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        let mut kept: u64 = rows.iter().map(|row| row.3.unsigned_abs()).sum();
        for (run, last, ended, bytes) in rows {
            let is_old = prune.before_ms.is_some_and(|before| last.unsigned_abs() < before);
            let is_over = prune.most_bytes.is_some_and(|most| kept > most);
            if ended && (is_old || is_over) {
                kept = kept.saturating_sub(bytes.unsigned_abs());
                pruned.runs += 1;
                pruned.bytes += bytes.unsigned_abs();
                going.push(run);
            }
        }
    }
    // Each with the users whose runs spoke of it.
    let mut media: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in &going {
        let user: String = transaction.query_row("SELECT user FROM runs WHERE run_id = ?1", [run], |row| row.get(0))?;
        let mut statement = transaction.prepare_cached("SELECT body FROM events WHERE run_id = ?1")?;
        let bodies = statement.query_map([run], |row| row.get::<_, String>(0))?;
        for body in bodies {
            for path in named(&body?) {
                media.entry(path.to_owned()).or_default().insert(user.clone());
            }
        }
        for table in ["events", "requests", "webhooks", "runs"] {
            transaction.prepare_cached(&format!("DELETE FROM {table} WHERE run_id = ?1"))?.execute(params![run])?;
        }
    }
    if !media.is_empty() {
        let mut statement = transaction.prepare("SELECT body FROM events UNION ALL SELECT body FROM requests")?;
        let bodies = statement.query_map([], |row| row.get::<_, String>(0))?;
        for body in bodies {
            for name in named(&body?) {
                media.remove(name);
            }
        }
    }
    // What somebody else sent or made too stays theirs.
    for (path, users) in media {
        let mut statement = transaction.prepare_cached("SELECT user FROM media WHERE path = ?1")?;
        let owners = statement.query_map([&path], |row| row.get::<_, String>(0))?;
        if owners.collect::<rusqlite::Result<BTreeSet<_>>>()?.is_subset(&users) {
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
