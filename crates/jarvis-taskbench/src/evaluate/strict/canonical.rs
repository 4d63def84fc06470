//! One text for equal JSON values: what argument values that are not text are compared by.
//!
//! Keys are sorted, nothing is spaced, the last of repeated keys counts, and numbers equal in value are written alike
//! (`1`, `1.0` and `1e0` are `1`), as in RFC 8785. Integers keep all their digits.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

use crate::json::Json;

/// The text of a value: text as it is, everything else canonically. So `"5"` equals `5`, as in the legacy profile.
pub(super) fn value_text<'v>(value: &'v Json<'_>) -> Cow<'v, str> {
    match value {
        Json::Str(text) => Cow::Borrowed(text),
        other => {
            let mut out = String::new();
            write_value(other, &mut out);
            Cow::Owned(out)
        }
    }
}

fn write_value(value: &Json<'_>, out: &mut String) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Json::Int(number) => {
            let _ = write!(out, "{number}");
        }
        Json::BigInt(number) => {
            let _ = write!(out, "{number}");
        }
        Json::Float(number) => write_float(*number, out),
        Json::Str(text) => write_text(text, out),
        Json::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Json::Object(pairs) => {
            let sorted: BTreeMap<&str, &Json<'_>> = pairs.iter().map(|(key, value)| (key.as_ref(), value)).collect();
            out.push('{');
            for (at, (key, value)) in sorted.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write_value(value, out);
            }
            out.push('}');
        }
    }
}

fn write_float(number: f64, out: &mut String) {
    if number.is_nan() {
        out.push_str("NaN");
    } else if number.is_infinite() {
        out.push_str(if number > 0.0 { "Infinity" } else { "-Infinity" });
    } else if number == 0.0 {
        out.push('0');
    } else if number.fract() == 0.0 && number.abs() < 1e21 {
        let _ = write!(out, "{number:.0}");
    } else if number.abs() < 1e-6 || number.abs() >= 1e21 {
        let _ = write!(out, "{number:e}");
    } else {
        let _ = write!(out, "{number}");
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use super::value_text;
    use crate::evaluate::cases;
    use crate::json::parse;

    #[test]
    fn equal_values_have_one_text() {
        for (json, expected) in cases::<(String, String)>("canonical") {
            assert_eq!(value_text(&parse(json.as_bytes()).unwrap()), expected, "{json}");
        }
    }
}
