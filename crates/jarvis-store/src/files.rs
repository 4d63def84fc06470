//! Files that survive being stopped: replaced whole, or grown by whole lines under a lock.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("cannot write {}", .path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("another run writes {} now", .path.display())]
    Locked { path: PathBuf },
}

impl FileError {
    fn write(path: &Path, source: std::io::Error) -> FileError {
        FileError::Write { path: path.to_owned(), source }
    }
}

/// Puts `bytes` in the place of the file at once: a reader sees the old or the new file, which keeps its permissions. A
/// link is followed, and missing folders are made. A pipe or a device is written to in place.
///
/// # Errors
/// When the folder cannot be made or the file not be written; the old file is then as it was.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    put(path, bytes, true)
}

/// The same for what can be made again: it does not wait for the disk.
///
/// # Errors
/// As [`replace`].
pub fn replace_derived(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    put(path, bytes, false)
}

fn put(path: &Path, bytes: &[u8], sync: bool) -> Result<(), FileError> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let known = std::fs::metadata(&target).ok();
    if known.as_ref().is_some_and(|known| !known.is_file() && !known.is_dir()) {
        let write = || OpenOptions::new().write(true).open(&target)?.write_all(bytes);
        return write().map_err(|error| FileError::write(path, error));
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".jarvis-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Like any new file: what the process's mask leaves of it.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let write = || -> std::io::Result<()> {
        std::fs::create_dir_all(folder)?;
        // The name of what never came to be says nothing to anybody.
        let mut file = builder.tempfile_in(folder).map_err(|error| std::io::Error::from(error.kind()))?;
        file.write_all(bytes)?;
        if let Some(known) = &known {
            file.as_file().set_permissions(known.permissions())?;
        }
        if sync {
            file.as_file().sync_all()?;
        }
        file.persist(&target).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| FileError::write(path, error))
}

/// A file of lines that only one run writes. The lock is on the file itself and ends with the process.
#[derive(Debug)]
pub struct Growing {
    file: File,
    path: PathBuf,
    /// Where the last whole line ends.
    length: u64,
}

#[derive(Debug)]
pub struct Held {
    pub bytes: Vec<u8>,
    /// A last line that was cut off was dropped.
    pub torn: bool,
}

impl Growing {
    /// Opens or makes the file and takes its lock. A last line without its end gets one when `is_whole` says that nothing of
    /// it is missing, and is dropped otherwise; every other byte stays.
    ///
    /// # Errors
    /// When another process has it, or it cannot be read or written.
    pub fn open(path: &Path, is_whole: impl Fn(&[u8]) -> bool) -> Result<(Growing, Held), FileError> {
        let failed = |error| FileError::write(path, error);
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FileError::Locked { path: path.to_owned() }),
            // Some network file systems have no locks; the file is still usable.
            Err(TryLockError::Error(error)) => tracing::debug!(%error, path = %path.display(), "no lock can be had"),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let tail = bytes.get(end..).expect("the last line end lies in the file");
        let (blank, whole) = (tail.trim_ascii().is_empty(), is_whole(tail));
        let torn = !blank && !whole;
        if !whole {
            bytes.truncate(end);
        }
        let mut grown = Growing { file, path: path.to_owned(), length: bytes.len() as u64 };
        grown.cut()?;
        if whole && !blank {
            grown.append("")?;
        }
        Ok((grown, Held { bytes, torn }))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn remove_if_empty(&self) {
        if self.length == 0 {
            // What cannot be removed is merely empty.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Appends a line in one write. What was written of a line that failed is taken away again.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, line: &str) -> Result<(), FileError> {
        let line = format!("{line}\n");
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // If this fails too, the next run drops it.
            let _ = self.cut();
            return Err(FileError::write(&self.path, error));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Drops what stands after the last whole line.
    fn cut(&mut self) -> Result<(), FileError> {
        let failed = |error| FileError::write(&self.path, error);
        let end = self.file.seek(SeekFrom::End(0)).map_err(failed)?;
        if end > self.length {
            self.file.set_len(self.length).map_err(failed)?;
            self.file.seek(SeekFrom::Start(self.length)).map_err(failed)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{replace, replace_derived};

    #[test]
    fn the_file_is_new_whole_and_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b.json");
        replace(&path, b"one").unwrap();
        replace_derived(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(dir.path().join("a")).unwrap().count(), 1);
        #[cfg(unix)]
        {
            let link = dir.path().join("link.json");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            replace(&link, b"three").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"three");
            assert!(link.is_symlink());
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_stood_there_keeps_its_nature() {
        use std::io::Read;
        use std::os::unix::fs::{FileTypeExt, PermissionsExt};

        let dir = tempfile::tempdir().unwrap();
        let secret = dir.path().join("secret");
        std::fs::write(&secret, "one").unwrap();
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
        replace(&secret, b"two").unwrap();
        assert_eq!(std::fs::read(&secret).unwrap(), b"two");
        assert_eq!(std::fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);

        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut read = String::new();
                std::fs::File::open(pipe).unwrap().read_to_string(&mut read).unwrap();
                read
            }
        });
        replace(&pipe, b"three").unwrap();
        assert_eq!(reader.join().unwrap(), "three");
        assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());

        let folder = dir.path().join("folder");
        std::fs::create_dir(&folder).unwrap();
        assert!(replace(&folder, b"four").is_err() && folder.is_dir());
    }
}
