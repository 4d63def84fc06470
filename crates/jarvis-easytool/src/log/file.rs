//! A log being written: a `config` record first, then one line a question, each whole. A resumed run reads the log itself.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use jarvis_batch::Log;
use jarvis_store::files::{self, FileError};
use serde::Serialize;
use serde_json::Value;

#[derive(Debug, thiserror::Error)]
pub enum LogFileError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} already exists, with {questions} questions", .path.display())]
    Exists { path: PathBuf, questions: usize },
}

#[derive(Debug)]
pub struct LogFile {
    log: Log<u64>,
    notes: Vec<String>,
}

impl LogFile {
    /// Opens or makes a log. With `resume` what is finished in it stays; questions without an answer are removed, so that
    /// they are asked again. `config` is what the answers depend on.
    ///
    /// # Errors
    /// When there is a log with questions and `resume` is not wanted, another run writes it, or it cannot be read or written.
    pub fn open(path: &Path, config: &Value, resume: bool) -> Result<LogFile, LogFileError> {
        let failed = |source| FileError::Write { path: path.to_owned(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let log = Log::open(path, |line| finished(&serde_json::from_slice(line).ok()?))?;
        if !log.done().is_empty() && !resume {
            return Err(LogFileError::Exists { path: path.to_owned(), questions: log.done().len() });
        }
        let mut notes = Vec::new();
        if log.torn {
            notes.push(format!("the last line of {} was cut off; its question is asked again", path.display()));
        }
        let held = String::from_utf8_lossy(&std::fs::read(path).map_err(failed)?).into_owned();
        let mut whole = format!("{}\n", serde_json::json!({ "config": config }));
        let (mut before, mut kept) = (None, HashSet::new());
        for line in held.lines() {
            let Ok(record) = serde_json::from_str::<Value>(line) else { continue };
            if finished(&record).is_some_and(|id| kept.insert(id)) {
                whole.extend([line, "\n"]);
            }
            before = record.get("config").cloned().or(before);
        }
        if let Some(before) = before.filter(|before| before != config && !kept.is_empty()) {
            notes.push(format!("{} was begun with other settings: {}", path.display(), difference(&before, config)));
        }
        if whole == held {
            return Ok(LogFile { log, notes });
        }
        drop(log);
        files::replace(path, whole.as_bytes())?;
        Ok(LogFile { log: Log::open(path, |line| finished(&serde_json::from_slice(line).ok()?))?, notes })
    }

    pub fn path(&self) -> &Path {
        self.log.path()
    }

    pub fn done(&self) -> &HashSet<u64> {
        self.log.done()
    }

    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub fn write(&mut self, id: u64, record: &impl Serialize) -> Result<(), FileError> {
        self.log.write(id, &serde_json::to_string(record).expect("records have names as keys"))
    }
}

/// The number of the question of a record, unless it failed.
fn finished(record: &Value) -> Option<u64> {
    let failed = record.get("status").is_some_and(|status| status == "failed");
    record.get("ID").and_then(Value::as_u64).filter(|_| !failed && record.get("config").is_none())
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
    let changes = differs.map(|name| format!("{name} {} → {}", shown(before.get(name)), shown(now.get(name))));
    changes.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn open(path: &Path, resume: bool) -> Result<LogFile, LogFileError> {
        LogFile::open(path, &json!({"model": "m"}), resume)
    }

    #[test]
    fn a_log_is_gone_on_with_where_it_ended() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("logs/a.jsonl");
        let mut log = open(&path, false).unwrap();
        log.write(1, &json!({"ID": 1, "status": "succeeded"})).unwrap();
        log.write(2, &json!({"ID": 2, "status": "failed"})).unwrap();
        log.write(3, &json!({"ID": 3})).unwrap();
        drop(log);
        // Torn by a crash.
        std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .map(|mut file| {
                std::io::Write::write_all(&mut file, br#"{"ID": 4, "sta"#).unwrap();
            })
            .unwrap();

        assert!(matches!(open(&path, false), Err(LogFileError::Exists { questions: 2, .. })));
        let log = LogFile::open(&path, &json!({"model": "n", "mode": "compat"}), true).unwrap();
        assert_eq!(log.done(), &HashSet::from([1, 3]));
        assert!(log.notes().iter().any(|note| note.ends_with("mode none → compat, model m → n")), "{:?}", log.notes());
        assert!(matches!(open(&path, true), Err(LogFileError::File(FileError::Locked { .. }))));
        drop(log);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            "{\"config\":{\"model\":\"n\",\"mode\":\"compat\"}}\n{\"ID\":1,\"status\":\"succeeded\"}\n{\"ID\":3}\n"
        );
    }

    #[test]
    fn a_log_of_nothing_but_failures_is_begun_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        open(&path, false).unwrap().write(1, &json!({"ID": 1, "status": "failed"})).unwrap();
        assert_eq!(open(&path, false).unwrap().done().len(), 0);
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
    }
}
