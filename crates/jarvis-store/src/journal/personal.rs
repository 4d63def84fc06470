//! What is kept of one person: counted, and given up when they want it.

use std::collections::BTreeSet;

use rusqlite::{Connection, TransactionBehavior, params};

use super::{Journal, JournalError, chats, file, lease, mentions, owned};

/// How much is kept of a user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stored {
    pub runs: u64,
    /// Bytes of their events and requests.
    pub run_bytes: u64,
    pub chats: u64,
    /// Plans of runs that are kept to plan by.
    pub experience: u64,
    /// When the oldest run began, in milliseconds since the Unix epoch.
    pub oldest_ms: Option<u64>,
    /// Display paths of the files that are the user's by name.
    pub files: Vec<String>,
}

impl Journal {
    /// What is kept of a user, or of all for `None`. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn stored(&self, user: Option<&str>) -> Result<Stored, JournalError> {
        let failed = |source| JournalError::sqlite("read", &self.path, source);
        stored(&file::open_to_read(&self.path)?, user).map_err(failed)
    }

    /// Removes the chats of a user, or of all; returns how many there were.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn clear_chats(&self, user: Option<&str>) -> Result<u64, JournalError> {
        let (path, user) = (self.path.clone(), user.map(str::to_owned));
        self.with(move |connection, _| chats::clear(connection, user.as_deref()).map_err(lease::failed(&path))).await
    }

    /// Gives up a user's claim to files that nothing speaks of, and returns those that nobody else has a claim to. `spoken_of` is what
    /// something besides runs and chats speaks of.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn release(
        &self,
        user: &str,
        files: Vec<String>,
        spoken_of: BTreeSet<String>,
    ) -> Result<Vec<String>, JournalError> {
        let (path, user) = (self.path.clone(), user.to_owned());
        self.with(move |connection, _| release(connection, &user, files, &spoken_of).map_err(lease::failed(&path)))
            .await
    }

    /// Sees to it that what was removed is not in the file any more, as far as no other process is reading just now.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn scrub(&self) -> Result<(), JournalError> {
        let path = self.path.clone();
        self.with(move |connection, _| {
            connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE);").map_err(lease::failed(&path))
        })
        .await
    }
}

/// Whose things are meant, as SQL.
fn whose(user: Option<&str>) -> &'static str {
    match user {
        Some("") => "user = ?1",
        // The index has users alone.
        Some(_) => "user <> '' AND user = ?1",
        None => "?1 IS NULL",
    }
}

fn stored(connection: &Connection, user: Option<&str>) -> rusqlite::Result<Stored> {
    let whose = whose(user);
    let runs = format!("SELECT count(*), coalesce(sum(bytes), 0), min(started_at_ms) FROM runs WHERE {whose}");
    let (runs, run_bytes, oldest): (i64, i64, Option<i64>) =
        connection.query_row(&runs, params![user], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let chats = format!("SELECT count(*) FROM chats WHERE {whose}");
    let chats: i64 = connection.query_row(&chats, params![user], |row| row.get(0))?;
    let experience = format!("SELECT count(*) FROM experience WHERE {whose}");
    let experience: i64 = connection.query_row(&experience, params![user], |row| row.get(0))?;
    let mut files = connection.prepare(&format!("SELECT DISTINCT path FROM media WHERE {whose} ORDER BY path"))?;
    let files = files.query_map(params![user], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    Ok(Stored {
        runs: runs.unsigned_abs(),
        run_bytes: run_bytes.unsigned_abs(),
        chats: chats.unsigned_abs(),
        experience: experience.unsigned_abs(),
        oldest_ms: oldest.map(i64::unsigned_abs),
        files,
    })
}

fn release(
    connection: &mut Connection,
    user: &str,
    files: Vec<String>,
    spoken_of: &BTreeSet<String>,
) -> rusqlite::Result<Vec<String>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut free = Vec::new();
    for path in files {
        if spoken_of.contains(&path) || mentions::is_spoken_of(&transaction, &path)? {
            continue;
        }
        transaction.prepare_cached("DELETE FROM media WHERE path = ?1 AND user = ?2")?.execute(params![path, user])?;
        if owned::owners(&transaction, &path)?.is_empty() {
            free.push(path);
        }
    }
    transaction.commit()?;
    Ok(free)
}
