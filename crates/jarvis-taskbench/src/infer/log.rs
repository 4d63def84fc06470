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

/// What stands before the settings of a run.
pub(super) const SETTINGS: &str = "settings: ";

/// The log file, appended to.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    path: PathBuf,
    model: String,
    /// The settings of the last run before this one.
    before: Option<String>,
    broken: bool,
}

impl Log {
    pub(super) fn open(path: PathBuf, model: &str) -> Result<Log, InferError> {
        let earlier = std::fs::read_to_string(&path).unwrap_or_default();
        let before = earlier.lines().rev().find_map(|line| line.split_once(SETTINGS)).map(|(_, told)| told.to_owned());
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(|error| InferError::write(&path, error))?;
        Ok(Log { file, path, model: model.to_owned(), before, broken: false })
    }

    /// The settings of the last run that wrote here.
    pub(super) fn setting_before(&self) -> Option<String> {
        self.before.clone()
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
