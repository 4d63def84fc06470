//! The log of a run: a line a message, with time, model and level. It never sees a key: those stay in the chat client,
//! which takes them out of errors too.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::InferError;

/// How grave a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Info,
    Warning,
    Error,
}

impl Level {
    fn as_str(self) -> &'static str {
        match self {
            Level::Info => "INFO",
            Level::Warning => "WARNING",
            Level::Error => "ERROR",
        }
    }
}

/// The log file, appended to.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    path: PathBuf,
    model: String,
    broken: bool,
}

impl Log {
    pub(super) fn open(path: PathBuf, model: &str) -> Result<Log, InferError> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(|error| InferError::write(&path, error))?;
        Ok(Log { file, path, model: model.to_owned(), broken: false })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a message. A log that cannot be written stops no run.
    pub(super) fn line(&mut self, level: Level, message: &str) {
        let time = humantime::format_rfc3339_millis(SystemTime::now());
        let line = format!("{time} - {} - {} - {message}\n", self.model, level.as_str());
        if let Err(error) = self.file.write_all(line.as_bytes())
            && !std::mem::replace(&mut self.broken, true)
        {
            tracing::warn!(%error, path = %self.path.display(), "the log of the run cannot be written");
        }
    }
}
