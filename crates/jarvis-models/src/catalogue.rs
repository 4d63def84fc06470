//! The models that jarvis knows by name: where they are, what of them is needed, and what they are for.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::ModelError;
use crate::ids::{FilePath, RepoId, Revision};
use crate::layout::Engine;

static BUILTIN: LazyLock<Catalogue> =
    LazyLock::new(|| Catalogue::read(include_str!("../data/models.json")).expect("a test reads it"));

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Catalogue {
    entries: Vec<Entry>,
}

/// A model by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    pub about: String,
    /// Task types that it serves.
    pub tasks: Vec<String>,
    /// Those of them whose name stands for this model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub default_for: Vec<String>,
    /// The name of a larger and better one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub larger: Option<String>,
    pub engine: Engine,
    pub repo: RepoId,
    /// The commit that is pulled. Without one it is whatever `main` is at the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// The licence, where it was looked up together with the pins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Millions of parameters as the authors give them, for estimates of what is not pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<f64>,
    /// The files that are loaded.
    pub weights: Vec<FilePath>,
    /// Patterns of the files beside them. `*` stays within a folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Size and hash of files at the revision.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pins: BTreeMap<FilePath, Pin>,
}

/// What a file must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Bytes.
    pub size: u64,
    /// 64 hexadecimal digits. Small files have none: the commit holds them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl Entry {
    /// Bytes of the weights: pinned, or estimated from the parameters and how they are stored. `true` when it is an estimate.
    pub fn weight(&self) -> Option<(u64, bool)> {
        let pinned: Option<u64> = self.weights.iter().map(|path| self.pins.get(path).map(|pin| pin.size)).sum();
        if let Some(bytes) = pinned {
            return Some((bytes, false));
        }
        let bits = self.weights.first().map_or(32.0, crate::layout::bits);
        self.parameters.map(|millions| ((millions * 1e6 * bits / 8.0) as u64, true))
    }

    /// Bytes of memory that it takes while it is loaded, estimated.
    pub fn memory(&self) -> Option<u64> {
        self.weight().map(|(bytes, _)| crate::suggest::memory(bytes))
    }
}

impl Catalogue {
    pub fn builtin() -> Catalogue {
        BUILTIN.clone()
    }

    /// Reads a catalogue.
    ///
    /// # Errors
    /// When it is not one.
    pub fn read(text: &str) -> Result<Catalogue, ModelError> {
        serde_json::from_str(text).map_err(|error| ModelError::Import {
            path: "models.json".into(),
            reason: format!("it is not a catalogue of models: {error}"),
        })
    }

    /// As [`Catalogue::read`] takes it.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("names and numbers can be written") + "\n"
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    /// By name or alias, in any case.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        let is_name = |known: &String| known.eq_ignore_ascii_case(name);
        let names = |entry: &&Entry| is_name(&entry.name) || entry.aliases.iter().any(is_name);
        self.entries.iter().find(names)
    }

    pub fn default_of(&self, task: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.default_for.iter().any(|known| known.eq_ignore_ascii_case(task)))
    }

    pub fn of_repo(&self, repo: &RepoId) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.repo.as_str().eq_ignore_ascii_case(repo.as_str()))
    }

    /// Names like the one that was typed.
    pub fn similar(&self, typed: &str) -> Vec<String> {
        let typed = typed.to_ascii_lowercase();
        let names = self.entries.iter().flat_map(|entry| std::iter::once(&entry.name).chain(&entry.default_for));
        let mut scored: Vec<(f64, &String)> = names
            .map(|name| (strsim::jaro_winkler(&typed, name), name))
            .filter(|(score, name)| *score > 0.85 || (typed.len() > 2 && name.contains(&typed)))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        scored.dedup_by(|a, b| a.1 == b.1);
        scored.into_iter().take(4).map(|(_, name)| name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_builtin_catalogue_is_consistent() {
        let catalogue = Catalogue::read(include_str!("../data/models.json")).unwrap();
        let mut names = HashSet::new();
        let mut defaults = HashSet::new();
        for entry in catalogue.entries() {
            for name in std::iter::once(&entry.name).chain(&entry.aliases) {
                assert!(names.insert(name.clone()) && *name == name.to_lowercase() && !name.contains('/'), "{name}");
            }
            for task in &entry.default_for {
                assert!(defaults.insert(task.clone()) && entry.tasks.contains(task), "{}: {task}", entry.name);
            }
            assert!(!entry.weights.is_empty() && !entry.tasks.is_empty(), "{}", entry.name);
            for path in &entry.weights {
                let ending = match entry.engine {
                    Engine::Onnx => ".onnx",
                    Engine::Gguf => ".gguf",
                    Engine::Safetensors => ".safetensors",
                };
                assert!(path.as_str().ends_with(ending), "{path}");
            }
            assert!(globs_are_valid(&entry.files), "{}", entry.name);
            // A hash without a commit could belong to any state of the repository.
            assert!(entry.pins.is_empty() || entry.revision.is_some(), "{}", entry.name);
            for (path, pin) in &entry.pins {
                assert!(pin.size > 0, "{path}");
                let digits = pin.sha256.as_deref().is_none_or(|sha| sha.len() == 64);
                assert!(digits, "{path}");
            }
            if let Some(revision) = &entry.revision {
                assert!(revision.commit().is_some(), "{}: {revision} is not a commit", entry.name);
            }
            let weight = entry.weight().map(|(bytes, _)| bytes);
            assert!(
                weight.is_none_or(|bytes| (1_000_000..5_000_000_000).contains(&bytes)),
                "{}: {weight:?}",
                entry.name
            );
        }
        for entry in catalogue.entries() {
            let larger =
                entry.larger.as_ref().map(|name| catalogue.find(name).expect("a larger one").weight().unwrap().0);
            assert!(larger.is_none_or(|larger| larger > entry.weight().unwrap().0), "{}", entry.name);
        }
        assert_eq!(catalogue.to_json(), include_str!("../data/models.json"), "it is written as it is read");
    }

    fn globs_are_valid(patterns: &[String]) -> bool {
        patterns.iter().all(|pattern| globset::Glob::new(pattern).is_ok())
    }
}
