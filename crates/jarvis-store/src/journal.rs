//! The run journal: every event of every run, in one SQLite file that other processes may read and write meanwhile.
//!
//! It stores events as they are and adds nothing: a run's events are authoritative, and the summaries follow from them.

mod changed;
mod chats;
mod costs;
mod crash;
mod error;
mod experience;
mod file;
mod files;
mod lease;
mod mentions;
mod orphans;
mod owned;
mod personal;
mod presence;
mod prune;
mod read;
mod repair;
mod responses;
mod schema;
mod webhooks;
mod write;

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use jarvis_plan::{Event, EventKind, RunId};
use tokio::sync::oneshot;

pub use self::changed::Changed;
pub use self::chats::{Chat, ChatFilter, ChatSummary, ChatWrite};
pub use self::costs::{CostRow, UserUsage};
pub use self::error::JournalError;
pub use self::experience::{ExperienceRow, ExperienceStamp, Verdict};
pub use self::file::Synchronous;
pub use self::lease::{Claim, Due};
pub use self::orphans::{Sweep, Swept};
pub use self::owned::named;
pub use self::personal::Stored;
pub use self::prune::{Prune, Pruned};
pub use self::read::{RunFilter, RunRecord, RunStatus, RunSummary};

use crate::{Made, Media};

use self::presence::Writers;
use self::write::{Message, Row, Writer};

/// The journal of all runs in one file.
///
/// Writing is handed to one thread; events that come close together are written in one transaction, each of which is on
/// the disk when it ends. A crash loses at most what no [`Journal::flush`] has confirmed, in practice the transaction
/// being written. Reading opens the file anew and blocks for a few milliseconds.
///
/// Many processes may use one file. A run is written by the one that began it or, after that one has died, by the one whose
/// [`Journal::claim`] was first.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    writers: Writers,
    /// Tells others that the journal is open.
    _share: File,
    sender: Option<mpsc::Sender<Message>>,
    thread: Option<JoinHandle<()>>,
    failing: Arc<AtomicBool>,
    /// The name of this process among the writers, once it has one.
    me: Arc<OnceLock<String>>,
    made: Arc<OnceLock<Arc<Made>>>,
}

impl Journal {
    /// Opens the journal, making it and its folder when missing. A folder `PATH.writers` beside it holds one small lock
    /// file for each process that is writing, and one that all who have it open share. Blocks.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`], [`JournalError::NotAJournal`] and [`JournalError::TooNew`] leave the file as it is,
    /// byte for byte; [`JournalError::Io`] and [`JournalError::Sqlite`] when the disk or SQLite refuses.
    pub fn open(path: &Path) -> Result<Journal, JournalError> {
        Journal::open_with(path, Synchronous::default())
    }

    /// The same, with when what is written counts as kept.
    ///
    /// # Errors
    /// As [`Journal::open`].
    pub fn open_with(path: &Path, synchronous: Synchronous) -> Result<Journal, JournalError> {
        let path = std::path::absolute(path).map_err(|source| JournalError::io("find", path, source))?;
        let writers = Writers::beside(&path)?;
        let (connection, share) = {
            let _alone = writers.alone()?;
            (file::open(&path, writers.any_died(), synchronous)?, writers.share()?)
        };
        let (sender, receiver) = mpsc::channel();
        let failing = Arc::new(AtomicBool::new(false));
        let me = Arc::new(OnceLock::new());
        let made = Arc::default();
        let (failed, named) = (Arc::clone(&failing), Arc::clone(&me));
        let writer = Writer::new(connection, path.clone(), writers.clone(), failed, named, Arc::clone(&made));
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || writer.run(&receiver))
            .map_err(|source| JournalError::io("start the writer of", &path, source))?;
        Ok(Journal { path, writers, _share: share, sender: Some(sender), thread: Some(thread), failing, me, made })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Hands an event over to be written; never waits for the disk. An event already there is not written again.
    ///
    /// What is not to be kept ([`jarvis_plan::EventKind::is_kept`]) is not. Of what a request carries, inline attachments and
    /// earlier turns stand in the event up to 4,096 characters each, with a mark where the rest was cut; the whole request is kept
    /// beside it, see [`RunRecord::request`].
    pub fn append(&self, event: &Event) {
        if let Some(row) = Row::of(event) {
            self.send(Message::Row(Box::new(row)));
        }
    }

    /// Waits until everything appended so far is on the disk.
    ///
    /// # Errors
    /// [`JournalError::Lost`] when something appended could not be written yet; it is tried again with the next event.
    pub async fn flush(&self) -> Result<(), JournalError> {
        self.flushed(None).await
    }

    /// Waits until everything appended so far of a run is on the disk.
    ///
    /// # Errors
    /// [`JournalError::Taken`] when another process goes on with the run, and nothing more of it is written here;
    /// [`JournalError::Lost`] as for [`Journal::flush`].
    pub async fn flush_run(&self, run: &RunId) -> Result<(), JournalError> {
        self.flushed(Some(run.clone())).await
    }

