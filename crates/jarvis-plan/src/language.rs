//! Which of the languages jarvis answers in a text is written in, by its script alone.

use serde::{Deserialize, Serialize};

/// A language jarvis itself speaks: its template answers, its measured descriptions, its offline planner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Language {
    /// English, and every other language in a script not named below.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Russian: Cyrillic script.
    #[serde(rename = "ru")]
    Russian,
    /// Chinese: Han script without kana.
    #[serde(rename = "zh")]
    Chinese,
}

impl Language {
    /// The language of a text: the script that most of its words are in. A Han character weighs as two letters, since a
    /// word has about two of them; file names and addresses are left out.
    pub fn of(text: &str) -> Language {
        let (mut latin, mut cyrillic, mut han, mut kana) = (0usize, 0usize, 0usize, 0usize);
        for word in text.split_whitespace() {
            // Chinese runs into file names without a blank; of such a word only the Chinese counts.
            let path = is_path(word);
            if path && (word.starts_with('/') || !word.contains(is_han)) {
                continue;
            }
            for c in word.chars() {
                match Script::of(c) {
                    Script::Han => han += 1,
                    _ if path => {}
                    Script::Latin => latin += 1,
                    Script::Cyrillic => cyrillic += 1,
                    Script::Kana => kana += 1,
                    _ => {}
                }
            }
        }
        // Latin letters inside a Russian or Chinese request are mostly names and file extensions.
        if han > 0 && kana == 0 && han * 4 >= latin.max(cyrillic) {
            Language::Chinese
        } else if cyrillic > 0 && cyrillic * 2 >= latin {
            Language::Russian
        } else {
            Language::English
        }
    }

    /// Picks the wording for this language.
    pub fn pick<T>(self, english: T, russian: T, chinese: T) -> T {
        match self {
            Language::English => english,
            Language::Russian => russian,
            Language::Chinese => chinese,
        }
    }

    /// Its English name.
    pub fn name(self) -> &'static str {
        match self {
            Language::English => "English",
            Language::Russian => "Russian",
            Language::Chinese => "Chinese",
        }
    }

    /// Its two-letter code.
    pub fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Russian => "ru",
            Language::Chinese => "zh",
        }
    }
}

/// The script of a letter, as far as it tells languages apart.
#[allow(missing_docs, reason = "scripts are told by their names")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    Latin,
    Cyrillic,
    /// Chinese characters: the unified ideographs and their common extensions.
    Han,
    Kana,
    Hangul,
    Arabic,
    Hebrew,
    Greek,
    Thai,
    Devanagari,
    /// Other scripts, digits, punctuation and blanks.
    Other,
}

impl Script {
    /// The script of one character.
    pub fn of(letter: char) -> Script {
        match letter {
            'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Script::Latin,
            '\u{400}'..='\u{52f}' => Script::Cyrillic,
            '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}' => {
                Script::Han
            }
            '\u{3040}'..='\u{30ff}' => Script::Kana,
            '\u{ac00}'..='\u{d7af}' | '\u{1100}'..='\u{11ff}' => Script::Hangul,
            '\u{600}'..='\u{6ff}' => Script::Arabic,
            '\u{590}'..='\u{5ff}' => Script::Hebrew,
            '\u{370}'..='\u{3ff}' => Script::Greek,
            '\u{e00}'..='\u{e7f}' => Script::Thai,
            '\u{900}'..='\u{97f}' => Script::Devanagari,
            _ => Script::Other,
        }
    }
}

/// A full-width form as its plain one.
pub fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        c => c,
    }
}

/// True for Chinese characters.
pub fn is_han(letter: char) -> bool {
    Script::of(letter) == Script::Han
}

/// True for Cyrillic letters.
pub fn is_cyrillic(letter: char) -> bool {
    Script::of(letter) == Script::Cyrillic
}

/// Whether a word looks like a path, an address or a file name rather than like language.
pub fn is_path(word: &str) -> bool {
    let word = word.trim_matches(|c: char| "\"'`«»“”‘’()[],;:!?，。！？".contains(c));
    let slashes = word.bytes().filter(|byte| *byte == b'/').count();
    word.starts_with('/')
        || slashes > 1
        || word.starts_with("data:")
        || word.rsplit_once('.').is_some_and(|(_, end)| crate::Kind::of_name(&format!("x.{end}")).is_some())
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn the_script_of_most_words_decides() {
        for (text, want) in [
            ("edges of /images/кот.png", "en"),
            ("edges of кот-на-крыше.png", "en"),
            ("найди контуры на photo.jpg", "ru"),
            ("找出 photo_of_my_cat.jpg 的边缘", "zh"),
            ("озвучь текст https://example.com/a/very/long/address", "ru"),
            ("what does Привет mean in this sentence", "en"),
            ("把/images/0a1b2c.jpg变成黑白", "zh"),
            ("总结新闻.txt和news.txt", "zh"),
            ("edges of 猫.png", "en"),
            ("写真のエッジ", "en"),
            ("", "en"),
            ("1234 !!!", "en"),
        ] {
            assert_eq!(Language::of(text).code(), want, "{text}");
        }
    }
}
