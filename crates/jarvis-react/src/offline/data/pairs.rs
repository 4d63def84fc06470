//! Labels with values: in lines, between commas, and in sentences; and bare lists of numbers.

use std::collections::{HashMap, HashSet};

use jarvis_plan::is_han;
use tokio_util::sync::CancellationToken;

use super::{Table, is_year};
use crate::offline::amount::{Amount, may_hold_digit};
use crate::offline::heard::says_little;
use crate::offline::matching::{Question, bare, folded, words};

/// The longest label, in characters.
const LABEL: usize = 60;
/// The most values that are read; with more a document is no list that a question is asked about.
const MOST: usize = 500_000;
/// The most sentences that are looked at for amounts of a thing.
const SENTENCES: usize = 20_000;

/// Pairs of labels and amounts, where there are two or more.
pub(super) fn find<'d>(document: &'d str, ended: &CancellationToken) -> Option<Table<'d>> {
    let mut rows = Vec::new();
    let (mut lines, mut telling) = (0_usize, 0_usize);
    let all = document.lines().map(str::trim).filter(|line| !line.is_empty());
    for line in all.take_while(|_| !ended.is_cancelled()) {
        let sentence = is_sentence(line);
        let parts: Vec<(&str, &str)> = parts(line).into_iter().filter_map(|part| pair_in(part, sentence)).collect();
        // A comma may also stand within a label or an amount.
        let whole = if parts.len() < 2 { pair_in(line, sentence) } else { None };
        lines += 1;
        telling += usize::from(whole.is_some() || !parts.is_empty());
        match whole {
            Some((label, value)) => rows.push(vec![label, value]),
            None => rows.extend(parts.into_iter().map(|(label, value)| vec![label, value])),
        }
    }
    if !(2..=MOST).contains(&rows.len()) {
        return None;
    }
    let mut table = Table::new(rows, Some(false)).filter(|table| table.label == Some(0))?;
    table.sparse = telling * 2 < lines;
    Some(table)
}

/// A line between its commas and semicolons; a comma between digits parts nothing.
fn parts(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut before) = (0, ' ');
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        let within =
            c == ',' && before.is_ascii_digit() && line.as_bytes().get(end).is_some_and(|next| next.is_ascii_digit());
        if matches!(c, ',' | '，' | ';' | '；' | '、' | '。') && !within {
            parts.extend(line.get(start..at));
            start = end;
        }
        before = c;
    }
    parts.extend(line.get(start..));
    parts
}

/// Whether a line is a label and an amount with a decimal comma, such as `Tea - 2,50 €`, and no cells between commas.
pub(super) fn is_decimal(line: &str) -> bool {
    if line.matches(',').count() != 1 {
        return false;
    }
    let Some((label, value)) = pair(line) else { return false };
    let Some((_, rest)) = value.split_once(',') else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let unit = rest.get(digits..).is_some_and(|unit| !unit.trim().is_empty())
        || !value.starts_with(|c: char| c.is_ascii_digit());
    let parted = line.trim().len() > label.len() + value.len() + 2;
    (1..=2).contains(&digits) && (unit || parted)
}

/// A label with an amount behind it.
fn pair(text: &str) -> Option<(&str, &str)> {
    pair_in(text, false)
}

