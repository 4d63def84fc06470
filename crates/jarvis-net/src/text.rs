//! Text from outside: shortened for messages, without secrets, and without characters that hide something.

use secrecy::{ExposeSecret as _, SecretString};

/// The text on one line and at most `max` characters, an ellipsis marking a cut.
pub fn shorten(text: &str, max: usize) -> String {
    let mut short = String::new();
    let mut blank = false;
    for (count, c) in text.trim().chars().enumerate() {
        if count >= max {
            short.push('…');
            break;
        }
        let c = if c.is_control() || c.is_whitespace() { ' ' } else { c };
        if c != ' ' || !blank {
            short.push(c);
        }
        blank = c == ' ';
    }
    short
}

/// The first `max` characters of a text, and `mark` behind them where that cuts it.
pub fn cut(text: &str, max: usize, mark: &str) -> String {
    match text.char_indices().nth(max).and_then(|(at, _)| text.get(..at)) {
        Some(start) => format!("{start}{mark}"),
        None => text.to_owned(),
    }
}

/// The text without hidden characters and without controls other than white space.
pub fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c) && (!c.is_control() || c.is_whitespace())).collect()
}

/// Whether a character is invisible, or reorders the characters around it: tags, variation selectors of the supplement,
/// direction marks, zero-width characters, fillers. A model reads what they spell, a person does not see it. Controls and
/// the variation selectors and accents that visible text needs are not among them.
pub fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A token, key or other text that no output may show: `Debug` redacts it, and it is wiped when dropped.
#[derive(Debug, Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Keeps a token; blanks around it are dropped. `None` when nothing is left.
    pub fn new(token: &str) -> Option<Secret> {
        let token = token.trim();
        (!token.is_empty()).then(|| Secret(SecretString::from(token)))
    }

    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// The text with each occurrence of the token replaced by `[redacted]`.
    pub fn redact(&self, text: &str) -> String {
        text.replace(self.expose(), "[redacted]")
    }

    pub fn redact_from(secret: Option<&Secret>, text: &str) -> String {
        secret.map_or_else(|| text.to_owned(), |secret| secret.redact(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_shortened_by_characters() {
        assert_eq!(shorten(" a\n\n b\tc ", 10), "a b c");
        assert_eq!(shorten("привет", 3), "при…");
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!((cut("при\nвет", 4, "…"), cut("abc", 3, "…")), ("при\n…".to_owned(), "abc".to_owned()));
        assert_eq!(visible("a\u{200b}b\u{1b}[8m\n\tc\u{e0041}"), "ab[8m\n\tc");
    }

    #[test]
    fn secrets_stay_secret() {
        let secret = Secret::new(" hf_abc ").unwrap();
        assert!(!format!("{secret:?}").contains("abc"));
        assert_eq!(secret.redact("bad token hf_abc"), "bad token [redacted]");
        assert!(Secret::new("  ").is_none());
    }
}
