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

/// Makes the request from its text and files; also says which files it names were not read.
pub(crate) fn request(
    text: &str,
    files: &[std::path::PathBuf],
    media: &Media,
    max_bytes: u64,
) -> Result<(Request, Vec<String>), Failure> {
    let mut request = Request::new(text);
    let mut told = Vec::new();
    for path in files {
        let name = path.display().to_string();
        let resource = take(path, &name, media, max_bytes)?;
        attach(&mut request, resource, &name);
    }
    for mention in mentions(text) {
        let given = files.iter().any(|file| file.ends_with(&mention.name));
        if given || request.attachments.iter().any(|resource| resource.name.as_deref() == Some(&mention.name)) {
            continue;
        }
        match mention.found {
            Found::Here => {
                let resource = take(Path::new(&mention.name), &mention.name, media, max_bytes)?;
                attach(&mut request, resource, &mention.name);
            }
            Found::Nowhere => told.push(format!(
                "there is no file `{}` in the working folder; a file elsewhere is given with --file",
                mention.name
            )),
            Found::Outside => told.push(format!(
                "`{}` is outside the working folder and is not read; give it with --file if it is meant",
                mention.name
            )),
        }
    }
    Ok((request, told))
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

/// A file that a text names.
#[derive(Debug, PartialEq, Eq)]
struct Mention {
    name: String,
    found: Found,
}

/// Where a named file is.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// In the working folder.
    Here,
    /// In the working folder there is none.
    Nowhere,
    /// The path leads out of the working folder.
    Outside,
}

/// The longest part of a request that is taken for a file name, in characters.
const LONGEST_NAME: usize = 120;

/// The files that a text names. Addresses and display paths of the public root are none.
fn mentions(text: &str) -> Vec<Mention> {
    let mut mentions: Vec<Mention> = Vec::new();
    let mut add = |name: &str, found: Found| {
        if !mentions.iter().any(|mention| mention.name == name) {
            mentions.push(Mention { name: name.to_owned(), found });
        }
    };
    // What stands in quotes may hold blanks.
    let mut rest = String::new();
    for (at, part) in text.split(['"', '«', '»', '“', '”', '「', '」', '`']).enumerate() {
        if at % 2 == 1 && Kind::of_name(part).is_some() && part.contains(' ') && inside_working_folder(Path::new(part))
        {
            add(part, Found::Here);
        } else {
            rest.push_str(part);
            rest.push(' ');
        }
    }
    let ends = |c: char| c.is_whitespace() || "\"'‘’()[]<>,;，。、；：？！（）《》".contains(c);
    for word in rest.split(ends) {
        let word = word.trim_end_matches(['.', '!', '?', ':', '…']);
        if word.is_empty() || word.contains("://") || word.starts_with("data:") {
            continue;
        }
        match file_in(word) {
            Some(name) => add(name, Found::Here),
            None if leads_out(word) => add(word, Found::Outside),
            None if Kind::of_name(word).is_some() && !word.starts_with('/') && word.is_ascii() => {
                add(word, Found::Nowhere)
            }
            None => {}
        }
    }
    mentions
}

/// The longest part of a word that names a file of the working folder. Scripts without blanks between words run into
/// names: `找出photo.jpg的边缘` holds `photo.jpg`.
fn file_in(word: &str) -> Option<&str> {
    let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).take(LONGEST_NAME).collect();
    let ends: Vec<usize> = word
        .char_indices()
        .filter(|(_, c)| *c == '.')
        .filter_map(|(dot, _)| {
            let tail = word.get(dot + 1..)?;
            let length = tail.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tail.len());
            (length > 0).then_some(dot + 1 + length)
        })
        .collect();
    for start in starts {
        for end in ends.iter().rev() {
            let Some(name) = word.get(start..*end) else { continue };
            if Kind::of_name(name).is_some() && inside_working_folder(Path::new(name)) && Path::new(name).is_file() {
                return Some(name);
            }
        }
    }
    None
}

/// True for a path that leads out of the working folder, as far as its spelling or the disk says.
fn leads_out(word: &str) -> bool {
    let path = Path::new(word);
    let climbs = path.components().any(|part| part == Component::ParentDir);
    let absolute = path.is_absolute() && Kind::of_name(word).is_some() && path.is_file();
    let linked = !path.is_absolute() && !climbs && path.is_file() && !inside_working_folder(path);
    word.contains('/') && (climbs || absolute) || linked
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
    use super::{Found, decode, mentions};

    #[test]
    fn files_that_do_not_exist_are_told_and_addresses_are_not_files() {
        for (text, want) in [
            ("edges of photo-nobody-has.jpg, please", vec![("photo-nobody-has.jpg", Found::Nowhere)]),
            ("edges of ../../etc/passwd", vec![("../../etc/passwd", Found::Outside)]),
            ("see https://example.com/a.png", vec![]),
            ("edges of /images/ab12.png", vec![]),
            ("no files here. none", vec![]),
            ("this and/or that", vec![]),
        ] {
            let got: Vec<(String, Found)> = mentions(text).into_iter().map(|m| (m.name, m.found)).collect();
            let want: Vec<(String, Found)> = want.into_iter().map(|(name, found)| (name.to_owned(), found)).collect();
            assert_eq!(got, want, "{text}");
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
