//! `alignment_ids.json`: which generated samples passed which critic.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use indexmap::IndexMap;

use super::{SampleId, document};
use crate::DataError;
use crate::json::{Json, Look};
use crate::words::words;

words! {
    pub enum Alignment as "alignment" {
        /// All of `data.json`: it holds what people verified. Filters nothing.
        Human = "human",
        /// The generated nodes are the sampled ones.
        Node = "node",
        /// The generated links are the sampled ones.
        Link = "link",
        /// Both.
        BothNodeLink = "both_node_link",
        /// The model's own critic found the sample executable and correct.
        SelfCheck = "self-check",
        /// All critics.
        All = "all",
    }
}

#[derive(Debug, Clone, Default)]
pub struct AlignmentIds {
    /// For each key such as `node_alignment_id`, for each method (`single`, `chain`, `dag`), the ids.
    pub lists: IndexMap<String, IndexMap<String, Vec<SampleId>>>,
}

impl AlignmentIds {
    pub fn read(path: &Path) -> Result<AlignmentIds, DataError> {
        let value = document(path)?;
        let kinds = value.pairs().ok_or_else(|| DataError::shape(path, "it is not an object of lists of ids"))?;
        let mut lists = IndexMap::new();
        for (kind, methods) in kinds {
            let methods = methods
                .pairs()
                .ok_or_else(|| DataError::shape(path, format!("`{kind}` is {}, not an object", methods.what())))?;
            lists.insert(kind.to_string(), id_lists(kind, methods, path)?);
        }
        Ok(AlignmentIds { lists })
    }

    /// The ids that pass: `None` for no filter.
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

pub(super) fn test_ids(path: &Path) -> Result<IndexMap<String, Vec<SampleId>>, DataError> {
    let value = document(path)?;
    let methods = value.look("test_ids").and_then(Look::pairs);
    let methods = methods.ok_or_else(|| DataError::shape(path, "it has no object under `test_ids`"))?;
    id_lists("test_ids", methods, path)
}

fn id_lists(
    key: &str,
    methods: &[(Cow<'_, str>, Json<'_>)],
    path: &Path,
) -> Result<IndexMap<String, Vec<SampleId>>, DataError> {
    let of_method = |(method, ids): &(Cow<'_, str>, Json<'_>)| {
        let not_a_list = || DataError::shape(path, format!("`{key}.{method}` is {}, not a list", ids.what()));
        let ids = ids.list().ok_or_else(not_a_list)?;
        Ok((method.to_string(), ids.iter().filter_map(SampleId::of).collect()))
    };
    methods.iter().map(of_method).collect()
}
