//! The files of a run: predictions, errors, log. They survive being stopped at any moment, and two runs at once are refused.
//!
//! Predictions are `{name}.json`, one line a request, each written whole by one write; nothing is buffered. Errors are
//! `{name}.errors.jsonl` (not `.json`, which evaluators take for predictions) and hold the last attempt of each request
//! that has no prediction. The lock is on the predictions file and ends with the process.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use jarvis_store::files;

use super::log::Log;
use crate::DataError;
use crate::data::SampleId;
use crate::json::{Look, parse};

#[derive(Debug)]
pub struct Outputs {
    predictions: jarvis_batch::Log<SampleId>,
    errors: Errors,
    pub(super) log: Log,
    notes: Vec<String>,
    /// The request that each prediction answers, where it says so.
    asked: HashMap<SampleId, String>,
}

impl Outputs {
    /// Opens or makes the files `{dir}/{name}.*` and reads what earlier runs left: a last line that was cut off is dropped.
    pub fn open(dir: &Path, name: &str) -> Result<Outputs, DataError> {
        std::fs::create_dir_all(dir).map_err(|error| DataError::write(dir, error))?;
        let path = dir.join(format!("{name}.json"));
        let mut asked = HashMap::new();
        let predictions = jarvis_batch::Log::open(&path, |line| {
            let (id, request) = read(line)?;
            match request {
                Some(request) => asked.insert(id.clone(), request),
                None => asked.remove(&id),
            };
            Some(id)
        })?;
        let notes = predictions.notes("prediction");
        let errors = Errors::open(dir.join(format!("{name}.errors.jsonl")))?;
        let log = Log::open(dir.join(format!("{name}.log")), name)?;
        Ok(Outputs { predictions, errors, log, notes, asked })
    }

    pub fn path(&self) -> &Path {
        self.predictions.path()
    }

    /// The file of errors; it exists only when there are some.
    pub fn errors_path(&self) -> &Path {
        &self.errors.path
    }

    pub fn log_path(&self) -> &Path {
        self.log.path()
    }

    pub fn is_done(&self, id: &SampleId) -> bool {
        self.predictions.done().contains(id)
    }

    /// Begins a run over these requests. Predictions that answer another request than the one now under their id count for none; of
    /// two predictions of an id the later counts, so the file stays as it is, and a note says how many they are. Errors of those that
    /// have a prediction are forgotten.
    pub(crate) fn begin<'r>(
        &mut self,
        requests: impl Iterator<Item = (&'r SampleId, &'r str)>,
    ) -> Result<(), DataError> {
        let mut changed = 0;
        for (id, text) in requests {
            if self.asked.get(id).is_some_and(|asked| asked != text) && self.predictions.reopen(id) {
                changed += 1;
            } else if self.is_done(id) {
                self.errors.forget(id);
            }
        }
        if changed > 0 {
            let path = self.predictions.path().display();
            self.notes.push(format!(
                "{path}: predictions that answer another request than the one now under their id are made again: {changed}"
            ));
        }
        self.errors.settle()
    }

    pub fn done(&self) -> usize {
        self.predictions.done().len()
    }

    pub(crate) fn has_failed(&self, id: &SampleId) -> bool {
        self.errors.known.contains_key(id)
    }

    pub fn has_errors(&self) -> bool {
        !self.errors.known.is_empty()
    }

    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(super) fn predict(&mut self, id: &SampleId, line: &str) -> Result<(), DataError> {
        self.errors.forget(id);
        self.asked.remove(id);
        Ok(self.predictions.write(id.clone(), line)?)
    }

    pub(super) fn fail(&mut self, id: &SampleId, line: String) -> Result<(), DataError> {
        self.errors.keep(id, line)
    }

    /// Leaves the error file with the last attempt of each request that has no prediction.
    pub(crate) fn settle(&mut self) -> Result<(), DataError> {
        // A file without a prediction would be scored as a run that says nothing.
        self.predictions.remove_if_empty();
        self.errors.settle()
    }
}

fn id_of(line: &[u8]) -> Option<SampleId> {
    Some(read(line)?.0)
}

/// The id of a line and the request it answers.
fn read(line: &[u8]) -> Option<(SampleId, Option<String>)> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let line = parse(line.trim_ascii()).ok()?;
    let request = line.look("user_request").and_then(Look::text).map(str::to_owned);
    Some((line.look("id").and_then(SampleId::of)?, request))
}

/// The errors: lines are appended as they happen, and the file is rewritten whole when a run starts and ends.
#[derive(Debug)]
struct Errors {
    path: PathBuf,
    known: IndexMap<SampleId, String>,
    file: Option<File>,
    /// Whether the file holds something else than `known`.
    stale: bool,
}

impl Errors {
    fn open(path: PathBuf) -> Result<Errors, DataError> {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(DataError::write(&path, error)),
        };
        let mut errors = Errors { path, known: IndexMap::new(), file: None, stale: false };
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = String::from_utf8_lossy(line.trim_ascii()).into_owned();
            match id_of(line) {
                Some(id) => {
                    errors.stale |= errors.known.shift_remove(&id).is_some() || !line.ends_with(b"\n");
                    errors.known.insert(id, text);
                }
                None => errors.stale = true,
            }
        }
        errors.settle()?;
        Ok(errors)
    }

    fn forget(&mut self, id: &SampleId) {
        self.stale |= self.known.shift_remove(id).is_some();
    }

    fn keep(&mut self, id: &SampleId, line: String) -> Result<(), DataError> {
        let fail = |error| DataError::write(&self.path, error);
        self.stale |= self.known.shift_remove(id).is_some();
        if self.file.is_none() {
            self.file = Some(OpenOptions::new().append(true).create(true).open(&self.path).map_err(fail)?);
        }
        if let Some(file) = &mut self.file {
            file.write_all(format!("{line}\n").as_bytes()).map_err(fail)?;
        }
        self.known.insert(id.clone(), line);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), DataError> {
        if !std::mem::take(&mut self.stale) {
            return Ok(());
        }
        self.file = None;
        let fail = |error| DataError::write(&self.path, error);
        if self.known.is_empty() {
            return std::fs::remove_file(&self.path).map_err(fail);
        }
        let text: String = self.known.values().flat_map(|line| [line.as_str(), "\n"]).collect();
        Ok(files::replace(&self.path, text.as_bytes())?)
    }
}
