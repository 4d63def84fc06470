//! The text of PDFs.

use super::unreadable;
use crate::{DocumentError, Format};

/// The text of a PDF, page after page.
pub(super) fn text(bytes: &[u8]) -> Result<String, DocumentError> {
    let pages = pdf_extract::extract_text_from_mem_by_pages(bytes).map_err(|error| unreadable(Format::Pdf, &error))?;
    let pages = pages.iter().map(|page| page.trim_matches('\n')).filter(|page| !page.trim().is_empty());
    Ok(pages.collect::<Vec<_>>().join("\n\n"))
}
