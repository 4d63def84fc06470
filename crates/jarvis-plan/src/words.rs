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

/// A number from 0 to 12 in words, in the form that counts: `seven`, `семь`, `七`.
pub fn cardinal(word: &str) -> Option<usize> {
    const WORDS: [&[&str]; 13] = [
        &["zero", "ноль", "零"],
        &["one", "один", "одна", "一"],
        &["two", "два", "две", "二", "两"],
        &["three", "три", "三"],
        &["four", "четыре", "四"],
        &["five", "пять", "五"],
        &["six", "шесть", "六"],
        &["seven", "семь", "七"],
        &["eight", "восемь", "八"],
        &["nine", "девять", "九"],
        &["ten", "десять", "十"],
        &["eleven", "одиннадцать"],
        &["twelve", "двенадцать"],
    ];
    WORDS.iter().position(|words| words.contains(&word))
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
