//! What bytes really are, by their content; names and declared types are not asked.

use jarvis_plan::{ErrorCode, Kind, TaskError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sniffed {
    /// The kind, where it is one that tools take. Containers that hold sound or moving pictures count as video.
    pub kind: Option<Kind>,
    /// The media type, such as `image/png`.
    pub mime: &'static str,
    /// The usual file extension, without dot.
    pub extension: &'static str,
}

impl Sniffed {
    fn new(kind: Option<Kind>, mime: &'static str, extension: &'static str) -> Sniffed {
        Sniffed { kind, mime, extension }
    }

    /// Whether bytes of this type can be used where `wanted` is asked for.
    pub fn fits(&self, wanted: Kind) -> bool {
        match wanted {
            Kind::Image => self.kind == Some(Kind::Image) && self.extension != "svg",
            // Voice recorders and browsers put bare sound into these containers.
            Kind::Audio => {
                self.kind == Some(Kind::Audio) || matches!(self.extension, "mp4" | "webm" | "mkv" | "mov" | "m4v")
            }
            Kind::Video => self.kind == Some(Kind::Video) || matches!(self.extension, "ogg" | "gif"),
            Kind::Text | Kind::Json => matches!(self.kind, Some(Kind::Text | Kind::Json)) || self.extension == "svg",
        }
    }
}

/// Recognises bytes by their content; `None` when they are nothing known.
pub fn sniff(bytes: &[u8]) -> Option<Sniffed> {
    // Text comes first: some signatures of binary formats are two plain letters.
    if let Some(text) = as_text(bytes) {
        return Some(sniff_text(text, bytes.len() > HEAD));
    }
    if let Some(found) = infer::get(bytes) {
        let kind = match found.matcher_type() {
            infer::MatcherType::Image => Some(Kind::Image),
            infer::MatcherType::Audio => Some(Kind::Audio),
            infer::MatcherType::Video => Some(Kind::Video),
            infer::MatcherType::App
            | infer::MatcherType::Archive
            | infer::MatcherType::Book
            | infer::MatcherType::Doc
            | infer::MatcherType::Font
            | infer::MatcherType::Text
            | infer::MatcherType::Custom => None,
        };
        let (mime, extension) = match found.extension() {
            "wav" => ("audio/wav", "wav"),
            "flac" => ("audio/flac", "flac"),
            "m4a" => ("audio/mp4", "m4a"),
            extension => (found.mime_type(), extension),
        };
        return Some(Sniffed::new(kind, mime, extension));
    }
    is_mpeg_audio(bytes).then(|| Sniffed::new(Some(Kind::Audio), "audio/mpeg", "mp3"))
}

/// Says in words what bytes are, for messages: `a PNG picture`, `an HTML page`, `nothing` …
pub fn describe(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "empty".to_owned();
    }
    match sniff(bytes) {
        None => "of no known type".to_owned(),
        Some(Sniffed { extension: "html", .. }) => "an HTML page".to_owned(),
        Some(Sniffed { extension: "txt", .. }) => "plain text".to_owned(),
        Some(Sniffed { extension: "json", .. }) => "JSON".to_owned(),
        Some(Sniffed { extension: "svg", .. }) => "an SVG drawing, which is not a picture of pixels".to_owned(),
        Some(Sniffed { kind, mime, .. }) => match kind {
            Some(kind) => format!("{} ({mime})", with_article(kind)),
            None => format!("a file of the type {mime}"),
        },
    }
}

/// The type of bytes that must be of a kind.
///
/// # Errors
/// `InvalidInput`, saying what they are instead. `what` names the input.
pub fn require(what: &str, bytes: &[u8], wanted: Kind) -> Result<Sniffed, TaskError> {
    match sniff(bytes) {
        Some(found) if found.fits(wanted) && !bytes.is_empty() => Ok(found),
        Some(_) | None => Err(TaskError::new(
            ErrorCode::InvalidInput,
            format!("{what} is not {}: it is {}", with_article(wanted), describe(bytes)),
        )),
    }
}

fn with_article(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "a text",
        Kind::Image => "an image",
        Kind::Audio => "an audio file",
        Kind::Video => "a video",
        Kind::Json => "structured data",
    }
}

/// The most bytes that are looked at to tell text from other things.
const HEAD: usize = 64 << 10;

