//! The examples that a prompt shows: gold plans of the domain, chosen by id.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::InferError;
use crate::data::{DependencyType, Domain, SampleId};
use crate::json::Look;

#[derive(Debug, Clone, PartialEq)]
pub struct Demo {
    pub id: SampleId,
    pub request: String,
    /// The gold plan: `task_steps`, `task_nodes`, and `task_links` for temporal dependencies.
    pub result: Value,
}

/// The ids of the examples of a known domain, in order of priority: the original's, and those of GNN4TaskPlan for its
/// two further domains.
pub fn known_demos(domain: &str) -> &'static [&'static str] {
    match domain {
        "huggingface" => &["10523150", "14611002", "22067492"],
        "multimedia" => &["30934207", "20566230", "19003517"],
        "dailylifeapis" => &["38563456", "27267145", "91005535"],
        "ultratool" => &["691"],
        "tmdb" => &["1"],
        _ => &[],
    }
}

/// How many examples a folder of predictions says that prompts showed: 2 for `predictions_use_demos_2`.
pub fn demos_of_folder(folder: &str) -> Option<usize> {
    let (_, rest) = folder.split_once("_use_demos_")?;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

/// The samples that prompts with so many of these examples show. They are left out of inference, and so of the strict
/// figures.
pub fn demos_shown(ids: &[&str], count: usize) -> HashSet<SampleId> {
    let shown = ids.iter().take(count);
    shown.flat_map(|id| [SampleId::Text((*id).into()), SampleId::Number((*id).into())]).collect()
}

/// The first `count` of the ids (or of those known for the domain), read from `data.json`, in that file's order.
pub fn demos(
    domain: &Domain,
    dependency: DependencyType,
    count: usize,
    ids: &[String],
) -> Result<Vec<Demo>, InferError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let known = domain.known_as().map(known_demos).unwrap_or_default();
    let ids: Vec<&str> = if ids.is_empty() { known.to_vec() } else { ids.iter().map(String::as_str).collect() };
    if ids.is_empty() {
        return Err(InferError::NoDemos { domain: domain.name() });
    }
    let known = ids.len();
    let wanted = ids.get(..count).ok_or(InferError::FewDemos { wanted: count, known })?;

    let gold = domain.gold()?;
    // The last line of an id wins, as in scoring; lines that are no samples are no examples either.
    let mut found: HashMap<&str, (usize, Demo)> = HashMap::new();
    for record in gold.records().flatten() {
        let Some(id) = wanted.iter().find(|id| **id == record.id.as_str()) else { continue };
        let mut result = Map::new();
        for (key, value) in [("task_steps", &record.task_steps), ("task_nodes", &record.task_nodes)] {
            result.insert(key.into(), value.as_ref().map_or(Value::Array(Vec::new()), Look::to_serde));
        }
        if dependency == DependencyType::Temporal {
            let links = record.task_links.as_ref().map_or(Value::Array(Vec::new()), Look::to_serde);
            result.insert("task_links".into(), links);
        }
        let Some(request) = record.user_request.as_ref().and_then(Look::text).map(str::to_owned) else { continue };
        found.insert(id, (record.line, Demo { id: record.id, request, result: Value::Object(result) }));
    }
    let missing: Vec<&str> = wanted.iter().copied().filter(|id| !found.contains_key(id)).collect();
    if !missing.is_empty() {
        return Err(InferError::MissingDemos { ids: missing.join(", "), path: domain.path("data.json") });
    }
    let mut demos: Vec<(usize, Demo)> = found.into_values().collect();
    demos.sort_by_key(|(line, _)| *line);
    Ok(demos.into_iter().map(|(_, demo)| demo).collect())
}
