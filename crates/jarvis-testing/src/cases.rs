//! Tables of test cases that stand in a JSON file beside their test.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The rows of one table. The file is an object of tables; a row is a list of what `T` is a tuple of.
///
/// # Panics
/// When the file has no such table, or a row is not a `T`.
pub fn table<T: DeserializeOwned>(file: &str, name: &str) -> Vec<T> {
    let mut tables: Map<String, Value> = serde_json::from_str(file).expect("an object of tables");
    let rows = tables.remove(name).expect(name);
    serde_json::from_value(rows).expect(name)
}
