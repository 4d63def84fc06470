//! The writing end: one thread, one connection, as many events in a transaction as are waiting.
//!
//! A run is written by one process: the one that began it, or that claimed it after that one had died. What another process writes
//! of it after that is refused here, and told to it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jarvis_plan::{Event, EventKind, RunId, Source};
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

use super::JournalError;
use super::crash::{self, Side};
use super::lease::{self, Claim};
use super::mentions;
use super::owned::named;
use super::presence::{Sign, Writers};
use crate::Made;

const BATCH: usize = 1024;
/// The most characters kept of an inline attachment or an earlier turn.
const KEPT: usize = 4_096;
/// A day in milliseconds.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// What stands where the rest of one was cut.
const CUT: &str = "… [cut]";

pub(super) enum Message {
    Row(Box<Row>),
    /// Asks whether all is written, and of a run whether it may be.
    Flush(Option<RunId>, oneshot::Sender<Result<(), JournalError>>),
    Do(Task),
    /// Asks for a run whose process has died.
    Claim(RunId, oneshot::Sender<Result<Claim, JournalError>>),
    /// This process goes on with the run no more, and another may.
    Abandon(RunId),
}

/// Something else to be done with the connection, between two transactions. It is given the name of this process.
pub(super) type Task = Box<dyn FnOnce(Result<(&mut Connection, &str), JournalError>) + Send>;

pub(super) struct Row {
    run_id: RunId,
    seq: i64,
    at_ms: i64,
    body: String,
    /// The whole request, where the event has not all of it.
    request: Option<String>,
    /// Display paths that stand in it.
    named: Vec<String>,
    /// Whether it tells what was done: of the paths the ones that were made for it are its user's.
    is_result: bool,
    change: Change,
}

/// What an event means for the summary of its run.
enum Change {
    Started { request: String, door: String, user: String, thread: String },
    Planned { tasks: i64 },
    Finished { ok: bool },
    Called { tokens: i64, cost: f64 },
    Ended { ok: bool, how: String, ms: i64 },
    Nothing,
}

