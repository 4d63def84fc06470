//! Patterns that are part of the program.

use std::sync::LazyLock;

use regex::Regex;

/// A rule; a pattern that does not compile fits nothing, and a test says so.
pub(super) type Rule = LazyLock<Option<Regex>>;

/// A rule by its name.
macro_rules! rule {
    ($name:ident, $text:expr) => {
        static $name: $crate::offline::rules::Rule = std::sync::LazyLock::new(|| regex::Regex::new($text).ok());
    };
}

/// Whether a text has what a rule looks for.
pub(super) fn fits(rule: &Rule, text: &str) -> bool {
    rule.as_ref().is_some_and(|rule| rule.is_match(text))
}
