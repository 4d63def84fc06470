//! The fuzz targets of `fuzz/`, each for a while.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

use crate::setup::succeeds;
use crate::tools::FUZZ;

/// How long each target runs unless the command line says otherwise.
pub(crate) const SECONDS: u32 = 60;

/// Inputs to start from beside what earlier runs found: a target and a folder.
const SEEDS: [(&str, &str); 2] =
    [("plan", "crates/jarvis-testing/data/replies"), ("reader", "crates/jarvis-testing/data/replies")];

/// Runs every target for so many seconds, with nightly Rust where it is installed and else with the workspace's.
///
/// # Errors
/// When cargo-fuzz is missing, or names the targets that found a fault; each is run, whatever the others found.
pub(crate) fn run(root: &Path, seconds: u32) -> Result<()> {
    FUZZ.needed()?;
    let manifest = root.join("fuzz/Cargo.toml");
    let text = std::fs::read_to_string(&manifest).with_context(|| format!("{} cannot be read", manifest.display()))?;
    let nightly = succeeds(&["cargo", "+nightly", "--version"]);
    let mut failed = Vec::new();
    for target in targets(&text)? {
        println!("==> {target}, {seconds} s");
        if !fuzz(root, &target, seconds, nightly)? {
            failed.push(target);
        }
    }
    if !failed.is_empty() {
        bail!("a fault was found by {}; its input is under fuzz/artifacts", failed.join(", "));
    }
    Ok(())
}

fn fuzz(root: &Path, target: &str, seconds: u32, nightly: bool) -> Result<bool> {
    let corpus = root.join("fuzz/corpus").join(target);
    std::fs::create_dir_all(&corpus).with_context(|| format!("{} cannot be created", corpus.display()))?;
    // What is found goes into the first folder; the others are only read.
    let seeds = SEEDS.iter().filter(|(of, _)| *of == target).map(|(_, folder)| root.join(folder));
    let folders: Vec<PathBuf> = std::iter::once(corpus).chain(seeds).collect();
    let mut command = Command::new("cargo");
    if nightly {
        command.arg("+nightly");
    } else {
        // cargo-fuzz needs flags of the compiler that are not stable.
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    // Set by rustup and by cargo for this process; the toolchain of the command line decides for the other.
    for name in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "RUSTDOC"] {
        command.env_remove(name);
    }
    command.args(["fuzz", "run", target]).args(folders).arg("--").arg(format!("-max_total_time={seconds}"));
    let status = command.current_dir(root).status().context("`cargo fuzz` cannot start")?;
    Ok(status.success())
}

/// The names of the binaries in the manifest of the targets.
fn targets(manifest: &str) -> Result<Vec<String>> {
    let manifest: Table = manifest.parse().context("fuzz/Cargo.toml is not TOML")?;
    let bins = manifest.get("bin").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<String> =
        bins.filter_map(|bin| bin.get("name").and_then(Value::as_str)).map(str::to_owned).collect();
    if names.is_empty() {
        bail!("fuzz/Cargo.toml has no [[bin]] with a name");
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_the_binaries_of_the_manifest() {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/Cargo.toml")).unwrap();
        let names = targets(&text).unwrap();
        for (of, folder) in SEEDS {
            assert!(names.iter().any(|name| name == of), "{of}");
            assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).is_dir(), "{folder}");
        }
        assert_eq!(targets("[[bin]]\nname = \"a\"\n[[bin]]\nname = \"b\"\n").unwrap(), ["a", "b"]);
        assert!(targets("[package]\nname = \"x\"\n").is_err());
    }
}
