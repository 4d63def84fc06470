//! Manifests say little: versions, features, lints and the licence are the workspace's. And each crate and document is
//! on the map. Reads the few shapes of TOML that manifests use, line by line.

use super::Finding;

const INHERITED: [&str; 3] = ["version", "edition", "license"];

/// What a member's manifest does not inherit.
pub(super) fn member(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines: Vec<Line<'_>> = lines(text).collect();
    for key in INHERITED {
        let inherits = lines.iter().any(|line| line.table == "package" && line.inherits(key));
        if !inherits {
            let at =
                lines.iter().find(|line| line.table == "package" && line.name() == key).map_or(1, |line| line.number);
            findings.push(Finding::new(
                path,
                at,
                format!("`{key}` is not the workspace's"),
                "`version`, `edition`, `license` and lints are inherited",
            ));
        }
    }
    if !lines.iter().any(|line| line.table == "lints" && line.key == "workspace" && line.value == "true") {
        findings.push(Finding::new(
            path,
            1,
            "`[lints] workspace = true` is missing",
            "`version`, `edition`, `license` and lints are inherited",
        ));
    }
    let mut single: Vec<(&str, usize, bool)> = Vec::new();
    for line in &lines {
        let says = line.key == "workspace" && line.value == "true";
        // `[dependencies.NAME]` is a table of its own.
        if line.table.rsplit_once('.').is_some_and(|(table, _)| is_dependencies(table)) {
            match single.iter_mut().find(|(table, ..)| *table == line.table) {
                Some((_, _, known)) => *known |= says,
                None => single.push((line.table, line.number, says)),
            }
        } else if is_dependencies(line.table) && !line.inherits(line.name()) {
            findings.push(own_version(path, line.name(), line.number));
        }
    }
    let own = single.into_iter().filter(|(_, _, known)| !known);
    findings.extend(own.map(|(table, number, _)| own_version(path, table, number)));
    findings
}

fn own_version(path: &str, name: &str, line: usize) -> Finding {
    let rule = "dependencies are listed once, in the root manifest (`NAME.workspace = true`)";
    Finding::new(path, line, format!("`{name}` has its own version"), rule)
}

/// Crates and documents that the map leaves out.
pub(super) fn mentioned(map: &str, crates: &[&str], docs: &[String]) -> Vec<Finding> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    let has = |name: &str| {
        map.match_indices(name).any(|(at, _)| {
            let before = map.get(..at).and_then(|text| text.chars().next_back());
            let after = map.get(at + name.len()..).and_then(|text| text.chars().next());
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
    };
    let names = crates.iter().copied().chain(docs.iter().map(String::as_str));
    names
        .filter(|name| !has(name))
        .map(|name| {
            Finding::new(
                "ARCHITECTURE.md",
                0,
                format!("`{name}` is not mentioned"),
                "the map names every crate and document",
            )
        })
        .collect()
}

/// `[dependencies]` and its kin, also under `[target.….dependencies]`.
fn is_dependencies(table: &str) -> bool {
    ["dependencies", "dev-dependencies", "build-dependencies"].iter().any(|kind| {
        table == *kind
            || table.strip_suffix(kind).is_some_and(|rest| rest.starts_with("target.") && rest.ends_with('.'))
    })
}

/// A key and its value in the table they stand in.
struct Line<'a> {
    number: usize,
    table: &'a str,
    key: &'a str,
    value: &'a str,
}

impl<'a> Line<'a> {
    /// The key up to its first dot.
    fn name(&self) -> &'a str {
        self.key.split('.').next().unwrap_or(self.key)
    }

    /// `key.workspace = true` or `key = { workspace = true, … }`.
    fn inherits(&self, key: &str) -> bool {
        if self.name() != key {
            return false;
        }
        if self.key.strip_prefix(key) == Some(".workspace") {
            return self.value == "true";
        }
        let inner = self.value.strip_prefix('{').and_then(|value| value.strip_suffix('}')).unwrap_or("");
        inner
            .split(',')
            .any(|pair| pair.split_once('=').is_some_and(|(k, v)| k.trim() == "workspace" && v.trim() == "true"))
    }
}

/// Each `key = value` line with its table. A value that goes on over several lines gives its first line only.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut table = "";
    text.lines().enumerate().filter_map(move |(at, line)| {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next())
            && !line.starts_with("[[")
            && !line.contains('=')
        {
            table = name.trim();
            return None;
        }
        if line.starts_with("[[") {
            table = "";
        }
        let (key, value) = line.split_once('=')?;
        let (key, value) = (key.trim(), without_comment(value).trim());
        (!key.starts_with('#')).then_some(Line { number: at + 1, table, key, value })
    })
}

/// The value without a comment behind it.
fn without_comment(value: &str) -> &str {
    let mut quoted = false;
    for (at, letter) in value.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            '#' if !quoted => return value.get(..at).unwrap_or(value),
            _ => {}
        }
    }
    value
}
