//! What an operation answers when all is well.

use serde_json::Value;

use super::read::media;
use super::refs::{resolve, text};
use super::{ApiDocument, Operation, Schema};

/// An answer as the document describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiResponse {
    /// Its status, 200 to 299.
    pub status: u16,
    /// The media type of its body; empty when it has none.
    pub media_type: String,
    /// A body that it could have.
    pub example: Option<Value>,
    pub schema: Option<Schema>,
}

impl ApiDocument {
    /// What an operation answers when all is well: of several answers one with a JSON body, else the first. Worked out anew at
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
            let found =
                ApiResponse { status, media_type: media_type.to_owned(), example: self.example(content), schema };
            if media_type.contains("json") {
                return found;
            }
            first = first.or(Some(found));
        }
        first.unwrap_or_else(|| empty(200))
    }

    /// The example of a media type: `example`, or the first of `examples`.
    fn example(&self, content: &Value) -> Option<Value> {
        let first = || {
            let examples = content.get("examples")?.as_object()?;
            examples.values().find_map(|one| resolve(&self.root, one)?.get("value"))
        };
        let example = content.get("example").or_else(first)?;
        // Some files have JSON as a text here.
        match example {
            Value::String(json) if json.trim_start().starts_with(['{', '[']) => {
                Some(serde_json::from_str(json).unwrap_or_else(|_| text(Some(example)).into()))
            }
            other => Some(other.clone()),
        }
    }
}
