//! Words: text cut into tokens with stems. English and Russian words are stemmed, a Chinese character is a token of its own.

pub(crate) mod grammar;

use std::hash::Hash;

use indexmap::IndexSet;
use jarvis_plan::{Script, is_han};
pub(crate) use jarvis_plan::{pattern, spell_out};
use unicode_segmentation::UnicodeSegmentation;

use crate::data;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) lower: String,
    pub(crate) stem: String,
    /// Bytes of the text where it begins and ends.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    /// True for articles and pointing words, which patterns skip.
    pub(crate) fn is_determiner(&self) -> bool {
        data::DETERMINERS.has(&self.lower)
    }

    pub(crate) fn is_han(&self) -> bool {
        self.lower.chars().next().is_some_and(is_han)
    }
}

pub(crate) fn stem(lower: &str) -> String {
    // Words that share a stem with others and nothing else: "animate", "position".
    if matches!(lower, "animal" | "animals" | "positive") {
        return lower.trim_end_matches('s').to_owned();
    }
    jarvis_plan::stem(lower)
}

pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let token = |(start, word): (usize, &str)| {
        let lower = word.to_lowercase();
        Token { stem: stem(&lower), lower, start, end: start + word.len() }
    };
    words(text).map(token).collect()
}

/// The words of a text in lower case, where their stems are not needed: those take the longest.
pub(crate) fn lowers(text: &str) -> impl Iterator<Item = String> {
    words(text).map(|(_, word)| word.to_lowercase())
}

/// The words of a text, each with the place where it begins.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.unicode_word_indices().flat_map(|(start, word)| {
        let [plain, curly] = GENITIVES;
        let word = without_genitive(without_genitive(word, plain), curly);
        // `book_flight` is one word to Unicode and two to a reader; so is a word glued to Chinese.
        let parts = word.split('_').scan(start, |at, part| {
            let begins = *at;
            *at += part.len() + 1;
            Some((begins, part))
        });
        parts.filter(|(_, part)| !part.is_empty())
    })
}

/// Endings of "Anna's" and "what's", which no word is read with.
pub(crate) const GENITIVES: [&str; 2] = ["'s", "’s"];

/// What `trim_end_matches` gives, which makes a searcher for each word.
fn without_genitive<'a>(mut word: &'a str, ending: &str) -> &'a str {
    while let Some(rest) = word.strip_suffix(ending) {
        word = rest;
    }
    word
}

pub(crate) fn stems(text: &str) -> Vec<String> {
    tokens(text).into_iter().map(|token| token.stem).collect()
}

/// True for the name of a language, as in "into French" or "на французский".
pub(crate) fn is_language(token: &Token) -> bool {
    data::LANGUAGES.has(&token.lower)
        || (token.lower.ends_with("ский") && token.lower.chars().count() > 6)
        || token.lower.ends_with("цкий")
}

/// Whether a short text is in the language that a word names, by its script or by the language's commonest words; `false` also
/// where neither tells.
pub(crate) fn is_in(language: &Token, text: &str) -> bool {
    let named = |known: &&data::Known| known.names.iter().any(|name| language.lower.starts_with(name));
    let Some(known) = data::KNOWN_LANGUAGES.iter().find(named) else { return false };
    match (known.code, text.chars().find(|letter| letter.is_alphabetic()).map(Script::of)) {
        ("ru", script) => script == Some(Script::Cyrillic),
        ("zh", script) => script == Some(Script::Han),
        _ => lowers(text).any(|word| known.words.contains(word.as_str())),
    }
}

/// True when the words say in which language something is to be: "in French", "по-английски", "用英语".
pub(crate) fn asks_language(tokens: &[Token]) -> bool {
    let lower = |at: usize| tokens.get(at).map_or("", |token: &Token| token.lower.as_str());
    tokens.iter().enumerate().skip(1).any(|(at, token)| match lower(at - 1) {
        // "The recording is in German" tells what is there already.
        "in" => is_language(token) && !(at >= 2 && listed("is are was were be speaks speaking spoken", lower(at - 2))),
        "по" => token.lower.ends_with("ски") && token.lower.chars().count() > 5,
        "用" => token.is_han() && matches!(lower(at + 1), "语" | "文"),
        _ => false,
    })
}

/// Each item once, where it stands first.
pub(crate) fn distinct<T: Hash + Eq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().collect::<IndexSet<T>>().into_iter().collect()
}

/// True when `word` is one of the words of `list`, which blanks separate.
pub(crate) fn listed(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// How much a word tells that `holders` of `count` texts hold, in the manner of BM25: the fewer, the more.
pub(crate) fn rarity(count: usize, holders: usize) -> f32 {
    let (count, holders) = (count as f32, holders as f32);
    (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln()
}

pub(crate) fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).expect("the start is a border");
    slice(text, 0, end)
}

/// The slice of `text` between two byte offsets; empty when they are not on character borders.
pub(crate) fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{is_in, stems, tokens};

    #[test]
    fn short_texts_are_known_by_script_or_word() {
        let check = |language: &str, text: &str, want: bool| {
            assert_eq!(is_in(tokens(language).first().unwrap(), text), want, "{language}: {text}");
        };
        check("French", "bonjour", true);
        check("German", "Guten Tag", true);
        check("French", "good morning", false);
        check("английском", "Hello there", true);
        check("русском", "как дела", true);
        check("Chinese", "你好", true);
        check("Klingon", "hello", false);
    }

    #[test]
    fn stems_by_script() {
        for (text, expected) in [
            ("Find the Edges", "find the edg"),
            ("контуры картинки", "контур картинк"),
            ("чёрно-белым", "черн бел"),
            ("把图变灰", "把 图 变 灰"),
            ("what's book_flight", "what book flight"),
        ] {
            assert_eq!(stems(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn offsets_point_at_the_words() {
        let text = "Ünï_code 图 b";
        for token in tokens(text) {
            assert_eq!(text[token.start..token.end].to_lowercase(), token.lower);
        }
    }
}
