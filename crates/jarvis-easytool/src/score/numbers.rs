//! Numbers in texts, and when two of them count as the same.

use std::sync::LazyLock;

use jarvis_plan::pattern;
use jarvis_prompt::literal::Literal;
use jarvis_tools::hub::{self, Function, Mode};
use num_bigint::BigInt;
use regex::Regex;

/// How far a number may be from the gold one, as a share of it.
const STRICT: f64 = 0.001;

/// The same where the answer was rounded.
const LENIENT: f64 = 0.01;

/// The least distance that lenient reading forgives: half of the last place of two decimals.
const LENIENT_LEAST: f64 = 0.005;

#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    pub value: f64,
    /// Its digits, when it is written without a point or an exponent.
    pub whole: Option<BigInt>,
}

impl Number {
    /// The number that a literal is; of a text its last one. `None` for anything else.
    pub fn of(literal: &Literal) -> Option<Number> {
        match literal {
            Literal::Int(int) => Number::read(&int.to_string()),
            Literal::Float(value) => Some(Number { value: *value, whole: None }),
            Literal::Text(text) => numbers_in(text).pop(),
            Literal::Null | Literal::Bool(_) | Literal::List(_) | Literal::Map(_) => None,
        }
    }

    fn read(text: &str) -> Option<Number> {
        let value: f64 = text.parse().ok()?;
        value.is_finite().then(|| Number { value, whole: text.parse().ok() })
    }

    /// Within 0.1 % of the gold number. Whole numbers beyond a float's digits are compared as floats, too.
    pub fn is_strictly(&self, gold: &Number) -> bool {
        (self.value - gold.value).abs() <= STRICT * gold.value.abs()
    }

    pub fn is_within_one_percent(&self, gold: &Number) -> bool {
        (self.value - gold.value).abs() <= LENIENT * gold.value.abs()
    }

    pub fn is_leniently(&self, gold: &Number) -> bool {
        (self.value - gold.value).abs() <= (LENIENT * gold.value.abs()).max(LENIENT_LEAST)
    }

    /// The same once both are rounded as the function hub rounds.
    pub fn is_rounded(&self, gold: &Number) -> bool {
        self.rounded() == gold.rounded()
    }

    /// As the function hub writes it: whole numbers in full; others with two decimals or, below 0.1, two digits.
    pub fn rounded(&self) -> String {
        match &self.whole {
            Some(whole) => whole.to_string(),
            None => rounded(self.value),
        }
    }
}

fn rounded(value: f64) -> String {
    match hub::call(Function::Add, &[Literal::Float(value)], Mode::Compat) {
        Ok(written) => written.text,
        // Only what is no finite number; there is none here.
        Err(_) => value.to_string(),
    }
}

const DIGITS: &str = "[0-9]+(?:,[0-9]{3,})*";

static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    let number = format!(r"[-\u{{2212}}]?{DIGITS}(?:\.{DIGITS})?(?:[eE][+-]?{DIGITS})?");
    pattern(&number)
});

/// The numbers of a text, in order: a minus if any, digits, a fraction if any, an exponent if any. Numbers beyond the range
/// of floats are passed over.
pub fn numbers_in(text: &str) -> Vec<Number> {
    let found = NUMBER.find_iter(text).map(|found| found.as_str().replace(',', "").replace('\u{2212}', "-"));
    found.filter_map(|number| Number::read(&number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_in_texts() {
        for (text, numbers) in [
            ("After 50 years, 7,739,394,264,471.5 people (3%).", "50 7739394264471.5 3"),
            ("892 - 134 = 758, not -3 or \u{2212}4", "892 134 758 -3 -4"),
            ("x^2 is 10^-6; 1e5, 2.5E-3, 3e, 4.", "2 10 -6 100000 0.0025 3 4"),
            ("1.31 x 1.31 cm\u{b3}; 1,2 and 1,23,456", "1.31 1.31 1 2 1 23456"),
            ("[1,200,300] 1.2.3 v2", "1200300 1.2 3 2"),
            ("1e999 7", "7"),
            ("四 4 ４", "4"),
            ("1,200,30 12,3456,789 2.5,300 10-6 .5", "1200 30 123456789 2.53 10 -6 5"),
            ("", ""),
        ] {
            let found: Vec<String> = numbers_in(text).iter().map(|number| number.value.to_string()).collect();
            assert_eq!(found.join(" "), numbers, "{text}");
        }
        let long = numbers_in("5153775207320113310364611297656212727021075220010").pop().unwrap();
        assert_eq!(long.rounded(), "5153775207320113310364611297656212727021075220010");
    }

    #[test]
    fn nearness_has_four_degrees() {
        // strict, within 1 %, lenient, rounded.
        for (found, gold, near) in [
            ("2.25", "2.2481", [true, true, true, true]),
            ("1.85", "1.8476", [false, true, true, true]),
            ("36.36", "36.351", [true, true, true, false]),
            ("758.0", "758", [true, true, true, true]),
            ("0.004", "0", [false, false, true, false]),
            ("0", "0", [true, true, true, true]),
            ("-0.0", "0", [true, true, true, true]),
            ("1001", "1000", [true, true, true, false]),
            ("1002", "1000", [false, true, true, false]),
            ("5", "-5", [false, false, false, false]),
        ] {
            let (found, gold) = (numbers_in(found).pop().unwrap(), numbers_in(gold).pop().unwrap());
            let degrees = [
                found.is_strictly(&gold),
                found.is_within_one_percent(&gold),
                found.is_leniently(&gold),
                found.is_rounded(&gold),
            ];
            assert_eq!(degrees, near, "{found:?} {gold:?}");
        }
    }

    #[test]
    fn rounding_is_the_hubs() {
        for (value, text) in [
            (52.3523, "52.35"),
            (52.0011, "52"),
            (0.00000233, "0.0000023"),
            (1.0 / 35960.0, "0.000028"),
            (0.999, "1"),
            (0.0999, "0.1"),
            (0.09949, "0.099"),
            (1e-12, "0.000000000001"),
            (4e-13, "0"),
            (1e16, "10000000000000000"),
            (123_456_789.125, "123456789.12"),
            (0.125, "0.12"),
            (0.375, "0.38"),
            (2.675, "2.67"),
            (1.005, "1"),
            (-0.0345, "-0.035"),
            (-0.00345, "-0.0034"),
            (-0.0, "0"),
            (1.5e20, "150000000000000000000"),
            (1.5e-10, "0.00000000015"),
        ] {
            assert_eq!(rounded(value), text, "{value}");
        }
    }
}
