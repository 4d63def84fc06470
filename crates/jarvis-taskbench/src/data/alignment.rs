//! `alignment_ids.json`: which generated samples passed which critic.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use indexmap::IndexMap;

use super::SampleId;
use crate::DataError;
use crate::json::{Look, parse};

/// A critic's list, or no filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Alignment {
    /// All of `data.json`: it holds what people verified. Filters nothing.
    Human,
    /// The generated nodes are the sampled ones.
    Node,
    /// The generated links are the sampled ones.
    Link,
    /// Both.
    BothNodeLink,
    /// The model's own critic found the sample executable and correct.
    SelfCheck,
    /// All critics.
    All,
}

impl Alignment {
    /// Every kind, in the file's order after `human`.
    pub const KINDS: [Alignment; 6] = [
        Alignment::Human,
        Alignment::Node,
        Alignment::Link,
        Alignment::BothNodeLink,
        Alignment::SelfCheck,
        Alignment::All,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Alignment::Human => "human",
            Alignment::Node => "node",
            Alignment::Link => "link",
            Alignment::BothNodeLink => "both_node_link",
            Alignment::SelfCheck => "self-check",
            Alignment::All => "all",
        }
    }
}

impl fmt::Display for Alignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Alignment {
    type Err = String;

    fn from_str(word: &str) -> Result<Alignment, String> {
        let same = |kind: &Alignment| kind.as_str().replace('-', "_") == word.replace('-', "_");
        Alignment::KINDS.into_iter().find(same).ok_or_else(|| {
            format!("`{word}` is no alignment; it is one of human, node, link, both_node_link, self-check, all")
        })
    }
}

/// The lists of `alignment_ids.json`.
#[derive(Debug, Clone, Default)]
pub struct AlignmentIds {
    /// For each key such as `node_alignment_id`, for each method (`single`, `chain`, `dag`), the ids.
    pub lists: IndexMap<String, IndexMap<String, Vec<SampleId>>>,
}

impl AlignmentIds {
    /// Reads the file.
    ///
    /// # Errors
    /// When it cannot be read or is of another shape.
    pub fn read(path: &Path) -> Result<AlignmentIds, DataError> {
        let bytes = std::fs::read(path).map_err(|error| DataError::read(path, error))?;
        let value =
            parse(&bytes).map_err(|error| DataError::NotJson { path: path.to_owned(), reason: error.to_string() })?;
        let kinds = value.pairs().ok_or_else(|| DataError::shape(path, "an object of lists of ids is wanted"))?;
        let mut lists = IndexMap::new();
        for (kind, methods) in kinds {
            let methods = methods
                .pairs()
                .ok_or_else(|| DataError::shape(path, format!("`{kind}` is {}, not an object", methods.what())))?;
            let mut by_method = IndexMap::new();
            for (method, ids) in methods {
                let ids = ids.list().ok_or_else(|| {
                    DataError::shape(path, format!("`{kind}.{method}` is {}, not a list", ids.what()))
                })?;
                by_method.insert(method.to_string(), ids.iter().filter_map(SampleId::of).collect());
            }
            lists.insert(kind.to_string(), by_method);
        }
        Ok(AlignmentIds { lists })
    }

    /// The ids that pass: `None` for no filter.
    ///
    /// # Errors
    /// When the file has no list of that kind.
    pub fn passing(&self, alignment: Alignment) -> Result<Option<HashSet<SampleId>>, String> {
        if alignment == Alignment::Human {
            return Ok(None);
        }
        let key = format!("{alignment}_alignment_id");
        let methods = self
            .lists
            .get(&key)
            .or_else(|| self.lists.get(&key.replace("self-check", "self_check")))
            .ok_or_else(|| format!("alignment_ids.json has no `{key}`"))?;
        Ok(Some(methods.values().flatten().cloned().collect()))
    }
}
