//! Vectors as the original stores them: a pair of lists, `[[ids], [[numbers], …]]`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::Deserialize;

use super::RetrievalError;

/// Vectors with the numbers of the tools they are of.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredVectors {
    pub ids: Vec<i64>,
    /// Their vectors, in the same order.
    pub vectors: Vec<Vec<f64>>,
}

/// A number, or a text of its digits.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Number(i64),
    Text(String),
}

/// Reads a JSON file that holds the pair. Numbers of tools may be texts of digits.
///
/// # Errors
/// When the file cannot be read, is of another shape, or its lists are not equally long.
pub fn read_stored(path: &Path) -> Result<StoredVectors, RetrievalError> {
    let wrong = |reason: String| RetrievalError::Stored { path: path.to_owned(), reason };
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let (ids, vectors): (Vec<Number>, Vec<Vec<f64>>) =
        serde_json::from_reader(BufReader::new(file)).map_err(|error| wrong(error.to_string()))?;
    if ids.len() != vectors.len() {
        return Err(wrong(format!("it holds {} ids and {} vectors", ids.len(), vectors.len())));
    }
    let number = |id| match id {
        Number::Number(id) => Ok(id),
        Number::Text(text) => text.trim().parse().map_err(|_| wrong(format!("`{text}` is no id of a tool"))),
    };
    Ok(StoredVectors { ids: ids.into_iter().map(number).collect::<Result<_, _>>()?, vectors })
}
