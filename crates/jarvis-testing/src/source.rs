//! Names in source code, for tests that hold them against a file of texts or words.

use std::collections::BTreeSet;

use regex::Regex;

/// The names in quotation marks: small letters, digits and `_`.
pub fn quoted(code: &str) -> BTreeSet<&str> {
    captured(code, r#""([a-z_0-9]+)""#)
}

/// The names that are the first argument of one of these functions.
pub fn passed_to<'c>(functions: &[&str], code: &'c str) -> BTreeSet<&'c str> {
    captured(code, &format!(r#"\b(?:{})\(\s*"([a-z_0-9]+)""#, functions.join("|")))
}

#[expect(clippy::disallowed_methods, reason = "this crate stands below the one with the patterns of the program")]
fn captured<'c>(code: &'c str, pattern: &str) -> BTreeSet<&'c str> {
    let pattern = Regex::new(pattern).expect("the pattern of a test is valid");
    pattern.captures_iter(code).filter_map(|found| Some(found.get(1)?.as_str())).collect()
}
