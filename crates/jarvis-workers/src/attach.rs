//! Files in: bytes that a person gives become a [`Resource`] of a request. Where the bytes come from (a path, an upload,
//! a data URL) is the front end's business. A file of any size arrives in pieces ([`Arriving`]): media go to the disk as they come.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use jarvis_document::{Container, Document, DocumentError, DocumentReader, Format, MAX_FILE};
use jarvis_plan::{Kind, Resource, Source};
use jarvis_store::sniff::{Sniffed, describe, sniff};
use jarvis_store::{Incoming, Media, MediaError};

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
            AttachError::Store(error) => error.hint(),
            AttachError::TextTooLong { .. } | AttachError::Broken { .. } => None,
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

/// The bytes of a file that are held before it is known what it is, and then on their way to the disk. More than is looked at to
/// tell what a file is.
const HELD: usize = 1 << 20;

/// A file that arrives piece by piece, to be taken in as by [`attach`]. A medium is written as it comes, and at most 1 MiB of it
/// is held; a text or document is held up to the bound that it has anyway. Dropped before [`Arriving::finish`], it leaves nothing.
#[derive(Debug)]
pub struct Arriving {
    name: String,
    media: Arc<Media>,
    /// What is not written yet, or all of it.
    held: Vec<u8>,
    size: u64,
    form: Form,
}

/// What a file that arrives has turned out to be.
#[derive(Debug)]
enum Form {
    Unknown,
    Medium(Kind, Box<Incoming>),
    /// A text, or a document with text in it, of at most so many bytes.
    Text(usize),
}

impl Arriving {
    pub fn new(name: &str, media: &Arc<Media>) -> Arriving {
        Arriving { name: name.to_owned(), media: Arc::clone(media), held: Vec::new(), size: 0, form: Form::Unknown }
    }

    /// The bytes that have arrived.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Takes the next piece; returns the file with it.
    ///
    /// # Errors
    /// As [`attach`], as soon as it is known.
    pub async fn add(mut self, piece: &[u8]) -> Result<Arriving, AttachError> {
        self.size += piece.len() as u64;
        match self.form {
            // It is too long, whatever else comes, and its whole size is to be told.
            Form::Text(most) if self.held.len() > most => {}
            Form::Unknown | Form::Medium(..) | Form::Text(_) => self.held.extend_from_slice(piece),
        }
        match self.form {
            Form::Unknown | Form::Medium(..) if self.held.len() >= HELD => self.on_disk(Arriving::write).await,
            Form::Unknown | Form::Medium(..) | Form::Text(_) => Ok(self),
        }
    }

    /// Takes the whole file in.
    ///
    /// # Errors
    /// As [`attach`].
    pub async fn finish(self, reader: &dyn DocumentReader) -> Result<Attached, AttachError> {
        match self.form {
            Form::Text(most) if self.held.len() > most => Err(match most {
                MAX_FILE => {
                    let bytes = usize::try_from(self.size).unwrap_or(usize::MAX);
                    AttachError::Document { name: self.name, source: DocumentError::Size { bytes, most } }
                }
                _ => AttachError::TextTooLong { name: self.name, size: self.size },
            }),
            Form::Unknown | Form::Text(_) => attach(&self.name, self.held, &self.media, reader).await,
            Form::Medium(..) => {
                let whole = |file: Arriving| {
                    let Arriving { name, media, form, .. } = file.write()?;
                    match form {
                        Form::Medium(kind, incoming) => Ok(stored(&name, kind, incoming.finish(&media)?)),
                        Form::Unknown | Form::Text(_) => Err(AttachError::Broken { name }),
                    }
                };
                self.on_disk(whole).await
            }
        }
    }

    /// Does what blocks on a thread for it.
    async fn on_disk<T: Send + 'static>(
        self,
        work: impl FnOnce(Arriving) -> Result<T, AttachError> + Send + 'static,
    ) -> Result<T, AttachError> {
        let name = self.name.clone();
        let done = tokio::task::spawn_blocking(move || work(self)).await;
        done.unwrap_or(Err(AttachError::Broken { name }))
    }

    /// Writes what is held of a medium, and finds out first whether it is one.
    fn write(mut self) -> Result<Arriving, AttachError> {
        if matches!(self.form, Form::Unknown) {
            let is_medium = Kind::of_name(&self.name).is_some_and(Kind::is_media);
            self.form = if !is_medium && Container::of(&self.held).is_some() {
                Form::Text(MAX_FILE)
            } else {
                match kind_of(&self.name, &self.held)? {
                    (kind @ (Kind::Image | Kind::Audio | Kind::Video), extension) => {
                        let incoming = self.media.incoming(kind, Some(&self.name), &extension)?;
                        Form::Medium(kind, Box::new(incoming))
                    }
                    (Kind::Text | Kind::Json, _) => Form::Text(MAX_TEXT as usize),
                }
            };
        }
        if let Form::Medium(_, incoming) = &mut self.form {
            let failed = |source| MediaError::Io { doing: "write", path: self.name.clone(), source };
            incoming.write_all(&self.held).map_err(failed)?;
            self.held.clear();
        }
        Ok(self)
    }
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
    let (kind, extension) = kind_of(name, bytes)?;
    match kind {
        Kind::Image | Kind::Audio | Kind::Video => Ok(stored(name, kind, media.keep(kind, name, &extension, bytes)?)),
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

fn stored(name: &str, kind: Kind, path: String) -> Attached {
    let resource = Resource { kind, source: Source::Public(path), name: Some(name.to_owned()) };
    Attached { resource, warnings: Vec::new() }
}

/// The kind of a file and the extension that it is stored with, by its name and its first bytes.
fn kind_of(name: &str, bytes: &[u8]) -> Result<(Kind, String), AttachError> {
    let extension = || Path::new(name).extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let sniffed = sniff(bytes);
    if let Some(kind) = Kind::of_name(name).filter(|kind| kind.is_media())
        && is_other(kind, &extension(), sniffed.as_ref())
    {
        let article = if kind == Kind::Video { "a" } else { "an" };
        return Err(AttachError::Other { name: name.to_owned(), kind, article, found: describe(bytes) });
    }
    Ok(match (Kind::of_name(name), sniffed) {
        (Some(kind), _) => (kind, extension()),
        (None, Some(sniffed)) => (sniffed.kind.unwrap_or(Kind::Text), sniffed.extension.to_owned()),
        (None, None) => (Kind::Text, String::new()),
    })
}

/// True when the bytes are known to be something else, or are not known although every file of that name is.
fn is_other(kind: Kind, extension: &str, sniffed: Option<&Sniffed>) -> bool {
    match sniffed {
        Some(sniffed) => !sniffed.fits(kind),
        None => matches!(extension, "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "tif" | "tiff" | "wav" | "flac"),
    }
}

#[cfg(test)]
mod tests;
