//! The list of what jarvis pulled and imported, a file in its data folder. Nothing is ever removed that does not stand there.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::ModelError;
use crate::ids::{BlobId, Commit, FilePath, RepoId};
use crate::layout::Engine;
use crate::lock::FileLock;

const VERSION: u32 = 1;
/// Largest list that is read, in bytes.
const MAX_LIST: u64 = 64 << 20;

/// Where a model came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Pulled,
    /// A folder of the person's, which stays where it is.
    Imported,
    /// A copy of such a folder, which is jarvis' own.
    Copied,
}

/// How far a model has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    /// A pull has begun.
    Pulling,
    Complete,
    /// Another revision took its place.
    Replaced,
}

/// A model that jarvis pulled or imported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub name: String,
    pub source: Source,
    pub(crate) stage: Stage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<RepoId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Commit>,
    /// Whether the catalogue pinned the revision.
    #[serde(default)]
    pub is_pinned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Folder of the cache, or what was imported.
    pub root: PathBuf,
    /// Folder of the files.
    pub folder: PathBuf,
    pub files: Vec<RecordFile>,
    pub weights: Vec<FilePath>,
    pub tasks: Vec<String>,
    pub engine: Engine,
    /// Seconds since 1970.
    pub added: u64,
    /// When it was last loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
}

impl Record {
    /// Bytes of all files; content that two names share counts once.
    pub fn bytes(&self) -> u64 {
        let mut seen = std::collections::HashSet::new();
        self.files.iter().filter(|file| seen.insert(&file.blob)).map(|file| file.size).sum()
    }

    /// The hashes of its weights.
    pub(crate) fn content(&self) -> Option<String> {
        let weights = self.files.iter().filter(|file| self.weights.contains(&file.path));
        let hashes: Vec<String> = weights.map(|file| file.blob.digest()).collect();
        (!hashes.is_empty()).then(|| hashes.join(" "))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordFile {
    pub path: FilePath,
    /// Bytes.
    pub size: u64,
    pub blob: BlobId,
    /// Whether jarvis downloaded the content, and not another program before it.
    pub(crate) downloaded: bool,
    /// Whether jarvis put it into the snapshot.
    pub(crate) linked: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct List {
    version: u32,
    models: Vec<Record>,
}

/// When the list of models was written, and how long it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    written: SystemTime,
    /// Bytes.
    length: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    folder: PathBuf,
}

impl Ledger {
    /// The list in a folder, which need not exist.
    pub(crate) fn new(folder: PathBuf) -> Ledger {
        Ledger { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join("models.json")
    }

    pub(crate) fn stamp(&self) -> Option<Stamp> {
        let data = fs::metadata(self.path()).ok()?;
        Some(Stamp { written: data.modified().ok()?, length: data.len() })
    }

    pub(crate) fn read(&self) -> Result<Vec<Record>, ModelError> {
        let path = self.path();
        let invalid = |reason: String| ModelError::Ledger { path: path.clone(), reason };
        match fs::metadata(&path) {
            Ok(data) if data.len() > MAX_LIST => return Err(invalid("it is too large".to_owned())),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(ModelError::read(path, error)),
        }
        let text = fs::read(&path).map_err(|error| ModelError::read(&path, error))?;
        let list: List = serde_json::from_slice(&text).map_err(|error| invalid(error.to_string()))?;
        if list.version != VERSION {
            return Err(invalid(format!("it has version {}, and this jarvis reads version {VERSION}", list.version)));
        }
        Ok(list.models)
    }

    /// Changes the list while no other process does.
    pub(crate) fn update<T>(&self, change: impl FnOnce(&mut Vec<Record>) -> T) -> Result<T, ModelError> {
        let lock = self.folder.join("models.lock");
        let _held = FileLock::exclusive_blocking(&lock).map_err(|error| ModelError::write(&lock, error))?;
        let mut models = self.read()?;
        let before = models.clone();
        let result = change(&mut models);
        if models != before {
            self.write(models).map_err(|error| ModelError::write(self.path(), error))?;
        }
        Ok(result)
    }

    fn write(&self, models: Vec<Record>) -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer_pretty(&mut file, &List { version: VERSION, models })?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(self.path()).map_err(|error| error.error)?;
        Ok(())
    }

    /// Held by every pull of a model, and alone by whoever removes it.
    pub(crate) fn lock_of(&self, name: &str) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '+' };
        self.folder.join("locks").join(format!("{}.lock", name.chars().map(plain).collect::<String>()))
    }
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