/// The start of the bytes as text, when it looks like text.
fn as_text(bytes: &[u8]) -> Option<&str> {
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // A character may be cut in two where the head ends, and only there.
        Err(error) if error.error_len().is_none() && head.len() < bytes.len() => {
            std::str::from_utf8(head.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}' | '\u{1b}');
    (!text.chars().any(odd)).then(|| text.trim_start_matches('\u{feff}').trim_start())
}

fn sniff_text(text: &str, cut: bool) -> Sniffed {
    let head: String = text.chars().take(1024).collect::<String>().to_ascii_lowercase();
    let html = ["<!doctype html", "<html", "<head", "<body"];
    if html.iter().any(|tag| head.starts_with(tag)) {
        return Sniffed::new(Some(Kind::Text), "text/html", "html");
    }
    if head.starts_with("<svg") || (head.starts_with("<?xml") || head.starts_with("<!--")) && head.contains("<svg") {
        return Sniffed::new(Some(Kind::Image), "image/svg+xml", "svg");
    }
    let bracketed = text.starts_with('{') || text.starts_with('[');
    if bracketed && (cut || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()) {
        return Sniffed::new(Some(Kind::Json), "application/json", "json");
    }
    Sniffed::new(Some(Kind::Text), "text/plain", "txt")
}

/// A frame header of MPEG audio, layers 1 to 3, in the versions that `infer` does not list.
fn is_mpeg_audio(bytes: &[u8]) -> bool {
    let [0xff, second, third, ..] = bytes else { return false };
    second & 0xe0 == 0xe0 && second & 0x18 != 0x08 && second & 0x06 != 0 && third >> 4 != 0xf && third & 0x0c != 0x0c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_recognised() {
        let cases: [(&[u8], Option<Kind>, &str); 16] = [
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Some(Kind::Image), "png"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF\0", Some(Kind::Image), "jpg"),
            (b"GIF89a\x01\0\x01\0\x80\0\0", Some(Kind::Image), "gif"),
            (b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0", Some(Kind::Audio), "wav"),
            (b"fLaC\0\0\0\x22", Some(Kind::Audio), "flac"),
            (b"OggS\0\x02\0\0\0\0\0\0\0\0", Some(Kind::Audio), "ogg"),
            (b"ID3\x04\0\0\0\0\0\0", Some(Kind::Audio), "mp3"),
            (b"\xff\xf3\x44\xc4\0\0", Some(Kind::Audio), "mp3"),
            (b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom", Some(Kind::Video), "mp4"),
            (b"%PDF-1.7\n%\xe2\xe3", None, "pdf"),
            (b"<!DOCTYPE html><html></html>", Some(Kind::Text), "html"),
            (b"<?xml version='1.0'?>\n<svg xmlns='x'/>", Some(Kind::Image), "svg"),
            (b" {\"error\": \"x\"}", Some(Kind::Json), "json"),
            (b"BM is how this sentence begins", Some(Kind::Text), "txt"),
            ("\u{feff}привет".as_bytes(), Some(Kind::Text), "txt"),
            (b"{not json", Some(Kind::Text), "txt"),
        ];
        for (bytes, kind, extension) in cases {
            let found = sniff(bytes).unwrap();
            assert_eq!((found.kind, found.extension), (kind, extension), "{bytes:?}");
        }
        assert_eq!(sniff(b"\x01\x02\x03\x04"), None);
    }

    #[test]
    fn long_texts_are_recognised_by_their_start() {
        let long = "й".repeat(HEAD);
        assert_eq!(sniff(format!("x{long}").as_bytes()).unwrap().extension, "txt");
        assert_eq!(sniff(format!("[{long}").as_bytes()).unwrap().extension, "json");
        assert_eq!(sniff(&[b"x\xd0".as_slice(), &[b' '; HEAD]].concat()), None);
    }

    #[test]
    fn a_wrong_kind_is_told_by_name() {
        let cases: [(&[u8], Kind, &str); 6] = [
            (b"<html><body>no</body>", Kind::Image, "x is not an image: it is an HTML page"),
            (b"hello", Kind::Audio, "x is not an audio file: it is plain text"),
            (b"", Kind::Image, "x is not an image: it is empty"),
            (b"\x01\x02\x03\x04", Kind::Video, "x is not a video: it is of no known type"),
            (b"%PDF-1.7\n%\xe2\xe3", Kind::Image, "x is not an image: it is a file of the type application/pdf"),
            (b"fLaC\0\0\0\x22", Kind::Image, "x is not an image: it is an audio file (audio/flac)"),
        ];
        for (bytes, wanted, message) in cases {
            let error = require("x", bytes, wanted).unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (ErrorCode::InvalidInput, message));
        }
        assert!(require("x", b"\0\0\0\x18ftypmp42\0\0\0\0mp42isom", Kind::Audio).is_ok());
        assert!(require("x", b"some words", Kind::Text).is_ok());
    }
}
