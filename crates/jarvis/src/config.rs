//! The configuration: defaults, then a YAML file, then the environment; flags are applied by the commands.
//!
//! Every environment variable that jarvis reads is named in [`env_vars`]. Keys that mean nothing are told, not obeyed.

pub(crate) mod env_vars;
mod model;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

pub(crate) use model::{Config, MediaConfig, StatusApi};

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not YAML.
    #[error("the configuration {} is not valid YAML: {reason}", .path.display())]
    Yaml {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
    /// A key has a value of the wrong type.
    #[error("the configuration key `{key}` {reason}")]
    Type {
        /// The key, dotted.
        key: String,
        /// What is wrong.
        reason: String,
    },
}

/// A configuration and what was odd about where it came from.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The settings.
    pub(crate) config: Config,
    /// The file used, if any.
    pub(crate) path: Option<PathBuf>,
    /// Warnings: keys that mean nothing.
    pub(crate) warnings: Vec<String>,
}

/// Loads the configuration. Without `path`, `jarvis.yaml` in the configuration folder is used when it is there.
pub(crate) fn load(
    path: Option<&Path>,
    folder: Option<&Path>,
    env: impl Iterator<Item = (String, String)>,
) -> Result<Loaded, ConfigError> {
    let found = path
        .map(Path::to_path_buf)
        .or_else(|| folder.map(|folder| folder.join("jarvis.yaml")).filter(|path| path.is_file()));
    let mut tree = match &found {
        Some(path) => read(path)?,
        None => Map::new(),
    };
    let mut warnings = Vec::new();
    let mut vars: Vec<(String, String)> = env.collect();
    vars.sort();
    for (name, text) in vars {
        apply(&mut tree, &name, &text, &mut warnings);
    }
    let mut unknown = Vec::new();
    let config: Config = serde_ignored::deserialize(Value::Object(tree), |key| unknown.push(key.to_string()))
        .map_err(|error| ConfigError::Type { key: "(see below)".into(), reason: error.to_string() })?;
    warnings.extend(unknown.into_iter().map(|key| format!("the configuration key `{key}` means nothing to jarvis")));
    Ok(Loaded { config, path: found, warnings })
}

fn read(path: &Path) -> Result<Map<String, Value>, ConfigError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_path_buf(), source })?;
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let value: Value = serde_saphyr::from_str(&text)
        .map_err(|error| ConfigError::Yaml { path: path.to_path_buf(), reason: error.to_string() })?;
    match value {
        Value::Object(tree) => Ok(tree),
        Value::Null => Ok(Map::new()),
        _ => Err(ConfigError::Yaml { path: path.to_path_buf(), reason: "the top level is not a mapping".into() }),
    }
}

/// Sets the key that an environment variable names: `JARVIS_LIMITS__CONCURRENCY=4` is `limits.concurrency: 4`.
fn apply(tree: &mut Map<String, Value>, name: &str, text: &str, warnings: &mut Vec<String>) {
    if text.is_empty() {
        return;
    }
    let path: Vec<String> = match name {
        env_vars::LLM => vec!["llm".into(), "model".into()],
        env_vars::OPENAI_BASE_URL => vec!["llm".into(), "base_url".into()],
        env_vars::CONFIG | env_vars::LOG => return,
        _ => match name.strip_prefix(env_vars::PREFIX) {
            Some(rest) => rest.split("__").map(str::to_ascii_lowercase).collect(),
            None => return,
        },
    };
    // What a string-typed key wants stays text; numbers and booleans are read as such.
    let value = match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => text.parse::<i64>().map(Value::from).unwrap_or_else(|_| Value::String(text.to_owned())),
    };
    let Some((last, folders)) = path.split_last() else { return };
    let mut at = tree;
    for folder in folders {
        let entry = at.entry(folder.clone()).or_insert_with(|| Value::Object(Map::new()));
        if !entry.is_object() {
            *entry = Value::Object(Map::new());
        }
        match entry {
            Value::Object(inner) => at = inner,
            _ => {
                warnings.push(format!("the environment variable {name} names no configuration key"));
                return;
            }
        }
    }
    at.insert(last.clone(), value);
}

#[cfg(test)]
mod tests;
