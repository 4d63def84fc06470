//! Whether bytes are Russian text in a code page, by how often its usual letters occur.

/// The share from which a text is taken to be Russian; of real texts it is about 0.85.
pub(super) const ENOUGH: f64 = 0.5;

/// How many of the characters that are not ASCII are the fifteen most frequent small letters of Russian, from 0 to 1. In a
/// wrong code page these are capitals, signs, or rare letters.
pub(super) fn share(text: &str) -> f64 {
    let (mut usual, mut all) = (0_usize, 0_usize);
    for c in text.chars().filter(|c| !c.is_ascii() && *c != '\u{a0}') {
        all += 1;
        usual += usize::from("оеаинтсрвлкмдпу".contains(c));
    }
    if all < 4 { 0.0 } else { usual as f64 / all as f64 }
}
