//! What to pull on this machine for the task types that nothing serves yet.

use serde::Serialize;

use crate::catalogue::Entry;
use crate::store::{Local, Store};

/// Memory beside the weights: buffers, tokenizers, activations of small inputs.
const BESIDE: u64 = 128 << 20;

/// A model that would help.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    /// Task types that it would serve and nothing serves now.
    pub tasks: Vec<String>,
    pub name: String,
    pub about: String,
    pub repo: String,
    /// As the catalogue knows it.
    pub license: Option<String>,
    /// Bytes to download; nothing when nobody knows.
    pub bytes: Option<u64>,
    /// Whether that is an estimate.
    pub is_estimate: bool,
    /// Bytes of memory that it takes while it is loaded, estimated.
    pub memory: Option<u64>,
    /// Whether it fits into the memory that models may take.
    pub fits: bool,
    /// The name of a larger one that fits too.
    pub larger: Option<String>,
    /// What to type.
    pub command: String,
}

/// Bytes that a model takes while it is loaded, estimated from its weights.
pub(crate) fn memory(weight: u64) -> u64 {
    (weight / 5).saturating_add(weight).saturating_add(BESIDE)
}

/// One model for each task type of the catalogue that is not served, nor by one of the `local` models. `max_memory` is what models may take together.
pub fn suggest(
    store: &Store,
    local: &[Local],
    max_memory: Option<u64>,
    served: &dyn Fn(&str) -> bool,
) -> Vec<Suggestion> {
    let is_local = |task: &str| local.iter().any(|model: &Local| model.tasks.iter().any(|known| known == task));
    let fits = |entry: &Entry| {
        let needed = entry.weight().map(|(bytes, _)| memory(bytes));
        needed.is_none_or(|needed| max_memory.is_none_or(|max| needed <= max))
    };
    let entries = store.catalogue().entries().iter();
    entries
        .filter_map(|entry| {
            let unserved = |task: &&String| !served(task) && !is_local(task);
            let tasks: Vec<String> = entry.default_for.iter().filter(unserved).cloned().collect();
            if tasks.is_empty() {
                return None;
            }
            let weight = entry.weight();
            let larger = entry.larger.as_ref().filter(|name| store.catalogue().find(name).is_some_and(fits));
            Some(Suggestion {
                tasks,
                name: entry.name.clone(),
                about: entry.about.clone(),
                repo: entry.repo.to_string(),
                license: entry.license.clone(),
                bytes: weight.map(|(bytes, _)| bytes),
                is_estimate: weight.is_some_and(|(_, estimate)| estimate),
                memory: weight.map(|(bytes, _)| memory(bytes)),
                fits: fits(entry),
                larger: larger.cloned(),
                command: format!("jarvis models pull {}", entry.name),
            })
        })
        .collect()
}
