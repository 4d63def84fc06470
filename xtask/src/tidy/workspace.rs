//! Reads the workspace: members by `cargo metadata`, sources and documents from disk.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// What the rules look at.
pub(crate) struct Workspace {
    pub(super) crates: Vec<Crate>,
    pub(super) sources: Vec<Source>,
    /// `docs/*.md`, relative to the root.
    pub(super) docs: Vec<String>,
    /// How many bench targets there are.
    pub(crate) benches: usize,
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
        let mut workspace = Workspace { crates, sources: Vec::new(), docs: Vec::new(), benches };
        workspace.walk(root, "")?;
        Ok(workspace)
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
