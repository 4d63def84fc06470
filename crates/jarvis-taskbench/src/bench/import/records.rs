//! The records of a file: the elements of a JSON list, or JSON Lines.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde_json::Value;

use crate::DataError;
use crate::data::Lines;

/// Records with their numbers from 1: of a list the place, else the line.
pub(super) type Records = Vec<(usize, Result<Value, String>)>;

/// So much of a file is looked at for its first record.
const HEAD: u64 = 8 << 20;

pub(super) fn all(path: &Path) -> Result<Records, DataError> {
    let lines = Lines::read(path)?;
    let starts_a_list = lines.iter().next().is_some_and(|(_, line)| line.first() == Some(&b'['));
    if starts_a_list {
        let bytes = std::fs::read(path).map_err(|error| DataError::read(path, error))?;
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        // A list on each line is JSON Lines too, even where there is one line.
        if let Ok(list) = serde_json::from_slice::<Vec<Value>>(bytes)
            && !list.iter().any(Value::is_string)
        {
            return Ok(list.into_iter().enumerate().map(|(at, value)| (at + 1, Ok(value))).collect());
        }
    }
    let parse = |line: &[u8]| serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"));
    Ok(lines.iter().map(|(number, line)| (number, parse(line))).collect())
}

/// The first record; `None` when the file has none, or is not JSON.
pub(super) fn first(path: &Path) -> Result<Option<Value>, DataError> {
    let file = File::open(path).map_err(|error| DataError::read(path, error))?;
    let mut head = BufReader::new(file.take(HEAD));
    let mut start = Vec::new();
    head.read_until(b'\n', &mut start).map_err(|error| DataError::read(path, error))?;
    if let Ok(value) = serde_json::from_slice::<Value>(start.trim_ascii()) {
        return Ok(Some(match value {
            // One line may hold the whole list; a list of an object and a text is a record of its own.
            Value::Array(items)
                if items.first().is_some_and(Value::is_object) && !items.iter().any(Value::is_string) =>
            {
                items.into_iter().next().unwrap_or_default()
            }
            value => value,
        }));
    }
    head.read_to_end(&mut start).map_err(|error| DataError::read(path, error))?;
    let inside = start.trim_ascii_start().strip_prefix(b"[");
    let mut values = serde_json::Deserializer::from_slice(inside.unwrap_or(&start)).into_iter::<Value>();
    Ok(values.next().and_then(Result::ok))
}
