//! How Python prints a JSON value: `str` at the top, `repr` inside lists and objects. Names and values of arguments are
//! compared in this form, and odd step lists are scored in it.

use std::borrow::Cow;
use std::fmt::Write;

use jiter::JsonValue;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::{HALF_PAIRS, Json, entries};

/// The printed form: text as it is, everything else as [`printed_inside`].
pub fn printed<'v>(value: &'v Json<'_>) -> Cow<'v, str> {
    match value {
        JsonValue::Str(text) => Cow::Borrowed(text),
        other => {
            let mut out = String::new();
            printed_inside(other, &mut out);
            Cow::Owned(out)
        }
    }
}

/// The printed form inside a list or an object, where text is quoted.
pub fn printed_inside(value: &Json<'_>, out: &mut String) {
    match value {
        JsonValue::Null => out.push_str("None"),
        JsonValue::Bool(true) => out.push_str("True"),
        JsonValue::Bool(false) => out.push_str("False"),
        JsonValue::Int(number) => {
            let _ = write!(out, "{number}");
        }
        JsonValue::BigInt(number) => {
            let _ = write!(out, "{number}");
        }
        JsonValue::Float(number) => float(*number, out),
        JsonValue::Str(text) => quoted(text, out),
        JsonValue::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                printed_inside(item, out);
            }
            out.push(']');
        }
        JsonValue::Object(pairs) => {
            out.push('{');
            for (at, (key, value)) in entries(pairs).into_iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                quoted(key, out);
                out.push_str(": ");
                printed_inside(value, out);
            }
            out.push('}');
        }
    }
}

/// The shortest digits that give the number back; exponent form below 1e-4 and from 1e16.
fn float(number: f64, out: &mut String) {
    if number.is_nan() {
        out.push_str("nan");
        return;
    }
    if number.is_infinite() {
        out.push_str(if number > 0.0 { "inf" } else { "-inf" });
        return;
    }
    // `1.5e-7`: the shortest digits and the exponent.
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if number != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "{digits}e{sign}{:02}", exponent.abs());
    } else {
        // `Debug` writes `5.0`, and never an exponent below 1e16.
        let plain = format!("{number}");
        out.push_str(&plain);
        if !plain.contains('.') {
            out.push_str(".0");
        }
    }
}

fn quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for letter in text.chars() {
        match letter {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            letter if letter == quote => {
                out.push('\\');
                out.push(letter);
            }
            ' '..='~' => out.push(letter),
            letter => match u32::from(letter) {
                code if (HALF_PAIRS..HALF_PAIRS + 0x800).contains(&code) => {
                    let _ = write!(out, "\\u{:04x}", 0xD800 + (code - HALF_PAIRS));
                }
                code if is_printable(letter) => {
                    let _ = code;
                    out.push(letter);
                }
                code @ 0..=0xFF => {
                    let _ = write!(out, "\\x{code:02x}");
                }
                code @ 0x100..=0xFFFF => {
                    let _ = write!(out, "\\u{code:04x}");
                }
                code => {
                    let _ = write!(out, "\\U{code:08x}");
                }
            },
        }
    }
    out.push(quote);
}

fn is_printable(letter: char) -> bool {
    !matches!(
        letter.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::Surrogate
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::SpaceSeparator
    )
}
