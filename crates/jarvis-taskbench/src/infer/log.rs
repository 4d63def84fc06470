//! The log of a run: one line per message, with time, model and level. It holds no key: keys stay in the chat client,
//! which removes them from errors too.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::DataError;
pub(super) use crate::data::{SETTINGS, last_settings};

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

#[derive(Debug)]
pub(super) struct Log {
    file: File,
    path: PathBuf,
    model: String,
    /// The settings of the last run before this one.
    pub(super) before: Option<String>,
    broken: bool,
}

impl Log {
    pub(super) fn open(path: PathBuf, model: &str) -> Result<Log, DataError> {
        let before = last_settings(&path);
        let file =
            OpenOptions::new().append(true).create(true).open(&path).map_err(|error| DataError::write(&path, error))?;
        Ok(Log { file, path, model: model.to_owned(), before, broken: false })
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