impl Row {
    pub(super) fn of(event: &Event) -> Option<Row> {
        if !event.kind.is_kept() {
            return None;
        }
        let capped = capped(event);
        let request = match (&capped, &event.kind) {
            (Cow::Owned(_), EventKind::RunStarted { request, .. }) => serde_json::to_string(request).ok(),
            (Cow::Owned(_) | Cow::Borrowed(_), _) => None,
        };
        let event = &*capped;
        let change = match &event.kind {
            EventKind::RunStarted { request, door, user, .. } => {
                let thread = request.thread.as_ref().map(|thread| thread.id.clone()).unwrap_or_default();
                Change::Started { request: request.typed(), door: door.clone(), user: user.clone(), thread }
            }
            EventKind::Plan { plan } => Change::Planned { tasks: plan.tasks().len() as i64 },
            EventKind::TaskFinished { outcome } => Change::Finished { ok: outcome.succeeded() },
            EventKind::Done { ok, cancelled, ms, .. } => {
                let how = if *cancelled && !ok { "cancelled" } else { "" };
                Change::Ended { ok: *ok, how: how.to_owned(), ms: signed(*ms) }
            }
            EventKind::Error { code, ms, .. } => Change::Ended { ok: false, how: code.clone(), ms: signed(*ms) },
            EventKind::ModelCall { prompt_tokens, completion_tokens, cost, taken_over: false, .. } => Change::Called {
                tokens: signed(prompt_tokens.saturating_add(*completion_tokens)),
                cost: cost.as_ref().map_or(0.0, |cost| cost.amount),
            },
            EventKind::ModelCall { .. }
            | EventKind::Queued { .. }
            | EventKind::Resumed { .. }
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
        let (run_id, seq, at_ms) = (event.run_id.clone(), signed(event.seq), signed(event.at_ms));
        let is_result = matches!(event.kind, EventKind::TaskFinished { .. } | EventKind::Observation { .. });
        // The whole request speaks of more than what is left of it in the event.
        let named = named(&body).chain(request.iter().flat_map(|whole| named(whole))).map(str::to_owned).collect();
        Some(Row { run_id, seq, at_ms, body, request, named, is_result, change })
    }
}

impl Row {
    /// The paths that were told of as done.
    fn results(&self) -> impl Iterator<Item = &String> {
        self.named.iter().filter(|_| self.is_result)
    }
}

/// The event without the long texts that its request carries: whoever follows a run has no use for them. The whole request is kept
/// beside the events, for whoever goes on with the run.
fn capped(event: &Event) -> Cow<'_, Event> {
    let EventKind::RunStarted { request, .. } = &event.kind else { return Cow::Borrowed(event) };
    let is_long = |text: &str| text.len() > KEPT && text.chars().nth(KEPT).is_some();
    let inline = request.attachments.iter().filter_map(|attached| match &attached.source {
        Source::Inline(text) => Some(text),
        Source::Public(_) | Source::Url(_) => None,
    });
    let mut texts = inline.chain(request.history.iter().map(|turn| &turn.content));
    if !texts.any(|text| is_long(text)) {
        return Cow::Borrowed(event);
    }
    let mut event = event.clone();
    let EventKind::RunStarted { request, .. } = &mut event.kind else { return Cow::Owned(event) };
    for attachment in &mut request.attachments {
        if let Source::Inline(text) = &mut attachment.source {
            cap(text);
        }
    }
    request.history.iter_mut().for_each(|turn| cap(&mut turn.content));
    Cow::Owned(event)
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

/// After how long what could not be written is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Events that are kept to be tried again while the disk refuses; the oldest go first.
const MOST_KEPT: usize = 10_000;

pub(super) struct Writer {
    connection: Connection,
    path: PathBuf,
    writers: Writers,
    sign: Option<Sign>,
    /// Why what is kept could not be written.
    lost: Option<String>,
    /// Runs that another process writes.
    taken: HashSet<RunId>,
    /// Runs of which something was given up, so that nothing that follows may be written.
    torn: HashSet<RunId>,
    /// Runs that are to be left to others, once that can be written.
    abandoned: Vec<RunId>,
    failing: Arc<AtomicBool>,
    me: Arc<OnceLock<String>>,
    made: Arc<OnceLock<Arc<Made>>>,
}

impl Writer {
    pub(super) fn new(
        connection: Connection,
        path: PathBuf,
        writers: Writers,
        failing: Arc<AtomicBool>,
        me: Arc<OnceLock<String>>,
        made: Arc<OnceLock<Arc<Made>>>,
    ) -> Writer {
        let (taken, torn, abandoned) = (HashSet::new(), HashSet::new(), Vec::new());
        Writer { connection, path, writers, sign: None, lost: None, taken, torn, abandoned, failing, me, made }
    }

