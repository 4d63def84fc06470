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

/// The rows of a word list that is compiled into a program, in order: a name, and what follows its tab. `#` begins a comment.
///
/// # Panics
/// At a row without a tab; every list has a test that reads it.
pub fn rows(list: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| row.split_once('\t').expect("a row has a tab, which the test of its list reads"))
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

/// A number from 0 to 20, or ten times one from 3 to 9, as one word in the form that counts: `seven`, `семь`, `七`, `thirty`.
pub fn cardinal(word: &str) -> Option<usize> {
    const WORDS: [(usize, &[&str]); 28] = [
        (0, &["zero", "ноль", "零"]),
        (1, &["one", "один", "одна", "一"]),
        (2, &["two", "два", "две", "二", "两"]),
        (3, &["three", "три", "三"]),
        (4, &["four", "четыре", "四"]),
        (5, &["five", "пять", "五"]),
        (6, &["six", "шесть", "六"]),
        (7, &["seven", "семь", "七"]),
        (8, &["eight", "восемь", "八"]),
        (9, &["nine", "девять", "九"]),
        (10, &["ten", "десять", "十"]),
        (11, &["eleven", "одиннадцать", "十一"]),
        (12, &["twelve", "двенадцать", "十二"]),
        (13, &["thirteen", "тринадцать", "十三"]),
        (14, &["fourteen", "четырнадцать", "十四"]),
        (15, &["fifteen", "пятнадцать", "十五"]),
        (16, &["sixteen", "шестнадцать", "十六"]),
        (17, &["seventeen", "семнадцать", "十七"]),
        (18, &["eighteen", "восемнадцать", "十八"]),
        (19, &["nineteen", "девятнадцать", "十九"]),
        (20, &["twenty", "двадцать", "二十"]),
        (30, &["thirty", "тридцать", "三十"]),
        (40, &["forty", "сорок", "四十"]),
        (50, &["fifty", "пятьдесят", "五十"]),
        (60, &["sixty", "шестьдесят", "六十"]),
        (70, &["seventy", "семьдесят", "七十"]),
        (80, &["eighty", "восемьдесят", "八十"]),
        (90, &["ninety", "девяносто", "九十"]),
    ];
    WORDS.iter().find(|(_, words)| words.contains(&word)).map(|(number, _)| *number)
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
