//! Whose a run is. Its owner is the process that writes it; another may claim it once that one has died, which the system tells by
//! the lock on its sign (`presence.rs`). What its last owner still
//! writes is refused: a row is written where its run is the writer's.

use jarvis_plan::RunId;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::JournalError;
use super::presence::Writers;

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// The run is this process's to go on with.
    Ours,
    /// A process that lives goes on with it.
    Held,
    /// It has ended.
    Ended,
    /// There is no such run.
    Unknown,
}

pub(super) fn claim(connection: &mut Connection, writers: &Writers, me: &str, run: &RunId) -> rusqlite::Result<Claim> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: Option<(String, bool)> = transaction
        .prepare_cached("SELECT writer, ended IS NOT NULL FROM runs WHERE run_id = ?1")?
        .query_row([&run.0], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let claim = match found {
        None => Claim::Unknown,
        Some((_, true)) => Claim::Ended,
        Some((writer, false)) if writer == me => Claim::Held,
        Some((writer, false)) if writers.is_writing(&writer) => Claim::Held,
        Some((_, false)) => Claim::Ours,
    };
    if claim == Claim::Ours {
        transaction
            .prepare_cached("UPDATE runs SET writer = ?2, cancel = 0 WHERE run_id = ?1")?
            .execute(params![run.0, me])?;
    }
    transaction.commit()?;
    Ok(claim)
}

/// Asks the owner of a run to cancel it; what became of it otherwise.
pub(super) fn ask_to_cancel(connection: &Connection, writers: &Writers, run: &RunId) -> Result<Claim, rusqlite::Error> {
    let found: Option<(String, bool)> = connection
        .query_row("SELECT writer, ended IS NOT NULL FROM runs WHERE run_id = ?1", [&run.0], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    match found {
        None => Ok(Claim::Unknown),
        Some((_, true)) => Ok(Claim::Ended),
        Some((writer, false)) if writers.is_writing(&writer) => {
            connection.execute("UPDATE runs SET cancel = 1 WHERE run_id = ?1 AND ended IS NULL", [&run.0])?;
            Ok(Claim::Held)
        }
        Some((_, false)) => Ok(Claim::Ours),
    }
}

/// What a process should look after: runs of a door whose owner has died, the oldest first, and its own runs that somebody wants
/// cancelled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Due {
    /// Runs that nobody goes on with.
    pub left: Vec<RunId>,
    /// Runs of this process that are to be cancelled.
    pub to_cancel: Vec<RunId>,
}

pub(super) fn due(connection: &Connection, writers: &Writers, me: Option<&str>, door: &str) -> rusqlite::Result<Due> {
    let mut statement = connection.prepare_cached(
        "SELECT run_id, writer, cancel FROM runs WHERE ended IS NULL AND (door = ?1 OR writer = ?2) ORDER BY started_at_ms",
    )?;
    let rows = statement.query_map(params![door, me.unwrap_or_default()], |row| {
        Ok((RunId(row.get(0)?), row.get::<_, String>(1)?, row.get::<_, bool>(2)?))
    })?;
    let mut due = Due::default();
    // One look for each process, however many runs it left.
    let mut known: std::collections::HashMap<String, bool> = std::collections::HashMap::new();
    for row in rows {
        let (run, writer, cancel) = row?;
        if me == Some(&writer) {
            due.to_cancel.extend(cancel.then_some(run));
        } else if !*known.entry(writer).or_insert_with_key(|writer| writers.is_writing(writer)) {
            due.left.push(run);
        }
    }
    Ok(due)
}

/// A journal error for a claim that failed.
pub(super) fn failed(path: &std::path::Path) -> impl Fn(rusqlite::Error) -> JournalError {
    move |source| JournalError::sqlite("write to", path, source)
}

/// Whether somebody wants a run cancelled.
pub(super) fn is_to_be_cancelled(connection: &Connection, run: &RunId) -> rusqlite::Result<bool> {
    let asked = connection.query_row("SELECT cancel FROM runs WHERE run_id = ?1", [&run.0], |row| row.get(0));
    Ok(asked.optional()?.unwrap_or(false))
}
