//! The models on this machine: what jarvis pulled or imported, and what other programs left in the cache they share.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::cache::{Cache, files};
use crate::catalogue::Catalogue;
use crate::environment::Environment;
use crate::error::ModelError;
use crate::ids::{Commit, FilePath, RepoId, Revision};
use crate::layout::{self, Engine};
use crate::ledger::{Ledger, Record, Source, Stage, Stamp, now};
use crate::reference::Reference;

/// Largest `config.json` that is read, in bytes.
const MAX_CONFIG: u64 = 4 << 20;

/// How long a part must lie untouched until nobody is taken to download it.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// How a model came to this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    Pulled,
    Imported,
    /// Another program downloaded it.
    Found,
}

/// A complete model on this machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Local {
    /// What it is called: a name of the catalogue, or a repository.
    pub name: String,
    pub repo: Option<RepoId>,
    pub revision: Option<Commit>,
    /// The hash of its weights, where jarvis imported them.
    #[serde(skip)]
    pub content: Option<String>,
    /// Folder of its files.
    pub folder: PathBuf,
    /// The files to load, relative to the folder.
    pub weights: Vec<String>,
    /// Task types that it serves, as far as is known.
    pub tasks: Vec<String>,
    pub engine: Engine,
    /// Bytes of its files.
    pub bytes: u64,
    pub origin: Origin,
    pub license: Option<String>,
    /// When it was last loaded, in seconds since 1970.
    pub used: Option<u64>,
}

impl Local {
    pub(crate) fn of_record(record: &Record) -> Local {
        Local {
            name: record.name.clone(),
            repo: record.repo.clone(),
            revision: record.revision.clone(),
            content: record.content(),
            folder: record.folder.clone(),
            weights: record.weights.iter().map(ToString::to_string).collect(),
            tasks: record.tasks.clone(),
            engine: record.engine,
            bytes: record.bytes(),
            origin: if record.source == Source::Pulled { Origin::Pulled } else { Origin::Imported },
            license: record.license.clone(),
            used: record.used,
        }
    }

    /// What tells its weights from those that it had before or will have: their revision, or their hash. None for weights that another
    /// program put there without a revision.
    pub fn identity(&self) -> Option<String> {
        self.revision.as_ref().map(ToString::to_string).or_else(|| self.content.clone())
    }

    /// Bytes of the weights that would be loaded.
    pub fn weight(&self) -> u64 {
        self.weights.iter().map(|name| size(&self.folder.join(name))).sum()
    }
}

/// The models of one cache and one data folder.
#[derive(Debug, Clone)]
pub struct Store {
    cache: Cache,
    ledger: Ledger,
    catalogue: Catalogue,
}

impl Store {
    /// The cache of the environment, and the list of pulled models in `data`, jarvis' data folder. Reads and writes nothing yet.
    pub fn new(environment: &Environment, data: &Path) -> Store {
        Store::with_catalogue(environment, data, Catalogue::builtin())
    }

    pub fn with_catalogue(environment: &Environment, data: &Path, catalogue: Catalogue) -> Store {
        Store { cache: Cache::new(&environment.cache), ledger: Ledger::new(data.join("models")), catalogue }
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The complete models: those that jarvis pulled or imported, then those that other programs downloaded. Looks at names and
    /// sizes and hashes nothing.
    pub fn local_models(&self) -> Vec<Local> {
        let records = self.ledger.read().unwrap_or_else(|error| {
            tracing::warn!(%error, "the list of pulled models cannot be read");
            Vec::new()
        });
        let mut models: Vec<Local> = records
            .iter()
            .filter(|record| record.stage == Stage::Complete && is_complete(record))
            .map(Local::of_record)
            .collect();
        models.sort_by(|a, b| a.name.cmp(&b.name));
        let known: Vec<PathBuf> = records.into_iter().map(|record| record.folder).collect();
        models.extend(self.found(&known));
        models
    }

    /// Tells whether the list of models that jarvis pulled or imported was changed since: what it gives is another then. None while
    /// there is no list.
    pub fn stamp(&self) -> Option<Stamp> {
        self.ledger.stamp()
    }

    /// A model by its name, its repository, or a task type of which it is the default.
    pub fn resolve(&self, name: &str) -> Option<Local> {
        let name = name.trim();
        let name = name.strip_prefix("local/").unwrap_or(name);
        let models = self.local_models();
        let by_name = |name: &str| models.iter().find(|model| model.name.eq_ignore_ascii_case(name));
        let by_reference = || match Reference::parse(name, &self.catalogue).ok()? {
            Reference::Known(entry) => by_name(&entry.name),
            Reference::Repo { repo, revision, selector: None } => models.iter().find(|model| {
                let same = model.repo.as_ref() == Some(&repo);
                same && revision
                    .as_ref()
                    .is_none_or(|revision| self.cache.repo(&repo).reference(revision) == model.revision)
            }),
            Reference::Repo { .. } => None,
        };
        by_name(name).or_else(by_reference).cloned()
    }

    /// Notes that a model was loaded.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub fn touch(&self, name: &str) -> Result<(), ModelError> {
        self.ledger.update(|models| {
            for record in models.iter_mut().filter(|record| record.name == name && record.stage == Stage::Complete) {
                record.used = Some(now());
            }
        })
    }

