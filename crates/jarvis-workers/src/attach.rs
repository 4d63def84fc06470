//! Files in: bytes that a person gives become a [`Resource`] of a request. Where the bytes come from (a path, an upload,
//! a data URL) is the front end's business.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use jarvis_document::{Container, Document, DocumentError, DocumentReader, Format};
use jarvis_plan::{Kind, Resource, Source};
use jarvis_store::sniff::{Sniffed, describe, sniff};
use jarvis_store::{Media, MediaError};

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
    #[error("`{name}` cannot be read: {source}")]
    Document { name: String, source: DocumentError },
    /// The bytes could not be looked at; a task broke down.
    #[error("`{name}` could not be taken in")]
    Broken { name: String },
    #[error(transparent)]
    Store(#[from] MediaError),
}

impl AttachError {
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            AttachError::Unknown { .. } => Some(
                "texts are read in UTF-8, UTF-16, GB18030, Windows-1251, KOI8-R and IBM866; others are to be saved as UTF-8",
            ),
            AttachError::Document { .. } => Some("give its text"),
            AttachError::Other { .. } => Some("give the file its true name"),
            AttachError::TextTooLong { .. } | AttachError::Broken { .. } | AttachError::Store(_) => None,
        }
    }
}

/// A file that was taken in.
#[derive(Debug, Clone, PartialEq)]
pub struct Attached {
    pub resource: Resource,
    /// What the person should know of the reading, in words.
    pub warnings: Vec<String>,
}

/// Takes a file in: a picture, sound or video is stored under the public root; a text, data, or the text of a PDF, an
/// office file or a web page becomes inline text. The name's extension tells the kind; where it says nothing, the bytes do.
///
/// # Errors
/// [`AttachError`], each with its reason.
pub async fn attach(
    name: &str,
    bytes: impl Into<Bytes>,
    media: &Arc<Media>,
    reader: &dyn DocumentReader,
) -> Result<Attached, AttachError> {
    let (name, bytes) = (name.to_owned(), bytes.into());
    if !Kind::of_name(&name).is_some_and(Kind::is_media) && Container::of(&bytes).is_some() {
        let read = jarvis_document::read(bytes, reader).await;
        let read = read.map_err(|source| AttachError::Document { name: name.clone(), source })?;
        let kind = if read.format == Format::Sheet { Kind::Json } else { Kind::Text };
        return text(&name, kind, read);
    }
    let (media, of) = (Arc::clone(media), name.clone());
    let taken = tokio::task::spawn_blocking(move || take(&of, &bytes, &media));
    taken.await.unwrap_or(Err(AttachError::Broken { name }))
}

fn text(name: &str, kind: Kind, read: Document) -> Result<Attached, AttachError> {
    let size = read.text.len() as u64;
    if size > MAX_TEXT {
        return Err(AttachError::TextTooLong { name: name.to_owned(), size });
    }
    let source = Source::Inline(read.text.to_string());
    let warnings = read.warnings.into_iter().map(|warning| format!("`{name}`: {warning}")).collect();
    Ok(Attached { resource: Resource { kind, source, name: Some(name.to_owned()) }, warnings })
}

fn take(name: &str, bytes: &[u8], media: &Media) -> Result<Attached, AttachError> {
    let extension = || Path::new(name).extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let sniffed = sniff(bytes);
    if let Some(kind) = Kind::of_name(name).filter(|kind| kind.is_media())
        && is_other(kind, &extension(), sniffed.as_ref())
    {
        let article = if kind == Kind::Video { "a" } else { "an" };
        return Err(AttachError::Other { name: name.to_owned(), kind, article, found: describe(bytes) });
    }
    let (kind, extension) = match (Kind::of_name(name), sniffed) {
        (Some(kind), _) => (kind, extension()),
        (None, Some(sniffed)) => (sniffed.kind.unwrap_or(Kind::Text), sniffed.extension.to_owned()),
        (None, None) => (Kind::Text, String::new()),
    };
    match kind {
        Kind::Image | Kind::Audio | Kind::Video => {
            let source = Source::Public(media.keep(kind, name, &extension, bytes)?);
            let resource = Resource { kind, source, name: Some(name.to_owned()) };
            Ok(Attached { resource, warnings: Vec::new() })
        }
        Kind::Text | Kind::Json => {
            let size = bytes.len() as u64;
            if size > MAX_TEXT {
                return Err(AttachError::TextTooLong { name: name.to_owned(), size });
            }
            let read = jarvis_document::decode(bytes).map_err(|source| match source {
                DocumentError::NotText(_) => AttachError::Unknown { name: name.to_owned() },
                source => AttachError::Document { name: name.to_owned(), source },
            })?;
            text(name, kind, read)
        }
    }
}

/// True when the bytes are known to be something else, or are not known although every file of that name is.
fn is_other(kind: Kind, extension: &str, sniffed: Option<&Sniffed>) -> bool {
    match sniffed {
        Some(sniffed) => !sniffed.fits(kind),
        None => matches!(extension, "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "tif" | "tiff" | "wav" | "flac"),
    }
}
