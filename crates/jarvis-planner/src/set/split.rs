//! Names whose words are run together or cut: `leaguenextmatches`, `tadata_and_quote`.

use rustc_hash::FxHashSet;

use crate::meaning;
use crate::words;

/// The shortest word that is found inside another, and the shortest name part that is taken apart.
const SHORTEST: usize = 3;
const RUN_TOGETHER: usize = 6;
/// What a letter that no word covers costs, and what each word does: few long words are likelier than many short ones.
const STRAY: u32 = 6;
const WORD: u32 = 4;
/// A word that the list itself speaks costs less than one of the language.
const SPOKEN: u32 = 2;

/// Words of a name in lower case, taken apart where they are run together and completed where the beginning is cut off.
/// `spoken` are the words of the descriptions of the same list.
pub(crate) fn words_of(name: &str, spoken: &FxHashSet<String>) -> Vec<String> {
    let spelled = words::spell_out(name);
    let mut parts: Vec<String> = Vec::new();
    for token in words::tokens(&spelled) {
        for part in letters_and_digits(&token.lower) {
            parts.extend(apart(&part, parts.is_empty(), spoken));
        }
    }
    parts
}

/// `v2`, `5day`: letters and digits are words of their own.
fn letters_and_digits(word: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut digits = None;
    for letter in word.chars() {
        let is_digit = letter.is_ascii_digit();
        match parts.last_mut() {
            Some(part) if digits == Some(is_digit) => part.push(letter),
            Some(_) | None => parts.push(letter.to_string()),
        }
        digits = Some(is_digit);
    }
    parts
}

fn is_known(word: &str, spoken: &FxHashSet<String>) -> bool {
    spoken.contains(word) || meaning::is_word(word)
}

fn apart(word: &str, is_first: bool, spoken: &FxHashSet<String>) -> Vec<String> {
    let whole = || vec![word.to_owned()];
    if word.len() < RUN_TOGETHER || !word.is_ascii() || is_known(word, spoken) {
        return whole();
    }
    // A beginning that was cut off: `tadata` is `metadata` where the list speaks of it.
    if is_first {
        let completes = |known: &&String| known.len() > word.len() && known.ends_with(word);
        if let Some(known) = spoken.iter().filter(completes).min_by_key(|known| (known.len(), known.as_str())) {
            return vec![known.clone()];
        }
    }
    // The cheapest way to cover the first letters, and where its last word begins.
    let mut best: Vec<(u32, usize, bool)> = vec![(0, 0, true)];
    for end in 1..=word.len() {
        let stray = best.get(end - 1).map_or(u32::MAX, |(cost, ..)| cost + STRAY);
        let mut found = (stray, end - 1, false);
        for begin in 0..end.saturating_sub(SHORTEST - 1) {
            let (Some(piece), Some((cost, ..))) = (word.get(begin..end), best.get(begin)) else { continue };
            if !is_known(piece, spoken) {
                continue;
            }
            let price = WORD - if spoken.contains(piece) { SPOKEN } else { 0 } + u32::from(piece.len() == SHORTEST);
            if cost + price < found.0 {
                found = (cost + price, begin, true);
            }
        }
        best.push(found);
    }
    let (mut pieces, mut end, mut strays): (Vec<String>, usize, usize) = (Vec::new(), word.len(), 0);
    let mut last_stray = None;
    while end > 0 {
        let Some((_, begin, is_word)) = best.get(end).copied() else { break };
        let piece = word.get(begin..end).unwrap_or_default();
        match pieces.last_mut().filter(|_| !is_word && last_stray == Some(end)) {
            // Letters in a row that no word covers are one: `ip`.
            Some(stray) => stray.insert_str(0, piece),
            None => pieces.push(piece.to_owned()),
        }
        if !is_word {
            strays += 1;
            last_stray = Some(begin);
        }
        end = begin;
    }
    pieces.retain(|piece| piece.len() > 1);
    pieces.reverse();
    if strays * 3 > word.len() || pieces.is_empty() { whole() } else { pieces }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::words_of;

    #[test]
    fn names_are_taken_apart() {
        let spoken: FxHashSet<String> = ["metadata", "league", "matches"].into_iter().map(str::to_owned).collect();
        for (name, expected) in [
            ("leaguenextmatches", "league next matches"),
            ("GetIPLocationV2", "get ip location v 2"),
            ("tadata_and_quote", "metadata and quote"),
            ("5_day_forecast", "5 day forecast"),
            ("weatherforecast", "weather forecast"),
            ("getallcategories", "get all categories"),
            ("translation", "translation"),
            ("xqzvbk", "xqzvbk"),
            ("search_by_title_for_imdb", "search by title for imdb"),
            ("查询天气", "查 询 天 气"),
        ] {
            assert_eq!(words_of(name, &spoken).join(" "), expected, "{name}");
        }
    }
}