/// A label with an amount behind it; between blanks alone only where the line is no sentence.
fn pair_in(text: &str, sentence: bool) -> Option<(&str, &str)> {
    let text = unlisted(text.trim().trim_end_matches(['。', ';', '；', ',']));
    // Nothing that is so long is a label with an amount, and nothing without a digit.
    if text.len() > 6 * LABEL || !may_hold_digit(text) {
        return None;
    }
    let parted = ["：", ":", "=", " — ", " – ", " - ", "\t"].into_iter().find_map(|mark| {
        let (label, value) = text.rsplit_once(mark)?;
        if mark == ":" && is_time(label, value) {
            return None;
        }
        Amount::read(value).map(|_| (label, value))
    });
    let (label, value) = parted.or_else(|| {
        let (label, value) =
            text.split_once(|c: char| c.is_ascii_digit()).map(|(label, _)| text.split_at(label.len()))?;
        let blank = !sentence && label.ends_with(char::is_whitespace) && label.split_whitespace().count() <= 3;
        Amount::read(value).filter(|_| blank).map(|_| (label, value))
    })?;
    // What stands before another colon tells of all pairs.
    let label =
        label.rsplit(['：', ':']).next().unwrap_or(label).trim().trim_matches(['*', '"', '`', '-', '–', '—']).trim();
    let named =
        label.chars().any(char::is_alphabetic) && label.chars().count() <= LABEL && !label.contains(['<', '>', '{']);
    named.then_some((label, value.trim()))
}

/// Whether a line is a sentence, which ends in a full stop that is not that of a unit.
fn is_sentence(line: &str) -> bool {
    let Some(body) = line.trim_end().strip_suffix(['.', '!', '?', '。', '！', '？']) else { return false };
    let last = body.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    line.ends_with(['!', '?', '。', '！', '？']) || last.chars().count() > 4 || body.contains(". ")
}

/// Whether a colon parts hours from minutes.
fn is_time(before: &str, after: &str) -> bool {
    let hours = before.bytes().rev().take_while(u8::is_ascii_digit).count();
    let minutes = after.bytes().take_while(u8::is_ascii_digit).count();
    (1..=2).contains(&hours) && minutes == 2
}

/// A line without the mark of a list before it.
fn unlisted(line: &str) -> &str {
    let bare = line.trim_start_matches(['-', '*', '•', '·', '–']).trim_start();
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    match bare.get(digits..).and_then(|rest| rest.strip_prefix(['.', ')', '、'])) {
        Some(rest) if (1..=3).contains(&digits) && rest.starts_with(' ') => rest.trim_start(),
        Some(_) | None => bare,
    }
}

/// A document that is nothing but numbers.
pub(super) fn numbers<'d>(document: &'d str, ended: &CancellationToken) -> Option<Table<'d>> {
    let body = document.rsplit_once([':', '：']).map_or(document, |(head, body)| {
        let heads = head.len() < 80 && !head.trim().contains(['.', '。', '!', '?', '\n']);
        if heads { body } else { document }
    });
    for marks in
        [&['\n', ';', '；', '、', '，'][..], &[',', '\n', '；', ';', '、', '，'], &[' ', ',', '\n', ';', '\t', '，']]
    {
        let parts = || body.split(marks).map(str::trim).filter(|part| !part.is_empty());
        let wrong = parts().nth(1).is_none() || parts().nth(MOST).is_some();
        if !wrong && parts().all(|part| !ended.is_cancelled() && Amount::read(part).is_some()) {
            return Table::new(parts().map(|part| vec![part]).collect(), Some(false));
        }
    }
    None
}

