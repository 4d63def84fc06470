//! Words as they are compared: stems by script, and names cut into words.

use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use crate::Script;

static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
static RUSSIAN: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::Russian));

/// The Snowball stem of one lower-case word: Russian for Cyrillic words, with `ё` as `е`, English for Latin ones. Words of
/// other scripts and numbers are their own stems.
pub fn stem(lower: &str) -> String {
    match lower.chars().next().map(Script::of) {
        Some(Script::Cyrillic) => RUSSIAN.stem(&lower.replace('ё', "е")).into_owned(),
        Some(Script::Latin) => ENGLISH.stem(lower).into_owned(),
        _ => lower.to_owned(),
    }
}

/// A name such as `getWeather`, `get_weather` or `Get-Weather` as words with blanks between.
pub fn spell_out(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    for letter in name.chars() {
        if matches!(letter, '_' | '-' | '.' | '/' | ':') {
            spelled.push(' ');
        } else {
            if letter.is_uppercase() && (before.is_lowercase() || before.is_ascii_digit()) {
                spelled.push(' ');
            }
            spelled.push(letter);
        }
        before = letter;
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::{spell_out, stem};

    #[test]
    fn the_script_decides_how_a_word_is_stemmed() {
        for (word, expected) in
            [("edges", "edg"), ("картинки", "картинк"), ("чёрный", "черн"), ("图", "图"), ("2022", "2022"), ("", "")]
        {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn names_are_spelled_out() {
        for (name, words) in
            [("getWeather", "get Weather"), ("text-to-image", "text to image"), ("send_email", "send email")]
        {
            assert_eq!(spell_out(name), words);
        }
    }
}
