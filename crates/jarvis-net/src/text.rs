//! Small helpers for texts in messages: shortened, on one line, without secrets.

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

/// A token or key. `Debug` never shows it, and it is wiped when dropped.
#[derive(Debug, Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Keeps a token; blanks around it are dropped. `None` when nothing is left.
    pub fn new(token: &str) -> Option<Secret> {
        let token = token.trim();
        (!token.is_empty()).then(|| Secret(SecretString::from(token)))
    }

    /// Keeps a token that came as a secret already.
    pub fn from_secret(token: &SecretString) -> Option<Secret> {
        Secret::new(token.expose_secret())
    }

    /// The token itself, for the header it belongs in.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// The text with the token, if it occurs there, blacked out.
    pub fn redact(&self, text: &str) -> String {
        text.replace(self.expose(), "[redacted]")
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
        assert!(!format!("{secret:?}").contains("abc"));
        assert_eq!(secret.redact("bad token hf_abc"), "bad token [redacted]");
        assert!(Secret::new("  ").is_none());
    }
}
