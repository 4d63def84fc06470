//! Addresses that are told what happens in a run, as whoever set them described them. They go with their run.

use rusqlite::{Connection, OptionalExtension, params};

/// Keeps a webhook of a run in the place of one of the same id.
pub(super) fn set(connection: &Connection, run: &str, id: &str, body: &str) -> rusqlite::Result<()> {
    connection
        .execute("INSERT OR REPLACE INTO webhooks (run_id, id, body) VALUES (?1, ?2, ?3)", params![run, id, body])
        .map(drop)
}

/// Removes a webhook, if it is there.
pub(super) fn remove(connection: &Connection, run: &str, id: &str) -> rusqlite::Result<()> {
    connection.execute("DELETE FROM webhooks WHERE run_id = ?1 AND id = ?2", params![run, id]).map(drop)
}

/// The webhooks of a run, by their ids.
pub(super) fn all(connection: &Connection, run: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT body FROM webhooks WHERE run_id = ?1 ORDER BY id")?;
    statement.query_map([run], |row| row.get(0))?.collect()
}

/// One of them.
pub(super) fn one(connection: &Connection, run: &str, id: &str) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT body FROM webhooks WHERE run_id = ?1 AND id = ?2";
    connection.query_row(sql, params![run, id], |row| row.get(0)).optional()
}
