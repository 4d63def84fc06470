//! cargo-deny: licences, bans and sources always, advisories where their database is present.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::steps::cargo;
use crate::tools::DENY;

/// Runs cargo-deny with the workspace's `deny.toml`, after it has downloaded the advisories where `fetch` says so.
///
/// # Errors
/// When it finds something, or is not installed.
pub(crate) fn run(root: &Path, fetch: bool) -> Result<()> {
    DENY.needed()?;
    if fetch {
        cargo(root, &["deny", "fetch", "db"])?;
    }
    cargo(root, &["deny", "--all-features", "check", "licenses", "bans", "sources"])?;
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
