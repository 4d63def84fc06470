//! The language of a request, by its script. Only the languages that the planner reads are told apart.

use crate::resources;

/// A language that the offline planner reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// English, and every other language in Latin script.
    English,
    /// Russian, and every other language in Cyrillic script.
    Russian,
    /// Chinese, and every other text with Han characters.
    Chinese,
}

impl Language {
    /// The language of `text`: the script with the most letters, where one Han character counts as much as three
    /// letters; English when there is no letter at all. Paths, addresses and quotations count only where nothing else
    /// is there.
    pub fn of(text: &str) -> Language {
        let spans = resources::spans(text);
        let own: String =
            text.char_indices().filter(|(at, _)| !spans.iter().any(|span| span.covers(*at))).map(|(_, c)| c).collect();
        Language::of_letters(if own.chars().any(char::is_alphabetic) { &own } else { text })
    }

    fn of_letters(text: &str) -> Language {
        let (mut latin, mut cyrillic, mut han) = (0usize, 0usize, 0usize);
        for letter in text.chars() {
            if is_han(letter) {
                han += 3;
            } else if is_cyrillic(letter) {
                cyrillic += 1;
            } else if letter.is_alphabetic() {
                latin += 1;
            }
        }
        if han > 0 && han >= cyrillic && han >= latin {
            Language::Chinese
        } else if cyrillic > latin {
            Language::Russian
        } else {
            Language::English
        }
    }

    /// The two-letter code.
    pub fn code(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Russian => "ru",
            Language::Chinese => "zh",
        }
    }
}

/// True for Chinese characters (the unified ideographs and their common extensions).
pub fn is_han(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{2FA1F}')
}

/// True for Cyrillic letters.
pub fn is_cyrillic(letter: char) -> bool {
    matches!(letter, '\u{0400}'..='\u{052F}')
}

#[cfg(test)]
mod tests {
    use super::Language;

    #[test]
    fn languages_by_script() {
        for (text, code) in [
            ("", "en"),
            ("12 + 3", "en"),
            ("Summarise this", "en"),
            ("Résume ce texte", "en"),
            ("Опиши /images/a.png", "ru"),
            ("Переведи «good morning, my friends»", "ru"),
            ("Опиши картинку", "ru"),
            ("描述 /a.png", "zh"),
            ("把这张图片变成黑白", "zh"),
        ] {
            assert_eq!(Language::of(text).code(), code, "{text}");
        }
    }
}
