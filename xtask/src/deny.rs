//! cargo-deny: licences, bans and sources always, advisories where their database is present.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::setup::succeeds;
use crate::steps::cargo;

pub(crate) const INSTALL: &str = "cargo install --locked cargo-deny@0.20";

pub(crate) fn is_installed() -> bool {
    succeeds(&["cargo", "deny", "--version"])
}

/// Runs cargo-deny with the workspace's `deny.toml`.
///
/// # Errors
/// When it finds something, or is not installed.
pub(crate) fn run(root: &Path) -> Result<()> {
    if !is_installed() {
        bail!("cargo-deny is not installed\nhint: {INSTALL}");
    }
    cargo(root, &["deny", "--all-features", "check", "licenses", "bans", "sources"])?;
    if database().is_some_and(|folder| folder.read_dir().is_ok_and(|mut entries| entries.next().is_some())) {
        cargo(root, &["deny", "--all-features", "check", "--disable-fetch", "advisories"])
    } else {
        println!("skipped: advisories, since their database is absent; `cargo deny fetch db` downloads it");
        Ok(())
    }
}

/// Where cargo-deny keeps the advisory databases.
fn database() -> Option<PathBuf> {
    let home = match std::env::var_os("CARGO_HOME") {
        Some(home) => PathBuf::from(home),
        None => std::env::home_dir()?.join(".cargo"),
    };
    Some(home.join("advisory-dbs"))
}