    /// Writes until the journal is dropped.
    pub(super) fn run(mut self, messages: &Receiver<Message>) {
        // What could not be written is tried again with what comes next.
        let mut rows: Vec<Row> = Vec::new();
        loop {
            let is_pending = !rows.is_empty() || !self.abandoned.is_empty() || self.lost.is_some();
            let received = match is_pending {
                true => messages.recv_timeout(AGAIN),
                false => messages.recv().map_err(RecvTimeoutError::from),
            };
            let mut next = match received {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => {
                    if !rows.is_empty()
                        && let Err(error) = self.write(&rows)
                    {
                        tracing::error!(%error, events = rows.len(), "events could not be written to the journal");
                    }
                    return;
                }
            };
            let kept = rows.len();
            let (mut flushes, mut claims, mut task) = (Vec::new(), Vec::new(), None);
            // A flush that was asked for after one of these waits for it, and one before it does not.
            let mut ends_batch = false;
            while let Some(message) = next {
                match message {
                    Message::Row(row) if self.taken.contains(&row.run_id) || self.torn.contains(&row.run_id) => {}
                    Message::Row(row) => rows.push(*row),
                    Message::Flush(run, sender) => flushes.push((run, sender)),
                    Message::Do(work) => {
                        task = Some(work);
                        ends_batch = true;
                    }
                    Message::Abandon(run) => {
                        self.abandoned.push(run);
                        ends_batch = true;
                    }
                    Message::Claim(run, sender) => claims.push((run, sender)),
                }
                let more = rows.len() < kept + BATCH && !ends_batch;
                next = if more { messages.try_recv().ok() } else { None };
            }
            if rows.is_empty() {
                // What was given up is no reason to refuse what comes, once the file can be written.
                if self.lost.is_some() && self.connection.execute_batch("BEGIN IMMEDIATE; COMMIT;").is_ok() {
                    self.lost = None;
                    self.failing.store(false, Ordering::Relaxed);
                }
            } else if let Err(error) = self.write(&rows) {
                self.failing.store(true, Ordering::Relaxed);
                tracing::error!(%error, events = rows.len(), "events could not be written to the journal");
                self.lost.get_or_insert(error.to_string());
                if rows.len() > MOST_KEPT {
                    // Nothing is written behind a gap.
                    self.torn.extend(rows.drain(..).map(|row| row.run_id));
                }
            } else {
                rows.clear();
                self.lost = None;
                self.failing.store(false, Ordering::Relaxed);
            }
            for (run, flush) in flushes {
                // The caller may have stopped waiting.
                let _ = flush.send(self.written(run.as_ref()));
            }
            if let Some(task) = task {
                self.perform(task);
            }
            self.abandon();
            for (run, claim) in claims {
                // The caller may have stopped waiting.
                let _ = claim.send(self.claim(&run));
            }
        }
    }

    fn claim(&mut self, run: &RunId) -> Result<Claim, JournalError> {
        self.sign()?;
        let name = self.sign.as_ref().map_or("", |sign| &sign.name);
        let claimed = lease::claim(&mut self.connection, &self.writers, name, run);
        let claimed = claimed.map_err(|source| JournalError::sqlite("write to", &self.path, source))?;
        if claimed == Claim::Ours {
            self.taken.remove(run);
            self.torn.remove(run);
        }
        Ok(claimed)
    }

    /// Leaves runs to others; what cannot be written is tried again.
    fn abandon(&mut self) {
        if self.lost.is_some() {
            return;
        }
        let name = self.sign.as_ref().map_or("", |sign| &sign.name);
        let connection = &self.connection;
        self.abandoned.retain(|run| {
            let left = connection.execute(
                "UPDATE runs SET writer = '' WHERE run_id = ?1 AND writer = ?2 AND ended IS NULL",
                params![run.0, name],
            );
            self.taken.insert(run.clone());
            left.is_err()
        });
    }

    /// Whether everything is written, and a run is this process's to write.
    fn written(&self, run: Option<&RunId>) -> Result<(), JournalError> {
        let lost = |reason: &str| Err(JournalError::Lost { path: self.path.clone(), reason: reason.to_owned() });
        match (run, &self.lost) {
            (Some(run), _) if self.taken.contains(run) => Err(JournalError::Taken { id: run.0.clone() }),
            (_, Some(reason)) => lost(reason),
            (Some(run), None) if self.torn.contains(run) => lost("too much could not be written"),
            (_, None) => Ok(()),
        }
    }

    fn perform(&mut self, task: Task) {
        if let Err(error) = self.sign() {
            return task(Err(error));
        }
        if let Some(sign) = &self.sign {
            task(Ok((&mut self.connection, &sign.name)));
        }
    }

    /// Puts up the sign of this process, if it is not up.
    fn sign(&mut self) -> Result<(), JournalError> {
        if self.sign.is_none() {
            let sign = self.writers.sign()?;
            self.me.get_or_init(|| sign.name.clone());
            self.sign = Some(sign);
        }
        Ok(())
    }

