//! Which processes are writing: each holds a lock on a small file of its own, which the system lets go when it dies. And whether any has
//! the journal open, also while it writes nothing: all share a lock on one file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::JournalError;

/// The folder of lock files beside a journal.
#[derive(Debug, Clone)]
pub(super) struct Writers {
    folder: PathBuf,
}

/// A process's sign that it is writing. Dropping it, or dying, takes the sign away.
#[derive(Debug)]
pub(super) struct Sign {
    pub(super) name: String,
    path: PathBuf,
    _lock: File,
}

impl Drop for Sign {
    fn drop(&mut self) {
        // A file left behind is swept up by the next writer.
        let _ = fs::remove_file(&self.path);
    }
}

impl Writers {
    /// Makes the folder, and the folders above it, when missing.
    pub(super) fn beside(journal: &Path) -> Result<Writers, JournalError> {
        let mut folder = journal.as_os_str().to_owned();
        folder.push(".writers");
        let folder = PathBuf::from(folder);
        fs::create_dir_all(&folder)
            .map_err(|source| JournalError::io("make the folder of lock files of", journal, source))?;
        Ok(Writers { folder })
    }

    /// Waits to be the only process between here and the drop of what is returned.
    pub(super) fn alone(&self) -> Result<File, JournalError> {
        let path = self.folder.join("lock");
        let failed = |source| JournalError::io("lock", &path, source);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(file)
    }

    /// True when a process that was writing died before it could take its sign away. The sign stays until
    /// [`Writers::sign`] sweeps it up.
    pub(super) fn any_died(&self) -> bool {
        // A sign that went away meanwhile was taken away.
        self.stale().iter().any(|path| path.exists())
    }

    /// The lock files of processes that died.
    pub(super) fn stale(&self) -> Vec<PathBuf> {
        self.signs().filter(|(name, _)| !self.is_writing(name)).map(|(_, path)| path).collect()
    }

    /// A share of the lock of those who have the journal open, until it is dropped. To be taken [`alone`](Writers::alone).
    pub(super) fn share(&self) -> Result<File, JournalError> {
        let (file, path) = self.open()?;
        file.lock_shared().map_err(|source| JournalError::io("lock", &path, source))?;
        Ok(file)
    }

    /// True while any process has the journal open.
    pub(super) fn is_open(&self) -> Result<bool, JournalError> {
        let (file, path) = self.open()?;
        match file.try_lock() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(source)) => Err(JournalError::io("lock", &path, source)),
        }
    }

    /// True while any process is writing. One of a version that shared no lock is found by this alone.
    pub(super) fn is_in_use(&self) -> bool {
        self.signs().any(|(name, _)| self.is_writing(&name))
    }

    fn open(&self) -> Result<(File, PathBuf), JournalError> {
        let path = self.folder.join("open");
        // To be read too: over NFS a shared lock wants that.
        let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
        file.map(|file| (file, path.clone())).map_err(|source| JournalError::io("lock", &path, source))
    }

    fn signs(&self) -> impl Iterator<Item = (String, PathBuf)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let sign = |entry: fs::DirEntry| Some((entry.file_name().into_string().ok()?, entry.path()));
        entries.filter_map(sign).filter(|(name, _)| is_sign(name))
    }

    /// Creates the lock file of this process, and removes those of processes that died.
    pub(super) fn sign(&self) -> Result<Sign, JournalError> {
        let _alone = self.alone()?;
        for stale in self.stale() {
            let _ = fs::remove_file(stale);
        }
        let name = Uuid::new_v4().simple().to_string();
        let path = self.folder.join(&name);
        let failed = |source| JournalError::io("lock", &path, source);
        let lock = OpenOptions::new().create_new(true).write(true).open(&path).map_err(failed)?;
        lock.lock().map_err(failed)?;
        Ok(Sign { name, path, _lock: lock })
    }

    /// True while the process that put up that sign lives.
    pub(super) fn is_writing(&self, name: &str) -> bool {
        // A shared lock, so that two who ask do not take each other for the writer.
        is_sign(name)
            && File::open(self.folder.join(name))
                .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

fn is_sign(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}
