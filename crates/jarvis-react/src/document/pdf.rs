//! PDFs: the text that is in them.
//!
//! Files from outside make every reader of PDFs break down, loop or eat memory sooner or later. In this process one can be
//! kept from taking others with it when it panics, and be left behind when it takes too long, but not be stopped:
//! a program that serves strangers should give a [`PdfReader`] that runs [`extract`] in a process of its own.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::DocumentError;

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

#[cfg(feature = "pdf")]
pub use here::{InProcess, extract};

#[cfg(feature = "pdf")]
mod here {
    use std::panic::AssertUnwindSafe;
    use std::sync::Arc;
    use std::time::Duration;

    use async_trait::async_trait;
    use bytes::Bytes;
    use jarvis_net::text::shorten;
    use tokio::sync::Semaphore;

    use super::super::DocumentError;
    use super::{MAX_PDF, PDF_TIME, PdfReader};

    /// Readings at once; those that were left behind count until they end.
    const AT_ONCE: usize = 2;

    /// Reads PDFs on threads of this process.
    #[derive(Debug, Clone)]
    pub struct InProcess {
        time: Duration,
        places: Arc<Semaphore>,
    }

    impl Default for InProcess {
        fn default() -> InProcess {
            InProcess::new(PDF_TIME)
        }
    }

    impl InProcess {
        /// A reader that gives up after a time.
        pub fn new(time: Duration) -> InProcess {
            InProcess { time, places: Arc::new(Semaphore::new(AT_ONCE)) }
        }
    }

    #[async_trait]
    impl PdfReader for InProcess {
        async fn text(&self, bytes: Bytes) -> Result<String, DocumentError> {
            let places = Arc::clone(&self.places);
            let reading = async {
                let place = places.acquire_owned().await.map_err(|_| DocumentError::PdfBroken)?;
                let work = move || {
                    let text = extract(&bytes);
                    drop(place);
                    text
                };
                tokio::task::spawn_blocking(work).await.unwrap_or(Err(DocumentError::PdfBroken))
            };
            tokio::time::timeout(self.time, reading).await.unwrap_or(Err(DocumentError::PdfTime(self.time)))
        }
    }

    /// The text of a PDF, on this thread, however long it takes.
    ///
    /// # Errors
    /// When it is too long or damaged, or the reader panics at it.
    pub fn extract(bytes: &[u8]) -> Result<String, DocumentError> {
        if bytes.len() > MAX_PDF {
            return Err(DocumentError::PdfSize { bytes: bytes.len(), most: MAX_PDF });
        }
        let pages = std::panic::catch_unwind(AssertUnwindSafe(|| pdf_extract::extract_text_from_mem_by_pages(bytes)));
        let pages = pages.map_err(|_| DocumentError::PdfBroken)?;
        let pages = pages.map_err(|error| DocumentError::Pdf(shorten(&error.to_string(), 200)))?;
        let pages = pages.iter().map(|page| page.trim_matches('\n')).filter(|page| !page.trim().is_empty());
        Ok(pages.collect::<Vec<_>>().join("\n\n").replace('\0', ""))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[tokio::test(start_paused = true)]
        async fn who_waits_too_long_is_told() {
            let reader = InProcess::default();
            let _places = reader.places.acquire_many(AT_ONCE as u32).await.unwrap();
            assert_eq!(reader.text(Bytes::from("%PDF")).await, Err(DocumentError::PdfTime(PDF_TIME)));
        }
    }
}
