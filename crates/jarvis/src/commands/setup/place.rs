//! Writes the configuration: lists the changes, asks for consent, and keeps a backup of the old file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jarvis_net::policy::without_secrets;
use jarvis_store::files;
use serde_json::{Map, Value};

use super::with_dialogue;
use crate::failure::Failure;
use crate::printer::Printer;

/// The keys that setup changes; all others stay as they are.
const CHANGED: [&str; 8] = [
    "llm.model",
    "llm.base_url",
    "llm.api_key_env",
    "llm.azure",
    "llm.stages",
    "llm.context_tokens",
    "llm.vision",
    "data_dir",
];

/// Result of writing the file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) written: bool,
    /// Path of the backup of the old file.
    pub(super) backup: Option<PathBuf>,
}

/// One line for each key whose value changes.
pub(super) fn changes(old: &Map<String, Value>, new: &Map<String, Value>) -> Vec<String> {
    let at = |tree: &Map<String, Value>, path: &str| match path.split_once('.') {
        Some((head, key)) => tree.get(head).and_then(|section| section.get(key)).cloned(),
        None => tree.get(path).cloned(),
    };
    let change = |path: &&str| {
        let (old, new) = (at(old, path), at(new, path));
        let shown = |value: Option<Value>| match value {
            None => "unset".to_owned(),
            Some(Value::String(address)) if *path == "llm.base_url" => without_secrets(&address),
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
        };
        (old != new).then(|| format!("{path}: {} -> {}", shown(old), shown(new)))
    };
    CHANGED.iter().filter_map(change).collect()
}

/// Writes the file atomically. An existing file is replaced only if a key changes and the user agrees.
pub(super) fn put(
    path: &Path,
    text: &str,
    is_there: bool,
    changes: &[String],
    yes: bool,
    asks: bool,
    printer: Printer,
) -> Result<Placed, Failure> {
    if is_there && changes.is_empty() {
        return Ok(Placed::default());
    }
    let mut backup = None;
    if is_there {
        agree(path, changes, yes, asks, printer)?;
        let kept = free_name(path);
        std::fs::copy(path, &kept).map_err(|error| not_written(&kept, &error))?;
        backup = Some(kept);
    }
    files::replace(path, text.as_bytes()).map_err(|error| {
        Failure::work(error).hint("name another file with --config, or see what it holds with --print")
    })?;
    Ok(Placed { written: true, backup })
}

fn agree(path: &Path, changes: &[String], yes: bool, asks: bool, printer: Printer) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    if !asks {
        let error = format!("{} is there and would change: {}", path.display(), changes.join("; "));
        return Err(Failure::usage(error).hint("agree with --yes, which keeps a backup, or look at it with --print"));
    }
    printer.progress(&format!("{} is there. It would change:", path.display()));
    changes.iter().for_each(|change| printer.progress(&format!("  {change}")));
    let question = "Replace it? Its other keys stay, its comments do not, and a backup is kept";
    match with_dialogue(|dialogue| dialogue.yes(question, true))? {
        true => Ok(()),
        false => Err(Failure::work("nothing was written")),
    }
}

/// `jarvis.yaml.bak`, or the next number that is free.
fn free_name(path: &Path) -> PathBuf {
    let with = |suffix: &str| {
        let mut name: OsString = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let numbered = (2_u64..).map(|number| with(&format!(".bak-{number}")));
    std::iter::once(with(".bak")).chain(numbered).find(|name| !name.exists()).unwrap_or_else(|| with(".bak"))
}

fn not_written(path: &Path, error: &std::io::Error) -> Failure {
    Failure::work(format!("cannot write {}: {error}; nothing was changed", path.display()))
        .hint("name another file with --config")
}
