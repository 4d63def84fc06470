//! Prompts that a configuration gives as JSON files, in the shapes that decision-only configurations use.

use std::path::Path;

use serde_json::{Map, Value};

use crate::json::{JsonFileError, load};

/// The largest prompt file, in bytes.
const MAX_FILE: u64 = 4 << 20;

/// The text of a prompt setting: the setting itself, or where it ends with `.json` what that file holds, which is a
/// string or an object with one of `template_array`, `content_array` (lines), `template`, `content`. A path is relative
/// to `folder`. Blocks.
pub fn prompt_text(setting: &str, folder: &Path) -> Result<String, JsonFileError> {
    let name = setting.trim();
    if !name.ends_with(".json") || name.contains('\n') {
        return Ok(setting.to_owned());
    }
    let path = folder.join(name);
    let value = load(&path, MAX_FILE)?;
    let text = match &value {
        Value::String(text) => Some(text.clone()),
        Value::Object(fields) => text_of(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
    };
    let expected = "expected a string, or an object with `template_array`, `content_array`, `template` or `content`";
    text.ok_or_else(|| JsonFileError::content(&path, expected))
}

/// The demos of a file as a JSON array of messages `{"role","content"}`: messages may give their text as
/// `content_array`, and the file may be one object with `content_array` or `content`, which stands for one user message.
/// Blocks.
pub fn demos_text(path: &Path) -> Result<String, JsonFileError> {
    let fail = |reason: String| JsonFileError::content(path, reason);
    let message = |fields: &Map<String, Value>, role: Option<&str>| {
        let content = text_of(fields)?;
        let role = fields.get("role").and_then(Value::as_str).or(role)?;
        Some(serde_json::json!({"role": role, "content": content}))
    };
    let messages: Vec<Value> = match load(path, MAX_FILE)? {
        Value::Array(items) => {
            let mut messages = Vec::with_capacity(items.len());
            for (at, item) in items.iter().enumerate() {
                let read = item.as_object().and_then(|fields| message(fields, None));
                messages
                    .push(read.ok_or_else(|| fail(format!("element {at} is no message with `role` and `content`")))?);
            }
            messages
        }
        Value::Object(fields) => {
            let only = message(&fields, Some("user"));
            vec![only.ok_or_else(|| fail("expected an array of messages, or an object with `content_array`".into()))?]
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(fail("expected an array of messages".into()));
        }
    };
    Ok(Value::Array(messages).to_string())
}

fn text_of(fields: &Map<String, Value>) -> Option<String> {
    let lines = |name: &str| {
        let lines: Option<Vec<&str>> = fields.get(name)?.as_array()?.iter().map(Value::as_str).collect();
        lines.map(|lines| lines.join("\n"))
    };
    let text = |name: &str| fields.get(name)?.as_str().map(str::to_owned);
    lines("template_array").or_else(|| lines("content_array")).or_else(|| text("template")).or_else(|| text("content"))
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::*;

    const CASES: &str = include_str!("../cases.yaml");

    #[test]
    fn a_prompt_is_itself_or_a_file() {
        let nowhere = Path::new("/nonexistent");
        assert_eq!(prompt_text("Plan well.", nowhere).unwrap(), "Plan well.");
        assert_eq!(prompt_text("Reply as in\nexample.json", nowhere).unwrap(), "Reply as in\nexample.json");
        assert!(prompt_text("missing.json", nowhere).unwrap_err().to_string().contains("missing.json"));
        let folder = tempfile::tempdir().unwrap();
        for (content, want) in rows::<(String, Option<String>)>(CASES, "prompt files") {
            std::fs::write(folder.path().join("p.json"), &content).unwrap();
            assert_eq!(prompt_text("p.json", folder.path()).ok(), want, "{content}");
        }
    }

    #[test]
    fn demos_are_messages_or_one_text() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (content, want) in rows::<(String, Option<String>)>(CASES, "demos") {
            std::fs::write(file.path(), &content).unwrap();
            assert_eq!(demos_text(file.path()).ok(), want, "{content}");
        }
    }
}
