//! A log being written: a `config` record first, then one line a question, each whole. Going on reads the log itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jarvis_store::files::{self, FileError, Growing};
use serde::Serialize;
use serde_json::Value;

/// A log that cannot be written or gone on with.
#[derive(Debug, thiserror::Error)]
pub enum LogFileError {
    /// It cannot be read or written, or another run has it.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is a log already.
    #[error("{} is there already, with {questions} questions", .path.display())]
    Exists {
        path: PathBuf,
        /// Questions in it.
        questions: usize,
    },
    /// A record cannot be put into JSON.
    #[error("the record of question {id} cannot be written: {reason}")]
    Record { id: u64, reason: String },
}

/// A log, open.
#[derive(Debug)]
pub struct LogFile {
    file: Growing,
    done: BTreeSet<u64>,
    notes: Vec<String>,
}

impl LogFile {
    /// Opens or makes a log. With `resume` what is finished in it stays; questions without an answer are forgotten, so that
    /// they are asked again. `config` is what the answers depend on.
    ///
    /// # Errors
    /// When there is a log with questions and `resume` is not wanted, another run writes it, or it cannot be read or written.
    pub fn open(path: &Path, config: &Value, resume: bool) -> Result<LogFile, LogFileError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            let failed = |source| FileError::Write { path: path.to_owned(), source };
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let (file, held) = Growing::open(path, |tail| serde_json::from_slice::<Value>(tail).is_ok())?;
        let mut notes = Vec::new();
        if held.torn {
            notes.push(format!("the last line of {} was cut off; its question is asked again", path.display()));
        }
        let text = String::from_utf8_lossy(&held.bytes);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let mut done = BTreeSet::new();
        let mut kept: Vec<&str> = Vec::new();
        let mut before = None;
        for line in &lines {
            let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
            match (record.get("config"), record.get("ID").and_then(Value::as_u64)) {
                (Some(settings), _) => before = Some(settings.clone()),
                (None, Some(id)) if record.get("status").and_then(Value::as_str) != Some("failed") => {
                    if done.insert(id) {
                        kept.push(line);
                    }
                }
                (None, _) => {}
            }
        }
        if !done.is_empty() && !resume {
            return Err(LogFileError::Exists { path: path.to_owned(), questions: done.len() });
        }
        if let Some(before) = before.filter(|before| before != config && !done.is_empty()) {
            notes.push(format!("{} was begun with other settings: {}", path.display(), difference(&before, config)));
        }
        let head = serde_json::json!({ "config": config }).to_string();
        let whole: String = std::iter::once(head.as_str()).chain(kept).flat_map(|line| [line, "\n"]).collect();
        let file = if whole.as_bytes() == held.bytes.as_slice() {
            file
        } else {
            drop(file);
            files::replace(path, whole.as_bytes())?;
            Growing::open(path, |_| true)?.0
        };
        Ok(LogFile { file, done, notes })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The questions that are finished.
    pub fn done(&self) -> &BTreeSet<u64> {
        &self.done
    }

    /// What was odd about the file.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Writes the record of a question.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, id: u64, record: &impl Serialize) -> Result<(), LogFileError> {
        let line =
            serde_json::to_string(record).map_err(|error| LogFileError::Record { id, reason: error.to_string() })?;
        self.file.append(&line)?;
        self.done.insert(id);
        Ok(())
    }
}

/// The settings that differ: `mode compat → precise`.
fn difference(before: &Value, now: &Value) -> String {
    let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (before, now) = (fields(before), fields(now));
    let shown = |value: Option<&Value>| match value {
        None => "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let differs = names.into_iter().filter(|name| before.get(*name) != now.get(*name));
    let told = differs.map(|name| format!("{name} {} → {}", shown(before.get(name)), shown(now.get(name))));
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
