//! The two request logs of the original: `log_success.jsonl` and `log_fail.jsonl`, one JSON object per case.
//!
//! Ours adds `time` and `request_id`, writes each line in one call, and starts a new file past a size.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jarvis_plan::RunId;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Past this size a log is renamed to `NAME.1`, replacing an older one, and begun anew.
const ROTATE_AT: u64 = 64 << 20;

#[derive(Debug)]
pub struct RequestLogs {
    success: Mutex<Log>,
    fail: Mutex<Log>,
}

#[derive(Debug)]
struct Log {
    path: PathBuf,
    file: File,
}

impl RequestLogs {
    /// Opens both logs in a folder, making it when missing.
    pub fn open(folder: &Path) -> std::io::Result<RequestLogs> {
        std::fs::create_dir_all(folder)?;
        Ok(RequestLogs {
            success: Mutex::new(Log::open(folder.join("log_success.jsonl"))?),
            fail: Mutex::new(Log::open(folder.join("log_fail.jsonl"))?),
        })
    }

    pub fn success(&self, run: &RunId, input: &str, fields: Value) {
        write(&self.success, run, input, fields);
    }

    /// Removes the lines of which this is said, from the logs and what was set aside of them. What is not a line of these logs goes too.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn remove(&self, is_gone: impl Fn(&LogLine<'_>) -> bool) -> std::io::Result<()> {
        for log in [&self.success, &self.fail] {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            log.rewrite(|line| serde_json::from_str(line).is_ok_and(|line| !is_gone(&line)))?;
        }
        Ok(())
    }

    /// Leaves the last lines of each log, as far as both together take at most so many bytes.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn trim(&self, most_bytes: u64) -> std::io::Result<()> {
        for log in [&self.success, &self.fail] {
            let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
            let most = most_bytes / 2;
            let size = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
            let mut over = (size(&log.path) + size(&log.aside())).saturating_sub(most);
            log.rewrite(|line| {
                let goes = over > 0;
                over = over.saturating_sub(line.len() as u64);
                !goes
            })?;
        }
        Ok(())
    }

    /// Appends a case, or one task of it, that did not.
    pub fn fail(&self, run: &RunId, input: &str, fields: Value) {
        write(&self.fail, run, input, fields);
    }
}

fn write(log: &Mutex<Log>, run: &RunId, input: &str, fields: Value) {
    let seconds =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let mut line = Map::new();
    line.insert("time".into(), json!((seconds * 1_000.0).round() / 1_000.0));
    line.insert("request_id".into(), run.0.clone().into());
    line.insert("input".into(), input.into());
    if let Value::Object(fields) = fields {
        line.extend(fields);
    }
    let mut text = Value::Object(line).to_string();
    text.push('\n');
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    // A log that cannot be written is no reason to fail a request.
    if let Err(error) = log.append(text.as_bytes()) {
        tracing::warn!(path = %log.path.display(), %error, "cannot write the request log");
    }
}

/// What is said of a line when lines are removed.
#[derive(Debug, Deserialize)]
pub struct LogLine<'l> {
    /// When it was written, in seconds since the Unix epoch.
    pub time: f64,
    /// The run.
    #[serde(borrow)]
    pub request_id: std::borrow::Cow<'l, str>,
}

impl Log {
    /// What was set aside of it.
    fn aside(&self) -> PathBuf {
        let mut aside = self.path.clone().into_os_string();
        aside.push(".1");
        PathBuf::from(aside)
    }

    /// Leaves the lines that stay, the older file first.
    fn rewrite(&mut self, mut stays: impl FnMut(&str) -> bool) -> std::io::Result<()> {
        for path in [self.aside(), self.path.clone()] {
            let text = match std::fs::read_to_string(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                text => text?,
            };
            let left: String = text.split_inclusive('\n').filter(|line| stays(line)).collect();
            if left.len() == text.len() {
                continue;
            }
            // A crash in between leaves what was there.
            let part = path.with_extension("part");
            match std::fs::remove_file(&part) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => open(&part)?.write_all(left.as_bytes())?,
            }
            std::fs::rename(&part, &path)?;
        }
        self.file = open(&self.path)?;
        Ok(())
    }

    fn open(path: PathBuf) -> std::io::Result<Log> {
        let file = open(&path)?;
        Ok(Log { path, file })
    }

    fn append(&mut self, line: &[u8]) -> std::io::Result<()> {
        if self.file.metadata()?.len() > ROTATE_AT {
            std::fs::rename(&self.path, self.aside())?;
            self.file = open(&self.path)?;
        }
        self.file.write_all(line)
    }
}

/// Opens a log to append to. Requests are private, so a new one is for its owner alone.
fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
