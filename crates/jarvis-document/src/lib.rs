//! Documents: from bytes of any usual encoding, PDFs, office files and web pages to text.
//!
//! What the bytes are is decided by the bytes alone. Whatever is no document is refused with what it seems to be; nothing
//! is replaced or guessed silently: what was not plain UTF-8 is told in the warnings.

mod cyrillic;
mod extract;
mod han;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use encoding_rs::{Encoding, GB18030, IBM866, KOI8_R, UTF_16BE, UTF_16LE, WINDOWS_1251};

#[cfg(feature = "documents")]
pub use extract::extract;
pub use extract::{Container, DocumentReader, Extracted, MAX_FILE, NoReader, READ_TIME};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its text, without a byte order mark; line ends are kept as they are.
    pub text: Arc<str>,
    pub format: Format,
    /// What a user should know of the reading, in words.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16, little end first.
    Utf16Le,
    /// UTF-16, big end first.
    Utf16Be,
    /// GB18030, GBK or GB2312.
    Gb18030,
    Windows1251,
    Koi8R,
    /// The code page 866 of DOS.
    Ibm866,
    Pdf,
    /// A workbook: .xlsx, .xlsb, .xls or .ods.
    Sheet,
    Docx,
    Pptx,
    Html,
}

/// The formats whose text is taken out, by the words for them.
const EXTRACTED: [(Format, &str); 5] = [
    (Format::Pdf, "PDF"),
    (Format::Sheet, "workbook"),
    (Format::Docx, "Word document"),
    (Format::Pptx, "presentation"),
    (Format::Html, "web page"),
];

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Utf8 => "UTF-8",
            Format::Utf16Le => "UTF-16LE",
            Format::Utf16Be => "UTF-16BE",
            Format::Gb18030 => "GB18030",
            Format::Windows1251 => "Windows-1251",
            Format::Koi8R => "KOI8-R",
            Format::Ibm866 => "IBM866",
            Format::Pdf | Format::Sheet | Format::Docx | Format::Pptx | Format::Html => {
                EXTRACTED.iter().find(|(format, _)| format == self).map_or("document", |(_, word)| word)
            }
        })
    }
}

impl FromStr for Format {
    type Err = DocumentError;

    /// The format of an extracted document by its word.
    fn from_str(word: &str) -> Result<Format, DocumentError> {
        EXTRACTED.iter().find(|(_, known)| *known == word).map(|(format, _)| *format).ok_or(DocumentError::Broken)
    }
}

/// Why there is no text. All but [`DocumentError::Time`] and [`DocumentError::Broken`] are faults of what was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("the document is not text in an encoding that is known: it is {0}")]
    NotText(String),
    #[error("the document is text in UTF-32, which is not read; save it as UTF-8")]
    Utf32,
    /// The build lacks the readers; the part is what the document is.
    #[error(
        "the document is {0}, which needs the feature `documents`, and this jarvis was built without it; send its text"
    )]
    NotBuilt(&'static str),
    #[error("the document has {bytes} bytes, and at most {most} are read")]
    Size { bytes: usize, most: usize },
    #[error("the text of the document could not be taken out within {} s", .0.as_secs_f64())]
    Time(Duration),
    /// What it could not be taken out of, and why.
    #[error("no text could be taken out of {0}")]
    Unreadable(String),
    #[error("the reader of documents broke down at this one")]
    Broken,
}

/// Reads a document; of PDFs, office files and web pages, what the reader takes out.
///
/// # Errors
/// When the bytes are no text, or the document gives none.
pub async fn read(bytes: Bytes, reader: &dyn DocumentReader) -> Result<Document, DocumentError> {
    if Container::of(&bytes).is_none() {
        return decode_text(&bytes);
    }
    let Extracted { format, text } = reader.text(bytes).await?;
    if text.trim().is_empty() {
        let why = if format == Format::Pdf { "; its pages may be pictures" } else { "" };
        return Err(DocumentError::Unreadable(format!("the {format}: it holds no text{why}")));
    }
    let warnings = match format {
        Format::Pdf => vec!["the text was taken out of a PDF; tables and columns may be out of order".to_owned()],
        _ => Vec::new(),
    };
    Ok(Document { text: text.into(), format, warnings })
}

/// Reads the bytes of a text.
///
/// # Errors
/// When they are no text that is known; a web page is read as its source, and other documents with [`read`] alone.
pub fn decode(bytes: &[u8]) -> Result<Document, DocumentError> {
    match Container::of(bytes) {
        Some(Container::Pdf) => Err(DocumentError::NotText("a PDF".to_owned())),
        _ => decode_text(bytes),
    }
}

