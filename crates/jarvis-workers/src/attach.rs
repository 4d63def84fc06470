//! Files in: bytes that a person gives become a [`Resource`] of a request. Where the bytes come from (a path, an upload,
//! a data URL) is the front end's business.

use std::path::Path;

use jarvis_plan::{Kind, Resource, Source};
use jarvis_store::{Media, MediaError};

use jarvis_store::sniff::{Sniffed, describe, sniff};

/// The largest text that is taken in, in bytes.
pub const MAX_TEXT: u64 = 2 << 20;

#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    #[error("`{name}` has {size} bytes; a text may have {MAX_TEXT}")]
    TextTooLong { name: String, size: u64 },
    #[error("`{name}` is not {article} {kind}: it is {found}")]
    Other { name: String, kind: Kind, article: &'static str, found: String },
    #[error("`{name}` is neither a text, a picture, a sound nor a video")]
    Unknown { name: String },
    #[error(transparent)]
    Store(#[from] MediaError),
}

impl AttachError {
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            AttachError::Unknown { .. } => Some("texts are read as UTF-8 or UTF-16"),
            AttachError::Other { .. } => Some("give the file its true name"),
            AttachError::TextTooLong { .. } | AttachError::Store(_) => None,
        }
    }
}

/// Takes a file in: a picture, sound or video is stored under the public root, a text or data becomes inline text. The
/// name's extension tells the kind; where it says nothing, the bytes do. Blocks.
///
/// # Errors
/// [`AttachError`], each with its reason.
pub fn attach(name: &str, bytes: Vec<u8>, media: &Media) -> Result<Resource, AttachError> {
    let extension = || Path::new(name).extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let sniffed = sniff(&bytes);
    if let Some(kind) = Kind::of_name(name).filter(|kind| kind.is_media())
        && is_other(kind, &extension(), sniffed.as_ref())
    {
        let article = if kind == Kind::Video { "a" } else { "an" };
        return Err(AttachError::Other { name: name.to_owned(), kind, article, found: describe(&bytes) });
    }
    let (kind, extension) = match (Kind::of_name(name), sniffed) {
        (Some(kind), _) => (kind, extension()),
        (None, Some(sniffed)) => (sniffed.kind.unwrap_or(Kind::Text), sniffed.extension.to_owned()),
        (None, None) => (Kind::Text, String::new()),
    };
    let source = match kind {
        Kind::Image | Kind::Audio | Kind::Video => Source::Public(media.keep(kind, name, &extension, &bytes)?),
        Kind::Text | Kind::Json => {
            let size = bytes.len() as u64;
            if size > MAX_TEXT {
                return Err(AttachError::TextTooLong { name: name.to_owned(), size });
            }
            Source::Inline(decode(bytes).ok_or_else(|| AttachError::Unknown { name: name.to_owned() })?)
        }
    };
    Ok(Resource { kind, source, name: Some(name.to_owned()) })
}

/// True when the bytes are known to be something else, or are not known although every file of that name is.
fn is_other(kind: Kind, extension: &str, sniffed: Option<&Sniffed>) -> bool {
    match sniffed {
        Some(sniffed) => !sniffed.fits(kind),
        None => matches!(extension, "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "tif" | "tiff" | "wav" | "flac"),
    }
}

/// UTF-8, or UTF-16 with its mark; no binary.
fn decode(bytes: Vec<u8>) -> Option<String> {
    let text = match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes)?,
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes)?,
        [0xef, 0xbb, 0xbf, rest @ ..] => std::str::from_utf8(rest).ok()?.to_owned(),
        _ => String::from_utf8(bytes).ok()?,
    };
    (!text.contains('\0')).then_some(text)
}

fn utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> Option<String> {
    let units: Vec<u16> = bytes.chunks_exact(2).filter_map(|pair| Some(read(pair.try_into().ok()?))).collect();
    String::from_utf16(&units).ok()
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn texts_are_decoded_and_binaries_are_not() {
        let check = |bytes: &[u8], want: Option<&str>| assert_eq!(decode(bytes.to_vec()).as_deref(), want);
        check("héllo".as_bytes(), Some("héllo"));
        check(&[0xff, 0xfe, 0x68, 0, 0x69, 0], Some("hi"));
        check(&[0xfe, 0xff, 0, 0x68, 0, 0x69], Some("hi"));
        check(&[0xef, 0xbb, 0xbf, 0x68], Some("h"));
        check(&[0, 1, 2, 255], None);
        check(b"a\0b", None);
    }
}
