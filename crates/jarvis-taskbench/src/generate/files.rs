//! Files that are never half written.

use std::io::Write;
use std::path::Path;

use crate::DataError;

/// Puts `bytes` in the place of the file at once: a reader sees the old or the new file. A link is followed.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
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
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(&target).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| DataError::write(path, error))
}
