//! JSON as the original evaluator's language reads it: `NaN` and infinities, integers of any size, integers apart from
//! floats, the last of repeated keys, half surrogate pairs. It is for scoring, where such details change figures;
//! everything else uses `serde_json`.

mod printed;

use std::borrow::Cow;

use indexmap::IndexMap;
use jiter::{JsonError, JsonValue};

pub use printed::{printed, printed_inside};

/// A JSON value that may borrow from the line it was read from.
pub type Json<'a> = JsonValue<'a>;

/// Reads one document. The mark that some editors put at the start of a file is skipped.
pub fn parse(bytes: &[u8]) -> Result<Json<'_>, NotJson> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match JsonValue::parse(bytes, true) {
        Ok(value) => Ok(value),
        Err(error) => match with_half_pairs(bytes) {
            Some(mended) => JsonValue::parse(&mended, true)
                .map(|value| value.into_static())
                .map_err(|_| NotJson::new(&error, bytes)),
            None => Err(NotJson::new(&error, bytes)),
        },
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotJson(String);

impl NotJson {
    fn new(error: &JsonError, bytes: &[u8]) -> NotJson {
        let text = error.description(bytes);
        // Of one line only the column says something.
        NotJson(if bytes.contains(&b'\n') { text } else { text.replace(" at line 1 column ", " at column ") })
    }
}

pub trait Look<'a> {
    /// The value of a key of an object: the last one where it is repeated.
    fn look(&self, key: &str) -> Option<&Json<'a>>;
    fn text(&self) -> Option<&str>;
    fn list(&self) -> Option<&[Json<'a>]>;
    fn pairs(&self) -> Option<&[(Cow<'a, str>, Json<'a>)]>;
    fn is_empty_container(&self) -> bool;
    fn what(&self) -> &'static str;
    /// The same as `serde_json`'s type. Integers beyond 64 bits become floats, `NaN` and infinities null.
    fn to_serde(&self) -> serde_json::Value;
}

impl<'a> Look<'a> for Json<'a> {
    fn look(&self, key: &str) -> Option<&Json<'a>> {
        self.pairs()?.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn text(&self) -> Option<&str> {
        if let JsonValue::Str(text) = self { Some(text) } else { None }
    }

    fn list(&self) -> Option<&[Json<'a>]> {
        if let JsonValue::Array(items) = self { Some(items) } else { None }
    }

    fn pairs(&self) -> Option<&[(Cow<'a, str>, Json<'a>)]> {
        if let JsonValue::Object(pairs) = self { Some(pairs) } else { None }
    }

    fn is_empty_container(&self) -> bool {
        match self {
            JsonValue::Str(text) => text.is_empty(),
            JsonValue::Array(items) => items.is_empty(),
            JsonValue::Object(pairs) => pairs.is_empty(),
            JsonValue::Null | JsonValue::Bool(_) | JsonValue::Int(_) | JsonValue::BigInt(_) | JsonValue::Float(_) => {
                false
            }
        }
    }

    fn what(&self) -> &'static str {
        match self {
            JsonValue::Null => "null",
            JsonValue::Bool(_) => "a boolean",
            JsonValue::Int(_) | JsonValue::BigInt(_) | JsonValue::Float(_) => "a number",
            JsonValue::Str(_) => "text",
            JsonValue::Array(_) => "a list",
            JsonValue::Object(_) => "an object",
        }
    }

    fn to_serde(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            JsonValue::Null => Value::Null,
            JsonValue::Bool(flag) => Value::Bool(*flag),
            JsonValue::Int(number) => Value::from(*number),
            JsonValue::BigInt(number) => number.to_string().parse::<f64>().map_or(Value::Null, Value::from),
            JsonValue::Float(number) => Value::from(*number),
            JsonValue::Str(text) => Value::from(text.as_ref()),
            JsonValue::Array(items) => items.iter().map(Look::to_serde).collect(),
            JsonValue::Object(pairs) => {
                Value::Object(pairs.iter().map(|(key, value)| (key.to_string(), value.to_serde())).collect())
            }
        }
    }
}

/// The pairs of an object as a dictionary keeps them: each key once, at its first place, with its last value.
pub fn entries<'v, 'a>(pairs: &'v [(Cow<'a, str>, Json<'a>)]) -> IndexMap<&'v str, &'v Json<'a>> {
    let mut kept: IndexMap<&str, &Json<'a>> = IndexMap::with_capacity(pairs.len());
    for (key, value) in pairs {
        kept.insert(key, value);
    }
    kept
}

/// Where half surrogate pairs (`\ud83d` alone) are kept: they have no place in UTF-8, so each stands as a private
/// character of plane 16 that nobody else uses.
pub(crate) const HALF_PAIRS: u32 = 0x10_F000;

/// The text with every half surrogate pair written as its private character; `None` when there is none.
fn with_half_pairs(bytes: &[u8]) -> Option<Vec<u8>> {
    let unit = |at: usize| -> Option<u32> {
        let digits = bytes.get(at..at + 6).filter(|unit| unit.starts_with(b"\\u"))?.get(2..)?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut out = Vec::with_capacity(bytes.len());
    let (mut at, mut mended) = (0, false);
    while let Some(byte) = bytes.get(at) {
        if *byte != b'\\' {
            out.push(*byte);
            at += 1;
            continue;
        }
        let length = match unit(at) {
            Some(0xD800..0xDC00) if matches!(unit(at + 6), Some(0xDC00..0xE000)) => 12,
            Some(half @ 0xD800..0xE000) => {
                let private = HALF_PAIRS + (half - 0xD800) - 0x1_0000;
                out.extend(format!("\\u{:04x}\\u{:04x}", 0xD800 + (private >> 10), 0xDC00 + (private & 0x3FF)).bytes());
                mended = true;
                at += 6;
                continue;
            }
            Some(_) => 6,
            None => 2,
        };
        out.extend(bytes.get(at..(at + length).min(bytes.len())).unwrap_or_default());
        at += length;
    }
    mended.then_some(out)
}

#[cfg(test)]
mod tests;
