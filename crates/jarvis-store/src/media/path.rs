//! Strings as plans and models write them, to paths under the public root.

use jarvis_plan::Kind;
use percent_encoding::percent_decode_str;

use super::MediaError;

/// The path under the root, with `/` between names, or why there is none.
pub(super) fn relative(path: &str) -> Result<String, MediaError> {
    let refused = |reason| MediaError::Forbidden { path: path.to_owned(), reason };
    let decoded = percent_decode_str(path).decode_utf8().map_err(|_| refused("its name is not text"))?;
    if has_escape(&decoded) {
        return Err(refused("it is percent-encoded more than once"));
    }
    if decoded.chars().any(char::is_control) {
        return Err(refused("it holds a control character"));
    }
    if decoded.contains('\\') {
        return Err(refused("it holds a backslash"));
    }
    if decoded.contains(':') {
        return Err(refused("it names a drive or an address"));
    }
    let mut names: Vec<&str> = Vec::new();
    for name in decoded.split('/').map(str::trim) {
        match name {
            "" | "." => {}
            "public" if names.is_empty() => {}
            dots if dots.bytes().all(|byte| byte == b'.') => return Err(refused("it leads upwards")),
            name => names.push(name),
        }
    }
    if names.is_empty() {
        return Err(refused("it names no file"));
    }
    Ok(names.join("/"))
}

/// True when decoding once more would change the text.
fn has_escape(text: &str) -> bool {
    text.as_bytes().windows(3).any(|three| match three {
        [b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        _ => false,
    })
}

/// The folder of files that are no media.
pub(super) const FILES: &str = "files";

/// The folders of what is kept under the public root.
pub(super) fn folders() -> impl Iterator<Item = &'static str> {
    Kind::ALL.into_iter().filter_map(Kind::folder).chain([FILES])
}

/// True for the path of a medium that jarvis stored: a folder of media, 32 hexadecimal digits, an extension. The names of older
/// versions are of this form too; a file that a person put there seldom is.
pub(super) fn is_made(relative: &str) -> bool {
    let Some((folder, name)) = relative.split_once('/') else { return false };
    let Some((stem, extension)) = name.split_once('.') else { return false };
    let is_hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    folders().any(|known| known == folder)
        && stem.len() == 32
        && stem.bytes().all(is_hexadecimal)
        && is_extension(extension)
}

/// True for an extension that media are stored with.
pub(super) fn is_extension(extension: &str) -> bool {
    (1..=5).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}
