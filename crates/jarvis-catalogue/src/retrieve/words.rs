//! The words of a text as they are compared: lower case, stems, and pairs of characters where a script has no blanks.

use rust_stemmers::{Algorithm, Stemmer};

/// Splits texts into the terms that are counted.
pub(super) struct Words {
    english: Stemmer,
    russian: Stemmer,
}

impl Default for Words {
    fn default() -> Words {
        Words { english: Stemmer::create(Algorithm::English), russian: Stemmer::create(Algorithm::Russian) }
    }
}

/// What a character does for the word that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Part of a word.
    Letter,
    /// Part of a text without blanks between words.
    Dense,
    /// Between words.
    Other,
}

fn kind(c: char) -> Kind {
    match c {
        '\u{1100}'..='\u{11ff}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}' => Kind::Dense,
        c if c.is_alphanumeric() => Kind::Letter,
        _ => Kind::Other,
    }
}

impl Words {
    /// The terms of a text, in order, repeated as they are.
    pub(super) fn of(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        let mut run = String::new();
        let mut of = Kind::Other;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let mut next = kind(c);
            // The apostrophe inside a word belongs to it; the stemmer knows its endings.
            let apostrophe = matches!(c, '\'' | '\u{2019}');
            if apostrophe && of == Kind::Letter && chars.peek().is_some_and(|c| kind(*c) == Kind::Letter) {
                next = Kind::Letter;
            }
            if next != of {
                self.add(&run, of, &mut terms);
                run.clear();
                of = next;
            }
            run.push(if apostrophe { '\'' } else { c });
        }
        self.add(&run, of, &mut terms);
        terms
    }

    fn add(&self, run: &str, of: Kind, terms: &mut Vec<String>) {
        match of {
            Kind::Other => {}
            Kind::Dense => {
                let chars: Vec<char> = run.chars().collect();
                match chars.as_slice() {
                    [_] => terms.push(run.to_owned()),
                    chars => terms.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>())),
                }
            }
            Kind::Letter => {
                terms.push(self.stem(run));
                let parts = parts(run);
                if parts.len() > 1 {
                    terms.extend(parts.into_iter().map(|part| self.stem(part)));
                }
            }
        }
    }

    fn stem(&self, word: &str) -> String {
        let lower = word.to_lowercase();
        if lower.is_ascii() {
            self.english.stem(&lower).into_owned()
        } else if lower.chars().all(|c| matches!(c, '\u{400}'..='\u{4ff}')) {
            self.russian.stem(&lower).into_owned()
        } else {
            lower
        }
    }
}

/// The parts of a name such as `getMovieKeywords`; the whole where it has no such parts.
fn parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in word.char_indices() {
        if c.is_uppercase() && before.is_some_and(char::is_lowercase) {
            parts.extend(word.get(start..at));
            start = at;
        }
        before = Some(c);
    }
    parts.extend(word.get(start..));
    parts
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn texts_are_split_into_terms() {
        let words = Words::default();
        for (text, expected) in [
            ("", ""),
            ("GET /search/movie?page=2", "get search movi page 2"),
            ("Getting the movies' keywords, don't", "get the movi keyword don't"),
            ("the user’s id", "the user id"),
            ("getMovieKeywords of IMDb", "getmoviekeyword get movi keyword of imdb"),
            ("Найди фильмы с актёром", "найд фильм с актёр"),
            ("天气预报 today", "天气 气预 预报 today"),
            ("查", "查"),
            ("ünïcode Ünïcode", "ünïcode ünïcode"),
        ] {
            assert_eq!(words.of(text).join(" "), expected, "{text}");
        }
    }
}
