<<<<<<< HEAD
//! Development only: fake chat servers, hubs and model servers that speak the true protocols on real sockets, and the
//! reading of test cases that are kept as data.
=======
//! Development only: fake chat servers, hubs and model servers that speak the true protocols on real sockets; tables of
//! test cases.
>>>>>>> origin/h/tools

pub mod cases;
pub mod catalogue;
pub mod chat;
pub mod hub;
pub mod inference;
pub mod model_server;
pub mod stub;

use std::collections::HashMap;

/// The rows of one table of a YAML document of test cases, which maps the name of each table to its rows.
#[allow(clippy::panic, reason = "a test whose cases cannot be read fails")]
pub fn rows<T: serde::de::DeserializeOwned>(document: &str, table: &str) -> Vec<T> {
    let mut tables: HashMap<String, Vec<serde_json::Value>> =
        serde_saphyr::from_str(document).unwrap_or_else(|error| panic!("the test cases are not YAML: {error}"));
    let rows = tables.remove(table).unwrap_or_else(|| panic!("there are no test cases `{table}`"));
    let read = |row: serde_json::Value| {
        serde_json::from_value(row.clone()).unwrap_or_else(|error| panic!("{table}: {row}: {error}"))
    };
    rows.into_iter().map(read).collect()
}
