//! Labels in several lines, broken where names of tools can be.

use jarvis_plan::export::text::{cells, clusters};
pub(crate) use jarvis_plan::export::text::{clean, cut};

/// `1 tool`, `2 tools`.
pub(crate) fn several(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
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

/// The text in at most `width` cells, cut in its middle: names of runs and tools often differ in their ends.
pub(crate) fn cut_inside(text: &str, width: usize) -> String {
    let all: Vec<(String, usize)> = clusters(text).collect();
    if all.iter().map(|(_, size)| size).sum::<usize>() <= width {
        return cut(text, width);
    }
    let room = width.saturating_sub(1);
    let mut taken = 0;
    let mut fits = |most: usize, size: usize| {
        let fits = taken + size <= most;
        taken += if fits { size } else { 0 };
        fits
    };
    let head: String =
        all.iter().take_while(|(_, size)| fits(room.div_ceil(2), *size)).map(|(cluster, _)| cluster.as_str()).collect();
    let mut tail: Vec<&str> =
        all.iter().rev().take_while(|(_, size)| fits(room, *size)).map(|(cluster, _)| cluster.as_str()).collect();
    tail.reverse();
    format!("{head}…{}", tail.concat())
}

#[cfg(test)]
mod tests {
    use super::{cut, cut_inside, wrap};

    #[test]
    fn cuts_inside() {
        for (text, expected) in [
            ("short", "short"),
            ("tencellsxx", "tencellsxx"),
            ("dm (use_demos_2)", "dm (u…s_2)"),
            ("图像分割模型识别", "图像…识别"),
            ("a\u{202e}bcdefghijkl", "a\u{FFFD}bcd…ijkl"),
        ] {
            assert_eq!(cut_inside(text, 10), expected, "{text}");
        }
    }

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
