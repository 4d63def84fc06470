//! What callers send and get, as separate types, so that a change inside jarvis does not change the protocol.

pub(crate) mod ag_ui;
pub(crate) mod ask;
pub(crate) mod decide;
pub(crate) mod kept;
pub(crate) mod openai;
pub(crate) mod reply;
pub(crate) mod responses;

/// Sets a field of a JSON object.
pub(crate) fn set(object: &mut serde_json::Value, name: &str, value: impl Into<serde_json::Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value.into());
    }
}
