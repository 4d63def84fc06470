//! Media out: names that go, and contents that have no name left.

use std::io;

use cap_std::fs::Dir;

use super::content::ContentId;
use super::{Media, MediaError, disk_error, path};

impl Media {
    /// Removes a medium that nothing needs any more, here and in the shared store: its name, and its content when no other
    /// name stands for it. False when there was none. Only files that jarvis stored are removed, not what a person put into
    /// the public folder.
    ///
    /// Whoever calls this knows that no run refers to the path; machines that share a store share that knowledge.
    ///
    /// # Errors
    /// [`MediaError::Forbidden`] for a path that is not that of a stored medium; [`MediaError::Io`];
    /// [`MediaError::Store`], and then the file stays, to be removed another time.
    pub fn remove(&self, path: &str) -> Result<bool, MediaError> {
        let name = path::relative(path)?;
        let refused = |reason| Err(MediaError::Forbidden { path: path.to_owned(), reason });
        if !path::is_made(&name) {
            return refused("it is not that of a medium which jarvis stored");
        }
        if self.dir.symlink_metadata(&name).is_ok_and(|found| !found.is_file()) {
            return refused("it is not a file");
        }
        let was_shared = match &self.shared {
            Some(shared) => shared.remove(&name)?,
            None => false,
        };
        let was_here = forget(&self.dir, &name).map_err(|source| disk_error("remove", path, source))?;
        Ok(was_shared || was_here)
    }
}

/// Removes a name, and the content when it was the last one; false when there is no such file.
pub(super) fn forget(dir: &Dir, name: &str) -> io::Result<bool> {
    let content = match content_of(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        content => content?,
    };
    let is_removed = removed(dir, name)?;
    if let Some(file) = content.map(|content| content.file())
        && dir.symlink_metadata(&file).is_ok_and(|found| names(&found) == 1)
    {
        // A name that was given to it since then is a link to the same file, which that name keeps.
        removed(dir, &file)?;
    }
    Ok(is_removed)
}

/// Removes a file; false when another was faster.
fn removed(dir: &Dir, path: &str) -> io::Result<bool> {
    match dir.remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// The content of a file that has several names; of one that has a single name nobody needs to know it.
fn content_of(dir: &Dir, name: &str) -> io::Result<Option<ContentId>> {
    match names(&dir.symlink_metadata(name)?) {
        1 => Ok(None),
        _ => ContentId::read(dir.open(name)?).map(Some),
    }
}

/// How many names a file has.
pub(super) fn names(metadata: &cap_std::fs::Metadata) -> u64 {
    #[cfg(unix)]
    {
        cap_std::fs::MetadataExt::nlink(metadata)
    }
    // Contents are not listed there, see `Media::index`.
    #[cfg(not(unix))]
    {
        let _ = metadata;
        1
    }
}
