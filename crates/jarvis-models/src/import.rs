//! Models that are on this machine already, outside the cache.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::cache::files;
use crate::hash;
use crate::ids::FilePath;
use crate::layout;
use crate::ledger::{Record, RecordFile, Source, Stage, now};
use crate::store::{Local, Store, folder_tasks};
use crate::{Engine, ModelError};

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

/// A model that is not in the list yet, see [`Store::look_at`].
#[derive(Debug, Clone, PartialEq)]
pub struct Importable {
    record: Record,
    copy: bool,
}

impl Importable {
    /// The model where it is now.
    pub fn local(&self) -> Local {
        Local::of_record(&self.record)
    }
}

impl Store {
    /// Looks at a folder or a GGUF file that may be taken into the list. Its hashes are computed, so that it can be verified later.
    /// `report` gets the name of a file and the bytes read of it.
    ///
    /// # Errors
    /// When it is not a model that jarvis can run, the name is taken, or it cannot be read.
    pub fn look_at(
        &self,
        path: &Path,
        options: &ImportOptions,
        mut report: impl FnMut(&FilePath, u64),
    ) -> Result<Importable, ModelError> {
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
        // A folder of models is none.
        let within = weights.iter().find_map(|file| file.as_str().rsplit_once('/')).map(|(within, _)| within);
        if let Some(within) = within.filter(|within| *within != "onnx") {
            return Err(refused(&format!("its weights lie in {within}; import that folder")));
        }
        if engine == Engine::Gguf {
            for file in &weights {
                let at = file.under(&folder);
                if !is_gguf(&at).map_err(|error| ModelError::read(&at, error))? {
                    return Err(refused(&format!("{file} is no GGUF file")));
                }
            }
        }
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
        let record = Record {
            name,
            source: Source::Imported,
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
        Ok(Importable { record, copy: options.copy })
    }

    /// Takes a model into the list, and copies its files where that was wished.
    ///
    /// # Errors
    /// When the list cannot be written, or the files not copied.
    pub fn import(&self, model: Importable) -> Result<Local, ModelError> {
        let Importable { mut record, copy } = model;
        if copy {
            record.folder = self.copy(&record.folder, &record.files, &record.name)?;
            record.source = Source::Copied;
        }
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
        // The same model again is taken as it is now.
        match self.record(&name)?.filter(|known| known.source == Source::Pulled || known.root != path) {
            Some(known) => Err(refused(format!(
                "there is a model `{name}` in {} already; give another name with --name, or remove that one with \
                 `jarvis models rm {name}`",
                known.root.display()
            ))),
            None => Ok(name),
        }
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

/// Whether a file begins as GGUF files do.
fn is_gguf(path: &Path) -> std::io::Result<bool> {
    let mut beginning = [0; 4];
    match fs::File::open(path)?.read_exact(&mut beginning) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        result => result.map(|()| &beginning == b"GGUF"),
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
