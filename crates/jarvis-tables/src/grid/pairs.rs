//! Labels with values, in lines and between commas, and bare lists of numbers.

use super::Row;
use crate::values::{is_amount, may_hold_digit};

/// The longest label, in characters.
const MAX_LABEL: usize = 60;
/// A document with more values is not read.
const MAX_VALUES: usize = 500_000;

/// Rows of a label and a value, where more than half of the lines hold such.
pub(super) fn labelled(document: &str) -> Option<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    let (mut lines, mut with_pairs) = (0, 0);
    for line in document.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let sentence = is_sentence(line);
        let mut found: Vec<(&str, &str)> = parts(line).into_iter().filter_map(|part| pair(part, sentence)).collect();
        // A comma may also stand within a label or an amount.
        if found.len() < 2
            && let Some(whole) = pair(line, sentence)
        {
            found = vec![whole];
        }
        lines += 1;
        with_pairs += usize::from(!found.is_empty());
        rows.extend(found.into_iter().map(|(label, value)| vec![label.to_owned(), value.to_owned()]));
    }
    let is_table = (2..=MAX_VALUES).contains(&rows.len()) && with_pairs * 2 > lines;
    is_table.then_some(rows)
}

/// A line between its commas and semicolons; a comma between digits parts nothing.
fn parts(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut before) = (0, ' ');
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        let is_decimal =
            c == ',' && before.is_ascii_digit() && line.as_bytes().get(end).is_some_and(u8::is_ascii_digit);
        if matches!(c, ',' | '，' | ';' | '；' | '、' | '。') && !is_decimal {
            parts.extend(line.get(start..at));
            start = end;
        }
        before = c;
    }
    parts.extend(line.get(start..));
    parts
}

/// Whether a line is a label and an amount with a decimal comma, such as `Tea - 2,50 €`, rather than two cells.
pub(super) fn has_decimal_comma(line: &str) -> bool {
    let Some((label, value)) = pair(line, false).filter(|_| line.matches(',').count() == 1) else { return false };
    let Some((_, rest)) = value.split_once(',') else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let has_unit = rest.get(digits..).is_some_and(|unit| !unit.trim().is_empty())
        || !value.starts_with(|c: char| c.is_ascii_digit());
    let has_mark = line.trim().len() > label.len() + value.len() + 2;
    (1..=2).contains(&digits) && (has_unit || has_mark)
}

/// A label with an amount behind it; parted by a blank alone only outside sentences.
fn pair(text: &str, is_sentence: bool) -> Option<(&str, &str)> {
    let text = without_bullet(text.trim().trim_end_matches(['。', ';', '；', ',']));
    if text.len() > 6 * MAX_LABEL || !may_hold_digit(text) {
        return None;
    }
    let marked = ["：", ":", "=", " — ", " – ", " - ", "\t"].into_iter().find_map(|mark| {
        let (label, value) = text.rsplit_once(mark)?;
        (!(mark == ":" && is_time(label, value)) && is_amount(value)).then_some((label, value))
    });
    let (label, value) = marked.or_else(|| {
        let (label, value) = text.split_at(text.find(|c: char| c.is_ascii_digit())?);
        let is_apart = !is_sentence && label.ends_with(char::is_whitespace) && label.split_whitespace().count() <= 3;
        (is_apart && is_amount(value)).then_some((label, value))
    })?;
    // `Prices: tea: 2` begins with a heading.
    let label = label.rsplit(['：', ':']).next().unwrap_or(label);
    let label = label.trim().trim_matches(['*', '"', '`', '-', '–', '—']).trim();
    let is_label = label.chars().any(char::is_alphabetic)
        && label.chars().count() <= MAX_LABEL
        && !label.contains(['<', '>', '{']);
    is_label.then_some((label, value.trim()))
}

/// Whether a line ends in a full stop that is not that of a unit.
fn is_sentence(line: &str) -> bool {
    let Some(body) = line.trim_end().strip_suffix(['.', '!', '?', '。', '！', '？']) else { return false };
    let last = body.rsplit(|c: char| !c.is_alphanumeric()).next().map_or(0, |word| word.chars().count());
    line.ends_with(['!', '?', '。', '！', '？']) || last > 4 || body.contains(". ")
}

/// Whether a colon parts hours from minutes.
fn is_time(before: &str, after: &str) -> bool {
    let hours = before.bytes().rev().take_while(u8::is_ascii_digit).count();
    let minutes = after.bytes().take_while(u8::is_ascii_digit).count();
    (1..=2).contains(&hours) && minutes == 2
}

fn without_bullet(line: &str) -> &str {
    let bare = line.trim_start_matches(['-', '*', '•', '·', '–']).trim_start();
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    match bare.get(digits..).and_then(|rest| rest.strip_prefix(['.', ')', '、'])) {
        Some(rest) if (1..=3).contains(&digits) && rest.starts_with(' ') => rest.trim_start(),
        Some(_) | None => bare,
    }
}

/// A document that is nothing but numbers, behind a heading if there is one.
pub(super) fn bare_numbers(document: &str) -> Option<Vec<Row>> {
    let body = match document.rsplit_once([':', '：']) {
        Some((head, body)) if head.len() < 80 && !head.trim().contains(['.', '。', '!', '?', '\n']) => body,
        Some(_) | None => document,
    };
    let marks =
        [&['\n', ';', '；', '、', '，'][..], &[',', '\n', '；', ';', '、', '，'], &[' ', ',', '\n', ';', '\t', '，']];
    marks.into_iter().find_map(|marks| {
        let parts = || body.split(marks).map(str::trim).filter(|part| !part.is_empty());
        let are_numbers = (2..=MAX_VALUES).contains(&parts().take(MAX_VALUES + 1).count()) && parts().all(is_amount);
        are_numbers.then(|| parts().map(|part| vec![part.to_owned()]).collect())
    })
}
