//! The reading end: summaries of runs, and runs with their events.

use std::collections::HashSet;
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
    pub const ALL: [RunStatus; 6] = [
        RunStatus::Running,
        RunStatus::Waiting,
        RunStatus::Done,
        RunStatus::Failed,
        RunStatus::Cancelled,
        RunStatus::Interrupted,
    ];

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

/// Which runs are listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunFilter {
    /// Those of this user; of all users unless set.
    pub user: Option<String>,
    /// Those that are in one of these states; in any where there are none.
    pub statuses: Vec<RunStatus>,
    /// Those that began at or after this time, in milliseconds since the Unix epoch.
    pub since_ms: Option<u64>,
    /// Those that began at or before this time, in milliseconds since the Unix epoch.
    pub until_ms: Option<u64>,
    /// Those whose request has this text in it, whatever the case of its letters.
    pub text: Option<String>,
    /// Those that come after this one in the list: when it began, and its id.
    pub after: Option<(u64, RunId)>,
}

impl RunFilter {
    /// Whether a run is one of these.
    pub fn fits(&self, run: &RunSummary) -> bool {
        let is_after = |(at, id): &(u64, RunId)| (run.started_at_ms, &run.run_id.0) < (*at, &id.0);
        self.user.as_ref().is_none_or(|user| *user == run.user)
            && (self.statuses.is_empty() || self.statuses.contains(&run.status))
            && self.since_ms.is_none_or(|since| run.started_at_ms >= since)
            && self.until_ms.is_none_or(|until| run.started_at_ms <= until)
            && self.after.as_ref().is_none_or(is_after)
            && self.text.as_ref().is_none_or(|text| contains(&run.request, text))
    }

    /// How the runs ended that can fit, as SQL; `None` where all can. Whether a run that has not ended fits is seen when it is read.
    fn ends(&self) -> Option<String> {
        let end = |status: &RunStatus| match status {
            RunStatus::Done => Some("ended = 'done'"),
            RunStatus::Failed => Some("(ended = 'failed' AND how NOT IN ('cancelled', 'interrupted'))"),
            RunStatus::Cancelled => Some("(ended = 'failed' AND how = 'cancelled')"),
            RunStatus::Interrupted => Some("(ended = 'failed' AND how = 'interrupted')"),
            RunStatus::Running | RunStatus::Waiting => None,
        };
        let may_go_on = self
            .statuses
            .iter()
            .any(|status| matches!(status, RunStatus::Running | RunStatus::Waiting | RunStatus::Interrupted));
        let open = may_go_on.then_some("ended IS NULL");
        let ends: Vec<&str> = self.statuses.iter().filter_map(end).chain(open).collect();
        (!ends.is_empty()).then(|| format!("({})", ends.join(" OR ")))
    }
}

/// Whether a text holds another, whatever the case of their letters.
pub(super) fn contains(text: &str, part: &str) -> bool {
    text.to_lowercase().contains(&part.to_lowercase())
}

pub(super) const COLUMNS: &str =
    "run_id, writer, door, user, started_at_ms, last_at_ms, request, ended, tasks, ok, failed, ms, how";

/// Whether a run waits until somebody allows something, as SQL. Of a run that has ended no event is looked at.
pub(super) const WAITING: &str = "CASE WHEN ended IS NOT NULL THEN 0 ELSE EXISTS (
    SELECT 1 FROM events AS asked WHERE asked.run_id = runs.run_id
        AND asked.body ->> 'event' = 'approval_needed' AND asked.body ->> 'resumes' = 1
        AND NOT EXISTS (
            SELECT 1 FROM events AS given WHERE given.run_id = asked.run_id AND given.seq > asked.seq
                AND given.body ->> 'event' = 'approval_given' AND given.body ->> 'id' = asked.body ->> 'task'
        )
) END AS waiting";

pub(super) fn known(path: &Path, runs: &[RunId]) -> Result<HashSet<RunId>, JournalError> {
    let failed = |source| JournalError::sqlite("read", path, source);
    let connection = file::open_to_read(path)?;
    let mut one = connection.prepare("SELECT 1 FROM runs WHERE run_id = ?1").map_err(failed)?;
    let mut known = HashSet::new();
    for run in runs {
        if one.exists([&run.0]).map_err(failed)? {
            known.insert(run.clone());
        }
    }
    Ok(known)
}

pub(super) fn runs(
    path: &Path,
    writers: &Writers,
    filter: &RunFilter,
    limit: u32,
) -> Result<Vec<RunSummary>, JournalError> {
    let failed = |source| JournalError::sqlite("read", path, source);
    let connection = file::open_to_read(path)?;
    let mut wanted = vec!["(?1 IS NULL OR started_at_ms >= ?1)", "(?2 IS NULL OR started_at_ms <= ?2)"];
    // What is bound to nothing keeps an index from being used.
    wanted.push(if filter.after.is_some() {
        "(started_at_ms, run_id) < (?3, ?4)"
    } else {
        "?3 IS NULL AND ?4 IS NULL"
    });
    wanted.push(match filter.user.as_deref() {
        Some("") => "user = ?5",
        Some(_) => "user <> '' AND user = ?5",
        None => "?5 IS NULL",
    });
    let ends = filter.ends();
    wanted.extend(ends.as_deref());
    // Ids alone, which an index has, so that a row is read only where it may fit.
    let sql =
        format!("SELECT run_id FROM runs WHERE {} ORDER BY started_at_ms DESC, run_id DESC", wanted.join(" AND "));
    let bound = |ms: Option<u64>| ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
    let (at, id) = filter.after.clone().unzip();
    let mut ids = connection.prepare(&sql).map_err(failed)?;
    let given = params![bound(filter.since_ms), bound(filter.until_ms), bound(at), id.map(|id| id.0), filter.user];
    let mut ids = ids.query(given).map_err(failed)?;
    let mut one =
        connection.prepare(&format!("SELECT {COLUMNS}, {WAITING} FROM runs WHERE run_id = ?1")).map_err(failed)?;
    let mut found = Vec::new();
    while found.len() < limit as usize
        && let Some(row) = ids.next().map_err(failed)?
    {
        let id: String = row.get(0).map_err(failed)?;
        let run = one.query_row([id], |row| summary(row, writers)).optional().map_err(failed)?;
        // The state of one that has not ended, and the text, are not SQLite's to say.
        found.extend(run.filter(|run| filter.fits(run)));
    }
    Ok(found)
}

pub(super) fn run(path: &Path, writers: &Writers, id: &str) -> Result<RunRecord, JournalError> {
    let failed = |source| JournalError::sqlite("read", path, source);
    let mut connection = file::open_to_read(path)?;
    // One transaction, so that the summary and the events are of the same moment.
    let connection = connection.transaction().map_err(failed)?;
    let run_id = find(&connection, path, id)?;
    let sql = format!("SELECT {COLUMNS}, {WAITING} FROM runs WHERE run_id = ?1");
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
        Some(_) => match row.get::<_, String>("how")?.as_str() {
            "cancelled" => RunStatus::Cancelled,
            INTERRUPTED => RunStatus::Interrupted,
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
