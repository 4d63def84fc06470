//! One file of a repository into the cache: resumed where it stopped, hashed while it comes, and under its name only when the hash is
//! the announced one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jarvis_net::http::cause;
use reqwest::header;
use reqwest::{Response, StatusCode};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::ModelError;
use crate::cache::{Cache, RepoFolder};
use crate::hash::{self, Hasher};
use crate::hub::{Failure, Hub, RemoteFile};
use crate::ids::{BlobId, Commit, RepoId};
use crate::lock::FileLock;

/// Pieces that may wait for the disk.
const QUEUE: usize = 64;
/// Progress that counts as such: a download that got so far since its last failure has all its attempts again.
const PROGRESS: u64 = 1 << 20;

/// How a file came to be in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obtained {
    /// It was there, or another process downloaded it meanwhile.
    Present,
    Downloaded,
    /// Another repository has the same content: no byte was downloaded, and where the file system can, none is stored twice.
    Shared,
}

/// What happens to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileEvent {
    /// So many bytes of it are here.
    Progress(u64),
    /// Another process downloads it.
    Waiting,
    /// An attempt failed, and another follows after this pause.
    Retry { reason: String, pause: Duration },
}

/// What is downloaded, from where and to where.
pub(crate) struct Download<'a> {
    pub(crate) hub: &'a Hub,
    pub(crate) cache: &'a Cache,
    pub(crate) folder: &'a RepoFolder,
    pub(crate) repo: &'a RepoId,
    pub(crate) commit: &'a Commit,
    pub(crate) file: &'a RemoteFile,
}

