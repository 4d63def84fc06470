//! Text for drawings and pages: how wide it is, without what drives a terminal or reorders a line, cut, wrapped, escaped.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Bytes that one visible character may have; longer clusters are heaps of accents meant to spill over.
const CLUSTER: usize = 32;

/// How many cells a text takes: one for a Latin letter, two for a Han character, none for an accent.
pub fn cells(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text with control characters, marks that reorder a line, tags and non-characters replaced by `U+FFFD`. Line ends
/// and tabs stay.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if forbidden(c) { '\u{FFFD}' } else { c }).collect()
}

fn forbidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\r' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// The text in one line of at most `width` cells, with an ellipsis where something was cut.
pub fn cut(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for (cluster, size) in clusters(text) {
        if used + size > width {
            while used + 1 > width && out.pop().is_some() {
                used = cells(&out);
            }
            out.truncate(out.trim_end().len());
            out.push('…');
            return out;
        }
        out.push_str(&cluster);
        used += size;
    }
    out
}

/// The text in at most `lines` lines of `width` cells, broken at blanks; the last one is cut.
pub(super) fn wrap_words(text: &str, width: usize, lines: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = out.len() >= lines;
        match out.last_mut() {
            Some(line) if full || cells(line) + 1 + cells(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => out.push(word.to_owned()),
        }
    }
    out.iter().map(|line| cut(line, width)).collect()
}

/// The visible characters with their widths; blanks of any kind are one blank.
pub fn clusters(text: &str) -> impl Iterator<Item = (String, usize)> {
    text.graphemes(true).map(|cluster| {
        if cluster.trim().is_empty() {
            return (" ".to_owned(), 1);
        }
        let cluster = if cluster.len() > CLUSTER { "\u{FFFD}".to_owned() } else { clean(cluster) };
        // What has no width still counts, so that a line of it ends.
        let size = cells(&cluster).max(1);
        (cluster, size)
    })
}

/// The text as character data or as an attribute's value.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c if forbidden(c) => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}