    /// What other programs downloaded, except from these folders.
    fn found(&self, except: &[PathBuf]) -> Vec<Local> {
        let mut models = Vec::new();
        for repo in self.cache.repos() {
            let folder = self.cache.repo(&repo);
            // What `main` was when it was downloaded, else the only snapshot there is.
            let commit = folder.reference(&Revision::main()).filter(|commit| folder.snapshot(commit).is_dir());
            let only = || {
                let mut snapshots = folder.snapshots();
                if snapshots.len() == 1 { snapshots.pop() } else { None }
            };
            let pinned = || {
                let pinned = self.catalogue.of_repo(&repo).filter_map(|entry| entry.revision.as_ref()?.commit());
                pinned.into_iter().find(|commit| folder.snapshot(commit).is_dir())
            };
            let Some(commit) = pinned().or(commit).or_else(only) else { continue };
            let snapshot = folder.snapshot(&commit);
            if except.contains(&snapshot) || is_downloading(folder.path()) {
                continue;
            }
            models.extend(self.recognised(&repo, commit, &snapshot));
        }
        models
    }

    /// A snapshot that has all that a model needs.
    fn recognised(&self, repo: &RepoId, commit: Commit, snapshot: &Path) -> Vec<Local> {
        let paths = files(snapshot);
        // A link without its content: something is being downloaded, or was removed.
        if paths.is_empty() || !paths.iter().all(|path| path.under(snapshot).is_file()) {
            return Vec::new();
        }
        let listing = self.cache.repo(repo).listing(&commit).unwrap_or_default();
        if paths.iter().any(|path| listing.get(path).is_some_and(|listed| *listed != size(&path.under(snapshot)))) {
            return Vec::new();
        }
        let listed: Vec<FilePath> = listing.into_keys().collect();
        let bytes = paths.iter().map(|path| size(&path.under(snapshot))).sum();
        let local = |name: String, weights: &[FilePath], tasks: Vec<String>, engine| Local {
            name,
            repo: Some(repo.clone()),
            revision: Some(commit.clone()),
            content: None,
            folder: snapshot.to_path_buf(),
            weights: weights.iter().map(ToString::to_string).collect(),
            tasks,
            engine,
            bytes,
            origin: Origin::Found,
            license: None,
            used: None,
        };
        let tasks_of = |tasks: &[String]| tasks.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        let whole = |weights: &[FilePath], tasks: &[String], engine| {
            let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
            let has_data = |path| layout::external_data(path, &listed).all(|data| paths.contains(data));
            weights.iter().all(|path| paths.contains(path) && has_data(path))
                && layout::has_settings(engine, &tasks, &paths)
        };
        let known: Vec<Local> = self
            .catalogue
            .of_repo(repo)
            .filter(|entry| whole(&entry.weights, &entry.tasks, entry.engine))
            .map(|entry| local(entry.name.clone(), &entry.weights, entry.tasks.clone(), entry.engine))
            .collect();
        if !known.is_empty() {
            return known;
        }
        let Some((engine, weights)) = layout::weights(&paths, None) else { return Vec::new() };
        let tasks = folder_tasks(snapshot, engine);
        // Of an unknown architecture nobody knows what else it needs.
        if tasks_of(&tasks).is_empty() || !whole(&weights, &tasks, engine) {
            return Vec::new();
        }
        vec![local(repo.to_string(), &weights, tasks, engine)]
    }
}

/// Task types of a model in a folder, by its `config.json`.
pub(crate) fn folder_tasks(folder: &Path, engine: Engine) -> Vec<String> {
    let tasks = match engine {
        Engine::Gguf => layout::GGUF_TASKS.to_vec(),
        Engine::Onnx | Engine::Safetensors => layout::tasks(&config(folder)),
    };
    tasks.into_iter().map(str::to_owned).collect()
}

fn config(folder: &Path) -> Value {
    let path = folder.join("config.json");
    if size(&path) > MAX_CONFIG {
        return Value::Null;
    }
    fs::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// Whether every file is there with its size.
pub(crate) fn is_complete(record: &Record) -> bool {
    !record.files.is_empty()
        && record.files.iter().all(|file| {
            let path = file.path.under(&record.folder);
            path.is_file() && size(&path) == file.size
        })
}

/// Whether something is being downloaded into a repository's folder. What has not been written to for a day was abandoned.
fn is_downloading(folder: &Path) -> bool {
    let entries = fs::read_dir(folder.join("blobs")).into_iter().flatten().flatten();
    let is_recent = |entry: &fs::DirEntry| {
        let modified = entry.metadata().and_then(|data| data.modified()).ok();
        modified.is_none_or(|at| at.elapsed().is_ok_and(|passed| passed < ABANDONED))
    };
    let is_part = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().ends_with(".incomplete");
    entries.into_iter().any(|entry| is_part(&entry) && is_recent(&entry))
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |data| data.len())
}
