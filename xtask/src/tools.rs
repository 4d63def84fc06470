//! Tools that some commands need beside cargo: which version is meant, whether it is there, and how it is installed.

use std::path::Path;

use anyhow::{Result, bail};

use crate::setup::succeeds;
use crate::steps::cargo;

/// A subcommand of cargo that crates.io has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tool {
    /// The name of its crate, `cargo-` and the subcommand.
    name: &'static str,
    version: &'static str,
}

pub(crate) const DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2" };
pub(crate) const FUZZ: Tool = Tool { name: "cargo-fuzz", version: "0.13.2" };
pub(crate) const SEMVER_CHECKS: Tool = Tool { name: "cargo-semver-checks", version: "0.51.0" };

const TOOLS: [Tool; 3] = [DENY, FUZZ, SEMVER_CHECKS];

impl Tool {
    /// The word after `cargo`.
    pub(crate) fn subcommand(self) -> &'static str {
        self.name.strip_prefix("cargo-").unwrap_or(self.name)
    }

    /// The command that installs it.
    pub(crate) fn install(self) -> String {
        format!("cargo xtask tool {}", self.name)
    }

    /// Whether it is installed, in any version.
    pub(crate) fn is_installed(self) -> bool {
        succeeds(&["cargo", self.subcommand(), "--version"])
    }

    /// # Errors
    /// When it is not installed; the message says how to install it.
    pub(crate) fn needed(self) -> Result<()> {
        if !self.is_installed() {
            bail!("{} is not installed\nhint: {}", self.name, self.install());
        }
        Ok(())
    }
}

/// Installs a tool where it is missing.
///
/// # Errors
/// When no command uses a tool of that name, or the installation fails.
pub(crate) fn install(root: &Path, name: &str) -> Result<()> {
    let tool = named(name)?;
    if tool.is_installed() {
        println!("{name} is installed");
        return Ok(());
    }
    cargo(root, &["install", "--locked", &format!("{}@{}", tool.name, tool.version)])
}

fn named(name: &str) -> Result<Tool> {
    match TOOLS.into_iter().find(|tool| tool.name == name) {
        Some(tool) => Ok(tool),
        None => bail!("no command uses `{name}`; the tools are {}", TOOLS.map(|tool| tool.name).join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_found_by_the_names_of_their_crates() {
        assert_eq!(named("cargo-fuzz").unwrap(), FUZZ);
        assert_eq!(FUZZ.subcommand(), "fuzz");
        let error = named("fuzz").unwrap_err().to_string();
        assert_eq!(error, "no command uses `fuzz`; the tools are cargo-deny, cargo-fuzz, cargo-semver-checks");
    }
}
