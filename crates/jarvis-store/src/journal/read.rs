//! The reading end: summaries of runs, and runs with their events.

use std::path::Path;

use jarvis_plan::{ENGINE, INTERRUPTED, RunId};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde_json::Value;

use super::presence::Writers;
use super::{JournalError, file};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    Running,
    /// It waits until somebody allows what it would do, in a process that may have ended.
    Waiting,
    Done,
    Failed,
    Cancelled,
    /// Cut off before it had a result: its process died or stopped, or its time was over.
    Interrupted,
}

impl RunStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            RunStatus::Running => "running",
            RunStatus::Waiting => "waiting",
            RunStatus::Done => "done",
            RunStatus::Failed => "failed",
            RunStatus::Cancelled => "cancelled",
            RunStatus::Interrupted => "interrupted",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    pub run_id: RunId,
    /// When it began, in milliseconds since the Unix epoch.
    pub started_at_ms: u64,
    pub request: String,
    /// The user it was carried out for, where a server has several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    pub status: RunStatus,
    pub tasks: u32,
    pub ok: u32,
    /// How many of them ended otherwise: failed, skipped or cancelled.
    pub failed: u32,
    /// Whether it was cut off and can go on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub resumable: bool,
    /// How long it took; for a run that has not ended, how long after its beginning the last event came. Milliseconds.
    pub ms: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunRecord {
    pub summary: RunSummary,
    /// Its events in order, as they were recorded.
    pub events: Vec<Value>,
    /// The whole request, where the event of its start has not all of it.
    #[serde(skip)]
    pub request: Option<Value>,
}

impl RunRecord {
    /// What else carries the run out, see [`ENGINE`]. Cut off here, it goes on there.
    pub fn engine(&self) -> Option<&str> {
        let started = self.events.iter().find(|event| event.get("event").is_some_and(|name| name == "run_started"))?;
        started.get("settings")?.get(ENGINE)?.as_str()
    }

    /// The events with the whole request, for whoever goes on with the run.
    pub fn whole_events(mut self) -> Vec<Value> {
        let start = self.events.iter_mut().find(|event| event.get("event").is_some_and(|name| name == "run_started"));
        if let (Some(request), Some(Value::Object(start))) = (self.request.take(), start) {
            start.insert("request".to_owned(), request);
        }
        self.events
    }
}

/// Of a run that failed, the event that ended it tells how: cancelled, interrupted, or otherwise.
pub(super) const COLUMNS: &str =
    "run_id, writer, door, user, started_at_ms, last_at_ms, request, ended, tasks, ok, failed, ms,
    CASE ended WHEN 'failed' THEN (
        SELECT CASE body ->> 'cancelled' WHEN 1 THEN 'cancelled' ELSE body ->> 'code' END
            FROM events WHERE events.run_id = runs.run_id AND body ->> 'event' IN ('done', 'error')
            ORDER BY seq DESC LIMIT 1
    ) END AS how,
    ended IS NULL AND EXISTS (
        SELECT 1 FROM events AS asked WHERE asked.run_id = runs.run_id
            AND asked.body ->> 'event' = 'approval_needed' AND asked.body ->> 'resumes' = 1
            AND NOT EXISTS (
                SELECT 1 FROM events AS given WHERE given.run_id = asked.run_id AND given.seq > asked.seq
                    AND given.body ->> 'event' = 'approval_given' AND given.body ->> 'id' = asked.body ->> 'task'
            )
    ) AS waiting";

pub(super) fn runs(
    path: &Path,
    writers: &Writers,
    user: Option<&str>,
    limit: u32,
) -> Result<Vec<RunSummary>, JournalError> {
    let failed = |source| JournalError::sqlite("read", path, source);
    let connection = file::open_to_read(path)?;
    let whose = if user.is_some() { "WHERE user <> '' AND user = ?2" } else { "WHERE ?2 = ''" };
    let sql = format!("SELECT {COLUMNS} FROM runs {whose} ORDER BY started_at_ms DESC, run_id DESC LIMIT ?1");
    let mut statement = connection.prepare(&sql).map_err(failed)?;
    let given = params![limit, user.unwrap_or_default()];
    let rows = statement.query_map(given, |row| summary(row, writers)).map_err(failed)?;
    rows.collect::<rusqlite::Result<Vec<_>>>().map_err(failed)
}

