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
        let distance = distance(slip.as_bytes(), word.as_bytes());
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

/// Letters put in, left out, changed or swapped with the next one (optimal string alignment).
fn distance(one: &[u8], two: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in two.iter().enumerate() {
            let get = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
            let mut cost = (get(&above, j) + usize::from(a != b)).min(get(&above, j + 1) + 1).min(get(&row, j) + 1);
            let swapped = i > 0 && j > 0 && one.get(i - 1) == Some(b) && two.get(j - 1) == Some(a);
            if swapped {
                cost = cost.min(get(&before, j - 1) + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().expect("a row has a cell before the first letter")
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        for (one, two, expected) in [
            ("egdes", "edges", 1),
            ("sumarize", "summarize", 1),
            ("kitten", "sitting", 3),
            ("", "ab", 2),
            ("a", "a", 0),
        ] {
            assert_eq!(distance(one.as_bytes(), two.as_bytes()), expected, "{one} {two}");
        }
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
