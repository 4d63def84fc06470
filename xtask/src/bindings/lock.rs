//! The lock file of the Python package against the workspace's: what both build is of one version, and so are the packages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use toml::{Table, Value};

const OWN: &str = "bindings/python";

/// # Errors
/// When versions differ.
pub(super) fn check(root: &Path) -> Result<()> {
    let (own, all) = (read(root, &format!("{OWN}/Cargo.lock"))?, read(root, "Cargo.lock")?);
    let differing = differing(&own, &all);
    if !differing.is_empty() {
        bail!(
            "{OWN}/Cargo.lock has other versions than Cargo.lock: {}\nhint: cp Cargo.lock {OWN}/ && cargo metadata \
             --manifest-path {OWN}/Cargo.toml >/dev/null",
            differing.join(", ")
        );
    }
    let version = |file: &str, path: &[&str]| -> Result<String> {
        let table = read(root, file)?;
        let first = path.first().and_then(|key| table.get(*key)).cloned();
        let value = path.iter().skip(1).fold(first, |value, key| value?.get(*key).cloned());
        let text = value.as_ref().and_then(Value::as_str).map(str::to_owned);
        text.with_context(|| format!("{file} has no {}", path.join(".")))
    };
    let manifest = format!("{OWN}/Cargo.toml");
    let ours = version(&manifest, &["package", "version"])?;
    if ours != version("Cargo.toml", &["workspace", "package", "version"])? {
        bail!("{manifest} is of version {ours}, the workspace is not\nhint: give it the workspace's version");
    }
    Ok(())
}

/// Packages that both have, in versions that only the first has.
fn differing(own: &Table, all: &Table) -> Vec<String> {
    let known = versions(all);
    let of_both = versions(own).into_iter().filter_map(|(name, versions)| Some((known.get(&name)?, name, versions)));
    of_both.filter(|(known, _, versions)| !versions.is_subset(known)).map(|(_, name, _)| name).collect()
}

fn versions(lock: &Table) -> BTreeMap<String, BTreeSet<String>> {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in lock.get("package").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| package.get(key).and_then(Value::as_str).map(str::to_owned);
        if let (Some(name), Some(version)) = (text("name"), text("version")) {
            versions.entry(name).or_default().insert(version);
        }
    }
    versions
}

fn read(root: &Path, file: &str) -> Result<Table> {
    let text = std::fs::read_to_string(root.join(file)).with_context(|| format!("{file} cannot be read"))?;
    text.parse().with_context(|| format!("{file} is no TOML"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{check, differing};

    #[test]
    fn a_version_that_only_one_has_is_named() {
        let all = "[[package]]\nname = 'a'\nversion = '1.0.0'\n[[package]]\nname = 'a'\nversion = '2.0.0'\n[[package]]\nname = 'b'\nversion = '1.0.0'\n";
        let own = "[[package]]\nname = 'a'\nversion = '2.0.0'\n[[package]]\nname = 'b'\nversion = '1.0.1'\n[[package]]\nname = 'c'\nversion = '1.0.0'\n";
        assert_eq!(differing(&own.parse().unwrap(), &all.parse().unwrap()), ["b"]);
    }

    #[test]
    fn the_python_package_is_built_of_the_workspace_s_versions() {
        check(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))).unwrap();
    }
}
