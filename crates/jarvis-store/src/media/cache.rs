//! The folder as a cache: what has not been used for longest goes when room is needed, and only what the store has.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use super::list::{StoredMedium, list};
use super::removal::forget;
use super::shared::Shared;
use super::{MediaError, disk_error};
use cap_std::fs::Dir;

/// How exactly it is known when a file was last used.
pub(super) const TOUCH: Duration = Duration::from_secs(60);

/// What was used within this time stays, whatever the limit: a program may just be reading it by its path.
const IN_USE: Duration = Duration::from_secs(60 * 60);

/// The bound of the folder. When it is exceeded, files go until nine tenths of it are left.
#[derive(Debug)]
pub(super) struct Cache {
    dir: Dir,
    shared: Arc<dyn Shared>,
    /// In bytes.
    limit: u64,
    /// Bytes that came since the folder was last looked through.
    grown: AtomicU64,
    is_sweeping: AtomicBool,
    /// Files that the store does not have, so that it is asked once.
    only_here: Mutex<HashSet<String>>,
}

impl Cache {
    #[cfg_attr(not(feature = "s3"), allow(dead_code, reason = "a build without stores has no cache"))]
    pub(super) fn new(dir: Dir, shared: Arc<dyn Shared>, limit: u64) -> Cache {
        // The first file that comes has the folder looked through.
        let grown = AtomicU64::new(limit);
        Cache { dir, shared, limit, grown, is_sweeping: AtomicBool::new(false), only_here: Mutex::default() }
    }

    /// Notes that bytes came, and makes room on a thread of its own, which it returns, when it may be time to.
    pub(super) fn grew(self: &Arc<Cache>, bytes: u64) -> Option<JoinHandle<()>> {
        let grown = self.grown.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if grown < self.limit / 16 || self.is_sweeping.swap(true, Ordering::AcqRel) {
            return None;
        }
        self.grown.store(0, Ordering::Relaxed);
        let cache = Arc::clone(self);
        let sweep = move || {
            if let Err(error) = cache.sweep(SystemTime::now()) {
                tracing::warn!(%error, "the folder of media stays larger than `media_store.cache_bytes`");
            }
            cache.is_sweeping.store(false, Ordering::Release);
        };
        match std::thread::Builder::new().name("media-cache".to_owned()).spawn(sweep) {
            Ok(thread) => Some(thread),
            Err(error) => {
                self.is_sweeping.store(false, Ordering::Release);
                tracing::warn!(%error, "the folder of media cannot be looked through");
                None
            }
        }
    }

    /// Makes room; returns the bytes that are left.
    pub(super) fn sweep(&self, now: SystemTime) -> Result<u64, MediaError> {
        let mut found = list(&self.dir)?;
        let mut total: u64 = found.iter().map(|file| file.bytes).sum();
        if total <= self.limit {
            return Ok(total);
        }
        found.sort_by_key(|file| file.modified);
        let is_unused = |file: &StoredMedium| now.duration_since(file.modified).is_ok_and(|age| age > IN_USE);
        for file in found.into_iter().take_while(is_unused) {
            let name = file.path.trim_start_matches('/').to_owned();
            if total <= self.limit / 10 * 9 {
                break;
            }
            if self.only_here().contains(&name) {
                continue;
            }
            if self.shared.find(&name)?.is_none() {
                self.only_here().insert(name);
                continue;
            }
            match forget(&self.dir, &name) {
                Ok(_) => total = total.saturating_sub(file.bytes),
                Err(source) => return Err(disk_error("remove", &name, source)),
            }
        }
        Ok(total)
    }

    fn only_here(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.only_here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
