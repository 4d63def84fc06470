//! Text from files, made fit for a page: without what drives a terminal or reorders a line, cut or wrapped to a width.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Bytes that one visible character may have; longer clusters are heaps of accents meant to spill over.
const CLUSTER: usize = 32;

/// How many cells a text takes: one for a Latin letter, two for a Han character, none for an accent.
pub(crate) fn cells(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text with control characters, marks that reorder a line, tags and non-characters replaced by `U+FFFD`. Line ends
/// and tabs stay.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if forbidden(c) { '\u{FFFD}' } else { c }).collect()
}

fn forbidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\r' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// The text in one line of at most `width` cells, with an ellipsis where something was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
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

/// The text in at most `lines` lines of `width` cells, broken after blanks, `_`, `-` and `/`, and inside longer words;
/// the last one is cut.
pub(crate) fn wrap(text: &str, width: usize, lines: usize) -> Vec<String> {
    let mut out: Vec<String> = vec![String::new()];
    for piece in text.split_inclusive([' ', '\n', '\t', '_', '-', '/']) {
        let last = out.last().map_or(0, |line| cells(line));
        if last > 0 && last + cells(piece.trim_end()) > width {
            out.push(String::new());
        }
        for (cluster, size) in clusters(piece) {
            let full = out.last().is_some_and(|line| cells(line) + size > width && cluster.trim() != "");
            if full {
                out.push(String::new());
            }
            if let Some(line) = out.last_mut() {
                line.push_str(&cluster);
            }
        }
    }
    let mut out: Vec<String> = out.into_iter().map(|line| line.trim().to_owned()).collect();
    if out.len() > lines.max(1) {
        let rest = out.split_off(lines.max(1) - 1).join(" ");
        out.push(cut(&rest, width));
    }
    out
}

/// The visible characters with their widths; blanks of any kind are one blank.
fn clusters(text: &str) -> impl Iterator<Item = (String, usize)> {
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

#[cfg(test)]
mod tests {
    use super::{cut, wrap};

    #[test]
    fn cuts_and_wraps_to_cells() {
        for (text, width, expected) in [
            ("short", 8, "short"),
            ("much too long", 8, "much to…"),
            ("much too long", 10, "much too…"),
            ("图像分割模型", 7, "图像分…"),
            ("a\u{202e}b", 8, "a\u{FFFD}b"),
            ("a\r\nb", 8, "a b"),
            ("", 8, ""),
        ] {
            assert_eq!(cut(text, width), expected, "{text}");
        }
        for (text, expected) in [
            ("Text-to-Image", "Text-to-|Image"),
            ("share_by_social_network", "share_by_|social_|network"),
            ("Abcdefghijklmnopqrstuvwxyz", "Abcdefghij|klmnopqrst|uvwxyz"),
            ("one two three four five six", "one two|three four|five six"),
            ("one two three four five six seven", "one two|three four|five six…"),
            ("", ""),
        ] {
            assert_eq!(wrap(text, 10, 3).join("|"), expected, "{text}");
        }
    }
}
