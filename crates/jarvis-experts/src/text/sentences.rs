//! Splits long texts for models that write: at ends of sentences where possible, into pieces that a model reads at once.

use crate::{Call, ExpertError};

/// Cuts a text into consecutive pieces of at most so many tokens; a text that fits is one piece, unchanged. Sentences are kept
/// whole unless one alone is too long.
///
/// # Errors
/// When counting fails or the call is over.
pub(super) fn pieces<'a>(
    text: &'a str,
    limit: usize,
    count: &dyn Fn(&str) -> Result<usize, ExpertError>,
    call: &Call,
) -> Result<Vec<&'a str>, ExpertError> {
    if count(text)? <= limit {
        return Ok(vec![text]);
    }
    // What every piece has besides its text, special tokens and a prefix, counts once a piece.
    let around = count("")?;
    let mut parts = Vec::new();
    for sentence in sentences(text) {
        split_long(sentence, limit, count, call, &mut parts)?;
    }
    let mut joined: Vec<&str> = Vec::new();
    let (mut start, mut end, mut tokens) = (0, 0, around);
    for (part, size) in parts {
        let size = size.saturating_sub(around);
        if start < end && tokens + size > limit {
            joined.extend(text.get(start..end));
            (start, tokens) = (end, around);
        }
        tokens += size;
        // Parts are consecutive slices of the text.
        end += part.len();
    }
    joined.extend(text.get(start..end));
    let mut pieces = Vec::with_capacity(joined.len());
    for piece in joined {
        // Parts may have more tokens together than one by one.
        split_long(piece, limit, count, call, &mut pieces)?;
    }
    Ok(pieces.into_iter().map(|(piece, _)| piece.trim()).filter(|piece| !piece.is_empty()).collect())
}

/// Halves a text near its middle. None where it has one character or no place to cut.
pub(super) fn halves(text: &str) -> Option<(&str, &str)> {
    let ends: Vec<usize> = sentences(text)
        .iter()
        .scan(0, |end, sentence| {
            *end += sentence.len();
            Some(*end)
        })
        .filter(|end| *end < text.len())
        .collect();
    let middle = text.len() / 2;
    let spaces = || {
        text.char_indices()
            .filter(|(_, character)| character.is_whitespace())
            .map(|(index, character)| index + character.len_utf8())
    };
    let letters = || text.char_indices().map(|(index, _)| index).skip(1);
    let nearest = |places: &mut dyn Iterator<Item = usize>| {
        places.filter(|place| *place > 0 && *place < text.len()).min_by_key(|place| place.abs_diff(middle))
    };
    let place =
        nearest(&mut ends.into_iter()).or_else(|| nearest(&mut spaces())).or_else(|| nearest(&mut letters()))?;
    text.split_at_checked(place)
}

/// A sentence, or its halves' halves until each fits.
fn split_long<'a>(
    text: &'a str,
    limit: usize,
    count: &dyn Fn(&str) -> Result<usize, ExpertError>,
    call: &Call,
    parts: &mut Vec<(&'a str, usize)>,
) -> Result<(), ExpertError> {
    call.check()?;
    let size = count(text)?;
    match halves(text) {
        Some((one, other)) if size > limit => {
            split_long(one, limit, count, call, parts)?;
            split_long(other, limit, count, call, parts)
        }
        Some(_) | None => {
            parts.push((text, size));
            Ok(())
        }
    }
}

/// The sentences of a text as consecutive slices, each with the spaces after it.
fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    // Whether an end mark came last, closing quotes aside.
    let mut has_ended = false;
    while let Some((index, character)) = characters.next() {
        let end = index + character.len_utf8();
        let next = characters.peek().map(|(_, next)| *next);
        match character {
            '。' | '！' | '？' | '\n' => has_ended = true,
            '.' | '!' | '?' | '…' => has_ended = next.is_none_or(|next| next.is_whitespace() || is_closing(next)),
            _ if has_ended && (character.is_whitespace() || is_closing(character)) => {}
            _ => has_ended = false,
        }
        if has_ended
            && next.is_none_or(|next| !next.is_whitespace() && !is_closing(next) && !"。！？.!?…".contains(next))
        {
            sentences.extend(text.get(start..end));
            start = end;
            has_ended = false;
        }
    }
    sentences.extend(text.get(start..).filter(|rest| !rest.is_empty()));
    sentences
}

fn is_closing(character: char) -> bool {
    matches!(character, '"' | '\'' | ')' | ']' | '»' | '”' | '’' | '」' | '』')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(sentences(text), expected);
        assert_eq!(sentences(text).concat(), text);
    }

    #[test]
    fn sentences_end_at_marks_and_lines() {
        check("", &[]);
        check("One", &["One"]);
        check("One. Two!  Three? ", &["One. ", "Two!  ", "Three? "]);
        check("He said \"no.\" She left.", &["He said \"no.\" ", "She left."]);
        check("Version 2.5 costs 3.20 euros.", &["Version 2.5 costs 3.20 euros."]);
        check("a\n\nb", &["a\n\n", "b"]);
        check("今日は。明日は？", &["今日は。", "明日は？"]);
        check("What?! Yes... no", &["What?! ", "Yes... ", "no"]);
    }

    #[test]
    fn pieces_fit_and_lose_nothing() {
        let count = |text: &str| Ok(text.split_whitespace().count());
        let cases = [
            ("one two. three four. five six.", 4, vec!["one two. three four.", "five six."]),
            ("one two. three four. five six.", 6, vec!["one two. three four. five six."]),
            ("a b c d e f g h", 3, vec!["a b c", "d e", "f g h"]),
            ("a. b c d e. f", 2, vec!["a.", "b c", "d e.", "f"]),
            ("a. b c d e. f", 1, vec!["a.", "b", "c", "d", "e.", "f"]),
        ];
        for (text, limit, expected) in cases {
            let found = pieces(text, limit, &count, &Call::default()).unwrap();
            assert_eq!(found, expected);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(found.iter().flat_map(|piece| words(piece)).collect::<Vec<_>>(), words(text));
        }
    }

    #[test]
    fn a_word_without_spaces_is_cut_at_characters() {
        let count = |text: &str| Ok(text.chars().count());
        let found = pieces("äöüäöüäöü", 4, &count, &Call::default()).unwrap();
        assert!(found.iter().all(|piece| piece.chars().count() <= 4), "{found:?}");
        assert_eq!(found.concat(), "äöüäöüäöü");
    }
}
