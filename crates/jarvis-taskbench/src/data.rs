//! The benchmark's folders: one for each domain, with tools, tool graph, requests, gold plans and alignment lists.
//!
//! Reading is lenient where the published files are odd (two releases, mixtures of them, repeated and numeric ids,
//! nested JSON as text); [`crate::inspect()`] lists what is odd. Files are never changed here.

mod alignment;
mod gold;
mod id;
mod lines;
mod requests;
mod tools;
mod traces;

use std::path::{Path, PathBuf};

use indexmap::IndexMap;

pub use alignment::{Alignment, AlignmentIds};
pub use gold::{Gold, GoldRecord, Release};
pub use id::SampleId;
pub use lines::{BadLine, Lines};
pub use requests::{Requests, UserRequest};
pub use tools::{BenchTool, GraphLink, ToolGraph, ToolList, normalised};
pub use traces::Traces;
#[cfg(feature = "planning")]
pub(crate) use traces::{SETTINGS, last_settings};

use crate::DataError;
use crate::json::{Json, parse};
use crate::words::words;

words! {
    pub enum DependencyType as "dependency type" {
        /// A task uses what another made: `<node-j>` in an argument is the link. Tools have typed inputs and outputs.
        Resource = "resource",
        /// A task comes after another: links are listed. Tools have named parameters.
        Temporal = "temporal",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    dir: PathBuf,
}

impl Domain {
    pub fn open(dir: impl Into<PathBuf>) -> Result<Domain, DataError> {
        let dir = dir.into();
        match std::fs::metadata(&dir) {
            Ok(found) if found.is_dir() => Ok(Domain { dir }),
            Ok(_) => Err(DataError::shape(&dir, "this is a file; a domain is a folder")),
            Err(error) => Err(DataError::read(&dir, error)),
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A path inside the folder; an absolute one stays as it is.
    pub fn path(&self, inside: impl AsRef<Path>) -> PathBuf {
        self.dir.join(inside)
    }

    /// Its name: the folder's, without `data_`.
    pub fn name(&self) -> String {
        let canonical = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        let name = canonical.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.strip_prefix("data_").map_or(name.clone(), str::to_owned)
    }

    /// The domain by the words in its path, as the original recognises them: `huggingface`, `multimedia`, `dailylifeapis`,
    /// and `ultratool` and `tmdb` beside them.
    pub fn known_as(&self) -> Option<&'static str> {
        let path = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone()).to_string_lossy().to_lowercase();
        // The folder's own name counts before those above it.
        let own = path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        const KNOWN: [&str; 5] = ["huggingface", "multimedia", "dailylifeapis", "ultratool", "tmdb"];
        let named = |text: &str| KNOWN.into_iter().find(|name| text.contains(name));
        named(&own).or_else(|| named(&path))
    }

    pub fn tools(&self) -> Result<ToolList, DataError> {
        ToolList::read(&self.path("tool_desc.json"))
    }

    pub fn graph(&self) -> Result<ToolGraph, DataError> {
        ToolGraph::read(&self.path("graph_desc.json"))
    }

    pub fn requests(&self) -> Result<Requests, DataError> {
        Requests::read(&self.path("user_requests.json"))
    }

    pub fn gold(&self) -> Result<Gold, DataError> {
        Gold::read(&self.path("data.json"))
    }

    pub fn alignment(&self) -> Result<AlignmentIds, DataError> {
        AlignmentIds::read(&self.path("alignment_ids.json"))
    }

    /// Every file of predictions: the `*.json` of the folders `predictions*`, by folder, then by name.
    pub fn prediction_files(&self) -> Vec<PathBuf> {
        let listed = |folder: &Path| -> Vec<PathBuf> {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
            paths.sort();
            paths
        };
        let is_folder = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("predictions")) && path.is_dir()
        };
        let is_file = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json") && path.is_file();
        let folders = listed(&self.dir).into_iter().filter(is_folder);
        folders.flat_map(|folder| listed(&folder)).filter(is_file).collect()
    }

    /// The test ids of each method, which GNN4TaskPlan keeps in `split_ids.json`.
    pub fn test_ids(&self) -> Result<IndexMap<String, Vec<SampleId>>, DataError> {
        alignment::test_ids(&self.path("split_ids.json"))
    }
}

/// True when both paths lead to one file, through links of either kind.
pub fn same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if let (Ok(a), Ok(b)) = (std::fs::metadata(a), std::fs::metadata(b)) {
            return (a.dev(), a.ino()) == (b.dev(), b.ino());
        }
    }
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// A file of one JSON document.
fn document(path: &Path) -> Result<Json<'static>, DataError> {
    let bytes = std::fs::read(path).map_err(|error| DataError::read(path, error))?;
    let read = parse(&bytes).map(Json::into_static);
    read.map_err(|error| DataError::NotJson { path: path.to_owned(), reason: error.to_string() })
}

/// The file name, without extension, of a model's predictions: `offline`; `replay-answers` for
/// `replay:PATH/answers.jsonl`; else the model's name with everything but letters, digits, `.`, `-` and `_` as `_`, so
/// that no name leads out of its folder.
pub fn file_stem(llm: &str) -> String {
    let llm = llm.trim();
    let name = match llm.strip_prefix("replay:") {
        Some(file) => {
            let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            format!("replay-{}", stem.unwrap_or_default())
        }
        None => llm.to_owned(),
    };
    let safe =
        |letter: char| if letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_') { letter } else { '_' };
    let name: String = name.chars().map(safe).collect();
    match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None if name.is_empty() => "_".into(),
        None => name,
    }
}
