//! Development only: fake chat servers, hubs and model servers that speak the true protocols on real sockets, and the
//! reading of test cases that are kept as data.

pub mod catalogue;
pub mod chat;
pub mod hub;
pub mod inference;
pub mod model_server;
pub mod replies;
pub mod restate;
#[cfg(feature = "s3")]
pub mod s3;
pub mod source;
pub mod stub;
pub mod weights;

use std::collections::HashMap;

/// The lines of a file of test cases, without empty ones and comments, which begin with `#`.
///
/// # Panics
/// When there are none.
pub fn lines(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    assert!(!lines.is_empty(), "there are no test cases");
    lines
}

/// The rows of one table of test cases. The document, YAML or JSON, maps the name of each table to its rows; a row is what `T`
/// is read from, for a tuple a list.
///
/// # Panics
/// When the document has no such table, the table is empty, or a row is no `T`.
#[allow(clippy::panic, reason = "a test whose cases cannot be read fails")]
pub fn rows<T: serde::de::DeserializeOwned>(document: &str, table: &str) -> Vec<T> {
    let mut tables: HashMap<String, Vec<serde_json::Value>> =
        serde_saphyr::from_str(document).unwrap_or_else(|error| panic!("the test cases are not YAML: {error}"));
    let rows = tables.remove(table).filter(|rows| !rows.is_empty());
    let rows = rows.unwrap_or_else(|| panic!("there are no test cases `{table}`"));
    let read = |row: serde_json::Value| {
        serde_json::from_value(row.clone()).unwrap_or_else(|error| panic!("{table}: {row}: {error}"))
    };
    rows.into_iter().map(read).collect()
}