impl Download<'_> {
    /// Gets the file. When the future is dropped, what has come is kept.
    ///
    /// # Errors
    /// Why it is not there. A part stays unless its content is wrong.
    pub(crate) async fn run(&self, report: &(dyn Fn(FileEvent) + Sync)) -> Result<Obtained, ModelError> {
        if self.is_present() {
            return Ok(Obtained::Present);
        }
        let lock = self.folder.lock(&self.file.blob);
        let part = self.folder.part(&self.file.blob);
        let waiting = || {
            report(FileEvent::Waiting);
            report(FileEvent::Progress(size_of(&part)));
        };
        let lock = FileLock::exclusive(&lock, waiting).await.map_err(|error| ModelError::write(&lock, error))?;
        let lock = Arc::new(lock);
        if self.is_present() {
            return Ok(Obtained::Present);
        }
        if self.share().await? {
            return Ok(Obtained::Shared);
        }
        // Each run of attempts ends with success, with a final failure, or for want of progress.
        let retries = self.hub.retries();
        loop {
            let before = size_of(&part);
            let attempt = || self.attempt(&lock, report);
            let pause = |failure: &Failure, scheduled| {
                let pause = failure.pause(scheduled)?;
                report(FileEvent::Retry { reason: failure.error().to_string(), pause });
                Some(pause)
            };
            match retries.run(attempt, pause).await {
                Ok(()) => return Ok(Obtained::Downloaded),
                Err(Failure::Transient { .. }) if size_of(&part) >= before.saturating_add(PROGRESS) => {}
                Err(failure) => return Err(failure.into_error()),
            }
        }
    }

    fn is_present(&self) -> bool {
        let blob = self.folder.blob(&self.file.blob);
        fs::metadata(blob).is_ok_and(|data| data.is_file() && data.len() == self.file.size)
    }

    /// Takes the content from another repository, where its hash is right.
    async fn share(&self) -> Result<bool, ModelError> {
        let Some(there) = self.cache.same_blob(&self.file.blob, self.file.size, self.folder) else { return Ok(false) };
        let (blob, to, expected) =
            (self.folder.blob(&self.file.blob), self.folder.part(&self.file.blob), self.file.blob.clone());
        let share = move || -> io::Result<bool> {
            if hash::of_file(&there, &expected, |_| {})?.0 != expected {
                return Ok(false);
            }
            create_parent(&to)?;
            let _ = fs::remove_file(&to);
            // The Hub's library may keep the content elsewhere, and a link to it here.
            let there = fs::canonicalize(there)?;
            if fs::hard_link(&there, &to).is_err() {
                fs::copy(&there, &to)?;
            }
            fs::rename(&to, blob)?;
            Ok(true)
        };
        let shared = blocking(share).await;
        // What cannot be shared is downloaded.
        Ok(shared.unwrap_or(false))
    }

    async fn attempt(&self, lock: &Arc<FileLock>, report: &(dyn Fn(FileEvent) + Sync)) -> Result<(), Failure> {
        let mut writer = Writer::start(self.folder.part(&self.file.blob), self.file, Arc::clone(lock)).await?;
        let outcome = self.receive(&mut writer, report).await;
        // The thread has ended before another attempt opens the part.
        let resumed = writer.resumed;
        let found = writer.finish().await?;
        outcome?;
        let (part, blob) = (self.folder.part(&self.file.blob), self.folder.blob(&self.file.blob));
        if found != self.file.blob {
            let _ = fs::remove_file(&part);
            let (found, expected) = (found.to_string(), self.file.blob.to_string());
            let error = ModelError::WrongHash { file: self.file.path.to_string(), found, expected };
            // What was resumed may be what another program left; a whole download has nobody else to blame.
            let pause = Some(Duration::ZERO);
            return Err(if resumed { Failure::Transient { error, pause } } else { Failure::Final(error) });
        }
        fs::rename(&part, &blob).map_err(|error| ModelError::write(&blob, error))?;
        Ok(())
    }

    /// Receives what is missing.
    async fn receive(&self, writer: &mut Writer, report: &(dyn Fn(FileEvent) + Sync)) -> Result<(), Failure> {
        let size = self.file.size;
        report(FileEvent::Progress(writer.written));
        if writer.written == size {
            return Ok(());
        }
        let mut response = self.hub.content(self.repo, self.commit, self.file, writer.written).await?;
        self.check_reply(&response, writer).await?;
        while let Some(piece) = self.next(&mut response, writer.written).await? {
            writer.written += piece.len() as u64;
            if writer.written > size {
                writer.restart().await;
                let file = self.file.path.to_string();
                let error = ModelError::WrongSize { file, found: writer.written, expected: size };
                return Err(Failure::Final(error));
            }
            report(FileEvent::Progress(writer.written));
            writer.write(piece).await;
        }
        if writer.written < size {
            return Err(Failure::transient(self.cut(writer.written)));
        }
        Ok(())
    }

    /// Whether the reply is the rest of the file, or the whole of it.
    async fn check_reply(&self, response: &Response, writer: &mut Writer) -> Result<(), Failure> {
        let (size, from) = (self.file.size, writer.written);
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let wrong_size = |found| {
            let file = self.file.path.to_string();
            Failure::Final(ModelError::WrongSize { file, found, expected: size })
        };
        let again = |error| Failure::Transient { error, pause: Some(Duration::ZERO) };
        match response.status() {
            StatusCode::RANGE_NOT_SATISFIABLE => {
                writer.restart().await;
                Err(again(self.cut(0)))
            }
            StatusCode::PARTIAL_CONTENT => {
                let range = header(header::CONTENT_RANGE).and_then(content_range);
                match range {
                    Some((start, total)) if start == from && total.is_none_or(|total| total == size) => Ok(()),
                    Some((_, Some(total))) if total != size => {
                        writer.restart().await;
                        Err(wrong_size(total))
                    }
                    // Another part than the one that was asked for.
                    _ => {
                        writer.restart().await;
                        Err(again(self.cut(0)))
                    }
                }
            }
            _ => {
                if from > 0 {
                    writer.restart().await;
                }
                match response.content_length() {
                    Some(found) if found != size => Err(wrong_size(found)),
                    _ => Ok(()),
                }
            }
        }
    }

    async fn next(&self, response: &mut Response, received: u64) -> Result<Option<Bytes>, Failure> {
        match tokio::time::timeout(self.hub.timeout(), response.chunk()).await {
            Ok(Ok(piece)) => Ok(piece),
            Ok(Err(error)) => {
                tracing::debug!(file = %self.file.path, cause = cause(&error), "a download broke off");
                Err(Failure::transient(self.cut(received)))
            }
            Err(_) => {
                let what = format!("downloading {} of `{}`", self.file.path, self.repo);
                Err(Failure::transient(ModelError::Stalled { what, seconds: self.hub.timeout().as_secs() }))
            }
        }
    }

    fn cut(&self, received: u64) -> ModelError {
        let what = format!("downloading {} of `{}`", self.file.path, self.repo);
        ModelError::Cut { what, received, size: self.file.size }
    }
}

/// Start and total of `bytes 10-19/20`.
fn content_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = text.trim().strip_prefix("bytes")?.trim_start().split_once('/')?;
    let start = range.split_once('-')?.0.trim().parse().ok()?;
    Some((start, total.trim().parse().ok()))
}

enum Message {
    Piece(Bytes),
    /// Forget what was written.
    Restart,
    Finish(oneshot::Sender<BlobId>),
}

