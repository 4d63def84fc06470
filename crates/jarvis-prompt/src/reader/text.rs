//! Looking at text byte by byte: quotes of all sorts, blanks, words. Nothing here allocates or fails.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quote {
    Double,
    Single,
    Back,
    /// `“`, `”`, `„`, or the full-width `"`.
    CurlyDouble,
    /// `‘` or `’`.
    CurlySingle,
}

impl Quote {
    /// True when `other` may close a string that `self` opened.
    pub(super) fn closes_with(self, other: Quote) -> bool {
        match self {
            Quote::Double | Quote::Single | Quote::Back => other == self,
            Quote::CurlyDouble => matches!(other, Quote::CurlyDouble | Quote::Double),
            Quote::CurlySingle => matches!(other, Quote::CurlySingle | Quote::Single),
        }
    }
}

pub(super) fn byte(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}

pub(super) fn quote(text: &str, at: usize) -> Option<(Quote, usize)> {
    match byte(text, at)? {
        b'"' => Some((Quote::Double, 1)),
        b'\'' => Some((Quote::Single, 1)),
        b'`' => Some((Quote::Back, 1)),
        0xE2 | 0xEF => match text.as_bytes().get(at..at + 3)? {
            [0xE2, 0x80, 0x9C..=0x9E] | [0xEF, 0xBC, 0x82] => Some((Quote::CurlyDouble, 3)),
            [0xE2, 0x80, 0x98 | 0x99] => Some((Quote::CurlySingle, 3)),
            _ => None,
        },
        _ => None,
    }
}

/// The structural character at a position and its length: ASCII ones, and the full-width comma and colon.
pub(super) fn structural(text: &str, at: usize) -> Option<(u8, usize)> {
    match byte(text, at)? {
        found @ (b'{' | b'}' | b'[' | b']' | b',' | b':') => Some((found, 1)),
        0xEF => match text.as_bytes().get(at..at + 3)? {
            [0xEF, 0xBC, 0x8C] => Some((b',', 3)),
            [0xEF, 0xBC, 0x9A] => Some((b':', 3)),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn blank(text: &str, at: usize) -> usize {
    match byte(text, at) {
        Some(b' ' | b'\t' | b'\n' | b'\r') => 1,
        Some(0xC2) if text.as_bytes().get(at + 1) == Some(&0xA0) => 2,
        Some(0xE3) if text.as_bytes().get(at + 1..at + 3) == Some(&[0x80, 0x80]) => 3,
        Some(0xEF) if text.as_bytes().get(at + 1..at + 3) == Some(&[0xBB, 0xBF]) => 3,
        Some(_) | None => 0,
    }
}

pub(super) fn skip_blanks(text: &str, mut at: usize) -> usize {
    loop {
        match blank(text, at) {
            0 => return at,
            length => at += length,
        }
    }
}

pub(super) fn comment(text: &str, at: usize) -> bool {
    match byte(text, at) {
        Some(b'/') => matches!(byte(text, at + 1), Some(b'/' | b'*')),
        Some(b'#') => true,
        Some(_) | None => false,
    }
}

/// True for bytes that an unquoted key is made of.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' || byte == b'$'
}

/// How far a key is looked for: longer ones are taken for text.
const KEY_REACH: usize = 128;

/// True when an object key with its colon starts at a position, or the text ends within it.
pub(super) fn key_ahead(text: &str, at: usize) -> bool {
    let start = at;
    if let Some((open, length)) = quote(text, at) {
        let mut at = at + length;
        while at < start + KEY_REACH {
            match byte(text, at) {
                None => return true,
                Some(b'\n') => return false,
                Some(b'\\') => at += 2,
                Some(_) => match quote(text, at) {
                    Some((close, length)) if open.closes_with(close) => {
                        let next = skip_blanks(text, at + length);
                        return next >= text.len() || matches!(structural(text, next), Some((b':', _)));
                    }
                    _ => at += 1,
                },
            }
        }
        return false;
    }
    let mut at = at;
    while at < start + KEY_REACH && byte(text, at).is_some_and(is_word) {
        at += 1;
    }
    at > start && matches!(structural(text, skip_blanks(text, at)), Some((b':', _)))
}
