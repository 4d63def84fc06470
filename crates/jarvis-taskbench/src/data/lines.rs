//! JSON Lines: one document a line, blank lines skipped, whatever the file's extension says.

use std::path::{Path, PathBuf};

use crate::DataError;

#[derive(Debug, Clone)]
pub struct Lines {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Lines {
    pub fn read(path: &Path) -> Result<Lines, DataError> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Lines { path: path.to_owned(), bytes }),
            Err(error) => Err(DataError::read(path, error)),
        }
    }

    /// Lines that are in memory already; `path` is what messages call them.
    pub fn of(path: impl Into<PathBuf>, bytes: Vec<u8>) -> Lines {
        Lines { path: path.into(), bytes }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The lines that are not blank, with their numbers from 1, without blanks around them and the mark that some editors
    /// put at the start of a file.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes);
        bytes
            .split(|byte| *byte == b'\n')
            .enumerate()
            .map(|(at, line)| (at + 1, trimmed(line)))
            .filter(|(_, line)| !line.is_empty())
    }

    /// True when the last line has its line end, or there is none.
    pub fn ends_whole(&self) -> bool {
        self.bytes.last().is_none_or(|byte| *byte == b'\n')
    }
}

/// The line without the blanks that JSON knows.
fn trimmed(mut line: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\r', rest @ ..] | [rest @ .., b' ' | b'\t' | b'\r'] = line {
        line = rest;
    }
    line
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct BadLine {
    pub line: usize,
    pub reason: String,
}
