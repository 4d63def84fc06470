//! Names in drawings, escaped for each of their languages.

pub(super) use jarvis_plan::export::text::{cells, cut};
use jarvis_plan::export::text::{clean, escape};

/// The text as XML character data or an attribute's value.
pub(super) fn xml_escape(text: &str) -> String {
    escape(&one_line(text))
}

/// The text inside a quoted label of DOT.
pub(super) fn dot_escape(text: &str) -> String {
    escaped(text, |letter| match letter {
        '\\' => Some("\\\\"),
        '"' => Some("\\\""),
        _ => None,
    })
}

/// The text inside a quoted label of Mermaid, whose escapes are `#NAME;`.
pub(super) fn mermaid_escape(text: &str) -> String {
    escaped(text, |letter| match letter {
        '"' => Some("#quot;"),
        '#' => Some("#35;"),
        '&' => Some("#amp;"),
        '<' => Some("#lt;"),
        '>' => Some("#gt;"),
        '`' => Some("#96;"),
        _ => None,
    })
}

fn escaped(text: &str, escape: impl Fn(char) -> Option<&'static str>) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in one_line(text).chars() {
        match escape(letter) {
            Some(written) => out.push_str(written),
            None => out.push(letter),
        }
    }
    out
}

fn one_line(text: &str) -> String {
    clean(&text.replace(['\n', '\r', '\t'], " "))
}
