//! Files in: what the person gave with `--file`, and what their request names and the working folder holds.
//!
//! A picture or sound is copied under the public root and the request then speaks of its display path; a text becomes
//! an attachment. Paths in the request are followed inside the working folder only; `--file` may name any file.

use std::io::Read;
use std::path::{Component, Path};

use jarvis_plan::{Kind, Request, Resource, Source};
use jarvis_store::Media;

use crate::failure::Failure;

/// The largest text file that is taken in, in bytes.
const MAX_TEXT: u64 = 2 << 20;

/// Makes the request from its text and files.
pub(crate) fn request(
    text: &str,
    files: &[std::path::PathBuf],
    media: &Media,
    max_bytes: u64,
) -> Result<Request, Failure> {
    let mut request = Request::new(text);
    for path in files {
        let name = path.display().to_string();
        let resource = take(path, &name, media, max_bytes)?;
        attach(&mut request, resource, &name);
    }
    for name in named_files(text) {
        let path = Path::new(&name);
        let given = files.iter().any(|file| file.file_name() == path.file_name());
        if given || !inside_working_folder(path) || !path.is_file() {
            continue;
        }
        let resource = take(path, &name, media, max_bytes)?;
        attach(&mut request, resource, &name);
    }
    Ok(request)
}

/// Adds a resource; where the text names the file, the display path takes the name's place.
fn attach(request: &mut Request, resource: Resource, name: &str) {
    if let Source::Public(display) = &resource.source {
        let file_name = Path::new(name).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        for spelled in [name, file_name.as_str()] {
            if !spelled.is_empty() && request.text.contains(spelled) {
                request.text = request.text.replace(spelled, display);
                break;
            }
        }
    }
    request.attachments.push(resource);
}

/// The words of a text that look like a file: they end in a known extension. Trailing punctuation is left off, and so
/// are quotes around.
fn named_files(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let separates = |c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '«' | '»' | '“' | '”' | '(' | ')' | ',' | ';' | '，' | '。' | '、' | '：')
    };
    for word in text.split(separates) {
        // Chinese runs into a file name without a blank: what is not ASCII before it is not part of it.
        let ascii_tail = word
            .rfind(|c: char| !c.is_ascii())
            .map_or(0, |at| at + word.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8));
        let tail = word.get(ascii_tail..).unwrap_or(word);
        for candidate in [word, tail, word.split_once(|c: char| is_han(c)).map_or(word, |(head, _)| head)] {
            let candidate = candidate.trim_end_matches(['.', '!', '?', ':', '…']);
            if !candidate.contains("://") && Kind::of_name(candidate).is_some() && !names.iter().any(|n| n == candidate)
            {
                names.push(candidate.to_owned());
            }
        }
    }
    names
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}')
}

/// True when a path cannot lead out of the working folder: relative, without `..`, and not through a symbolic link that
/// leaves it.
fn inside_working_folder(path: &Path) -> bool {
    let plain = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !plain {
        return false;
    }
    match (std::env::current_dir().and_then(|here| here.canonicalize()), path.canonicalize()) {
        (Ok(here), Ok(real)) => real.starts_with(here),
        _ => false,
    }
}

fn take(path: &Path, name: &str, media: &Media, max_bytes: u64) -> Result<Resource, Failure> {
    let size = std::fs::metadata(path).map_err(|error| missing(name, &error))?;
    if !size.is_file() {
        return Err(Failure::usage(format!("`{name}` is not a file")));
    }
    if size.len() > max_bytes {
        return Err(Failure::usage(format!("`{name}` has {} bytes; the limit is {max_bytes}", size.len()))
            .hint("raise limits.max_input_bytes in the configuration"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size.len()).unwrap_or(0));
    std::fs::File::open(path)
        .and_then(|file| file.take(max_bytes).read_to_end(&mut bytes))
        .map_err(|error| missing(name, &error))?;
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    let kind = Kind::of_name(name).unwrap_or_else(|| kind_of_bytes(&bytes));
    match kind {
        Kind::Image | Kind::Audio | Kind::Video => {
            let display = media.create(kind, &extension, &bytes).map_err(Failure::work)?;
            Ok(Resource { kind, source: Source::Public(display), name: Some(name.to_owned()) })
        }
        Kind::Text | Kind::Json => {
            if size.len() > MAX_TEXT {
                return Err(Failure::usage(format!("`{name}` has {} bytes; a text may have {MAX_TEXT}", size.len())));
            }
            let text = decode(&bytes).ok_or_else(|| {
                Failure::usage(format!("`{name}` is neither a text, a picture, a sound nor a video"))
                    .hint("texts are read as UTF-8 or UTF-16")
            })?;
            Ok(Resource { kind, source: Source::Inline(text), name: Some(name.to_owned()) })
        }
    }
}

/// What a file without a telling name holds.
fn kind_of_bytes(bytes: &[u8]) -> Kind {
    jarvis_workers::sniff::sniff(bytes).and_then(|sniffed| sniffed.kind).unwrap_or(Kind::Text)
}

/// UTF-8, or UTF-16 with its mark; no binary.
fn decode(bytes: &[u8]) -> Option<String> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes)?,
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes)?,
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8(rest.to_vec()).ok()?,
        _ => String::from_utf8(bytes.to_vec()).ok()?,
    };
    (!text.contains('\0')).then_some(text)
}

fn utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> Option<String> {
    let units: Vec<u16> = bytes.chunks_exact(2).filter_map(|pair| Some(read(pair.try_into().ok()?))).collect();
    String::from_utf16(&units).ok()
}

fn missing(name: &str, error: &std::io::Error) -> Failure {
    match error.kind() {
        std::io::ErrorKind::NotFound => Failure::usage(format!("there is no file `{name}`"))
            .hint("check the path; it is taken relative to the working folder"),
        _ => Failure::usage(format!("cannot read `{name}`: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, named_files};

    #[test]
    fn files_are_found_in_sentences() {
        for (text, want) in [
            ("edges of photo.jpg, please", vec!["photo.jpg"]),
            ("compare \"a b.png\" and dir/c.png.", vec!["b.png", "dir/c.png"]),
            ("找出photo.jpg的边缘", vec!["photo.jpg"]),
            ("контуры фото.png и «звук.wav»", vec!["фото.png", "звук.wav"]),
            ("see https://example.com/a.png", vec![]),
            ("no files here. none", vec![]),
        ] {
            assert_eq!(named_files(text).iter().filter(|n| want.contains(&n.as_str())).count(), want.len(), "{text}");
            if want.is_empty() {
                assert!(named_files(text).is_empty(), "{text}: {:?}", named_files(text));
            }
        }
    }

    #[test]
    fn texts_are_decoded_and_binaries_are_not() {
        assert_eq!(decode("héllo".as_bytes()).as_deref(), Some("héllo"));
        assert_eq!(decode(&[0xff, 0xfe, 0x68, 0, 0x69, 0]).as_deref(), Some("hi"));
        assert_eq!(decode(&[0xfe, 0xff, 0, 0x68, 0, 0x69]).as_deref(), Some("hi"));
        assert_eq!(decode(&[0, 1, 2, 255]), None);
        assert_eq!(decode(b"a\0b"), None);
    }
}
