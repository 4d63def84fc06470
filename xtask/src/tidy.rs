//! The project rules that clippy and cargo-deny have no lint for. A rule is a function from the workspace to findings.

mod floors;
mod manifests;
mod published;
mod source;
#[cfg(test)]
mod tests;
mod workflows;
mod workspace;

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, bail};

pub(crate) use workspace::{Example, Workspace};

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// The file, relative to the workspace root.
    path: String,
    /// From 1; 0 for the whole file.
    line: usize,
    what: String,
    rule: &'static str,
    /// A warning is printed and does not fail.
    warning: bool,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>, rule: &'static str) -> Finding {
        Finding { path: path.to_owned(), line, what: what.into(), rule, warning: false }
    }

    fn warning(self) -> Finding {
        Finding { warning: true, ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.warning { "warning: " } else { "" };
        write!(f, "{}:{}: {mark}{} — {}", self.path, self.line.max(1), self.what, self.rule)
    }
}

/// Checks the workspace and prints the findings.
///
/// # Errors
/// When a rule is broken, or the workspace cannot be read.
pub(crate) fn report(root: &Path) -> Result<()> {
    let findings = check(root)?;
    for finding in &findings {
        println!("{finding}");
    }
    let broken = findings.iter().filter(|finding| !finding.warning).count();
    let warnings = findings.len() - broken;
    if broken > 0 {
        bail!("tidy: {broken} errors, {warnings} warnings");
    }
    println!("tidy: no errors, {warnings} warnings");
    Ok(())
}

/// Every finding, by file and line.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>> {
    let workspace = Workspace::load(root)?;
    let mut findings = floors::check(&workspace.crates);
    for member in &workspace.crates {
        findings.extend(manifests::member(&member.manifest, &read(root, &member.manifest)?));
    }
    findings.extend(source::check(&workspace.sources));
    findings.extend(published::check(&workspace.for_registry(root), &workspace.channel));
    findings.extend(workspace.forge.iter().flat_map(|(path, text)| workflows::check(path, text)));
    let architecture = root.join("ARCHITECTURE.md");
    if architecture.is_file() {
        let text = read(root, "ARCHITECTURE.md")?;
        let names: Vec<&str> = workspace.crates.iter().map(|member| member.name.as_str()).collect();
        findings.extend(manifests::mentioned(&text, &names, &workspace.docs));
        findings.extend(manifests::gone(&text, &workspace.sources));
    }
    findings.sort();
    findings.dedup();
    Ok(findings)
}

pub(crate) fn read(root: &Path, path: &str) -> Result<String> {
    std::fs::read_to_string(root.join(path)).with_context(|| format!("{path} cannot be read"))
}
