//! JSON files that a configuration names, and fields of JSON objects.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

#[derive(Debug, thiserror::Error)]
pub enum JsonFileError {
    #[error("cannot read {}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{} is larger than {max} bytes", .path.display())]
    TooLarge { path: PathBuf, max: u64 },
    #[error("{}: {reason}", .path.display())]
    Content { path: PathBuf, reason: String },
}

impl JsonFileError {
    pub(crate) fn content(path: &Path, reason: impl Into<String>) -> JsonFileError {
        JsonFileError::Content { path: path.to_owned(), reason: reason.into() }
    }
}

/// Reads a file of at most `max` bytes. Blocks.
pub(crate) fn load(path: &Path, max: u64) -> Result<Value, JsonFileError> {
    let io = |source| JsonFileError::Io { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(io)?.take(max + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() as u64 > max {
        return Err(JsonFileError::TooLarge { path: path.to_owned(), max });
    }
    serde_json::from_slice(&bytes).map_err(|error| JsonFileError::content(path, format!("it is not JSON: {error}")))
}

pub(crate) fn set(object: &mut Value, field: &str, value: impl Into<Value>) {
    object.as_object_mut().expect("only objects get fields").insert(field.to_owned(), value.into());
}

/// Takes a field out of an object that has it.
pub(crate) fn take(mut object: Value, field: &str) -> Value {
    object.get_mut(field).expect("the object has this field").take()
}
