//! The writing end: one thread, one connection, as many events in a transaction as are waiting.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

use jarvis_plan::{Event, EventKind, Request, RunId, Source};
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

use super::JournalError;
use super::presence::{Sign, Writers};

const BATCH: usize = 1024;
/// The most characters kept of an inline attachment or an earlier turn.
const KEPT: usize = 4_096;
/// What stands where the rest of one was cut.
const CUT: &str = "… [cut]";

pub(super) enum Message {
    Row(Box<Row>),
    Flush(oneshot::Sender<Result<(), JournalError>>),
}

pub(super) struct Row {
    run_id: RunId,
    seq: i64,
    at_ms: i64,
    body: String,
    change: Change,
}

/// What an event means for the summary of its run.
enum Change {
    Started { request: String },
    Planned { tasks: i64 },
    Finished { ok: bool },
    Ended { how: &'static str, ms: i64 },
    Nothing,
}

impl Row {
    pub(super) fn of(event: &Event) -> Option<Row> {
        if matches!(event.kind, EventKind::Token { .. } | EventKind::Queued { .. }) {
            return None;
        }
        let event = &*capped(event);
        let change = match &event.kind {
            EventKind::RunStarted { request, .. } => Change::Started { request: request.typed() },
            EventKind::Plan { plan } => Change::Planned { tasks: plan.tasks().len() as i64 },
            EventKind::TaskFinished { outcome } => Change::Finished { ok: outcome.succeeded() },
            EventKind::Done { ok, ms, .. } => {
                Change::Ended { how: if *ok { "done" } else { "failed" }, ms: signed(*ms) }
            }
            EventKind::Error { ms, .. } => Change::Ended { how: "failed", ms: signed(*ms) },
            EventKind::Queued { .. }
            | EventKind::ModelCall { .. }
            | EventKind::ModelChosen { .. }
            | EventKind::TaskStarted { .. }
            | EventKind::TaskAttempt { .. }
            | EventKind::Thought { .. }
            | EventKind::Action { .. }
            | EventKind::Observation { .. }
            | EventKind::Token { .. }
            | EventKind::Answer { .. }
            | EventKind::Mapped { .. }
            | EventKind::ApprovalNeeded { .. }
            | EventKind::ApprovalGiven { .. }
            | EventKind::PlanGrew { .. }
            | EventKind::Budget { .. }
            | EventKind::ExecutionConfig { .. }
            | EventKind::Note { .. } => Change::Nothing,
        };
        let body = serde_json::to_string(event).expect("an event has only string keys");
        Some(Row { run_id: event.run_id.clone(), seq: signed(event.seq), at_ms: signed(event.at_ms), body, change })
    }
}

/// The event without the long texts that its request carries: they are the person's files, and would be kept twice.
fn capped(event: &Event) -> Cow<'_, Event> {
    let EventKind::RunStarted { request, planner, model, pipeline } = &event.kind else { return Cow::Borrowed(event) };
    let mut request: Request = request.clone();
    for attachment in &mut request.attachments {
        if let Source::Inline(text) = &mut attachment.source {
            cap(text);
        }
    }
    request.history.iter_mut().for_each(|turn| cap(&mut turn.content));
    let (planner, model, pipeline) = (planner.clone(), model.clone(), pipeline.clone());
    let kind = EventKind::RunStarted { request, planner, model, pipeline };
    Cow::Owned(Event { run_id: event.run_id.clone(), seq: event.seq, at_ms: event.at_ms, kind })
}

/// Whether the journal has only the beginning of a text.
pub fn is_cut(text: &str) -> bool {
    text.ends_with(CUT)
}

fn cap(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(KEPT) {
        text.truncate(end);
        text.push_str(CUT);
    }
}

/// SQLite counts up to 2^63.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Events that are kept to be tried again while the disk refuses; the oldest go first.
const MOST_KEPT: usize = 10_000;

