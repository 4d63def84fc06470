//! Numerals: numbers as people write them. Points and commas mean other things in English than in most of Europe: "1,500" and "1.500"
//! are both fifteen hundred, and each is one and a half elsewhere. Spelled-out numbers are not read here.

use std::sync::LazyLock;

use regex::Regex;

use crate::foreign;
use crate::words::pattern;

/// A number in digits: thousands parted by commas, points or narrow spaces, and decimals behind a point or a comma.
pub(crate) const DIGITS: &str = r"\d+(?:[\u{a0}\u{202f}]\d{3})*(?:[.,]\d+)*";

/// A mark before three digits: thousands to some, thousandths to others.
static DOUBTFUL: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d[.,]\d{3}(?:\D|$)"));

/// Whether a request is in a language that writes decimals behind a comma. Only a number that either reading fits is looked at.
pub(crate) fn has_decimal_commas(request: &str) -> bool {
    let cyrillic = || request.chars().any(jarvis_plan::is_cyrillic);
    DOUBTFUL.is_match(request) && (cyrillic() || foreign::language(request).is_some())
}

/// A number with nothing between its digits but a point before its decimals; `commas` where decimals stand behind commas.
pub(crate) fn plain(text: &str, commas: bool) -> String {
    let text: String = text.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-')).collect();
    let text = text.trim_end_matches(['.', ',']);
    let groups = |mark: char| {
        let mut parts = text.split(mark);
        let first = parts.next().map_or(0, |first| first.trim_start_matches('-').len());
        (1..=3).contains(&first) && parts.all(|part| part.len() == 3)
    };
    let count = |mark: char| text.matches(mark).count();
    let decimal = match (count('.'), count(',')) {
        (0, 0) => None,
        // The mark that stands last is that of the decimals.
        (1.., 1..) => text.rfind(['.', ',']),
        (0, 1) if groups(',') && !commas => None,
        (1, 0) if groups('.') && commas => None,
        (0, 1) | (1, 0) => text.find(['.', ',']),
        (2.., 0) | (0, 2..) => None,
    };
    let bare = |part: &str| part.chars().filter(|c| !matches!(c, '.' | ',')).collect::<String>();
    match decimal {
        None => bare(text),
        Some(at) => {
            let (whole, decimals) = text.split_at_checked(at).unwrap_or((text, ""));
            format!("{}.{}", bare(whole), bare(decimals))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{has_decimal_commas, plain};

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for (text, english, continental) in [
            ("1500", "1500", "1500"),
            ("1,500", "1500", "1.500"),
            ("1.500", "1.500", "1500"),
            ("12,50", "12.50", "12.50"),
            ("12.50", "12.50", "12.50"),
            ("1,250.50", "1250.50", "1250.50"),
            ("1.250,50", "1250.50", "1250.50"),
            ("1,250,000", "1250000", "1250000"),
            ("1.250.000", "1250000", "1250000"),
            ("1\u{a0}250,5", "1250.5", "1250.5"),
            ("-8", "-8", "-8"),
            ("0,5", "0.5", "0.5"),
            ("3.", "3", "3"),
        ] {
            assert_eq!(plain(text, false), english, "{text} in English");
            assert_eq!(plain(text, true), continental, "{text} in German");
        }
    }

    #[test]
    fn the_language_tells_points_from_commas() {
        assert!(has_decimal_commas("Überweise bitte 1.500 Euro an die Firma, und zwar noch heute"));
        assert!(has_decimal_commas("переведи 1.500 рублей Анне"));
        assert!(!has_decimal_commas("transfer 1,500 euros to the firm"));
        assert!(!has_decimal_commas("переведи 15 рублей Анне"));
    }
}
