//! Which runs and chats speak of which media, so that what nothing speaks of is found without reading everything.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::owned::named;

/// Notes that a run or chat speaks of these display paths.
pub(super) fn note<'p>(
    connection: &Connection,
    holder: &str,
    paths: impl IntoIterator<Item = &'p str>,
) -> rusqlite::Result<()> {
    for path in paths {
        connection
            .prepare_cached("INSERT INTO mentions (path, holder) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
            .execute(params![path, holder])?;
    }
    Ok(())
}

/// What a run or chat speaks of.
pub(super) fn of(connection: &Connection, holder: &str) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT path FROM mentions WHERE holder = ?1")?
        .query_map([holder], |row| row.get(0))?
        .collect()
}

/// Forgets what a run or chat speaks of.
pub(super) fn forget(connection: &Connection, holder: &str) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM mentions WHERE holder = ?1")?.execute([holder]).map(drop)
}

/// Whether anything speaks of a path.
pub(super) fn is_spoken_of(connection: &Connection, path: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM mentions WHERE path = ?1")?.exists([path])
}

/// All that something speaks of.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    connection.prepare("SELECT DISTINCT path FROM mentions")?.query_map([], |row| row.get(0))?.collect()
}

/// Notes what the runs of an older file speak of.
pub(super) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare("SELECT run_id, body FROM events UNION ALL SELECT run_id, body FROM requests")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (run, body): (String, String) = (row.get(0)?, row.get(1)?);
        note(connection, &run, named(&body))?;
    }
    Ok(())
}
