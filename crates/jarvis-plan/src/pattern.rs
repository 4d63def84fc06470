//! Regular expressions over what people and models write, compiled in one place and cheaply.
//!
//! `\w` and `\p{L}` of Unicode are hundreds of ranges; each time one stands in a pattern it costs a fifth of a millisecond to
//! compile, and the patterns of one request hold hundreds of them. Here they mean the letters of the scripts up to U+1FFF, of Chinese,
//! Japanese and Korean, and their wide forms, in a few ranges: marks and digits of other scripts between those letters count as letters,
//! and Yi, Vai, Javanese and the like do not. `\d` means the digits 0 to 9 and their wide forms.

use regex::Regex;

/// Letters and the marks above them.
const LETTERS: &str = r"A-Za-z\u{AA}\u{B5}\u{BA}\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{1FFF}\u{3005}-\u{3007}\u{3040}-\u{318F}\u{3400}-\u{9FFF}\u{AC00}-\u{D7AF}\u{F900}-\u{FB06}\u{FF21}-\u{FF3A}\u{FF41}-\u{FF5A}\u{20000}-\u{3134F}";
const DIGITS: &str = r"0-9\u{FF10}-\u{FF19}";

/// A regular expression of the program's own; whoever holds one has a test that compiles it. What people wrote has no place in it.
///
/// # Panics
///
/// Where the pattern is not valid.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub fn pattern(text: &str) -> Regex {
    Regex::new(&narrowed(text)).expect("a pattern of the program is valid, which a test of its own shows")
}

/// The pattern with narrow classes. A class within a class is valid, so it makes no difference where they stand.
fn narrowed(text: &str) -> String {
    let mut narrow = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        narrow.push_str(before);
        let (class, length) = match escape.as_bytes() {
            [b'w', ..] => (format!("[{DIGITS}_{LETTERS}]"), 1),
            [b'W', ..] => (format!("[^{DIGITS}_{LETTERS}]"), 1),
            [b'd', ..] => (format!("[{DIGITS}]"), 1),
            [b'D', ..] => (format!("[^{DIGITS}]"), 1),
            [b'p', b'{', b'L', b'}', ..] => (format!("[{LETTERS}]"), 4),
            _ => {
                let escaped = escape.chars().next();
                (
                    '\\'.to_string() + escaped.map_or(String::new(), String::from).as_str(),
                    escaped.map_or(0, char::len_utf8),
                )
            }
        };
        narrow.push_str(&class);
        rest = escape.get(length..).expect("the escape ends at a character");
    }
    narrow + rest
}

#[cfg(test)]
mod tests {
    use super::{narrowed, pattern};

    #[test]
    fn classes_are_those_of_letters_and_digits() {
        let check = |text: &str, matches: &str, not: &str| {
            let pattern = pattern(&format!("^(?:{text})$"));
            for letter in matches.chars() {
                assert!(pattern.is_match(&letter.to_string()), "{text}: {letter}");
            }
            for letter in not.chars() {
                assert!(!pattern.is_match(&letter.to_string()), "{text}: {letter}");
            }
        };
        let (letters, marks) = ("aZéßñЯёґΩאعदกあ한中々〇Ａｚﬁ𠀀", " .,!?-–—«»“”「」，。；：、€№×÷\n");
        check(r"\w", &format!("{letters}07_"), marks);
        check(r"\W", marks, &format!("{letters}07_"));
        check(r"\p{L}", letters, &format!("{marks}07_"));
        check(r"[\w.]", "ж.", "-");
        check(r"[^\w.]", "-", "ж.7");
        check(r"\d", "09５", "a٣");
        check(r"\\|w", "\\w", "a");
        check(r"[\p{L}\d]", "中5", "_");
        check(r"\s", " \n\u{a0}", "a");
    }

    #[test]
    fn what_is_escaped_otherwise_stays() {
        for text in [r"a\\w", r"\.\bcat\b", r"\p{Han}\u{AA}", r"\\", "\\é"] {
            assert_eq!(narrowed(text), text);
        }
    }
}