pub(super) fn run(path: &Path, writers: &Writers, id: &str) -> Result<RunRecord, JournalError> {
    let failed = |source| JournalError::sqlite("read", path, source);
    let mut connection = file::open_to_read(path)?;
    // One transaction, so that the summary and the events are of the same moment.
    let connection = connection.transaction().map_err(failed)?;
    let run_id = find(&connection, path, id)?;
    let sql = format!("SELECT {COLUMNS} FROM runs WHERE run_id = ?1");
    let summary = connection.query_row(&sql, [&run_id], |row| summary(row, writers)).map_err(failed)?;
    let mut statement =
        connection.prepare("SELECT seq, body FROM events WHERE run_id = ?1 ORDER BY seq").map_err(failed)?;
    let rows =
        statement.query_map([&run_id], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))).map_err(failed)?;
    let mut events = Vec::new();
    for row in rows {
        let (seq, body) = row.map_err(failed)?;
        let event = serde_json::from_str(&body).map_err(|error| JournalError::Corrupt {
            path: path.to_owned(),
            reason: format!("event {seq} of run {run_id} is not JSON: {error}"),
        })?;
        events.push(event);
    }
    let request: Option<String> = connection
        .query_row("SELECT body FROM requests WHERE run_id = ?1", [&run_id], |row| row.get(0))
        .optional()
        .map_err(failed)?;
    let request =
        request.map(|body| serde_json::from_str(&body)).transpose().map_err(|error| JournalError::Corrupt {
            path: path.to_owned(),
            reason: format!("the request of run {run_id} is not JSON: {error}"),
        })?;
    Ok(RunRecord { summary, events, request })
}

fn find(connection: &Connection, path: &Path, id: &str) -> Result<String, JournalError> {
    if id.trim().is_empty() {
        return Err(JournalError::NotFound { id: id.to_owned() });
    }
    let failed = |source| JournalError::sqlite("read", path, source);
    let exact: Option<String> = connection
        .query_row("SELECT run_id FROM runs WHERE run_id = ?1", [id], |row| row.get(0))
        .optional()
        .map_err(failed)?;
    if let Some(id) = exact {
        return Ok(id);
    }
    let mut statement = connection
        .prepare("SELECT run_id FROM runs WHERE substr(run_id, 1, length(?1)) = ?1 ORDER BY run_id DESC LIMIT ?2")
        .map_err(failed)?;
    let rows = statement.query_map(params![id, 5], |row| row.get(0)).map_err(failed)?;
    let mut matches = rows.collect::<rusqlite::Result<Vec<String>>>().map_err(failed)?;
    match matches.pop() {
        None => Err(JournalError::NotFound { id: id.to_owned() }),
        Some(only) if matches.is_empty() => Ok(only),
        Some(another) => {
            matches.push(another);
            Err(JournalError::Ambiguous { id: id.to_owned(), matches })
        }
    }
}

pub(super) fn summary(row: &rusqlite::Row<'_>, writers: &Writers) -> rusqlite::Result<RunSummary> {
    let writer: String = row.get("writer")?;
    let started_at_ms = unsigned(row.get("started_at_ms")?)?;
    let last_at_ms = unsigned(row.get("last_at_ms")?)?;
    let ended: Option<String> = row.get("ended")?;
    let ms: Option<i64> = row.get("ms")?;
    let is_left = ended.is_none() && !writers.is_writing(&writer);
    // What says nothing of its door is a batch, or of an older version.
    let resumable = is_left && !row.get::<_, String>("door")?.is_empty();
    let status = match ended.as_deref() {
        Some("done") => RunStatus::Done,
        Some(_) => match row.get::<_, Option<String>>("how")?.as_deref() {
            Some("cancelled") => RunStatus::Cancelled,
            Some(INTERRUPTED) => RunStatus::Interrupted,
            _ => RunStatus::Failed,
        },
        None if row.get("waiting")? => RunStatus::Waiting,
        None if is_left => RunStatus::Interrupted,
        None => RunStatus::Running,
    };
    Ok(RunSummary {
        run_id: RunId(row.get("run_id")?),
        started_at_ms,
        request: row.get("request")?,
        user: row.get("user")?,
        status,
        resumable,
        tasks: row.get("tasks")?,
        ok: row.get("ok")?,
        failed: row.get("failed")?,
        ms: ms.map(unsigned).transpose()?.unwrap_or_else(|| last_at_ms.saturating_sub(started_at_ms)),
    })
}

/// The writer stores no negative number, so one means that the file was changed by something else.
pub(super) fn unsigned(number: i64) -> rusqlite::Result<u64> {
    u64::try_from(number).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
