//! PDFs: the text that is in them.
//!
//! Files from outside make every reader of PDFs break down, loop or eat memory sooner or later, and a thread cannot be
//! stopped: a program should give a [`PdfReader`] that runs `extract` in a process of its own.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::DocumentError;

/// The largest PDF that is read, in bytes.
pub const MAX_PDF: usize = 32 << 20;

pub const PDF_TIME: Duration = Duration::from_secs(20);

/// Takes the text out of PDFs, many at once.
#[async_trait]
pub trait PdfReader: Send + Sync {
    /// The text of a PDF, page after page.
    ///
    /// # Errors
    /// When there is none, or none in time.
    async fn text(&self, bytes: Bytes) -> Result<String, DocumentError>;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct NoPdf;

#[async_trait]
impl PdfReader for NoPdf {
    async fn text(&self, _bytes: Bytes) -> Result<String, DocumentError> {
        Err(DocumentError::NoPdf)
    }
}

/// The text of a PDF, on this thread, however long it takes.
///
/// # Errors
/// When it is too long or damaged, or the reader panics at it.
#[cfg(feature = "pdf")]
pub fn extract(bytes: &[u8]) -> Result<String, DocumentError> {
    if bytes.len() > MAX_PDF {
        return Err(DocumentError::PdfSize { bytes: bytes.len(), most: MAX_PDF });
    }
    let pages =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pdf_extract::extract_text_from_mem_by_pages(bytes)));
    let pages = pages.map_err(|_| DocumentError::PdfBroken)?;
    let pages = pages.map_err(|error| DocumentError::Pdf(jarvis_net::text::shorten(&error.to_string(), 200)))?;
    let pages = pages.iter().map(|page| page.trim_matches('\n')).filter(|page| !page.trim().is_empty());
    Ok(pages.collect::<Vec<_>>().join("\n\n").replace('\0', ""))
}
