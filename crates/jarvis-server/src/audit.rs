//! Who allowed what, and who administered: one line of JSON for each, in a file that only grows.
//!
//! It is written before what it tells of is done, so nothing is done that is not in it. It has no requests, arguments or results.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::error::ApiError;
use crate::log::AUDIT;
use crate::users::Caller;

/// The file of these lines. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Audit(Arc<Open>);

#[derive(Debug)]
struct Open {
    path: PathBuf,
    /// The file, and whether its last line may be torn.
    file: Mutex<(File, bool)>,
}

impl Audit {
    /// Opens the file, making it and its folder when missing; only its owner can read it. Blocks.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn open(path: &Path) -> io::Result<Audit> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path)?;
        // Its name is to be there after a power cut too.
        #[cfg(unix)]
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            File::open(folder)?.sync_all()?;
        }
        let file = Mutex::new((file, false));
        Ok(Audit(Arc::new(Open { path: path.to_owned(), file })))
    }

    /// Adds a line and waits until it is on the disk. Blocks.
    fn write(&self, line: &Value) -> io::Result<()> {
        let mut open = self.0.file.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, is_torn) = &mut *open;
        let before = if *is_torn { "\n" } else { "" };
        *is_torn = true;
        // One write, so that lines of several processes do not mix.
        file.write_all(format!("{before}{line}\n").as_bytes())?;
        file.sync_data()?;
        *is_torn = false;
        Ok(())
    }

    /// Tells that a user does something, with what it is done to.
    ///
    /// # Errors
    /// When it cannot be written; then it must not be done.
    pub(crate) async fn tell(&self, caller: &Caller, action: &str, about: Value) -> Result<(), ApiError> {
        let mut line = Map::new();
        line.insert("at".to_owned(), json!(humantime::format_rfc3339_millis(SystemTime::now()).to_string()));
        if !caller.name().is_empty() {
            line.insert("user".to_owned(), json!(caller.name()));
        }
        if let Some(id) = caller.request_id() {
            line.insert("request_id".to_owned(), json!(id.as_str()));
        }
        line.insert("action".to_owned(), json!(action));
        if let Value::Object(about) = about {
            line.extend(about.into_iter().filter(|(_, value)| !value.is_null()));
        }
        let (audit, line) = (self.clone(), Value::Object(line));
        let written = tokio::task::spawn_blocking(move || audit.write(&line).map(|()| line)).await;
        let line = written.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(|error| {
            tracing::error!(%error, path = %self.0.path.display(), "the audit cannot be written");
            ApiError::new(
                axum::http::StatusCode::INSUFFICIENT_STORAGE,
                "not_audited",
                "it was not done, since it could not be written down who did it",
            )
            .hint("the server's log says why")
        })?;
        let user = Some(caller.name()).filter(|name| !name.is_empty());
        let (run_id, task, tool) = (said(&line, "run_id"), said(&line, "task"), said(&line, "tool"));
        tracing::info!(target: AUDIT, user, action, run_id, task, tool, decision = said(&line, "decision"), "audited");
        Ok(())
    }
}

/// A member of a line, in words.
fn said(line: &Value, name: &str) -> Option<String> {
    match line.get(name)? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::users::Users;

    #[tokio::test]
    async fn lines_are_added_and_nothing_is_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kept/audit.jsonl");
        let caller = Users::of(&Options::default()).at_home();
        for task in 0..2 {
            let audit = Audit::open(&path).expect("it opens");
            audit.tell(&caller, "approve", json!({"task": task, "tool": null})).await.expect("it is written");
        }
        let text = std::fs::read_to_string(&path).expect("it is there");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(lines.len(), 2);
        assert_eq!((&lines[1]["action"], &lines[1]["task"]), (&json!("approve"), &json!(1)));
        assert!(lines[0].get("tool").is_none() && lines[0].get("user").is_none() && lines[0]["at"].is_string());
    }
}
