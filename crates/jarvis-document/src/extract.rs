//! Documents that are more than text: PDFs, office files, web pages, and the text that is in them.
//!
//! Files from outside make every reader of such formats break down, loop or eat memory sooner or later, and a thread
//! cannot be stopped: a program should give a [`DocumentReader`] that runs `extract` in a process of its own.

#[cfg(feature = "documents")]
mod html;
#[cfg(feature = "documents")]
mod office;
#[cfg(feature = "documents")]
mod pdf;
#[cfg(feature = "documents")]
mod sheets;
#[cfg(all(test, feature = "documents"))]
mod tests;

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::{DocumentError, Format};

/// The largest file that is read, in bytes.
pub const MAX_FILE: usize = 32 << 20;

/// The longest that the reading of one document may take.
pub const READ_TIME: Duration = Duration::from_secs(20);

/// The text of a document; its tables are Markdown tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// What the bytes turned out to be.
    pub format: Format,
    pub text: String,
}

/// Takes the text out of documents, many at once.
#[async_trait]
pub trait DocumentReader: Send + Sync {
    /// The text of a document that [`Container::of`] recognises.
    ///
    /// # Errors
    /// When there is none, or none in time.
    async fn text(&self, bytes: Bytes) -> Result<Extracted, DocumentError>;
}

/// The reader of a build without the feature `documents`: it reads nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoReader;

#[async_trait]
impl DocumentReader for NoReader {
    async fn text(&self, bytes: Bytes) -> Result<Extracted, DocumentError> {
        let container = Container::of(&bytes).map_or("a document", Container::describe);
        Err(DocumentError::NotBuilt(container))
    }
}

/// What the first bytes of a document tell of it; which kind of office file a container holds is found out by reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    Pdf,
    /// Office files of today.
    Zip,
    /// Office files of before 2007.
    Ole,
    Html,
}

impl Container {
    /// The container that the bytes begin as; `None` for plain text and everything that is no document.
    pub fn of(bytes: &[u8]) -> Option<Container> {
        // Readers accept bytes before the mark of a PDF, and some writers put some there.
        let head = bytes.get(..1024).unwrap_or(bytes);
        if head.starts_with(b"%PDF-") || (head.contains(&0) && head.windows(5).any(|window| window == b"%PDF-")) {
            return Some(Container::Pdf);
        }
        if head.starts_with(b"PK\x03\x04") {
            return Some(Container::Zip);
        }
        if head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
            return Some(Container::Ole);
        }
        is_html(head).then_some(Container::Html)
    }

    fn describe(self) -> &'static str {
        match self {
            Container::Pdf => "a PDF",
            Container::Zip | Container::Ole => "an office file",
            Container::Html => "a web page",
        }
    }
}

/// Whether a document begins as HTML does, in any encoding that keeps ASCII, and in UTF-16.
fn is_html(head: &[u8]) -> bool {
    let plain = head.iter().filter(|byte| byte.is_ascii() && **byte != 0).map(u8::to_ascii_lowercase);
    let plain: Vec<u8> = plain.collect();
    let mut rest = plain.trim_ascii_start();
    // Comments and the declaration of XML may stand before.
    for (open, close) in [(&b"<?xml"[..], &b"?>"[..]), (b"<!--", b"-->")] {
        if rest.starts_with(open)
            && let Some(end) = rest.windows(close.len()).position(|window| window == close)
        {
            rest = rest.get(end + close.len()..).unwrap_or_default().trim_ascii_start();
        }
    }
    [&b"<!doctype html"[..], b"<html", b"<head>", b"<body", b"<table"].iter().any(|mark| rest.starts_with(mark))
}

/// The text of a document, on this thread, however long it takes.
///
/// # Errors
/// When it is too long, damaged or no document, or a reader panics at it.
#[cfg(feature = "documents")]
pub fn extract(bytes: &[u8]) -> Result<Extracted, DocumentError> {
    if bytes.len() > MAX_FILE {
        return Err(DocumentError::Size { bytes: bytes.len(), most: MAX_FILE });
    }
    let container = Container::of(bytes).ok_or_else(|| DocumentError::NotText(jarvis_store::sniff::describe(bytes)))?;
    let read = || match container {
        Container::Pdf => pdf::text(bytes).map(|text| (Format::Pdf, text)),
        Container::Zip => office::text(bytes),
        Container::Ole => sheets::old(bytes).map(|text| (Format::Sheet, text)),
        Container::Html => html::text(bytes).map(|text| (Format::Html, text)),
    };
    let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).map_err(|_| DocumentError::Broken)?;
    let (format, text) = read?;
    Ok(Extracted { format, text: text.replace('\0', "") })
}

/// Why the text of a document of this format could not be taken out.
#[cfg(feature = "documents")]
fn unreadable(format: Format, reason: &impl std::fmt::Display) -> DocumentError {
    let reason = jarvis_net::text::shorten(&reason.to_string(), 200);
    DocumentError::Unreadable(format!("the {format}: {reason}"))
}

/// Appends rows as a Markdown table, the first row as its header.
#[cfg(feature = "documents")]
fn push_table(text: &mut String, rows: &[Vec<String>]) {
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if width == 0 {
        return;
    }
    for (at, row) in rows.iter().enumerate() {
        for column in 0..width {
            let cell = row.get(column).map_or("", String::as_str);
            text.push_str("| ");
            for word in cell.split_whitespace() {
                text.push_str(&word.replace('|', "\\|"));
                text.push(' ');
            }
        }
        text.push_str("|\n");
        if at == 0 {
            text.push_str(&"| --- ".repeat(width));
            text.push_str("|\n");
        }
    }
    text.push('\n');
}
