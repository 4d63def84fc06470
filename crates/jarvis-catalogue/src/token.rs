//! An access token that never shows itself.

use std::fmt;

/// A bearer token. Its `Debug` form hides it; there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token, blanks at its ends left out; `None` when nothing is left.
    pub fn new(text: &str) -> Option<Token> {
        let text = text.trim();
        (!text.is_empty()).then(|| Token(text.to_owned()))
    }

    /// The token itself, for the `Authorization` header only.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_not_shown() {
        let token = Token::new(" hf_secret \n").unwrap();
        assert_eq!(format!("{token:?}"), "Token(***)");
        assert_eq!(token.reveal(), "hf_secret");
        assert_eq!(Token::new("  "), None);
    }
}
