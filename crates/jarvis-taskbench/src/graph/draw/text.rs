//! Names in drawings: how wide they are, cut to fit, and escaped.

use unicode_width::UnicodeWidthChar;

/// Cells of a text: one for a Latin letter, two for a Han character.
pub(super) fn cells(text: &str) -> usize {
    text.chars().filter_map(UnicodeWidthChar::width).sum()
}

/// The text in at most `width` cells, with an ellipsis where something was cut.
pub(super) fn cut(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    let (mut out, mut used) = (String::new(), 0);
    for letter in text.chars() {
        let size = letter.width().unwrap_or(0);
        if used + size + 1 > width {
            break;
        }
        out.push(letter);
        used += size;
    }
    out.push('…');
    out
}

/// Controls, and marks that reorder a line.
fn forbidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// The text as XML character data or an attribute's value.
pub(super) fn xml_escape(text: &str) -> String {
    escaped(text, |letter| match letter {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&apos;"),
        _ => None,
    })
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
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => out.push(' '),
            letter if forbidden(letter) => out.push('\u{FFFD}'),
            letter => match escape(letter) {
                Some(written) => out.push_str(written),
                None => out.push(letter),
            },
        }
    }
    out
}
