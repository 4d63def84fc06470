//! cargo-deny, when it is installed: licences, bans and sources always, advisories where their database is at hand.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::steps::cargo;

/// Runs cargo-deny with the workspace's `deny.toml`.
///
/// # Errors
/// When it finds something, or is not installed.
pub(crate) fn run(root: &Path) -> Result<()> {
    let version = Command::new("cargo").args(["deny", "--version"]).stderr(Stdio::null()).output()?;
    if !version.status.success() {
        bail!(
            "cargo-deny is not installed\nhint: cargo install --locked cargo-deny@0.20\n      \
             (the licences alone are also checked by `cargo xtask tidy`)"
        );
    }
    cargo(root, &["deny", "--all-features", "check", "licenses", "bans", "sources"])?;
    if database().is_some_and(|folder| folder.read_dir().is_ok_and(|mut entries| entries.next().is_some())) {
        cargo(root, &["deny", "--all-features", "check", "--disable-fetch", "advisories"])
    } else {
        println!("advisories were not checked: there is no database here; `cargo deny fetch db` gets it");
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
