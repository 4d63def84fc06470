//! Slips of the keyboard: English words that are nearly a word of the lexicon. Used only where nothing matches as written.

use std::sync::LazyLock;

use super::{ConceptId, Nature, concepts};
use crate::data;
use crate::words::{self, Token};

/// Single English words that alone stand for a concept, with their plurals.
static WORDS: LazyLock<Vec<(ConceptId, String)>> = LazyLock::new(|| {
    let mut found = Vec::new();
    for (id, row) in concepts().iter().enumerate().filter(|(_, row)| row.nature != Nature::Ask) {
        for word in &row.says {
            if word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                found.push((id, (*word).to_owned()));
                found.push((id, format!("{word}s")));
            }
        }
    }
    found
});

/// The words with slips corrected towards `wanted` concepts, and the place of the first one corrected; `None` when there
/// are none.
pub(crate) fn corrected(tokens: &[Token], wanted: impl Fn(ConceptId) -> bool) -> Option<(usize, Vec<Token>)> {
    let mut first = None;
    let mut tokens = tokens.to_vec();
    for (at, token) in tokens.iter_mut().enumerate() {
        if let Some(word) = nearest(&token.lower, &wanted) {
            first = first.or(Some(at));
            *token = Token { stem: words::stem(word), lower: word.to_owned(), ..token.clone() };
        }
    }
    first.map(|first| (first, tokens))
}

fn nearest(slip: &str, wanted: impl Fn(ConceptId) -> bool) -> Option<&'static str> {
    let letters = slip.len();
    if letters < 4 || !slip.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return None;
    }
    let most = if letters >= 8 { 2 } else { 1 };
    let close = |word: &str| {
        if word.len().abs_diff(letters) > most || !begins_alike(slip, word) {
            return None;
        }
        let distance = strsim::osa_distance(slip, word);
        // Many short words differ by one letter: only swapped letters count there.
        let swapped = letters > 4 || sorted(slip) == sorted(word);
        ((1..=most).contains(&distance) && swapped).then_some(distance)
    };
    if data::NO_SLIPS.has(slip) || WORDS.iter().any(|(_, word)| word == slip) {
        return None;
    }
    WORDS
        .iter()
        .filter(|(id, _)| wanted(*id))
        .filter_map(|(_, word)| Some((close(word)?, word.as_str())))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// The first letter is the same, or swapped with the second: "order" is no "border".
fn begins_alike(slip: &str, word: &str) -> bool {
    match (slip.as_bytes(), word.as_bytes()) {
        ([a, b, ..], [c, d, ..]) => a == c || (a == d && b == c),
        _ => false,
    }
}

fn sorted(word: &str) -> Vec<u8> {
    let mut letters = word.as_bytes().to_vec();
    letters.sort_unstable();
    letters
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        for (slip, expected) in [
            ("egdes", Some("edges")),
            ("summerize", Some("summarize")),
            ("sumarize", Some("summarize")),
            ("transalte", Some("translate")),
            ("gery", Some("grey")),
            ("order", None),
            ("companies", None),
            ("blue", None),
            ("edges", None),
            ("the", None),
        ] {
            assert_eq!(nearest(slip, |_| true), expected, "{slip}");
        }
    }
}
