//! What is done with models that are here: shown, verified, removed.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::ModelError;
use crate::cache::{Cache, RepoFolder};
use crate::hash;
use crate::ids::{BlobId, FilePath};
use crate::ledger::{Record, Source, Stage};
use crate::lock::FileLock;
use crate::store::{Local, Store, is_complete};

/// What a removal freed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// The models that are gone.
    pub models: Vec<String>,
    /// Files that were removed.
    pub files: usize,
    /// Bytes that were freed.
    pub bytes: u64,
    /// Files that stay because something else needs them, or because they are not jarvis'.
    pub kept: usize,
}

/// A file after its hash was computed again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    pub path: FilePath,
    pub blob: BlobId,
    #[serde(flatten)]
    pub state: State,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum State {
    Ok,
    Missing,
    /// The content is another one.
    Changed {
        found: String,
    },
    /// Another program downloaded it, and the system has no links that would say what it should be.
    Unknown,
}

impl Store {
    /// What the list says of a model that jarvis pulled or imported.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn record(&self, name: &str) -> Result<Option<Record>, ModelError> {
        let records = self.ledger().read()?;
        let name = self.catalogue().find(name).map_or(name, |entry| &entry.name);
        Ok(records.into_iter().find(|record| record.stage == Stage::Complete && record.name.eq_ignore_ascii_case(name)))
    }

    /// Models of the list of which files are missing.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn damaged(&self) -> Result<Vec<Record>, ModelError> {
        let damaged = |record: &Record| record.stage == Stage::Complete && !is_complete(record);
        Ok(self.ledger().read()?.into_iter().filter(damaged).collect())
    }

    /// Computes the hashes of a model's files again. `report` gets the name of a file and the bytes read of it.
    ///
    /// # Errors
    /// When there is no such model here, or the list cannot be read.
    pub fn verify(&self, name: &str, mut report: impl FnMut(&FilePath, u64)) -> Result<Vec<Checked>, ModelError> {
        if let Some(record) = self.record(name)? {
            let files = record.files.iter().map(|file| {
                let path = file.path.under(&record.folder);
                let state = check(&path, &file.blob, |read| report(&file.path, read));
                Checked { path: file.path.clone(), blob: file.blob.clone(), state }
            });
            return Ok(files.collect());
        }
        let Some(local) = self.resolve(name) else { return Err(ModelError::NotLocal { name: name.to_owned() }) };
        Ok(self.verify_found(&local, report))
    }

    /// What other programs downloaded is named by its hash.
    fn verify_found(&self, local: &Local, mut report: impl FnMut(&FilePath, u64)) -> Vec<Checked> {
        let Some(folder) = local.repo.as_ref().map(|repo| self.cache().repo(repo)) else { return Vec::new() };
        let files = crate::cache::files(&local.folder);
        let checked = files.into_iter().map(|path| {
            let at = path.under(&local.folder);
            match folder.blob_of(&at) {
                Some(blob) => Checked { state: check(&at, &blob, |read| report(&path, read)), blob, path },
                None => Checked { blob: BlobId::Git("0".repeat(40)), state: State::Unknown, path },
            }
        });
        checked.collect()
    }

    /// Removes a model that jarvis pulled, or forgets one that it imported. Content that something else refers to stays.
    ///
    /// # Errors
    /// When it is not jarvis' to remove, another process uses it, or a file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<Removed, ModelError> {
        let Some(record) = self.record(name)? else {
            return Err(match self.resolve(name) {
                Some(local) => ModelError::NotOurs { name: local.name },
                None => ModelError::NotLocal { name: name.to_owned() },
            });
        };
        let mut removed = Removed { models: vec![record.name.clone()], ..Removed::default() };
        self.discard(&record, &mut removed)?;
        Ok(removed)
    }

    /// What [`Store::prune`] would remove: revisions that were replaced, and what abandoned pulls left.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn unreferenced(&self) -> Result<Vec<Record>, ModelError> {
        let records = self.ledger().read()?;
        let is_free = |record: &Record| {
            record.stage == Stage::Replaced
                || (record.stage == Stage::Pulling
                    && matches!(FileLock::try_exclusive(&self.ledger().lock_of(&record.name)), Ok(Some(_))))
        };
        Ok(records.into_iter().filter(is_free).collect())
    }

    /// Pulls that were cut off and that no process goes on with. Pulling the model again resumes them.
    ///
    /// # Errors
    /// When the list cannot be read.
    pub fn abandoned(&self) -> Result<Vec<Record>, ModelError> {
        Ok(self.unreferenced()?.into_iter().filter(|record| record.stage == Stage::Pulling).collect())
    }

    /// Removes what abandoned pulls left.
    ///
    /// # Errors
    /// As [`Store::prune`].
    pub fn remove_abandoned(&self) -> Result<Removed, ModelError> {
        self.discard_all(self.abandoned()?)
    }

    /// Removes what no model needs any more.
    ///
    /// # Errors
    /// When the list cannot be read, or a file cannot be removed.
    pub fn prune(&self) -> Result<Removed, ModelError> {
        self.discard_all(self.unreferenced()?)
    }

    fn discard_all(&self, records: Vec<Record>) -> Result<Removed, ModelError> {
        let mut removed = Removed::default();
        for record in records {
            match self.discard(&record, &mut removed) {
                Ok(()) => removed.models.push(record.name.clone()),
                // It is being pulled again.
                Err(ModelError::Busy { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(removed)
    }

    fn discard(&self, record: &Record, removed: &mut Removed) -> Result<(), ModelError> {
        let lock = self.ledger().lock_of(&record.name);
        let held = FileLock::try_exclusive(&lock).map_err(|error| ModelError::write(&lock, error))?;
        let Some(_held) = held else { return Err(ModelError::Busy { name: record.name.clone() }) };
        // Under the lock of the list: no pull begins to rely on a content while it is removed.
        self.ledger().update(|models| {
            models.retain(|known| known != record);
            match (record.source, &record.repo) {
                (Source::Pulled, Some(repo)) => {
                    let folder = Cache::new(&record.root).repo(repo);
                    discard_files(record, &folder, models, removed)
                }
                (Source::Copied, _) => discard_copy(record, &self.ledger().folder().join("imported"), removed),
                _ => {
                    removed.kept += record.files.len();
                    Ok(())
                }
            }
        })??;
        let _ = fs::remove_file(lock);
        Ok(())
    }
}

fn check(path: &Path, blob: &BlobId, report: impl FnMut(u64)) -> State {
    match hash::of_file(path, blob, report) {
        Ok((found, _)) if found == *blob => State::Ok,
        Ok((found, _)) => State::Changed { found: found.to_string() },
        Err(_) => State::Missing,
    }
}

/// Removes what jarvis put into the cache for this record and nothing else needs.
fn discard_files(
    record: &Record,
    folder: &RepoFolder,
    others: &mut [Record],
    removed: &mut Removed,
) -> Result<(), ModelError> {
    hand_over(record, others);
    let beside: Vec<&Record> =
        others.iter().filter(|other| other.repo == record.repo && other.root == record.root).collect();
    let needed: HashSet<(&PathBuf, &FilePath)> =
        beside.iter().flat_map(|other| other.files.iter().map(|file| (&other.folder, &file.path))).collect();
    for file in &record.files {
        let link = file.path.under(&record.folder);
        let is_its = folder.blob_of(&link).is_none_or(|blob| blob == file.blob);
        if file.linked && is_its && !needed.contains(&(&record.folder, &file.path)) {
            delete(&link)?;
        }
    }
    let mut referenced = folder.referenced();
    referenced.extend(beside.iter().flat_map(|other| other.files.iter().map(|file| file.blob.clone())));
    let mut seen = HashSet::new();
    for file in record.files.iter().filter(|file| seen.insert(&file.blob)) {
        let (blob, part) = (folder.blob(&file.blob), folder.part(&file.blob));
        let is_ours = file.downloaded || (record.stage != Stage::Complete && part.exists());
        if referenced.contains(&file.blob) || !is_ours {
            removed.kept += 1;
            continue;
        }
        for path in [blob, part] {
            if let Ok(data) = fs::metadata(&path) {
                delete(&path)?;
                removed.files += 1;
                removed.bytes += data.len();
            }
        }
        let _ = fs::remove_file(folder.lock(&file.blob));
    }
    folder.remove_empty(record.revision.as_ref());
    Ok(())
}

/// What several models share becomes that of those that stay, so that it goes with the last of them.
fn hand_over(record: &Record, others: &mut [Record]) {
    for other in others.iter_mut().filter(|other| other.repo == record.repo && other.root == record.root) {
        let same_snapshot = other.folder == record.folder;
        for file in &mut other.files {
            for old in record.files.iter().filter(|old| old.blob == file.blob) {
                file.downloaded |= old.downloaded;
                file.linked |= old.linked && same_snapshot && old.path == file.path;
            }
        }
    }
}

/// Removes a copy, which lies in a folder of jarvis' own.
fn discard_copy(record: &Record, copies: &Path, removed: &mut Removed) -> Result<(), ModelError> {
    if record.folder.parent() != Some(copies) {
        removed.kept += record.files.len();
        return Ok(());
    }
    removed.files += record.files.len();
    removed.bytes += record.bytes();
    match fs::remove_dir_all(&record.folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(ModelError::write(&record.folder, error)),
        _ => Ok(()),
    }
}

fn delete(path: &Path) -> Result<(), ModelError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(ModelError::write(path, error)),
        _ => Ok(()),
    }
}