/// Writes and hashes on a thread of its own, while the next pieces come. It keeps the lock: a part that is still written to is not
/// opened by another.
struct Writer {
    messages: mpsc::Sender<Message>,
    thread: JoinHandle<io::Result<()>>,
    /// Bytes of the part, those included that are still being written.
    written: u64,
    /// Whether some of the part was there before.
    resumed: bool,
    part: PathBuf,
}

impl Writer {
    /// Opens the part, and hashes what is there of it.
    async fn start(part: PathBuf, file: &RemoteFile, lock: Arc<FileLock>) -> Result<Writer, ModelError> {
        let (messages, mut inbox) = mpsc::channel(QUEUE);
        let (blob, size, path) = (file.blob.clone(), file.size, part.clone());
        let (opened, ready) = oneshot::channel();
        let thread = tokio::task::spawn_blocking(move || {
            let _lock = lock;
            let mut open = Part::open(&path, &blob, size)?;
            // Nobody listens when the download was cancelled meanwhile.
            let _ = opened.send(open.written);
            while let Some(message) = inbox.blocking_recv() {
                match message {
                    Message::Piece(piece) => open.write(&piece)?,
                    Message::Restart => open.restart()?,
                    Message::Finish(reply) => {
                        let _ = reply.send(open.finish()?);
                    }
                }
            }
            open.file.flush()
        });
        match ready.await {
            Ok(written) => Ok(Writer { messages, thread, written, resumed: written > 0, part }),
            Err(_) => Err(ended(thread, &part).await),
        }
    }

    // An error of the disk ends the thread; `finish` tells it.
    async fn write(&mut self, piece: Bytes) {
        let _ = self.messages.send(Message::Piece(piece)).await;
    }

    async fn restart(&mut self) {
        (self.written, self.resumed) = (0, false);
        let _ = self.messages.send(Message::Restart).await;
    }

    /// Waits until all is written; the hash of it.
    async fn finish(self) -> Result<BlobId, ModelError> {
        let (reply, hash) = oneshot::channel();
        let _ = self.messages.send(Message::Finish(reply)).await;
        let hash = hash.await;
        drop(self.messages);
        match hash {
            Ok(hash) => {
                joined(self.thread).await.map_err(|error| ModelError::write(&self.part, error))?;
                Ok(hash)
            }
            Err(_) => Err(ended(self.thread, &self.part).await),
        }
    }
}

/// Why the thread ended before it should.
async fn ended(thread: JoinHandle<io::Result<()>>, part: &Path) -> ModelError {
    let error = joined(thread).await.err().unwrap_or_else(|| io::Error::other("the writer ended early"));
    ModelError::write(part, error)
}

async fn joined<T>(thread: JoinHandle<io::Result<T>>) -> io::Result<T> {
    thread.await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    joined(tokio::task::spawn_blocking(work)).await
}

/// The file of a download that has not ended.
struct Part {
    file: File,
    blob: BlobId,
    size: u64,
    hasher: Hasher,
    written: u64,
}

impl Part {
    fn open(path: &Path, blob: &BlobId, size: u64) -> io::Result<Part> {
        create_parent(path)?;
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let hasher = Hasher::new(blob, size);
        let mut part = Part { file, blob: blob.clone(), size, hasher, written: 0 };
        // Longer than the file: of something else.
        if part.file.metadata()?.len() > size {
            part.file.set_len(0)?;
        }
        part.written = part.hasher.read(&part.file, |_| {})?;
        Ok(part)
    }

    fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        self.file.write_all(piece)?;
        self.hasher.update(piece);
        self.written += piece.len() as u64;
        Ok(())
    }

    /// The hash of what is on the disk.
    fn finish(&mut self) -> io::Result<BlobId> {
        self.file.sync_all()?;
        if self.file.metadata()?.len() == self.written {
            return Ok(self.hasher.clone().finish());
        }
        // Some file systems grant a lock to everybody, and then others write into the same file.
        let mut hasher = Hasher::new(&self.blob, self.size);
        self.file.seek(SeekFrom::Start(0))?;
        hasher.read(&self.file, |_| {})?;
        Ok(hasher.finish())
    }

    fn restart(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.hasher = Hasher::new(&self.blob, self.size);
        self.written = 0;
        Ok(())
    }
}

fn create_parent(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))
}

pub(crate) fn size_of(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |data| data.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        for (text, expected) in [
            ("bytes 10-19/20", Some((10, Some(20)))),
            ("bytes 0-0/*", Some((0, None))),
            ("bytes */20", None),
            ("items 1-2/3", None),
            ("", None),
        ] {
            assert_eq!(content_range(text), expected, "{text}");
        }
    }
}
