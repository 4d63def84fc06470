//! Accepted replies, kept as they come, so that an interrupted run can be resumed.
//!
//! A line holds the hash of what was asked and the reply to it. Another document, prompt or model has
//! another hash.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use jarvis_store::files::{FileError, Growing};
use serde::{Deserialize, Serialize};

/// The accepted replies of a run; in a file, or nowhere.
#[derive(Debug, Default)]
pub struct Memo {
    known: HashMap<String, String>,
    file: Option<Mutex<Growing>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    request_sha256: String,
    reply: String,
}

impl Memo {
    pub fn none() -> Memo {
        Memo::default()
    }

    pub fn open(path: &Path) -> Result<Memo, FileError> {
        let (file, held) = Growing::open(path, |_| false)?;
        let lines = held.bytes.split(|byte| *byte == b'\n');
        let known = lines
            .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
            .map(|line| (line.request_sha256, line.reply))
            .collect();
        Ok(Memo { known, file: Some(Mutex::new(file)) })
    }

    pub fn finish(self) {
        if let Some(file) = self.file {
            let file = file.into_inner().unwrap_or_else(PoisonError::into_inner);
            // What cannot be removed is merely known next time.
            let _ = std::fs::remove_file(file.path());
        }
    }

    pub fn leave(self) {
        if let Some(file) = self.file {
            file.into_inner().unwrap_or_else(PoisonError::into_inner).remove_if_empty();
        }
    }

    pub(super) fn get(&self, request_sha256: &str) -> Option<&str> {
        self.known.get(request_sha256).map(String::as_str)
    }

    pub(super) fn put(&self, request_sha256: String, reply: &str) -> Result<(), FileError> {
        let Some(file) = &self.file else { return Ok(()) };
        let line = Line { request_sha256, reply: reply.to_owned() };
        let line = serde_json::to_string(&line).expect("two texts are JSON");
        file.lock().unwrap_or_else(PoisonError::into_inner).append(&line)
    }
}