    async fn flushed(&self, run: Option<RunId>) -> Result<(), JournalError> {
        let (sender, receiver) = oneshot::channel();
        self.send(Message::Flush(run, sender));
        receiver.await.unwrap_or_else(|_| Err(self.gone()))
    }

    fn gone(&self) -> JournalError {
        JournalError::Lost { path: self.path.clone(), reason: "its writer has stopped".to_owned() }
    }

    /// True while the last attempt to write failed. Never waits.
    pub fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    /// The latest runs, newest first, at most `limit`. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn runs(&self, limit: u32) -> Result<Vec<RunSummary>, JournalError> {
        self.select(&RunFilter::default(), limit)
    }

    /// The latest of some runs, as [`Journal::runs`]. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn select(&self, filter: &RunFilter, limit: u32) -> Result<Vec<RunSummary>, JournalError> {
        read::runs(&self.path, &self.writers, filter, limit)
    }

    /// Which of these runs are on record. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn known(&self, runs: &[RunId]) -> Result<HashSet<RunId>, JournalError> {
        read::known(&self.path, runs)
    }

    /// Runs with the time of their last event in milliseconds since the Unix epoch, the latest first. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn changed(&self, which: &Changed) -> Result<Vec<(RunSummary, u64)>, JournalError> {
        changed::changed(&self.path, &self.writers, which)
    }

    /// Keeps a webhook of a run, in the place of one of the same id.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn set_webhook(&self, run: &RunId, id: &str, body: String) -> Result<(), JournalError> {
        let (path, run, id) = (self.path.clone(), run.0.clone(), id.to_owned());
        self.with(move |connection, _| webhooks::set(connection, &run, &id, &body).map_err(lease::failed(&path))).await
    }

    /// Removes a webhook of a run, if it is there.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn remove_webhook(&self, run: &RunId, id: &str) -> Result<(), JournalError> {
        let (path, run, id) = (self.path.clone(), run.0.clone(), id.to_owned());
        self.with(move |connection, _| webhooks::remove(connection, &run, &id).map_err(lease::failed(&path))).await
    }

    /// The webhooks of a run, as they were given. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn webhooks(&self, run: &str) -> Result<Vec<String>, JournalError> {
        let failed = |source| JournalError::sqlite("read", &self.path, source);
        webhooks::all(&file::open_to_read(&self.path)?, run).map_err(failed)
    }

    /// One of them. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn webhook(&self, run: &str, id: &str) -> Result<Option<String>, JournalError> {
        let failed = |source| JournalError::sqlite("read", &self.path, source);
        webhooks::one(&file::open_to_read(&self.path)?, run, id).map_err(failed)
    }

    /// One run with its events in order, by its id or by the start of its id when only one run has it. Blocks.
    ///
    /// # Errors
    /// [`JournalError::NotFound`], [`JournalError::Ambiguous`], or when the file cannot be read.
    pub fn run(&self, id: &str) -> Result<RunRecord, JournalError> {
        read::run(&self.path, &self.writers, id)
    }

    /// What model calls took since a time in milliseconds since the Unix epoch, by day (UTC), model and pipeline; the latest day
    /// first. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn costs(&self, since_ms: u64) -> Result<Vec<CostRow>, JournalError> {
        costs::costs(&self.path, since_ms)
    }

    /// What the runs of each user took on a day (UTC), which is counted from the Unix epoch. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn spent_on(&self, day: u64) -> Result<Vec<UserUsage>, JournalError> {
        costs::spent_on(&self.path, day)
    }

    /// From now on, what runs make is the own of their users: of these files, those that a result is the first to tell of. Only the
    /// first call counts.
    pub fn owns_what_is_made(&self, made: &Arc<Made>) {
        made.keep();
        let _ = self.made.set(Arc::clone(made));
    }

    /// Whether any run is a user's. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn has_users(&self) -> Result<bool, JournalError> {
        let failed = |source| JournalError::sqlite("read", &self.path, source);
        let connection = file::open_to_read(&self.path)?;
        connection.prepare("SELECT 1 FROM runs WHERE user <> ''").and_then(|mut any| any.exists([])).map_err(failed)
    }

    /// Makes files a user's own, by their display paths, beside whoever has them.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn own(&self, user: &str, paths: Vec<String>) -> Result<(), JournalError> {
        if paths.is_empty() {
            return Ok(());
        }
        let (path, user) = (self.path.clone(), user.to_owned());
        self.with(move |connection, _| owned::own(connection, &user, &paths).map_err(lease::failed(&path))).await
    }

    /// The first of these display paths that is not this user's; `None` when all are. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn first_foreign(&self, user: &str, paths: &[String]) -> Result<Option<String>, JournalError> {
        if paths.is_empty() {
            return Ok(None);
        }
        let failed = |source| JournalError::sqlite("read", &self.path, source);
        owned::first_foreign(&file::open_to_read(&self.path)?, user, paths).map_err(failed)
    }

    /// What this process should look after now, of the runs of a door. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn due(&self, door: &str) -> Result<Due, JournalError> {
        let me = self.me.get().map(String::as_str);
        let connection = file::open_to_read(&self.path)?;
        lease::due(&connection, &self.writers, me, door)
            .map_err(|source| JournalError::sqlite("read", &self.path, source))
    }

    /// Makes a run this process's own, if the one that wrote it has died. Of several that claim it, one gets it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn claim(&self, run: &RunId) -> Result<Claim, JournalError> {
        let (sender, receiver) = oneshot::channel();
        self.send(Message::Claim(run.clone(), sender));
        receiver.await.unwrap_or_else(|_| Err(self.gone()))
    }

    /// Leaves a run that has not ended to whoever claims it next; this process writes no more of it. Never waits.
    pub fn abandon(&self, run: &RunId) {
        self.send(Message::Abandon(run.clone()));
    }

    /// Asks the process that goes on with a run to cancel it ([`Due::to_cancel`]). [`Claim::Ours`] where there is none: then the run
    /// can be claimed and ended.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn ask_to_cancel(&self, run: &RunId) -> Result<Claim, JournalError> {
        let (writers, path, run) = (self.writers.clone(), self.path.clone(), run.clone());
        self.with(move |connection, _| lease::ask_to_cancel(connection, &writers, &run).map_err(lease::failed(&path)))
            .await
    }

    /// Ends a run that nobody goes on with as cancelled; false when somebody does, or it has ended.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub async fn end_cancelled(&self, run: &RunId) -> Result<bool, JournalError> {
        if self.claim(run).await? != Claim::Ours {
            return Ok(false);
        }
        let (path, writers, id) = (self.path.clone(), self.writers.clone(), run.0.clone());
        let read = tokio::task::spawn_blocking(move || read::run(&path, &writers, &id)).await;
        let record = read.unwrap_or_else(|_| Err(self.gone()))?;
        let of = |name: &str| record.events.iter().filter_map(|event| event.get(name)?.as_u64()).max();
        let kind = EventKind::Error {
            code: "cancelled".to_owned(),
            message: "the run was cut off, and then cancelled".to_owned(),
            hint: None,
            ms: record.summary.ms,
        };
        let (seq, at_ms) = (of("seq").map_or(0, |seq| seq + 1), of("at_ms").unwrap_or(0));
        self.append(&Event { run_id: run.clone(), seq, piece: 0, at_ms, kind });
        self.flush_run(run).await.map(|()| true)
    }

    /// Whether somebody wants a run of this process cancelled. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn is_to_be_cancelled(&self, run: &RunId) -> Result<bool, JournalError> {
        let connection = file::open_to_read(&self.path)?;
        lease::is_to_be_cancelled(&connection, run).map_err(|source| JournalError::sqlite("read", &self.path, source))
    }

    /// Removes runs that have ended, see [`Prune`], and the media that no other run speaks of.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub async fn prune(&self, prune: Prune, media: Arc<Media>) -> Result<Pruned, JournalError> {
        let (path, writers, dry, what) = (self.path.clone(), self.writers.clone(), prune.dry, prune.clone());
        let pruned = self
            .with(move |connection, _| prune::prune(connection, &writers, &what).map_err(lease::failed(&path)))
            .await?;
        let removed = tokio::task::spawn_blocking(move || pruned.remove(&media, &prune)).await;
        let removed =
            removed.map_err(|error| JournalError::Lost { path: self.path.clone(), reason: error.to_string() })?;
        if !dry && !removed.media.is_empty() {
            let (path, gone) = (self.path.clone(), removed.media.clone());
            self.with(move |connection, _| owned::disown(connection, &gone).map_err(lease::failed(&path))).await?;
        }
        Ok(removed)
    }

    /// Does something with the connection of the writer.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut rusqlite::Connection, &str) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (sender, receiver) = oneshot::channel();
        self.send(Message::Do(Box::new(move |ready| {
            let done = ready.and_then(|(connection, name)| work(connection, name));
            // The caller may have stopped waiting.
            let _ = sender.send(done);
        })));
        receiver.await.unwrap_or_else(|_| Err(self.gone()))
    }

    /// Reads the whole file and says what is wrong with it, if anything. Blocks; takes seconds for a large file.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`], or when the file cannot be read.
    pub fn check(&self) -> Result<(), JournalError> {
        file::check(&file::open_to_read(&self.path)?, &self.path)
    }

    fn send(&self, message: Message) {
        // The writer ends only after this sender is dropped; if it died, the next flush says so.
        if let Some(sender) = &self.sender {
            let _ = sender.send(message);
        }
    }
}

impl Drop for Journal {
    /// Waits until what was appended is written, usually well under a millisecond.
    fn drop(&mut self) {
        drop(self.sender.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