fn decode_text(bytes: &[u8]) -> Result<Document, DocumentError> {
    if bytes.starts_with(&[0xff, 0xfe, 0, 0]) || bytes.starts_with(&[0, 0, 0xfe, 0xff]) {
        return Err(DocumentError::Utf32);
    }
    let not_text = || DocumentError::NotText(jarvis_store::sniff::describe(bytes));
    for (mark, encoding, format) in
        [(&[0xff, 0xfe], UTF_16LE, Format::Utf16Le), (&[0xfe, 0xff], UTF_16BE, Format::Utf16Be)]
    {
        if let Some(rest) = bytes.strip_prefix(mark.as_slice()) {
            let text = whole(encoding, rest).filter(|text| is_text(text)).ok_or_else(not_text)?;
            return Ok(told(&text, format));
        }
    }
    let plain = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes);
    match std::str::from_utf8(plain) {
        Ok(text) if is_text(text) => {
            return Ok(Document { text: text.into(), format: Format::Utf8, warnings: Vec::new() });
        }
        Ok(_) => {}
        Err(error) if error.error_len().is_none() => {
            // The file ends within a character; it must have had others of more than one byte, or it is no UTF-8.
            let whole = plain.get(..error.valid_up_to()).and_then(|bytes| std::str::from_utf8(bytes).ok());
            if let Some(text) = whole.filter(|text| is_text(text) && !text.is_ascii()) {
                let warnings = vec!["the document ends in the middle of a character, which was left out".to_owned()];
                return Ok(Document { text: text.into(), format: Format::Utf8, warnings });
            }
        }
        Err(_) => {}
    }
    if bytes.contains(&0) {
        let (text, format) = bare_utf16(bytes).ok_or_else(not_text)?;
        return Ok(told(&text, format));
    }
    if han::is_plausible(bytes)
        && let Some(text) = whole(GB18030, bytes).filter(|text| is_text(text))
    {
        return Ok(told(&text, Format::Gb18030));
    }
    // The beginning tells the code page; the rest is then read once.
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    let pages = [(WINDOWS_1251, Format::Windows1251), (KOI8_R, Format::Koi8R), (IBM866, Format::Ibm866)];
    let scored = pages.map(|page| (cyrillic::share(&page.0.decode_without_bom_handling(head).0), page));
    let best = scored.into_iter().filter(|(share, _)| *share >= cyrillic::ENOUGH).max_by(|a, b| a.0.total_cmp(&b.0));
    let (_, (page, format)) = best.ok_or_else(not_text)?;
    let text = whole(page, bytes).filter(|text| is_text(text)).ok_or_else(not_text)?;
    Ok(told(&text, format))
}

/// The bytes from which a code page is told.
const HEAD: usize = 64 << 10;

/// All bytes as text; `None` if any of them is no text in the encoding.
fn whole(encoding: &'static Encoding, bytes: &[u8]) -> Option<String> {
    encoding.decode_without_bom_handling_and_without_replacement(bytes).map(std::borrow::Cow::into_owned)
}

fn told(text: &str, format: Format) -> Document {
    let warnings = vec![format!("the document is not UTF-8; it was read as {format}")];
    Document { text: text.into(), format, warnings }
}

/// Whether a text has no NUL, and hardly any other character that only machines write.
fn is_text(text: &str) -> bool {
    let odd = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{85}' | '\u{1b}' | '\u{8}');
    let (mut odds, mut all) = (0_usize, 0_usize);
    for c in text.chars() {
        if c == '\0' {
            return false;
        }
        all += 1;
        odds += usize::from(odd(c));
    }
    odds * 50 <= all
}

/// UTF-16 without a mark: plainly so when every second byte of what is ASCII is zero.
fn bare_utf16(bytes: &[u8]) -> Option<(String, Format)> {
    if !bytes.len().is_multiple_of(2) {
        return None;
    }
    let zeros = |side: usize| bytes.iter().skip(side).step_by(2).filter(|byte| **byte == 0).count();
    let (first, second) = (zeros(0), zeros(1));
    let (encoding, format, most, least) = if second > first {
        (UTF_16LE, Format::Utf16Le, second, first)
    } else {
        (UTF_16BE, Format::Utf16Be, first, second)
    };
    // One blank or line end in twenty characters, and none of the zeros that would make a NUL.
    if least > 0 || most * 40 < bytes.len() {
        return None;
    }
    let text = whole(encoding, bytes)?;
    let usual =
        |c: &char| c.is_alphanumeric() || c.is_whitespace() || (c.is_ascii() && !c.is_control()) || han::is_mark(*c);
    let all = text.chars().count();
    (is_text(&text) && text.chars().filter(usual).count() * 20 >= all * 19).then_some((text, format))
}
