//! What this process made and no run has told of yet: whoever's run tells of it first, made it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Display paths of files that were made here. Their names are random, so nobody can speak of one before it was told; what was
/// sent is not among them, since its name follows from its content.
#[derive(Debug, Default)]
pub struct Made {
    is_kept: AtomicBool,
    paths: Mutex<HashSet<String>>,
}

impl Made {
    /// Remembers paths from now on. Without it nothing is remembered, and nothing grows.
    pub fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }

    pub(super) fn add(&self, path: &str) {
        if self.is_kept.load(Ordering::Relaxed) {
            self.paths().insert(path.to_owned());
        }
    }

    /// Whether a file was made here and nobody has told of it.
    pub fn holds(&self, path: &str) -> bool {
        self.is_kept.load(Ordering::Relaxed) && self.paths().contains(path)
    }

    /// Says that somebody told of a file; false where it was not made here, or somebody had before.
    pub fn told(&self, path: &str) -> bool {
        self.is_kept.load(Ordering::Relaxed) && self.paths().remove(path)
    }

    fn paths(&self) -> MutexGuard<'_, HashSet<String>> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
