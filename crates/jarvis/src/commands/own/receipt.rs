//! The receipt of `install.sh`: what it installed, where, and from which server.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use jarvis_store::files;
use semver::Version;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::install_source::how_to_update;
use crate::failure::Failure;
use crate::wiring::config_folder;

/// Largest receipt that is read, in bytes.
const MAX_RECEIPT: u64 = 64 << 10;

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Receipt {
    installed_by: String,
    /// The program, as it runs now.
    pub(super) bin: PathBuf,
    pub(super) base_url: String,
    pub(super) target: String,
    #[serde(default)]
    files: Vec<PathBuf>,
    /// The program as the receipt names it, which may be a link.
    #[serde(skip)]
    named: PathBuf,
    #[serde(skip)]
    path: PathBuf,
    /// The whole document, so that keys of a newer `install.sh` survive an update.
    #[serde(skip)]
    tree: Map<String, Value>,
}

impl Receipt {
    /// # Errors
    /// When `install.sh` did not install the running program; the hint names who probably did and how to update it.
    pub(super) fn of_this_program() -> Result<Receipt, Failure> {
        let program = std::env::current_exe().and_then(fs::canonicalize).map_err(Failure::work)?;
        let path = config_folder()?.join("install.json");
        let receipt = read(&path)?.filter(|receipt| {
            // pipx and uv put a link to a program of theirs into the same place.
            let is_of_python = program.ancestors().nth(2).is_some_and(|folder| folder.join("pyvenv.cfg").is_file());
            let is_named = fs::canonicalize(&receipt.bin).is_ok_and(|bin| bin == program);
            receipt.installed_by == "install.sh" && is_named && !is_of_python
        });
        match receipt {
            // A link stays one: an update replaces what it points to.
            Some(receipt) => Ok(Receipt { named: receipt.bin.clone(), bin: program, ..receipt }),
            None => {
                let error = format!("install.sh did not install {}, so jarvis leaves it alone", program.display());
                Err(Failure::usage(error).hint(how_to_update(&program)))
            }
        }
    }

    /// Records the new version.
    pub(super) fn updated_to(&self, version: &Version) -> Result<(), Failure> {
        let mut tree = self.tree.clone();
        tree.insert("version".into(), version.to_string().into());
        let text = serde_json::to_vec_pretty(&tree).map_err(Failure::work)?;
        files::replace(&self.path, &[&text[..], b"\n"].concat()).map_err(Failure::work)
    }

    /// Removes the installed files, the program and this receipt last. Returns the removed paths.
    pub(super) fn remove_files(&self) -> Result<Vec<PathBuf>, Failure> {
        let others = self.files.iter().filter(|path| **path != self.bin && is_plainly_ours(path));
        let mut removed = Vec::new();
        for path in others.chain([&self.named, &self.bin, &self.path]) {
            match fs::remove_file(path) {
                Ok(()) => removed.push(path.clone()),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    let error = format!("cannot remove {}: {error}", path.display());
                    return Err(Failure::work(error).hint("remove it by hand, then run this again"));
                }
            }
        }
        Ok(removed)
    }
}

/// A damaged receipt must not delete anything else: only files with `jarvis` in their name qualify, never folders.
fn is_plainly_ours(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_file = path.symlink_metadata().is_ok_and(|data| !data.is_dir());
    path.is_absolute() && name.contains("jarvis") && is_file
}

fn read(path: &Path) -> Result<Option<Receipt>, Failure> {
    let invalid = |reason: String| {
        Failure::work(format!("the receipt {} cannot be read: {reason}", path.display()))
            .hint("run install.sh again, which writes it anew")
    };
    let mut text = Vec::new();
    match fs::File::open(path) {
        Ok(file) => file.take(MAX_RECEIPT).read_to_end(&mut text).map_err(|error| invalid(error.to_string()))?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(invalid(error.to_string())),
    };
    let tree: Map<String, Value> = serde_json::from_slice(&text).map_err(|error| invalid(error.to_string()))?;
    let receipt: Receipt =
        serde_json::from_value(Value::Object(tree.clone())).map_err(|error| invalid(error.to_string()))?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if receipt.target.is_empty() || !receipt.target.chars().all(plain) {
        return Err(invalid(format!("`{}` is not a target", receipt.target)));
    }
    Ok(Some(Receipt { path: path.to_owned(), tree, ..receipt }))
}
