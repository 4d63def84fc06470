//! Models that are on this machine already, outside the cache.

use std::fs;
use std::path::{Path, PathBuf};

use crate::ModelError;
use crate::cache::files;
use crate::hash;
use crate::ids::FilePath;
use crate::layout;
use crate::ledger::{Record, RecordFile, Source, Stage, now};
use crate::store::{Local, Store, folder_tasks};

/// Longest name of an imported model, in bytes.
const MAX_NAME: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// What to call it; the name of the folder or file otherwise.
    pub name: Option<String>,
    /// Its task types; what its `config.json` says otherwise.
    pub tasks: Vec<String>,
    /// Whether to copy the files. Otherwise they stay where they are and are only referred to.
    pub copy: bool,
}

impl Store {
    /// Takes a folder or a GGUF file into the list. Its hashes are computed, so that it can be verified later. `report` gets the
    /// name of a file and the bytes read of it.
    ///
    /// # Errors
    /// When it is not a model that jarvis can run, the name is taken, or it cannot be read or copied.
    pub fn import(
        &self,
        path: &Path,
        options: &ImportOptions,
        mut report: impl FnMut(&FilePath, u64),
    ) -> Result<Local, ModelError> {
        let refused = |reason: &str| ModelError::Import { path: path.to_path_buf(), reason: reason.to_owned() };
        let path = fs::canonicalize(path).map_err(|error| ModelError::read(path, error))?;
        let (folder, all) = match path.is_dir() {
            true => (path.clone(), files(&path)),
            false => {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                let file = FilePath::new(name)?;
                if !file.as_str().to_ascii_lowercase().ends_with(".gguf") {
                    return Err(refused("it is neither a folder nor a GGUF file"));
                }
                (path.parent().unwrap_or(&path).to_path_buf(), vec![file])
            }
        };
        let Some((engine, weights)) = layout::weights(&all, None) else {
            return Err(refused("there are no weights in ONNX, GGUF or safetensors form, or not all of them"));
        };
        let tasks = match options.tasks.is_empty() {
            true if layout::is_voice(&all) => vec!["text-to-speech".to_owned()],
            true => folder_tasks(&folder, engine),
            false => options.tasks.clone(),
        };
        let known: Vec<&str> = tasks.iter().map(String::as_str).collect();
        if !known.is_empty() && !layout::has_settings(engine, &known, &all) {
            return Err(refused(
                "files of settings are missing, such as `config.json`, `tokenizer.json` or `preprocessor_config.json`",
            ));
        }
        let name = self.import_name(&path, options)?;
        let taken: Vec<FilePath> = all.iter().filter(|file| is_part(file, &weights, &all)).cloned().collect();
        let mut recorded = Vec::new();
        for file in taken {
            let at = file.under(&folder);
            let blob = hash::sha256(&at, |read| report(&file, read)).map_err(|error| ModelError::read(&at, error))?;
            let size = fs::metadata(&at).map_err(|error| ModelError::read(&at, error))?.len();
            recorded.push(RecordFile { path: file, size, blob, downloaded: false, linked: false });
        }
        let (source, folder) = match options.copy {
            true => (Source::Copied, self.copy(&folder, &recorded, &name)?),
            false => (Source::Imported, folder),
        };
        let record = Record {
            name,
            source,
            stage: Stage::Complete,
            repo: None,
            revision: None,
            is_pinned: false,
            license: None,
            root: path,
            folder,
            files: recorded,
            weights,
            tasks,
            engine,
            added: now(),
            used: None,
        };
        self.ledger().update(|models| {
            models.retain(|known| known.name != record.name);
            models.push(record.clone());
        })?;
        Ok(Local::of_record(&record))
    }

    /// The name of an import: one that neither the catalogue nor a pulled model has.
    fn import_name(&self, path: &Path, options: &ImportOptions) -> Result<String, ModelError> {
        let refused = |reason: String| ModelError::Import { path: path.to_path_buf(), reason };
        let of_path = || {
            let stem = if path.is_dir() { path.file_name() } else { path.file_stem() };
            stem.map(|stem| stem.to_string_lossy().to_lowercase()).unwrap_or_default()
        };
        let name = options.name.clone().unwrap_or_else(of_path);
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(is_plain) || name.starts_with('.') {
            return Err(refused(format!(
                "`{name}` is not a name of letters, digits, `-`, `_` and `.`; give one with --name"
            )));
        }
        if self.catalogue().find(&name).is_some() {
            return Err(refused(format!("the catalogue has a model `{name}`; give another name with --name")));
        }
        let pulled = self.record(&name)?.is_some_and(|record| record.source == Source::Pulled);
        if pulled {
            return Err(refused(format!("there is a pulled model `{name}`; give another name with --name")));
        }
        Ok(name)
    }

    fn copy(&self, from: &Path, files: &[RecordFile], name: &str) -> Result<PathBuf, ModelError> {
        let to = self.ledger().folder().join("imported").join(name);
        let parent = to.parent().unwrap_or(&to);
        fs::create_dir_all(parent).map_err(|error| ModelError::write(parent, error))?;
        // Complete before it has its name.
        let new = tempfile::Builder::new().prefix(".new-").tempdir_in(parent);
        let new = new.map_err(|error| ModelError::write(parent, error))?;
        for file in files {
            let target = file.path.under(new.path());
            let copied = fs::create_dir_all(target.parent().unwrap_or(&to))
                .and_then(|()| fs::copy(file.path.under(from), &target));
            copied.map_err(|error| ModelError::write(&target, error))?;
        }
        let _ = fs::remove_dir_all(&to);
        fs::rename(new.keep(), &to).map_err(|error| ModelError::write(&to, error))?;
        Ok(to)
    }
}

/// Whether a file belongs to the model: its weights, what they refer to, and settings.
fn is_part(file: &FilePath, weights: &[FilePath], all: &[FilePath]) -> bool {
    let name = file.as_str();
    let is_setting =
        (name.ends_with(".json") || name.ends_with(".txt") || name.ends_with(".jinja")) && file.depth() <= 1;
    let is_data = || weights.iter().any(|path| layout::external_data(path, all).any(|data| data == file));
    is_setting || weights.contains(file) || is_data()
}
