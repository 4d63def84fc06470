//! Repairs of the journal that lose nothing: a damaged file is renamed, lock files of dead processes are removed.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::presence::Writers;
use super::{Journal, JournalError, Synchronous, file};

/// What SQLite keeps beside a database. Renamed first: a new database must not meet the log of the old one.
const COMPANIONS: [&str; 2] = ["-wal", "-shm"];

impl Journal {
    /// Renames a damaged journal with its log, so that the next [`Journal::open`] makes a new one. Returns its new path, or nothing
    /// where the journal is sound. Blocks.
    ///
    /// # Errors
    /// As [`Journal::open`], save that damage is no error; and [`JournalError::InUse`] when a process has it open.
    pub fn set_aside(path: &Path) -> Result<Option<PathBuf>, JournalError> {
        let path = std::path::absolute(path).map_err(|source| JournalError::io("find", path, source))?;
        let writers = Writers::beside(&path)?;
        let _alone = writers.alone()?;
        match file::open(&path, writers.any_died(), Synchronous::default()) {
            Err(JournalError::Corrupt { .. }) => {}
            Err(error) => return Err(error),
            Ok(_) => return Ok(None),
        }
        // A server that writes nothing now would write to the renamed file later.
        if writers.is_open()? || writers.is_in_use() {
            return Err(JournalError::InUse { path });
        }
        let failed = |source| JournalError::io("set aside", &path, source);
        let aside = free_name(&path);
        for companion in COMPANIONS {
            match fs::rename(with(&path, companion), with(&aside, companion)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
                Ok(()) | Err(_) => {}
            }
        }
        fs::rename(&path, &aside).map_err(failed)?;
        Ok(Some(aside))
    }

    /// The lock files that processes left when they were killed. They lock nothing, but make [`Journal::open`] check the whole file.
    ///
    /// # Errors
    /// When the folder of lock files cannot be made.
    pub fn stale_locks(path: &Path) -> Result<Vec<PathBuf>, JournalError> {
        Ok(Writers::beside(path)?.stale())
    }

    /// Removes these lock files once the journal has been checked, and returns how many there were. Blocks.
    ///
    /// # Errors
    /// As [`Journal::open`], and when a file cannot be removed.
    pub fn remove_stale_locks(path: &Path) -> Result<usize, JournalError> {
        let writers = Writers::beside(path)?;
        let _alone = writers.alone()?;
        let stale = writers.stale();
        drop(file::open(path, !stale.is_empty(), Synchronous::default())?);
        for lock in &stale {
            fs::remove_file(lock).map_err(|source| JournalError::io("remove a lock file of", path, source))?;
        }
        Ok(stale.len())
    }
}

fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut path: OsString = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// `runs.db.damaged`, or the next number under which nothing is kept.
fn free_name(path: &Path) -> PathBuf {
    let plain = with(path, ".damaged");
    let numbered = (2_u64..).map(|number| with(&plain, &format!("-{number}")));
    let is_free =
        |aside: &PathBuf| !aside.exists() && COMPANIONS.iter().all(|companion| !with(aside, companion).exists());
    std::iter::once(plain.clone()).chain(numbered).find(is_free).unwrap_or(plain)
}
