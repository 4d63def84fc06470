//! A shared store over `object_store`. Its keys, under a prefix:
//!
//! - `sha256/ab/cd…`: a content;
//! - `names/images/ab12.png`: the SHA-256 of the content that this name stands for;
//! - `uses/SHA256/images/ab12.png`: empty; lists the names of a content, so that the last one can be told.
//!
//! A content is there before its name is. A content is removed when no use of it is listed; another machine that stores the same
//! bytes under another name in the very moment between that look and the removal loses them from the store.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, mpsc};

use futures::TryStreamExt;
use object_store::client::{HttpError, HttpErrorKind};
use object_store::path::Path;
use object_store::{Error, MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use tokio::io::AsyncReadExt;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use super::content::ContentId;
use super::shared::Shared;
use super::{MediaError, StoreFault};

/// The most bytes of one request, so that each can have a time to end in and be sent again. Amazon's least is 5 MiB.
const PIECE: u64 = 8 << 20;

/// The same for what is read.
const READ: u64 = if cfg!(test) { 64 << 10 } else { PIECE };

/// Pieces of one file on their way at the same time.
const AT_ONCE: usize = 2;

/// A store, and the thread that talks to it: calls come from threads that block, inside a runtime or outside of any.
pub(super) struct Remote {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    /// What it is called in messages.
    shown: String,
    runtime: Option<Runtime>,
}

impl Remote {
    pub(super) fn new(
        store: Arc<dyn ObjectStore>,
        prefix: &str,
        shown: String,
    ) -> Result<Remote, Box<dyn std::error::Error + Send + Sync>> {
        let prefix = Path::parse(prefix.trim_matches('/'))?;
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("media-store").enable_all().build()?;
        Ok(Remote { store, prefix, shown, runtime: Some(runtime) })
    }

    fn key(&self, parts: &str) -> Path {
        self.prefix.parts().chain(Path::from(parts).parts()).collect()
    }

    fn name_key(&self, name: &str) -> Path {
        self.key(&format!("names/{name}"))
    }

    fn uses_key(&self, content: &ContentId) -> Path {
        self.key(&format!("uses/{content}"))
    }

    /// Waits for work on the store. Its thread is not the runtime's of the caller, which may be a thread of one that must not be
    /// blocked by it again.
    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let stopped = || Error::Generic { store: "S3", source: "the thread of the media store has stopped".into() };
        let runtime = self.runtime.as_ref().ok_or_else(stopped)?;
        let (give, take) = mpsc::sync_channel(1);
        runtime.spawn(async move {
            // Who asked waits below.
            let _ = give.send(work.await);
        });
        take.recv().unwrap_or_else(|_| Err(stopped()))
    }

    fn error(&self, doing: &'static str, path: &str, error: Error) -> MediaError {
        let fault = fault(&error);
        self.fault(doing, path, fault, error.into())
    }

    fn fault(
        &self,
        doing: &'static str,
        path: &str,
        fault: StoreFault,
        source: Box<dyn std::error::Error + Send + Sync>,
    ) -> MediaError {
        MediaError::Store { doing, path: format!("/{path}"), store: self.shown.clone(), fault, source }
    }
}

impl Shared for Remote {
    fn put(&self, name: &str, content: &ContentId, file: File, size: u64) -> Result<(), MediaError> {
        let (store, content_key, name_key) = (Arc::clone(&self.store), self.key(&content.file()), self.name_key(name));
        let use_key = self.key(&format!("uses/{content}/{name}"));
        let text = content.to_string();
        let work = async move {
            // Listed first, so that whoever removes the content under another name sees it.
            store.put(&use_key, PutPayload::new()).await?;
            put_content(&*store, &content_key, file, size).await?;
            store.put(&name_key, text.into()).await.map(drop)
        };
        self.wait(work).map_err(|error| self.error("keep", name, error))
    }

    fn find(&self, name: &str) -> Result<Option<ContentId>, MediaError> {
        let (store, key) = (Arc::clone(&self.store), self.name_key(name));
        let found = self.wait(async move {
            match store.get(&key).await {
                Err(Error::NotFound { source, .. }) if !is_no_bucket(&*source) => Ok(None),
                found => found?.bytes().await.map(Some),
            }
        });
        let Some(bytes) = found.map_err(|error| self.error("find", name, error))? else { return Ok(None) };
        match std::str::from_utf8(&bytes).ok().and_then(|text| ContentId::parse(text.trim())) {
            Some(content) => Ok(Some(content)),
            None => Err(self.fault("find", name, StoreFault::Damaged, "its name stands for no content".into())),
        }
    }

