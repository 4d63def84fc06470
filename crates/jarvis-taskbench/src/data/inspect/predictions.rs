//! The prediction files: `predictions*/*.json`.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;

use super::{FileReport, GoldSeen, by_frequency, repeated};
use crate::data::{Domain, Lines, SampleId};
use crate::evaluate::strict::Catalogue;
use crate::evaluate::strict::plan::Plan;
use crate::json::{Look, parse};

/// Every prediction file, by name.
pub(super) fn all(domain: &Domain, catalogue: &Catalogue, gold: Option<&GoldSeen>) -> Vec<FileReport> {
    let mut files = Vec::new();
    for folder in names(domain, "", |name| name.starts_with("predictions")) {
        for name in names(domain, &folder, |name| name.ends_with(".json")) {
            files.push(one(domain, &format!("{folder}/{name}"), catalogue, gold));
        }
    }
    files
}

/// The sorted names of a folder's entries that fit; folders at the top, files below.
fn names(domain: &Domain, inside: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(domain.path(inside)) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.path().is_dir() == inside.is_empty())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| fits(name))
        .collect();
    names.sort();
    names
}

fn one(domain: &Domain, name: &str, catalogue: &Catalogue, gold: Option<&GoldSeen>) -> FileReport {
    let lines = match Lines::read(&domain.path(name)) {
        Ok(lines) => lines,
        Err(error) => return FileReport::unread(name, &error),
    };
    let mut file = FileReport::new(name);
    let (mut bad, mut malformed, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    let mut repairs: IndexMap<String, usize> = IndexMap::new();
    let (mut unknown, mut nodes) = (HashMap::new(), 0);
    let mut last_is_bad = false;
    for (number, line) in lines.iter() {
        let value = parse(line);
        last_is_bad = value.is_err();
        let value = match value {
            Ok(value) => value,
            Err(error) => {
                bad.push(format!("line {number}: not JSON: {error}"));
                continue;
            }
        };
        let Some(id) = value.look("id").and_then(SampleId::of) else {
            bad.push(format!("line {number}: it has no `id`"));
            continue;
        };
        let plan = Plan::of_result(value.look("result").unwrap_or(&value), catalogue);
        if let Some((_, why)) = &plan.malformed {
            malformed.push(format!("{id} ({why})"));
        }
        for (kind, times) in &plan.repaired {
            *repairs.entry((*kind).to_owned()).or_default() += usize::try_from(*times).unwrap_or(0);
        }
        nodes += plan.nodes.len();
        let named = plan.nodes.iter().zip(plan.written);
        for (_, written) in named.filter(|(name, _)| !catalogue.is_empty() && catalogue.code(name).is_none()) {
            *unknown.entry(written).or_default() += 1;
        }
        ids.push(id);
    }
    file.count("predictions", ids.len());
    repairs.sort_unstable_keys();
    file.counts("repairs that strict scoring makes", repairs);
    if let (Some(last), false) = (bad.last_mut().filter(|_| last_is_bad), lines.ends_whole()) {
        last.push_str(" (the last line, cut short)");
    }
    file.odd("lines that cannot be used", bad, None);
    file.odd("ids that are repeated", repeated(&ids), None);
    file.odd("predictions that are no plan", malformed, Some(ids.len()));
    let strange = unknown.values().sum();
    file.odd_counted("nodes with a tool outside the catalogue", strange, by_frequency(unknown), Some(nodes));
    if let Some(gold) = gold {
        let said: HashSet<&SampleId> = ids.iter().collect();
        let covered = gold.ids.iter().filter(|id| said.contains(id)).count();
        file.facts.insert(1, super::Fact { name: "gold plans covered", value: super::FactValue::Count(covered) });
        let uncovered = gold.ids.iter().filter(|id| !said.contains(id)).map(ToString::to_string).collect();
        file.odd("gold plans without a prediction", uncovered, Some(gold.ids.len()));
        let mut seen = HashSet::new();
        let surplus = ids.iter().filter(|id| !gold.ids.contains(*id) && seen.insert(*id));
        file.odd("predictions for no gold plan", surplus.map(ToString::to_string).collect(), Some(ids.len()));
    }
    file
}
