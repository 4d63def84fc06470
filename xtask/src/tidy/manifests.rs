//! Manifests say little: versions, features, lints and the licence are the workspace's. And each crate and document is
//! on the map.

use std::collections::HashSet;

use toml::{Table, Value};

use super::Finding;
use super::workspace::Source;

const INHERITED: [&str; 3] = ["version", "edition", "license"];

/// What a member's manifest does not inherit.
pub(super) fn member(path: &str, text: &str) -> Vec<Finding> {
    let finding = |what: String, rule| Finding::new(path, 0, what, rule);
    let manifest: Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![finding(format!("{error}"), "a manifest is TOML")],
    };
    let rule = "`version`, `edition`, `license` and lints are inherited";
    let is_own = |key: &&&str| !manifest.get("package").and_then(|package| package.get(key)).is_some_and(inherits);
    let mut findings: Vec<Finding> =
        INHERITED.iter().filter(is_own).map(|key| finding(format!("`{key}` is not the workspace's"), rule)).collect();
    if !manifest.get("lints").is_some_and(inherits) {
        findings.push(finding("`[lints] workspace = true` is missing".to_owned(), rule));
    }
    let targets = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    for table in std::iter::once(&manifest).chain(targets.filter_map(Value::as_table)) {
        let tables =
            ["dependencies", "dev-dependencies", "build-dependencies"].iter().filter_map(|kind| table.get(*kind));
        for (name, _) in tables.filter_map(Value::as_table).flatten().filter(|(_, dependency)| !inherits(dependency)) {
            let rule = "dependencies are listed once, in the root manifest (`NAME.workspace = true`)";
            findings.push(finding(format!("`{name}` has its own version"), rule));
        }
    }
    findings
}

/// Whether a table of a manifest holds `workspace = true`.
fn inherits(value: &Value) -> bool {
    value.get("workspace") == Some(&Value::Boolean(true))
}

/// Names in code, such as those of tests, that the map mentions and no source has.
pub(super) fn gone(map: &str, sources: &[Source]) -> Vec<Finding> {
    let text = map.replace("```", "");
    let is_name = |name: &&str| {
        name.contains('_') && name.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
    };
    let names = text.split('`').skip(1).step_by(2).filter(is_name);
    names
        .filter(|name| !sources.iter().any(|source| source.text.contains(name)))
        .map(|name| {
            Finding::new("ARCHITECTURE.md", 0, format!("no source has `{name}`"), "the map names what there is")
        })
        .collect()
}

/// Crates and documents that the map leaves out.
pub(super) fn mentioned(map: &str, crates: &[&str], docs: &[String]) -> Vec<Finding> {
    let words: HashSet<&str> = map.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).collect();
    let crates = crates.iter().copied().filter(|name| !words.contains(name));
    let docs = docs.iter().map(String::as_str).filter(|doc| !map.contains(doc));
    let rule = "the map names every crate and document";
    crates
        .chain(docs)
        .map(|name| Finding::new("ARCHITECTURE.md", 0, format!("`{name}` is not mentioned"), rule))
        .collect()
}
