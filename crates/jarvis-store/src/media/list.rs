//! The media that are in the folder.

use std::time::SystemTime;

use cap_std::fs::Dir;

use super::removal::names;
use super::{Media, MediaError, disk_error, path};

/// A medium in the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMedium {
    /// Its display path.
    pub path: String,
    /// When it was stored or, in a cache, last used.
    pub modified: SystemTime,
    /// The bytes that its removal brings; names of one content share them.
    pub bytes: u64,
}

impl Media {
    /// The media in the folder: those that jarvis stored, not what a person put there. Blocks.
    ///
    /// # Errors
    /// [`MediaError::Io`] when a folder cannot be read.
    pub fn list(&self) -> Result<Vec<StoredMedium>, MediaError> {
        list(&self.dir)
    }
}

pub(super) fn list(dir: &Dir) -> Result<Vec<StoredMedium>, MediaError> {
    let mut found = Vec::new();
    for folder in path::folders() {
        let failed = |source| disk_error("look through", folder, source);
        for entry in dir.read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            // One that is gone by now is no trouble.
            let Ok(metadata) = entry.metadata() else { continue };
            if path::is_made(&name) && metadata.is_file() {
                let modified = metadata.modified().map_or(SystemTime::UNIX_EPOCH, cap_std::time::SystemTime::into_std);
                let bytes = metadata.len() / (names(&metadata).saturating_sub(1)).max(1);
                found.push(StoredMedium { path: format!("/{name}"), modified, bytes });
            }
        }
    }
    Ok(found)
}
