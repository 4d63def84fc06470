//! The run journal: every event of every run, in one SQLite file that other processes may read and write meanwhile.
//!
//! It stores events as they are and adds nothing: a run's events are authoritative, and the summaries follow from them.

mod costs;
mod error;
mod file;
mod presence;
mod read;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use jarvis_plan::Event;
use tokio::sync::oneshot;

pub use self::costs::CostRow;
pub use self::error::JournalError;
pub use self::read::{RunRecord, RunStatus, RunSummary};
pub use self::write::is_cut;

use self::presence::Writers;
use self::write::{Message, Row, Writer};

/// The journal of all runs in one file.
///
/// Writing is handed to one thread; events that come close together are written in one transaction, each of which is on
/// the disk when it ends. A crash loses at most what no [`Journal::flush`] has confirmed, in practice the transaction
/// being written. Reading opens the file anew and blocks for a few milliseconds.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    writers: Writers,
    sender: Option<mpsc::Sender<Message>>,
    thread: Option<JoinHandle<()>>,
    failing: Arc<AtomicBool>,
}

impl Journal {
    /// Opens the journal, making it and its folder when missing. A folder `PATH.writers` beside it holds one small lock
    /// file for each process that is writing. Blocks.
    ///
    /// # Errors
    /// [`JournalError::Corrupt`], [`JournalError::NotAJournal`] and [`JournalError::TooNew`] leave the file as it is,
    /// byte for byte; [`JournalError::Io`] and [`JournalError::Sqlite`] when the disk or SQLite refuses.
    pub fn open(path: &Path) -> Result<Journal, JournalError> {
        let path = std::path::absolute(path).map_err(|source| JournalError::io("find", path, source))?;
        let writers = Writers::beside(&path)?;
        let connection = {
            let _alone = writers.alone()?;
            file::open(&path, writers.any_died())?
        };
        let (sender, receiver) = mpsc::channel();
        let failing = Arc::new(AtomicBool::new(false));
        let writer = Writer::new(connection, path.clone(), writers.clone(), Arc::clone(&failing));
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || writer.run(&receiver))
            .map_err(|source| JournalError::io("start the writer of", &path, source))?;
        Ok(Journal { path, writers, sender: Some(sender), thread: Some(thread), failing })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Hands an event over to be written; never waits for the disk. An event already there is not written again.
    ///
    /// Pieces of the answer ([`jarvis_plan::EventKind::Token`]) are not kept, since the whole answer follows. Of what a
    /// request carries, inline attachments and earlier turns are kept up to 4,096 characters each, with a mark where
    /// the rest was cut.
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
        let (sender, receiver) = oneshot::channel();
        self.send(Message::Flush(sender));
        let gone = || JournalError::Lost { path: self.path.clone(), reason: "its writer has stopped".to_owned() };
        receiver.await.unwrap_or_else(|_| Err(gone()))
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
        read::runs(&self.path, &self.writers, limit)
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

    /// The runs that wait for leave and whose process has ended, the oldest first. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn left_waiting(&self) -> Result<Vec<RunRecord>, JournalError> {
        read::left_waiting(&self.path, &self.writers)
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
