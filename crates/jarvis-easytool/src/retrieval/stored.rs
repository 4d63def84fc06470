//! Vectors as the original stores them: a pair of lists, `[[ids], [[numbers], …]]`.

use std::path::Path;

use jarvis_prompt::literal::Literal;

use crate::input::{InputError, read_json};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredVectors {
    pub ids: Vec<i64>,
    pub vectors: Vec<Vec<f64>>,
}

/// Reads a JSON file that holds the pair. Numbers of tools may be texts of digits.
///
/// # Errors
/// When the file cannot be read, is of another shape, or its lists are not equally long.
pub fn read_stored(path: &Path) -> Result<StoredVectors, InputError> {
    let (ids, vectors): (Vec<Literal>, Vec<Vec<f64>>) = read_json(path)?;
    if ids.len() != vectors.len() {
        return Err(InputError::shape(path, format!("it holds {} ids and {} vectors", ids.len(), vectors.len())));
    }
    let number = |id: Literal| id.id().ok_or_else(|| InputError::shape(path, format!("{id} is not the id of a tool")));
    Ok(StoredVectors { ids: ids.into_iter().map(number).collect::<Result<_, _>>()?, vectors })
}
