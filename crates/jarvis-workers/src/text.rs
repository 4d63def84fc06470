//! Small helpers for texts in messages: shortened, on one line, without secrets.

use std::fmt;

/// The text on one line and at most `max` characters, an ellipsis marking a cut.
pub(crate) fn shorten(text: &str, max: usize) -> String {
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

/// A token or key. It never shows itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a token; blanks around it are dropped. `None` when nothing is left.
    pub fn new(token: &str) -> Option<Secret> {
        let token = token.trim();
        (!token.is_empty()).then(|| Secret(token.to_owned()))
    }

    /// The token itself, for the header it belongs in.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// The text with the token, if it occurs there, blacked out.
    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "[redacted]")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
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
    }

    #[test]
    fn secrets_stay_secret() {
        let secret = Secret::new(" hf_abc ").unwrap();
        assert_eq!(format!("{secret:?}"), "[redacted]");
        assert_eq!(secret.redact("bad token hf_abc"), "bad token [redacted]");
        assert!(Secret::new("  ").is_none());
    }
}
