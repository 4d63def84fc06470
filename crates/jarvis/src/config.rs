//! The configuration: defaults, then a YAML file, then the environment; flags are applied by the commands.
//!
//! Every environment variable that jarvis reads is named in [`env_vars`]. Unknown keys give a warning.

mod agent;
mod budget;
mod decisions;
pub(crate) mod env_vars;
mod experts;
#[cfg(feature = "serve")]
pub(crate) mod held;
mod limits;
mod llm;
mod media_store;
mod model;
mod original;
mod runs;
#[cfg(feature = "serve")]
mod server;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

pub(crate) use decisions::{DecisionsConfig, LastResort};
pub(crate) use experts::{MediaConfig, StatusApi};
pub(crate) use llm::{FallbackConfig, Setting};
pub(crate) use media_store::MediaStoreConfig;
pub(crate) use model::Config;
pub(crate) use runs::{Resume, RetentionConfig};
#[cfg(feature = "serve")]
pub(crate) use server::{GrpcConfig, TokenConfig, token_in};

#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    #[error("cannot read the configuration {}", .path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("the configuration {} is not valid YAML: {reason}", .path.display())]
    Yaml { path: PathBuf, reason: String },
    #[error("the configuration key `{key}` is wrong: {reason}")]
    Type { key: String, reason: String },
}

/// A configuration and what was odd about where it came from.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) path: Option<PathBuf>,
    /// One for each unknown key, and those of whoever held keys.
    pub(crate) warnings: Vec<String>,
    /// The tree of the file.
    #[cfg(feature = "serve")]
    pub(crate) tree: held::Tree,
}

/// Loads the configuration. Without `path`, `jarvis.yaml` in the configuration folder is used when it is there. `hold` may change what
/// a file says that could be taken as it is, and warns of each key that it changed.
pub(crate) fn load(
    path: Option<&Path>,
    folder: Option<&Path>,
    env: impl Iterator<Item = (String, String)>,
    hold: impl FnOnce(&mut Map<String, Value>) -> Vec<String>,
) -> Result<Loaded, ConfigError> {
    let found = path
        .map(Path::to_path_buf)
        .or_else(|| folder.map(|folder| folder.join("jarvis.yaml")).filter(|path| path.is_file()));
    let mut tree = match &found {
        Some(path) => tree(path)?,
        None => Map::new(),
    };
    let mut vars: Vec<(String, String)> = env.filter(|(_, text)| !text.trim().is_empty()).collect();
    vars.sort();
    // A variable is read as YAML, so that numbers, switches and lists can be set; where that does not fit the key, it is
    // the text it looks like: a model may be called `1234`.
    let typed = |tree: &Map<String, Value>| match typed(tree, &vars, &|text| serde_saphyr::from_str(text).ok()) {
        Ok(found) => Ok(found),
        Err(error) => typed(tree, &vars, &|_| None).map_err(|_| error),
    };
    let (mut config, unknown) = typed(&tree)?;
    let mut warnings: Vec<String> =
        unknown.into_iter().map(|key| format!("unknown configuration key `{key}`")).collect();
    let held = hold(&mut tree);
    if !held.is_empty() {
        (config, _) = typed(&tree)?;
        warnings.extend(held);
    }
    Ok(Loaded {
        config,
        path: found,
        warnings,
        #[cfg(feature = "serve")]
        tree,
    })
}

/// The configuration of a file's tree with the environment on top, and the keys that mean nothing.
fn typed(
    tree: &Map<String, Value>,
    vars: &[(String, String)],
    read: &dyn Fn(&str) -> Option<Value>,
) -> Result<(Config, Vec<String>), ConfigError> {
    let mut tree = tree.clone();
    for (name, text) in vars {
        apply(&mut tree, name, read(text).unwrap_or_else(|| Value::String(text.clone())));
    }
    let mut unknown = Vec::new();
    let mut track = serde_path_to_error::Track::new();
    let value = Value::Object(tree);
    let mut ignored = |key: serde_ignored::Path<'_>| unknown.push(key.to_string());
    let value = serde_ignored::Deserializer::new(value, &mut ignored);
    let config = Config::deserialize(serde_path_to_error::Deserializer::new(value, &mut track))
        .map_err(|error| ConfigError::Type { key: track.path().to_string(), reason: error.to_string() })?;
    Ok((config, unknown))
}

/// Reads the text of a configuration as [`load`] reads its file: the tree, and the keys that are unknown.
pub(crate) fn check_text(path: &Path, text: &str) -> Result<(Map<String, Value>, Vec<String>), ConfigError> {
    let mut tree = parse(path, text)?;
    original::translate(&mut tree);
    let (_, unknown) = typed(&tree, &[], &|_| None)?;
    Ok((tree, unknown))
}

/// The tree of a configuration file.
pub(crate) fn tree(path: &Path) -> Result<Map<String, Value>, ConfigError> {
    let mut tree = read(path)?;
    original::translate(&mut tree);
    Ok(tree)
}

fn read(path: &Path) -> Result<Map<String, Value>, ConfigError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_path_buf(), source })?;
    parse(path, &text)
}

fn parse(path: &Path, text: &str) -> Result<Map<String, Value>, ConfigError> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let value: Value = serde_saphyr::from_str(text)
        .map_err(|error| ConfigError::Yaml { path: path.to_path_buf(), reason: error.to_string() })?;
    match value {
        Value::Object(tree) => Ok(tree),
        Value::Null => Ok(Map::new()),
        _ => Err(ConfigError::Yaml { path: path.to_path_buf(), reason: "the top level is not a mapping".into() }),
    }
}

/// Sets the key that an environment variable names: `JARVIS_LIMITS__CONCURRENCY=4` is `limits.concurrency: 4`.
fn apply(tree: &mut Map<String, Value>, name: &str, value: Value) {
    let path: Vec<String> = match name {
        env_vars::LLM => vec!["llm".into(), "model".into()],
        env_vars::OPENAI_BASE_URL => vec!["llm".into(), "base_url".into()],
        env_vars::CONFIG | env_vars::LOG | env_vars::TOKEN | env_vars::ADMIN_TOKEN => return,
        _ if name.starts_with(env_vars::INSTALLER) => return,
        _ => match name.strip_prefix(env_vars::PREFIX) {
            Some(rest) => rest.split("__").map(str::to_ascii_lowercase).collect(),
            None => return,
        },
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
            _ => return,
        }
    }
    at.insert(last.clone(), value);
    if name == env_vars::OPENAI_BASE_URL {
        // The environment wins over the file, and an endpoint is either Azure's or not.
        at.remove("azure");
    }
}

// A build without the server does not know all keys.
#[cfg(all(test, feature = "serve"))]
mod reference;
#[cfg(test)]
mod tests;