    fn fetch(&self, name: &str, content: &ContentId, to: &mut dyn Write) -> Result<(), MediaError> {
        let key = self.key(&content.file());
        let (store, of) = (Arc::clone(&self.store), key.clone());
        let size =
            self.wait(async move { store.head(&of).await }).map_err(|error| self.error("read", name, error))?.size;
        let mut at = 0;
        while at < size {
            let (store, of, end) = (Arc::clone(&self.store), key.clone(), size.min(at + READ));
            let piece = self.wait(async move { store.get_range(&of, at..end).await });
            let piece = piece.map_err(|error| self.error("read", name, error))?;
            to.write_all(&piece).map_err(|source| MediaError::Io {
                doing: "write",
                path: format!("/{name}"),
                source,
            })?;
            at = end;
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<bool, MediaError> {
        let Some(content) = self.find(name)? else { return Ok(false) };
        let (store, name_key, uses) = (Arc::clone(&self.store), self.name_key(name), self.uses_key(&content));
        let (use_key, content_key) = (self.key(&format!("uses/{content}/{name}")), self.key(&content.file()));
        let work = async move {
            let delete = async |key: &Path| match store.delete(key).await {
                Err(Error::NotFound { .. }) => Ok(()),
                deleted => deleted,
            };
            delete(&name_key).await?;
            delete(&use_key).await?;
            match store.list(Some(&uses)).try_next().await? {
                Some(_) => Ok(()),
                None => delete(&content_key).await,
            }
        };
        self.wait(work).map_err(|error| self.error("remove", name, error))?;
        Ok(true)
    }

    fn check(&self) -> Result<(), MediaError> {
        let (store, key) = (Arc::clone(&self.store), self.key("check"));
        // Written once; from then on a look, which costs less, tells whether the store answers and takes the key.
        let work = async move {
            match store.head(&key).await {
                Err(Error::NotFound { .. }) => store.put(&key, PutPayload::new()).await.map(drop),
                found => found.map(drop),
            }
        };
        self.wait(work).map_err(|error| self.error("write", "check", error))
    }
}

async fn put_content(store: &dyn ObjectStore, key: &Path, file: File, size: u64) -> Result<(), Error> {
    match store.head(key).await {
        Ok(found) if found.size == size => return Ok(()),
        Ok(_) | Err(Error::NotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    let file = tokio::fs::File::from_std(file);
    if size <= PIECE {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        file.take(size).read_to_end(&mut bytes).await.map_err(unreadable)?;
        return store.put(key, bytes.into()).await.map(drop);
    }
    let mut upload = store.put_multipart(key).await?;
    let sent = match send(&mut *upload, file, size).await {
        Ok(()) => upload.complete().await.map(drop),
        Err(error) => Err(error),
    };
    if sent.is_err() {
        // What it leaves is the store's to clean up; the first error is the one to tell.
        let _ = upload.abort().await;
    }
    sent
}

/// Sends a file in pieces, a few at a time.
async fn send(upload: &mut dyn MultipartUpload, mut file: tokio::fs::File, size: u64) -> Result<(), Error> {
    let mut on_the_way = JoinSet::new();
    let mut left = size;
    loop {
        while on_the_way.len() >= if left > 0 { AT_ONCE } else { 1 } {
            match on_the_way.join_next().await {
                Some(sent) => sent.map_err(|source| Error::JoinError { source })??,
                None => break,
            }
        }
        if left == 0 {
            return Ok(());
        }
        let mut piece = Vec::with_capacity(PIECE as usize);
        let read = (&mut file).take(PIECE.min(left)).read_to_end(&mut piece).await.map_err(unreadable)?;
        if read == 0 {
            return Err(unreadable(std::io::ErrorKind::UnexpectedEof.into()));
        }
        left -= read as u64;
        on_the_way.spawn(upload.put_part(piece.into()));
    }
}

/// A file of this machine that cannot be read on its way to the store.
fn unreadable(error: std::io::Error) -> Error {
    Error::Generic { store: "S3", source: error.into() }
}

/// What is wrong, as far as the client tells.
fn fault(error: &Error) -> StoreFault {
    match error {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => StoreFault::Refused,
        Error::NotFound { source, .. } if is_no_bucket(&**source) => StoreFault::NoBucket,
        // A name that stands for a content which is not there.
        Error::NotFound { .. } => StoreFault::Damaged,
        error => match http_kind(error) {
            Some(HttpErrorKind::Connect) => StoreFault::Unreachable,
            Some(HttpErrorKind::Timeout) => StoreFault::Slow,
            Some(_) | None => StoreFault::Failing,
        },
    }
}

fn is_no_bucket(error: &(dyn std::error::Error + 'static)) -> bool {
    error.to_string().contains("NoSuchBucket")
}

/// How a request failed on its way, when it did.
fn http_kind(error: &Error) -> Option<HttpErrorKind> {
    let chain = std::iter::successors(std::error::Error::source(error), |error| error.source());
    chain.into_iter().find_map(|error| error.downcast_ref::<HttpError>()).map(HttpError::kind)
}

impl Drop for Remote {
    fn drop(&mut self) {
        // A runtime that waits for its end must not be dropped by a thread of another.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Display for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("shown", &self.shown).finish_non_exhaustive()
    }
}