/// Sentences with an amount of what the question asks for, where there are two or more; `None` where they are not alike
/// in what else the question says.
pub(super) fn sentences<'d>(document: &'d str, question: &Question, ended: &CancellationToken) -> Option<Table<'d>> {
    let mut found: Vec<(Vec<&'d str>, &'d str)> = Vec::new();
    // In how many of the sentences each word of the question stands, and in which it was last seen.
    let mut said: HashMap<String, (usize, usize)> = HashMap::new();
    let mut verb: Option<String> = None;
    let asked = |word: &&str| {
        let word = words(&folded(word));
        word.iter().any(|word| word.chars().count() > 2 && !word.chars().any(is_han) && question.holds(word))
    };
    let pieces = document.split_inclusive(['.', '。', '!', '！', '?', '？', ';', '；', '\n']);
    for sentence in joined(pieces, document).into_iter().take(SENTENCES) {
        let parts: Vec<&str> = sentence.split(|c: char| c.is_whitespace() || ",，:：".contains(c)).collect();
        let mut first = None;
        for (at, part) in parts.iter().enumerate().take_while(|_| !ended.is_cancelled()) {
            if !may_hold_digit(part) || !parts.iter().skip(at + 1).take(3).any(asked) {
                continue;
            }
            // `T-200` is a name.
            let named =
                part.split(|c: char| c.is_ascii_digit()).next().is_some_and(|head| head.contains(char::is_alphabetic));
            let amount = part.trim_end_matches(['.', '。']);
            let amount = amount.trim_start_matches(|c: char| !c.is_ascii_digit() && !"-$€£¥".contains(c));
            if named || Amount::read(amount).is_none() {
                continue;
            }
            // A year says when, unless it stands right before the thing.
            let next = parts.get(at + 1).is_some_and(asked);
            let when = at.checked_sub(1).and_then(|at| parts.get(at)).is_none_or(|before| {
                let known = [
                    "in", "since", "by", "from", "until", "of", "for", "during", "year", "в", "с", "к", "до", "от",
                    "за",
                ];
                known.contains(&folded(before).as_str())
            });
            if is_year(amount) && (when || !next) {
                continue;
            }
            if first.replace((at, amount)).is_some() {
                // Which of two is meant, words alone do not tell.
                return None;
            }
        }
        let Some((at, amount)) = first else { continue };
        for part in parts.iter().flat_map(|part| words(&folded(part))) {
            if question.holds(&part) && !says_little(&part) {
                let (count, last) = said.entry(bare(&part).to_owned()).or_insert((0, usize::MAX));
                *count += usize::from(*last != found.len());
                *last = found.len();
            }
        }
        // `Sold` and `bought` are not to be added.
        let before = at.checked_sub(1).and_then(|at| parts.get(at)).map(|word| folded(word)).unwrap_or_default();
        if *verb.get_or_insert_with(|| before.clone()) != before {
            return None;
        }
        let names = parts.iter().take(at).map(|part| part.trim_matches(|c: char| !c.is_alphanumeric()));
        found.push((names.filter(|name| !name.is_empty()).collect(), amount));
    }
    if found.len() < 2 {
        return None;
    }
    // In how many sentences each name stands, and in which it was last seen.
    let mut common: HashMap<String, (usize, usize)> = HashMap::new();
    for (at, (names, _)) in found.iter().enumerate() {
        for name in names {
            let (count, last) = common.entry(folded(name)).or_insert((0, usize::MAX));
            *count += usize::from(*last != at);
            *last = at;
        }
    }
    let rows: Vec<Vec<&str>> = found
        .iter()
        .map(|(names, amount)| {
            let own = names
                .iter()
                .find(|name| name.chars().count() > 2 && common.get(&folded(name)).is_some_and(|known| known.0 == 1));
            vec![own.or(names.last()).copied().unwrap_or_default(), *amount]
        })
        .collect();
    let labels: HashSet<String> =
        rows.iter().filter_map(|row| row.first()).map(|name| bare(&folded(name)).to_owned()).collect();
    if said.iter().any(|(word, (count, _))| *count < found.len() && !labels.contains(word)) {
        return None;
    }
    Table::new(rows, Some(false)).filter(|table| table.label == Some(0))
}

/// Pieces of a text, with those put together again that a point within a number parted.
fn joined<'d>(pieces: impl Iterator<Item = &'d str>, document: &'d str) -> Vec<&'d str> {
    let mut joined: Vec<&str> = Vec::new();
    let (mut start, mut end) = (0, 0);
    for piece in pieces {
        if end > start
            && !piece.starts_with(char::is_whitespace)
            && document.get(..end).is_some_and(|text| text.ends_with('.'))
        {
            end += piece.len();
            continue;
        }
        joined.extend(document.get(start..end).filter(|sentence| !sentence.trim().is_empty()));
        start = end;
        end += piece.len();
    }
    joined.extend(document.get(start..end).filter(|sentence| !sentence.trim().is_empty()));
    joined
}
