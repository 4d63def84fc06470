//! Locks between processes, on files: the ones that the Hub's programs take too.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a lock that another holds is tried again. The system tells nobody when it is free.
const INTERVAL: Duration = Duration::from_millis(100);

/// A held lock; released when dropped.
#[derive(Debug)]
pub(crate) struct FileLock {
    _file: File,
}

impl FileLock {
    /// Takes the lock, or returns nothing when another holds it.
    pub(crate) fn try_exclusive(path: &Path) -> io::Result<Option<FileLock>> {
        FileLock::attempt(path, File::try_lock)
    }

    /// Shares the lock with others who share it, or returns nothing when one holds it alone.
    pub(crate) fn try_shared(path: &Path) -> io::Result<Option<FileLock>> {
        FileLock::attempt(path, File::try_lock_shared)
    }

    /// Waits until the lock is free; `waiting` is called before each pause.
    pub(crate) async fn exclusive(path: &Path, mut waiting: impl FnMut()) -> io::Result<FileLock> {
        loop {
            if let Some(lock) = FileLock::try_exclusive(path)? {
                return Ok(lock);
            }
            waiting();
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Waits on this thread until the lock is free.
    pub(crate) fn exclusive_blocking(path: &Path) -> io::Result<FileLock> {
        loop {
            let file = open(path)?;
            file.lock()?;
            if is_still_there(&file, path) {
                return Ok(FileLock { _file: file });
            }
        }
    }

    fn attempt(path: &Path, take: impl Fn(&File) -> Result<(), TryLockError>) -> io::Result<Option<FileLock>> {
        loop {
            let file = open(path)?;
            match take(&file) {
                Ok(()) if is_still_there(&file, path) => return Ok(Some(FileLock { _file: file })),
                // Its last holder removed the file; whoever comes next makes a new one.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let folder: PathBuf = path.parent().map(Path::to_path_buf).unwrap_or_default();
    std::fs::create_dir_all(folder)?;
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

#[cfg(unix)]
fn is_still_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(held), Ok(found)) => held.dev() == found.dev() && held.ino() == found.ino(),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_still_there(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_or_several_share_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b.lock");
        let held = FileLock::try_exclusive(&path).unwrap();
        assert!(held.is_some());
        assert!(FileLock::try_exclusive(&path).unwrap().is_none() && FileLock::try_shared(&path).unwrap().is_none());
        drop(held);
        let shared = [FileLock::try_shared(&path).unwrap(), FileLock::try_shared(&path).unwrap()];
        assert!(shared.iter().all(Option::is_some) && FileLock::try_exclusive(&path).unwrap().is_none());
        drop(shared);
        // Programs that remove the file when they are done leave nothing that is locked.
        let old = FileLock::try_exclusive(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let new = FileLock::exclusive_blocking(&path).unwrap();
        drop((old, new));
    }
}
