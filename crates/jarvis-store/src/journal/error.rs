//! What can go wrong with the journal, and what to try.

use std::io;
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file is damaged. It was left as it is.
    #[error("the journal {} is damaged: {reason}", .path.display())]
    Corrupt { path: PathBuf, reason: String },
    /// The file is a database of some other program. It was left as it is.
    #[error("{} is a database, but not a journal of jarvis", .path.display())]
    NotAJournal { path: PathBuf },
    /// A newer version wrote the file. It was left as it is.
    #[error("the journal {} has version {found}; this program knows versions up to {known}", .path.display())]
    TooNew { path: PathBuf, found: i64, known: i64 },
    #[error("no run has the id `{id}`")]
    NotFound { id: String },
    #[error("several runs have ids that start with `{id}`: {}", .matches.join(", "))]
    Ambiguous { id: String, matches: Vec<String> },
    #[error("another process uses the journal {}", .path.display())]
    InUse { path: PathBuf },
    #[error("another process goes on with the run `{id}`")]
    Taken { id: String },
    #[error("events are missing from the journal {}: {reason}", .path.display())]
    Lost { path: PathBuf, reason: String },
    #[error("cannot {doing} the journal {}: {source}", .path.display())]
    Sqlite { doing: &'static str, path: PathBuf, source: rusqlite::Error },
    #[error("cannot {doing} the journal {}: {source}", .path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
}

impl JournalError {
    pub fn hint(&self) -> Option<String> {
        match self {
            JournalError::Corrupt { path, .. } => Some(format!(
                "the file was not changed; `sqlite3 {} 'PRAGMA quick_check'` tells more, and moving it away lets a new \
                 one be made",
                path.display()
            )),
            JournalError::NotAJournal { .. } => Some("name another file for the journal".to_owned()),
            JournalError::TooNew { .. } => {
                Some("use the newer version of jarvis, or name another file for the journal".to_owned())
            }
            JournalError::NotFound { .. } => Some("`jarvis runs list` shows the ids".to_owned()),
            JournalError::Ambiguous { .. } => Some("give more of the id".to_owned()),
            JournalError::InUse { .. } => Some("stop the server that uses it, and run this again".to_owned()),
            JournalError::Taken { .. } => Some("`jarvis runs show` tells what it does".to_owned()),
            JournalError::Lost { .. } | JournalError::Sqlite { .. } | JournalError::Io { .. } => None,
        }
    }

    pub(super) fn io(doing: &'static str, path: &Path, source: io::Error) -> JournalError {
        JournalError::Io { doing, path: path.to_owned(), source }
    }

    /// Sorts what SQLite says: damage has its own word.
    pub(super) fn sqlite(doing: &'static str, path: &Path, source: rusqlite::Error) -> JournalError {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match source.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => {
                JournalError::Corrupt { path: path.to_owned(), reason: source.to_string() }
            }
            _ => JournalError::Sqlite { doing, path: path.to_owned(), source },
        }
    }
}
