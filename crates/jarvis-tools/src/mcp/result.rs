//! What a tool of an MCP server gave, as an observation.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use crate::{Artifact, CallError, CallFault, Observation};
use jarvis_net::text::shorten;

/// What stands for a block that this version of the protocol does not have.
const UNKNOWN: &str = "[something of a kind that is not known here]";

/// The observation; a failure when the tool says that it failed.
pub(super) fn observation(result: CallToolResult) -> Result<Observation, CallError> {
    let mut texts: Vec<String> = Vec::new();
    let mut media = Vec::new();
    let mut has_text = false;
    for block in result.content {
        match block {
            ContentBlock::Text(block) => {
                has_text = true;
                texts.push(block.text);
            }
            ContentBlock::Image(block) => file(&block.data, &block.mime_type, &mut texts, &mut media),
            ContentBlock::Audio(block) => file(&block.data, &block.mime_type, &mut texts, &mut media),
            ContentBlock::Resource(block) => match block.resource {
                ResourceContents::TextResourceContents { text, .. } => {
                    has_text = true;
                    texts.push(text);
                }
                ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                    let mime = mime_type.unwrap_or_default();
                    if mime.starts_with("image/") || mime.starts_with("audio/") || mime.starts_with("video/") {
                        file(&blob, &mime, &mut texts, &mut media);
                    } else {
                        let mime = if mime.is_empty() { "data".to_owned() } else { shorten(&mime, 80) };
                        texts.push(format!("[{mime}, {} bytes: {}]", blob.len() / 4 * 3, shorten(&uri, 200)));
                    }
                }
                _ => texts.push(UNKNOWN.into()),
            },
            ContentBlock::ResourceLink(link) => {
                let about = link.description.or(link.title).unwrap_or_default();
                let about = if about.is_empty() { String::new() } else { format!(" ({})", shorten(&about, 200)) };
                texts.push(format!("[{}{about}: {}]", shorten(&link.name, 80), shorten(&link.uri, 200)));
            }
            _ => texts.push(UNKNOWN.into()),
        }
    }
    let value = result.structured_content;
    if let (false, Some(structured)) = (has_text, &value) {
        texts.insert(0, structured.to_string());
    }
    let text = texts.join("\n");
    if result.is_error == Some(true) {
        let words = if text.trim().is_empty() { "the tool failed and does not say why".to_owned() } else { text };
        // Some servers tell of an unknown tool in this way.
        let lower = shorten(&words, 200).to_lowercase();
        let unknown = lower.contains("unknown tool") || (lower.contains("tool") && lower.contains("not found"));
        return Err(CallError::new(if unknown { CallFault::NoSuchApi } else { CallFault::Message }, words));
    }
    let text = if text.is_empty() && media.is_empty() { "The tool answered with nothing.".to_owned() } else { text };
    Ok(Observation { text, value, media })
}

/// Takes a file out of base64, and says in words that it is there.
fn file(data: &str, mime: &str, texts: &mut Vec<String>, media: &mut Vec<Artifact>) {
    let mime = shorten(mime, 80);
    match BASE64_STANDARD.decode(data.trim()) {
        Ok(bytes) => {
            texts.push(format!("[{mime}, {} bytes]", bytes.len()));
            media.push(Artifact { mime, bytes: Bytes::from(bytes) });
        }
        Err(_) => texts.push(format!("[{mime} that cannot be read]")),
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::Resource;
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_become_text_and_files() {
        let text = |text: &str| ContentBlock::text(text);
        let blob = |mime: &str| {
            let contents = json!({"uri": "demo://b", "mimeType": mime, "blob": "AAEC"});
            ContentBlock::resource(serde_json::from_value(contents).unwrap())
        };
        for (blocks, told, files) in [
            (vec![text("a"), text("b")], "a\nb", 0),
            (vec![text("see"), ContentBlock::image("AAEC", "image/png")], "see\n[image/png, 3 bytes]", 1),
            (vec![ContentBlock::audio("AAEC", "audio/wav")], "[audio/wav, 3 bytes]", 1),
            (vec![ContentBlock::image("no base64!", "image/png")], "[image/png that cannot be read]", 0),
            (vec![ContentBlock::embedded_text("demo://t", "inside")], "inside", 0),
            (vec![blob("application/zip")], "[application/zip, 3 bytes: demo://b]", 0),
            (vec![blob("image/gif")], "[image/gif, 3 bytes]", 1),
            (vec![ContentBlock::ResourceLink(Resource::new("demo://x", "x"))], "[x: demo://x]", 0),
            (vec![], "The tool answered with nothing.", 0),
        ] {
            let observation = observation(CallToolResult::success(blocks)).unwrap();
            assert_eq!((observation.text.as_str(), observation.media.len()), (told, files));
        }
        let both = observation(CallToolResult::structured(json!({"a": 1}))).unwrap();
        assert_eq!((both.text.as_str(), both.value), (r#"{"a":1}"#, Some(json!({"a": 1}))));
        let mut bare = CallToolResult::success(vec![]);
        bare.structured_content = Some(json!({"a": 1}));
        let bare = observation(bare).unwrap();
        assert_eq!((bare.text.as_str(), bare.value), (r#"{"a":1}"#, Some(json!({"a": 1}))));
    }

    #[test]
    fn failures_are_told() {
        for (words, kind, told) in [
            ("no such city", CallFault::Message, "no such city"),
            ("Unknown tool: x", CallFault::NoSuchApi, "Unknown tool: x"),
            ("MCP error -32602: Tool x not found", CallFault::NoSuchApi, "MCP error -32602: Tool x not found"),
            ("", CallFault::Message, "the tool failed and does not say why"),
        ] {
            let error = observation(CallToolResult::error(vec![ContentBlock::text(words)])).unwrap_err();
            assert_eq!((error.kind, error.message.as_str()), (kind, told));
        }
    }
}
