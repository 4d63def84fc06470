//! Reads the workspace: members by `cargo metadata`, sources and documents from disk.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::published;

/// What the rules look at.
pub(crate) struct Workspace {
    pub(super) crates: Vec<Crate>,
    pub(super) sources: Vec<Source>,
    /// `docs/*.md`, relative to the root.
    pub(super) docs: Vec<String>,
    /// The YAML files under `.github`.
    pub(super) forge: Vec<(String, String)>,
    /// The packages as `cargo metadata` tells of them.
    pub(super) packages: Vec<Value>,
    /// The channel in rust-toolchain.toml.
    pub(super) channel: String,
    /// How many bench targets there are.
    pub(crate) benches: usize,
}

/// An example of a crate for crates.io.
pub(crate) struct Example<'a> {
    pub(crate) name: &'a str,
    pub(crate) path: &'a Path,
}

/// A member of the workspace.
#[derive(Debug, Clone, Default)]
pub(super) struct Crate {
    pub(super) name: String,
    /// The name of its folder.
    pub(super) folder: String,
    /// Its manifest, relative to the root.
    pub(super) manifest: String,
    /// `[package.metadata.jarvis] floor`: a number or a word.
    pub(super) floor: Value,
    /// Members it needs to build.
    pub(super) needs: Vec<String>,
}

/// A Rust file.
pub(super) struct Source {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

impl Workspace {
    /// Reads the workspace at `root`.
    pub(crate) fn load(root: &Path) -> Result<Workspace> {
        let metadata = metadata(root)?;
        let packages = list(&metadata, "packages");
        let names: Vec<&str> = packages.iter().filter_map(|package| text(package, "name")).collect();
        let mut crates = Vec::new();
        let mut benches = 0;
        for package in packages {
            crates.push(member(root, package, &names)?);
            let is_bench = |target: &&Value| list(target, "kind").iter().any(|kind| kind == "bench");
            benches += list(package, "targets").iter().filter(is_bench).count();
        }
        let packages = packages.to_vec();
        let channel = channel(root)?;
        let mut workspace =
            Workspace { crates, sources: Vec::new(), docs: Vec::new(), forge: Vec::new(), packages, channel, benches };
        workspace.walk(root, "")?;
        for folder in [".github", ".github/workflows", ".github/ISSUE_TEMPLATE"] {
            workspace.forge(root, folder)?;
        }
        Ok(workspace)
    }

    /// The names of the crates for crates.io, in alphabetical order.
    pub(crate) fn published(&self) -> Vec<String> {
        let packages = self.packages.iter().filter(|package| published::is_published(package));
        let mut names: Vec<String> = packages.filter_map(|package| text(package, "name")).map(str::to_owned).collect();
        names.sort();
        names
    }

    /// The examples of these crates.
    pub(crate) fn examples(&self) -> impl Iterator<Item = Example<'_>> {
        let packages = self.packages.iter().filter(|package| published::is_published(package));
        let is_example = |target: &&Value| list(target, "kind").iter().any(|kind| kind == "example");
        packages.flat_map(|package| list(package, "targets")).filter(is_example).filter_map(|target| {
            Some(Example { name: text(target, "name")?, path: Path::new(text(target, "src_path")?) })
        })
    }

    /// The crates for the rules of crates.io.
    pub(super) fn for_registry(&self, root: &Path) -> Vec<published::Package<'_>> {
        let path = |json| {
            let path = Path::new(text(json, "manifest_path")?);
            path.strip_prefix(root).unwrap_or(path).to_str()
        };
        self.packages.iter().map(|json| published::Package { path: path(json).unwrap_or_default(), json }).collect()
    }

    /// Gathers the YAML files in a folder of `.github`, which may be missing.
    fn forge(&mut self, root: &Path, folder: &str) -> Result<()> {
        let Ok(entries) = root.join(folder).read_dir() else { return Ok(()) };
        for entry in entries {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".yml") || name.ends_with(".yaml") {
                let path = format!("{folder}/{name}");
                self.forge.push((path.clone(), super::read(root, &path)?));
            }
        }
        Ok(())
    }

    /// Gathers Rust files and documents; build output and hidden folders are left out.
    fn walk(&mut self, root: &Path, folder: &str) -> Result<()> {
        let at = root.join(folder);
        for entry in at.read_dir().with_context(|| format!("{} cannot be listed", at.display()))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_dir() {
                if !name.starts_with('.') && name != "target" && name != "node_modules" {
                    self.walk(root, &path)?;
                }
            } else if kind.is_file() && name.ends_with(".rs") {
                self.sources.push(Source { text: super::read(root, &path)?, path });
            } else if kind.is_file() && folder == "docs" && name.ends_with(".md") {
                self.docs.push(path);
            }
        }
        Ok(())
    }
}

fn channel(root: &Path) -> Result<String> {
    let toolchain: toml::Table = super::read(root, "rust-toolchain.toml")?.parse().context("rust-toolchain.toml")?;
    let channel = toolchain.get("toolchain").and_then(|toolchain| toolchain.get("channel"));
    Ok(channel.and_then(toml::Value::as_str).context("rust-toolchain.toml names no channel")?.to_owned())
}

fn member(root: &Path, package: &Value, names: &[&str]) -> Result<Crate> {
    let name = text(package, "name").context("a package without a name")?.to_owned();
    let manifest = Path::new(text(package, "manifest_path").context("a package without a manifest")?);
    let folder = manifest.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let manifest = manifest.strip_prefix(root).unwrap_or(manifest).to_string_lossy().replace('\\', "/");
    let needs = list(package, "dependencies")
        .iter()
        .filter(|dependency| text(dependency, "kind") != Some("dev"))
        .filter_map(|dependency| text(dependency, "name"))
        .filter(|dependency| names.contains(dependency))
        .map(str::to_owned)
        .collect();
    let floor = package.pointer("/metadata/jarvis/floor").cloned().unwrap_or_default();
    Ok(Crate { name, folder: folder.unwrap_or_default(), manifest, floor, needs })
}

fn metadata(root: &Path) -> Result<Value> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program)
        .args(["metadata", "--format-version", "1", "--locked", "--no-deps"])
        .current_dir(root)
        .stderr(Stdio::piped())
        .output()
        .context("`cargo metadata` cannot start")?;
    if !output.status.success() {
        bail!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("`cargo metadata` did not print JSON")
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
