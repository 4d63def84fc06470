//! cargo-deny: licences, bans and sources always, advisories where their database is present.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::steps::cargo;
use crate::tools::DENY;

/// The workspace, and the Python package, which is one of its own.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "bindings/python/Cargo.toml"];

/// Runs cargo-deny with the workspace's `deny.toml`, after it has downloaded the advisories where `fetch` says so.
///
/// # Errors
/// When it finds something, or is not installed.
pub(crate) fn run(root: &Path, fetch: bool) -> Result<()> {
    DENY.needed()?;
    if fetch {
        cargo(root, &["deny", "fetch", "db"])?;
    }
    for manifest in MANIFESTS {
        // The settings are found in the manifest's folder or one above it.
        let which = ["deny", "--manifest-path", manifest, "--all-features", "check"];
        cargo(root, &[which.as_slice(), &["licenses", "bans", "sources"]].concat())?;
    }
    if database().is_some_and(|folder| folder.read_dir().is_ok_and(|mut entries| entries.next().is_some())) {
        cargo(root, &["deny", "--all-features", "check", "--disable-fetch", "advisories"])
    } else {
        println!("skipped: advisories, since their database is absent; `cargo xtask deny --fetch` downloads it");
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