pub(super) struct Writer {
    connection: Connection,
    path: PathBuf,
    writers: Writers,
    sign: Option<Sign>,
    /// Why what is kept could not be written.
    lost: Option<String>,
    failing: Arc<AtomicBool>,
}

impl Writer {
    pub(super) fn new(connection: Connection, path: PathBuf, writers: Writers, failing: Arc<AtomicBool>) -> Writer {
        Writer { connection, path, writers, sign: None, lost: None, failing }
    }

    /// Writes until the journal is dropped.
    pub(super) fn run(mut self, messages: &Receiver<Message>) {
        // What could not be written is tried again with what comes next.
        let mut rows: Vec<Row> = Vec::new();
        while let Ok(first) = messages.recv() {
            let kept = rows.len();
            let mut flushes = Vec::new();
            let mut next = Some(first);
            while let Some(message) = next {
                match message {
                    Message::Row(row) => rows.push(*row),
                    Message::Flush(sender) => flushes.push(sender),
                }
                next = if rows.len() < kept + BATCH { messages.try_recv().ok() } else { None };
            }
            if rows.is_empty() {
                // Nothing is to be written, so nothing is learnt.
            } else if let Err(error) = self.write(&rows) {
                self.failing.store(true, Ordering::Relaxed);
                tracing::error!(%error, events = rows.len(), "events could not be written to the journal");
                self.lost.get_or_insert(error.to_string());
                let over = rows.len().saturating_sub(MOST_KEPT);
                rows.drain(..over);
            } else {
                rows.clear();
                self.lost = None;
                self.failing.store(false, Ordering::Relaxed);
            }
            for flush in flushes {
                let result = match &self.lost {
                    None => Ok(()),
                    Some(reason) => Err(JournalError::Lost { path: self.path.clone(), reason: reason.clone() }),
                };
                // The caller may have stopped waiting.
                let _ = flush.send(result);
            }
        }
    }

    fn write(&mut self, rows: &[Row]) -> Result<(), JournalError> {
        let sign = match &self.sign {
            Some(sign) => sign,
            None => self.sign.insert(self.writers.sign()?),
        };
        let (connection, path) = (&mut self.connection, &self.path);
        insert(connection, &sign.name, rows).map_err(|source| JournalError::sqlite("write to", path, source))
    }
}

fn insert(connection: &mut Connection, writer: &str, rows: &[Row]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for row in rows {
        let run_id = &row.run_id.0;
        let new = transaction
            .prepare_cached("INSERT INTO events (run_id, seq, body) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?
            .execute(params![run_id, row.seq, row.body])?;
        if new == 0 {
            continue;
        }
        transaction
            .prepare_cached(
                "INSERT INTO runs (run_id, writer, started_at_ms, last_at_ms) VALUES (?1, ?2, ?3, ?3)
                 ON CONFLICT (run_id) DO UPDATE SET writer = ?2, last_at_ms = max(last_at_ms, ?3)",
            )?
            .execute(params![run_id, writer, row.at_ms])?;
        match &row.change {
            Change::Nothing => 0,
            Change::Started { request } => transaction
                .prepare_cached("UPDATE runs SET request = ?2, started_at_ms = ?3 WHERE run_id = ?1")?
                .execute(params![run_id, request, row.at_ms])?,
            Change::Planned { tasks } => transaction
                .prepare_cached("UPDATE runs SET tasks = max(tasks, ?2) WHERE run_id = ?1")?
                .execute(params![run_id, tasks])?,
            // A plan that grows has no plan event for its later tasks.
            Change::Finished { ok } => transaction
                .prepare_cached(
                    "UPDATE runs SET ok = ok + ?2, failed = failed + 1 - ?2, tasks = max(tasks, ok + failed + 1)
                     WHERE run_id = ?1",
                )?
                .execute(params![run_id, i64::from(*ok)])?,
            Change::Ended { how, ms } => transaction
                .prepare_cached("UPDATE runs SET ended = ?2, ms = ?3 WHERE run_id = ?1")?
                .execute(params![run_id, how, ms])?,
        };
    }
    transaction.commit()
}