    fn write(&mut self, rows: &[Row]) -> Result<(), JournalError> {
        self.sign()?;
        let name = self.sign.as_ref().map_or("", |sign| &sign.name);
        crash::at(Side::Before);
        let taken = insert(&mut self.connection, name, rows, self.made.get().map(|made| &**made));
        self.taken.extend(taken.map_err(|source| JournalError::sqlite("write to", &self.path, source))?);
        crash::at(Side::After);
        Ok(())
    }
}

/// Writes rows, but for those of runs that are another's; returns these runs.
fn insert(
    connection: &mut Connection,
    writer: &str,
    rows: &[Row],
    made: Option<&Made>,
) -> rusqlite::Result<HashSet<RunId>> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let mut taken = HashSet::new();
    for row in rows {
        let run_id = &row.run_id.0;
        let bytes = (row.body.len() + row.request.as_ref().map_or(0, String::len)) as i64;
        let is_ours = transaction
            .prepare_cached(
                "INSERT INTO runs (run_id, writer, started_at_ms, last_at_ms, bytes) VALUES (?1, ?2, ?3, ?3, ?4)
                 ON CONFLICT (run_id) DO UPDATE SET last_at_ms = max(last_at_ms, ?3), bytes = bytes + ?4 WHERE writer = ?2",
            )?
            .execute(params![run_id, writer, row.at_ms, bytes])?;
        if is_ours == 0 {
            taken.insert(row.run_id.clone());
            continue;
        }
        let new = transaction
            .prepare_cached("INSERT INTO events (run_id, seq, body) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING")?
            .execute(params![run_id, row.seq, row.body])?;
        if new == 0 {
            transaction
                .prepare_cached("UPDATE runs SET bytes = bytes - ?2 WHERE run_id = ?1")?
                .execute(params![run_id, bytes])?;
            continue;
        }
        mentions::note(&transaction, run_id, row.named.iter().map(String::as_str))?;
        if let Some(request) = &row.request {
            transaction
                .prepare_cached("INSERT INTO requests (run_id, body) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
                .execute(params![run_id, request])?;
        }
        for path in row.results().filter(|path| made.is_some_and(|made| made.holds(path))) {
            transaction
                .prepare_cached(
                    "INSERT INTO media (path, user) SELECT ?1, user FROM runs WHERE run_id = ?2 AND user <> ''
                     ON CONFLICT DO NOTHING",
                )?
                .execute(params![path, run_id])?;
        }
        match &row.change {
            Change::Nothing => 0,
            Change::Started { request, door, user, thread } => transaction
                .prepare_cached(
                    "UPDATE runs SET request = ?2, started_at_ms = ?3, door = ?4, user = ?5, thread = ?6 WHERE run_id = ?1",
                )?
                .execute(params![run_id, request, row.at_ms, door, user, thread])?,
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
            Change::Called { tokens, cost } => transaction
                .prepare_cached(
                    "INSERT INTO spent (user, day, calls, tokens, cost)
                     SELECT user, ?2, 1, ?3, ?4 FROM runs WHERE run_id = ?1 AND user <> ''
                     ON CONFLICT (user, day) DO UPDATE
                     SET calls = calls + 1, tokens = tokens + excluded.tokens, cost = cost + excluded.cost",
                )?
                .execute(params![run_id, row.at_ms / DAY_MS, tokens, cost])?,
            Change::Ended { ok, how, ms } => transaction
                .prepare_cached("UPDATE runs SET ended = ?2, how = ?3, ms = ?4 WHERE run_id = ?1")?
                .execute(params![run_id, if *ok { "done" } else { "failed" }, how, ms])?,
        };
    }
    transaction.commit()?;
    if let Some(made) = made {
        for path in rows.iter().flat_map(Row::results) {
            made.told(path);
        }
    }
    Ok(taken)
}
