//! Metrics files: read, updated group by group, written at once.

use std::fmt::Write;
use std::fs::File;
use std::path::Path;

use jarvis_store::files;
use serde_json::{Map, Value};

use super::table::Table;
use crate::DataError;

pub fn read_metrics(path: &Path) -> Result<Map<String, Value>, DataError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Map::new()),
        Err(error) => return Err(DataError::read(path, error)),
    };
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(groups)) => Ok(groups),
        Ok(_) => Err(DataError::shape(path, "a metrics file is an object of groups")),
        Err(error) => Err(DataError::NotJson { path: path.to_owned(), reason: error.to_string() }),
    }
}

/// Puts the groups of this run into the file: a group that was there is replaced whole, others stay, and their names are
/// given. The file is never half-written.
pub fn update_metrics(
    path: &Path,
    groups: impl IntoIterator<Item = (String, Value)>,
) -> Result<Vec<String>, DataError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| DataError::write(path, error))?;
    // Of two runs at once the one waits for the few lines of the other, or its groups would be lost. Where folders cannot be
    // locked, the later one wins.
    let turn = File::open(folder);
    if let Ok(turn) = &turn {
        let _ = turn.lock();
    }
    let mut all = read_metrics(path)?;
    let mut kept: Vec<String> = all.keys().cloned().collect();
    for (key, figures) in groups {
        kept.retain(|group| *group != key);
        all.insert(key, figures);
    }
    let mut text = serde_json::to_string_pretty(&all).map_err(|error| DataError::shape(path, error.to_string()))?;
    text.push('\n');
    files::replace_derived(path, text.as_bytes())?;
    Ok(kept)
}

/// The log beside a metrics file, as the original has it: each figure of each group, then its table of tools.
pub fn log_text(name: &str, groups: &Map<String, Value>, table: impl Fn(&Value) -> Option<Table>) -> String {
    let mut log = String::new();
    for (group, figures) in groups {
        let _ = writeln!(log, "{name} {group}");
        figure_lines("", figures, &mut log);
        if let Some(table) = table(figures) {
            let _ = writeln!(log, "\n{}", table.text());
        }
        log.push('\n');
    }
    log
}

fn figure_lines(path: &str, figures: &Value, log: &mut String) {
    let Some(figures) = figures.as_object() else { return };
    for (key, value) in figures {
        if key.starts_with("node_per_type") || key == "per_tool" {
            continue;
        }
        if value.is_object() {
            figure_lines(&format!("{path}{key}."), value, log);
        } else {
            let _ = writeln!(log, "  {path}{key}: {value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{read_metrics, update_metrics};

    #[test]
    fn runs_at_once_lose_no_group() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("metrics/m.json");
        std::thread::scope(|threads| {
            for at in 0..8 {
                let path = &path;
                threads.spawn(move || {
                    for turn in 0..20 {
                        update_metrics(path, [(format!("overall_{at}"), json!({"turn": turn}))]).unwrap();
                    }
                });
            }
        });
        let groups = read_metrics(&path).unwrap();
        assert_eq!(groups.len(), 8);
        assert!(groups.values().all(|figures| *figures == json!({"turn": 19})), "{groups:?}");
    }
}
