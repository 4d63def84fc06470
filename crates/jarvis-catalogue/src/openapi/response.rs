//! What an operation answers when all is well.

use serde_json::Value;

use super::read::{example, media};
use super::refs::resolve;
use super::{ApiDocument, Operation, Schema};

#[derive(Debug, Clone, PartialEq)]
pub struct ApiResponse {
    /// Its status, 200 to 299.
    pub status: u16,
    /// The media type of its body; empty when it has none.
    pub media_type: String,
    pub example: Option<Value>,
    pub schema: Option<Schema>,
}

impl ApiDocument {
    /// The success response of an operation: of several one with a JSON body, else the first. Computed at
    /// each call.
    pub fn response(&self, operation: &Operation) -> ApiResponse {
        let empty = |status| ApiResponse { status, media_type: String::new(), example: None, schema: None };
        let Some(item) = self.root.get("paths").and_then(|paths| paths.get(&operation.path)) else {
            return empty(200);
        };
        let method = operation.method.to_ascii_lowercase();
        let responses =
            resolve(&self.root, item).and_then(|item| item.get(&method)).and_then(|one| one.get("responses"));
        let mut first = None;
        for (status, response) in responses.and_then(Value::as_object).into_iter().flatten() {
            let status = match status.as_str() {
                "default" | "2XX" | "2xx" => 200,
                status => match status.parse() {
                    Ok(status @ 200..=299) => status,
                    Ok(_) | Err(_) => continue,
                },
            };
            let Some(response) = resolve(&self.root, response) else {
                continue;
            };
            let Some((media_type, content)) = response.get("content").and_then(media) else {
                first = first.or(Some(empty(status)));
                continue;
            };
            let schema = content.get("schema").map(|schema| Schema::read(&self.root, schema));
            // Some files have JSON as a text here.
            let example = example(&self.root, content).map(|example| match example.as_str() {
                Some(json) if json.trim_start().starts_with(['{', '[']) => {
                    serde_json::from_str(json).unwrap_or_else(|_| json.trim().into())
                }
                Some(_) | None => example.clone(),
            });
            let found = ApiResponse { status, media_type: media_type.to_owned(), example, schema };
            if media_type.contains("json") {
                return found;
            }
            first = first.or(Some(found));
        }
        first.unwrap_or_else(|| empty(200))
    }
}
