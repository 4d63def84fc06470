//! Numerals: numbers as people write them. Points and commas mean other things in English than in most of Europe: "1,500" is fifteen
//! hundred here and one and a half there. Spelled-out numbers are not read here.

use std::sync::LazyLock;

use regex::Regex;

use crate::foreign;
use crate::words::{head, pattern};

/// A number in digits: groups of three parted by commas, points or narrow blanks, and decimals behind a point or a comma; by blanks
/// where decimals behind a comma tell that it is one.
pub(crate) const DIGITS: &str = r"(?:\d{1,3}(?:\x20\d{3})+,\d{1,2}(?-u:\b)|\d{1,3}(?:[.,\u{a0}\u{202f}]\d{3})+(?:[.,]\d+)?(?-u:\b)|\d+(?:\.\d+|,\d{1,2}(?-u:\b))?)";

/// A mark before three digits: thousands to some, thousandths to others.
static DOUBTFUL: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d[.,]\d{3}(?:\D|$)"));

/// What the marks between digits mean where either reading fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marks {
    /// "1,500" is fifteen hundred, "1.500" one and a half.
    English,
    /// The other way round, as in German.
    Continental,
    /// Both part decimals, and a blank parts thousands, as in Russian.
    Decimal,
}

/// So much of a request tells its language.
const MOST: usize = 2_000;

impl Marks {
    /// Those of the language that a request is in, by its first word and its small words; names in it do not count.
    pub(crate) fn of(request: &str) -> Marks {
        let request = head(request, MOST);
        if !DOUBTFUL.is_match(request) {
            return Marks::English;
        }
        match request.chars().find(|letter| letter.is_alphabetic()) {
            Some(letter) if jarvis_plan::is_cyrillic(letter) => Marks::Decimal,
            _ if foreign::language(request).is_some() => Marks::Continental,
            _ => Marks::English,
        }
    }
}

/// A number with nothing between its digits but a point before its decimals.
pub(crate) fn plain(text: &str, marks: Marks) -> String {
    let text: String = text.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '-')).collect();
    let text = text.trim_end_matches(['.', ',']);
    let groups = |mark: char| {
        let mut parts = text.split(mark);
        let first = parts.next().unwrap_or_default().trim_start_matches('-');
        (1..=3).contains(&first.len()) && !first.starts_with('0') && parts.all(|part| part.len() == 3)
    };
    let decimal = match (text.matches('.').count(), text.matches(',').count()) {
        (0, 0) | (2.., 0) | (0, 2..) => None,
        // The mark that stands last is that of the decimals.
        (1.., 1..) => text.rfind(['.', ',']),
        (0, 1) if groups(',') && marks == Marks::English => None,
        (1, 0) if groups('.') && marks == Marks::Continental => None,
        (0, 1) | (1, 0) => text.find(['.', ',']),
    };
    let bare = |part: &str| part.replace(['.', ','], "");
    match decimal.and_then(|at| text.split_at_checked(at)) {
        None => bare(text),
        Some((whole, decimals)) => format!("{}.{}", bare(whole), bare(decimals)),
    }
}

/// "1.250" of a sum of money: no sum has three decimals, so it is in thousands, whatever the language.
pub(crate) fn whole_sum(text: &str) -> Option<i64> {
    let digits = text.trim_matches(|c: char| !c.is_ascii_digit());
    let mut parts = digits.split('.');
    let first = parts.next().filter(|first| (1..=3).contains(&first.len()) && !first.starts_with('0'))?;
    let rest: Vec<&str> = parts.collect();
    let groups =
        !rest.is_empty() && rest.iter().all(|part| part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_digit()));
    groups.then(|| format!("{first}{}", rest.concat()).parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{DIGITS, Marks, pattern, plain, whole_sum};

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for (text, english, german, russian) in [
            ("1500", "1500", "1500", "1500"),
            ("1,500", "1500", "1.500", "1.500"),
            ("1.500", "1.500", "1500", "1.500"),
            ("0.500", "0.500", "0.500", "0.500"),
            ("0,125", "0.125", "0.125", "0.125"),
            ("12,50", "12.50", "12.50", "12.50"),
            ("12.50", "12.50", "12.50", "12.50"),
            ("1,250.50", "1250.50", "1250.50", "1250.50"),
            ("1.250,50", "1250.50", "1250.50", "1250.50"),
            ("1,250,000", "1250000", "1250000", "1250000"),
            ("1.250.000", "1250000", "1250000", "1250000"),
            ("1\u{a0}250,5", "1250.5", "1250.5", "1250.5"),
            ("-8", "-8", "-8", "-8"),
            ("3.", "3", "3", "3"),
        ] {
            assert_eq!(plain(text, Marks::English), english, "{text} in English");
            assert_eq!(plain(text, Marks::Continental), german, "{text} in German");
            assert_eq!(plain(text, Marks::Decimal), russian, "{text} in Russian");
        }
    }

    #[test]
    fn no_sum_has_three_decimals() {
        for (text, want) in
            [("1.250", Some(1250)), ("€1.250.000", Some(1_250_000)), ("0.250", None), ("1.25", None), ("1250", None)]
        {
            assert_eq!(whole_sum(text), want, "{text}");
        }
    }

    #[test]
    fn two_numbers_stay_two() {
        let digits = pattern(DIGITS);
        for (text, want) in [
            ("48.2082,16.3738", "48.2082 16.3738"),
            ("1.250,50 and 1,250.5", "1.250,50 1,250.5"),
            ("10, 12,5", "10 12,5"),
            ("1 250,50 or 7 500", "1 250,50 7 500"),
            ("1,500,000", "1,500,000"),
        ] {
            assert_eq!(digits.find_iter(text).map(|hit| hit.as_str()).collect::<Vec<_>>().join(" "), want);
        }
    }

    #[test]
    fn the_language_tells_points_from_commas() {
        for (request, want) in [
            ("Überweise bitte 1.500 Euro an die Firma, und zwar noch heute", Marks::Continental),
            ("переведи 1,500 рублей Анне", Marks::Decimal),
            ("transfer 1,500 euros to the firm", Marks::English),
            ("transfer 1,500 euros to Анна", Marks::English),
        ] {
            assert_eq!(Marks::of(request), want, "{request}");
        }
    }
}
