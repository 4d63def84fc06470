//! Files that are never half written.

use std::io::Write;
use std::path::Path;

use crate::DataError;

/// Puts `bytes` in the place of the file at once: a reader sees the old or the new file. A link is followed. The folder is
/// made where it is missing.
///
/// # Errors
/// When the folder cannot be made or the file not be written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    put(path, bytes, true)
}

/// The same for what can be made again: it does not wait for the disk.
///
/// # Errors
/// As [`replace`].
pub fn replace_derived(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    put(path, bytes, false)
}

fn put(path: &Path, bytes: &[u8], sync: bool) -> Result<(), DataError> {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
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
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(bytes)?;
        if sync {
            file.as_file().sync_all()?;
        }
        file.persist(&target).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| DataError::write(path, error))
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
}
