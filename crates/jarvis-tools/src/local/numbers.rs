//! Numbers as people write them in lists: with a percent sign, full-width digits, or a real minus.

use jarvis_plan::narrow;
use jarvis_prompt::number::Number;

use crate::hub;

/// The number that a text is: `12`, `-3.5`, `1,200`, `45%` as 45, `１２`, `−4`, `1 200` with blanks between thousands.
pub fn number(text: &str) -> Option<Number> {
    let mut plain = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match narrow(c) {
            '\u{2212}' | '\u{2013}' if plain.is_empty() => plain.push('-'),
            '\u{a0}' | '\u{202f}' | '\u{2009}' => plain.push(' '),
            c => plain.push(c),
        }
    }
    let bare = plain.strip_suffix('%').map_or(plain.as_str(), str::trim_end);
    if !bare.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if bare.contains(' ') { spaced(bare) } else { hub::written(bare) }
}

/// A number whose thousands are parted by blanks.
fn spaced(text: &str) -> Option<Number> {
    if text.contains(',') { None } else { hub::written(&text.replace(' ', ",")) }
}

#[cfg(test)]
mod tests {
    use jarvis_testing::rows;

    use super::number;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected) in rows::<(String, Option<f64>)>(include_str!("numbers.json"), "numbers") {
            let found = number(&text).map(|number| number.to_f64().unwrap());
            assert_eq!(found, expected, "{text}");
        }
    }
}
