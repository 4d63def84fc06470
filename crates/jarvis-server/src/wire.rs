//! What callers send and get, as separate types, so that a change inside jarvis does not change the protocol.
//!
//! Types of crates that know no OpenAPI have twins here, which exist for their schema alone; `tests/it/described.rs` compares them with
//! what the server sends.

pub(crate) mod ag_ui;
mod ag_ui_event;
pub(crate) mod ask;
pub(crate) mod decide;
pub(crate) mod decisions;
mod document;
mod event;
pub(crate) mod kept;
pub(crate) mod openai;
pub(crate) mod plan;
pub(crate) mod reply;
mod response_event;
pub(crate) mod responses;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod stream;

/// Sets a field of a JSON object.
pub(crate) fn set(object: &mut serde_json::Value, name: &str, value: impl Into<serde_json::Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value.into());
    }
}
