//! What a schema says of the bytes behind a value: a picture, a sound, a video, a document, or the path of a file.

use serde_json::Value;

use crate::{Kind, spell_out, stem};

/// What stands behind a value that is a text to the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// A picture, a sound or a video: its bytes or where they are.
    Kind(Kind),
    /// A document: its bytes or where they are.
    Document,
    /// The path of a file or a folder, which the service opens itself.
    Path,
    /// Nothing: the text itself is the value.
    None,
}

/// What a parameter takes by its schema. `contentMediaType` decides; then `format: path`; then, where the format or the encoding
/// says that bytes or an address are meant, the name and the description; then a name that is just `image`, `audio` or
/// `video`, or `path`, `file` and their like.
pub fn medium(name: &str, schema: &Value) -> Medium {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let types = schema.get("type").map(|types| types.to_string()).unwrap_or_default();
    if !types.is_empty() && !types.contains("string") || schema.get("enum").is_some() {
        return Medium::None;
    }
    let of_type = |mime: &str| match mime.split('/').next() {
        Some("image") => Some(Medium::Kind(Kind::Image)),
        Some("audio") => Some(Medium::Kind(Kind::Audio)),
        Some("video") => Some(Medium::Kind(Kind::Video)),
        _ if mime.starts_with("application/pdf") || mime.contains("document") || mime.contains("msword") => {
            Some(Medium::Document)
        }
        _ => None,
    };
    if let Some(medium) = of_type(&text("contentMediaType")) {
        return medium;
    }
    let format = text("format");
    if matches!(format.as_str(), "path" | "file-path" | "filepath" | "directory-path") {
        return Medium::Path;
    }
    let words: Vec<String> = stems(&spell_out(name));
    let meaning = stems(&format!("{} {}", text("title"), text("description")));
    let named = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let told = |list: &[&str]| meaning.iter().any(|word| list.contains(&word.as_str()));
    let kinds = [(Kind::Image, IMAGE), (Kind::Audio, AUDIO), (Kind::Video, VIDEO)];
    let kind = || {
        let by_name = kinds.iter().find(|(_, list)| named(list));
        by_name.or_else(|| kinds.iter().find(|(_, list)| told(list))).map(|(kind, _)| Medium::Kind(*kind))
    };
    let encoding = schema.get("contentEncoding").and_then(Value::as_str).unwrap_or_default();
    let bytes =
        matches!(format.as_str(), "binary" | "byte" | "base64" | "data-url" | "data-uri") || encoding == "base64";
    let address = matches!(format.as_str(), "uri" | "url" | "iri" | "uri-reference");
    if bytes {
        return kind().unwrap_or(Medium::Document);
    }
    if address {
        return kind().unwrap_or(Medium::None);
    }
    let is_path = named(PATHS) && !named(&["extens", "type", "format", "size"]);
    match (words.as_slice(), kind()) {
        ([only], Some(found)) if kinds.iter().any(|(_, list)| list.contains(&only.as_str())) => found,
        // "the picture as a data URL", "base64 of the recording".
        (_, Some(found)) if told(&["base64", "byte", "binari"]) || told(&["data"]) && told(&["url", "uri"]) => found,
        _ if is_path => Medium::Path,
        _ if told(&["path"]) && !told(&["url"]) => Medium::Path,
        ([only], _) if matches!(only.as_str(), "document" | "pdf") && told(&["url", "byte", "base64"]) => {
            Medium::Document
        }
        _ => Medium::None,
    }
}

const IMAGE: &[&str] = &["imag", "pictur", "photo", "photograph", "img", "screenshot"];
const AUDIO: &[&str] = &["audio", "sound", "record", "speech"];
const VIDEO: &[&str] = &["video", "clip", "footag", "movi"];
const PATHS: &[&str] = &["path", "file", "filenam", "filepath", "directori", "dir", "folder"];

fn stems(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| stem(&word.to_lowercase())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Medium, medium};
    use crate::Kind;

    #[test]
    fn a_schema_says_what_stands_behind_a_text() {
        for (name, schema, want) in [
            ("photo", json!({"type": "string", "contentMediaType": "image/png"}), Medium::Kind(Kind::Image)),
            ("content", json!({"type": "string", "contentMediaType": "application/pdf"}), Medium::Document),
            ("recording", json!({"type": "string", "format": "binary"}), Medium::Kind(Kind::Audio)),
            ("clip_url", json!({"type": "string", "format": "uri"}), Medium::Kind(Kind::Video)),
            ("page", json!({"type": "string", "format": "uri"}), Medium::None),
            ("image", json!({"type": "string"}), Medium::Kind(Kind::Image)),
            ("image_description", json!({"type": "string"}), Medium::None),
            ("file", json!({"type": "string"}), Medium::Path),
            ("path", json!({"type": "string"}), Medium::Path),
            ("source", json!({"type": "string", "format": "path"}), Medium::Path),
            ("input", json!({"type": "string", "description": "Path of the file to read"}), Medium::Path),
            ("input", json!({"type": "string", "description": "The picture, as base64"}), Medium::Kind(Kind::Image)),
            ("file_size", json!({"type": "integer"}), Medium::None),
            ("video", json!({"type": "boolean"}), Medium::None),
            ("text", json!({"type": "string"}), Medium::None),
        ] {
            assert_eq!(medium(name, &schema), want, "{name} {schema}");
        }
    }
}
