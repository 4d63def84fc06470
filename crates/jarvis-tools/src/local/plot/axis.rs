//! The value axis: its range, its ticks at round numbers, and numbers as they are written beside it.

/// Ticks wanted on an axis; there are a few more or fewer.
const WANTED: f64 = 6.0;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    /// Where the ticks are, with what is written there, from low to high.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis over finite values: from zero where `zero` is set, else around them; it ends at ticks.
    pub(super) fn new(values: impl Iterator<Item = f64> + Clone, zero: bool, grouped: bool) -> Axis {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(f64::NEG_INFINITY, f64::max);
        let (mut low, mut high) = (least, most);
        if zero || low.is_sign_negative() != high.is_sign_negative() {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        if low == high {
            // Nothing to spread: a unit around it, or as much of its size as floats can tell.
            let around = if low == 0.0 { 1.0 } else { low.abs() / 2.0 };
            (low, high) = if low == 0.0 { (0.0, 1.0) } else { (low - around, high + around) };
        }
        // Halves, so that the distance between the ends of the range of floats is itself a float.
        let step = Step::near((high / 2.0 - low / 2.0) * (2.0 / WANTED));
        // An end that is a tick but for the last bit of a float is that tick.
        let first = (low / step.value() + 1e-9).floor() as i64;
        let last = ((high / step.value() - 1e-9).ceil() as i64).max(first.saturating_add(1));
        let ticks: Vec<(f64, String)> =
            (first..=last.min(first.saturating_add(50))).map(|at| (step.times(at), step.shown(at, grouped))).collect();
        let low = ticks.first().map_or(low, |tick| tick.0.min(low));
        let high = ticks.last().map_or(high, |tick| tick.0.max(high));
        Axis { low, high, ticks }
    }

    /// Where a value lies: 0 at the low end, 1 at the high one.
    pub(super) fn share(&self, value: f64) -> f64 {
        let span = self.high / 2.0 - self.low / 2.0;
        ((value / 2.0 - self.low / 2.0) / span).clamp(0.0, 1.0)
    }
}

/// A distance between ticks: `digits` tenths of a power of ten, so that ticks are exact decimals.
#[derive(Debug, Clone, Copy)]
struct Step {
    digits: i64,
    power: i32,
}

impl Step {
    /// The round distance nearest above a size.
    fn near(size: f64) -> Step {
        let size = size.max(f64::MIN_POSITIVE);
        let power = size.log10().floor() as i32;
        let lead = size / ten(power);
        let digits = match lead {
            lead if lead <= 1.0 => 10,
            lead if lead <= 2.0 => 20,
            lead if lead <= 2.5 => 25,
            lead if lead <= 5.0 => 50,
            _ => 100,
        };
        Step { digits, power: power - 1 }
    }

    fn value(self) -> f64 {
        self.digits as f64 * ten(self.power)
    }

    /// The value of the tick of a number; the greatest float where it is beyond.
    fn times(self, at: i64) -> f64 {
        let value = format!("{}e{}", at.saturating_mul(self.digits), self.power).parse().unwrap_or(0.0_f64);
        value.clamp(f64::MIN, f64::MAX)
    }

    fn shown(self, at: i64, grouped: bool) -> String {
        let (mut digits, mut power) = (at.saturating_mul(self.digits), self.power);
        if digits == 0 {
            return "0".to_owned();
        }
        while digits % 10 == 0 {
            digits /= 10;
            power += 1;
        }
        decimal(digits, power, grouped)
    }
}

fn ten(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(1.0)
}

/// `digits · 10^power`, written out where that is short.
fn decimal(digits: i64, power: i32, grouped: bool) -> String {
    let sign = if digits < 0 { "−" } else { "" };
    let digits = digits.unsigned_abs().to_string();
    let length = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let lead = length.saturating_add(power);
    if (power >= 0 && lead > 10) || lead < -4 || length > 12 {
        let (first, rest) = digits.split_at_checked(1).unwrap_or((&digits, ""));
        let point = if rest.is_empty() { "" } else { "." };
        return format!("{sign}{first}{point}{rest}e{}", lead - 1);
    }
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let (whole, fraction) = if power >= 0 {
        (format!("{digits}{}", zeros(power)), String::new())
    } else if lead <= 0 {
        ("0".to_owned(), format!("{}{digits}", zeros(-lead)))
    } else {
        let (whole, fraction) = digits.split_at_checked(usize::try_from(lead).unwrap_or(0)).unwrap_or((&digits, ""));
        (whole.to_owned(), fraction.to_owned())
    };
    let whole = if grouped { groups(&whole) } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

/// Commas between thousands; four digits stay as they are.
fn groups(whole: &str) -> String {
    if whole.len() < 5 {
        return whole.to_owned();
    }
    let mut shown = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// A value as it is written at its bar: all its digits where they are few, else six.
pub(super) fn shown(value: f64) -> String {
    let exact = |text: String| -> Option<String> {
        let (digits, power) = text.split_once('e')?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let places = i32::try_from(fraction.len()).ok()?;
        Some(decimal(format!("{whole}{fraction}").parse().ok()?, power.parse::<i32>().ok()? - places, true))
    };
    if value == 0.0 {
        return "0".to_owned();
    }
    let full = format!("{value:e}");
    // A sign, a point and the exponent stand beside the digits.
    let digits = full.split('e').next().expect("a split has a first part").bytes().filter(u8::is_ascii_digit).count();
    exact(if digits <= 12 { full } else { trimmed(&format!("{value:.5e}")) }).unwrap_or_default()
}

/// The same number without zeros at the end of its fraction.
fn trimmed(text: &str) -> String {
    let (digits, power) = text.split_once('e').unwrap_or((text, "0"));
    format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_hold_all_values() {
        let check = |values: &[f64], zero: bool, expected: &str| {
            let axis = Axis::new(values.iter().copied(), zero, true);
            let shown: Vec<&str> = axis.ticks.iter().map(|tick| tick.1.as_str()).collect();
            assert_eq!(shown.join(" "), expected, "{values:?}");
            for value in values {
                assert!((0.0..=1.0).contains(&axis.share(*value)));
            }
        };
        check(&[6.0, 3.0, 1.0], true, "0 1 2 3 4 5 6");
        check(&[0.0], true, "0 0.2 0.4 0.6 0.8 1");
        check(&[-4.0, 7.5], true, "−4 −2 0 2 4 6 8");
        check(&[-4.0, -9.0], true, "−10 −8 −6 −4 −2 0");
        check(&[0.1, 0.2, 0.3], true, "0 0.05 0.1 0.15 0.2 0.25 0.3");
        check(&[1_234_567.0], true, "0 250,000 500,000 750,000 1,000,000 1,250,000");
        check(&[3e12], true, "0 5e11 1e12 1.5e12 2e12 2.5e12 3e12");
        check(&[2e-9], true, "0 5e-10 1e-9 1.5e-9 2e-9");
        check(&[1000.0, 1010.0], false, "1000 1002 1004 1006 1008 1010");
        check(&[2019.0, 2019.0], false, "1000 1500 2000 2500 3000 3500");
        for values in [&[f64::MAX, f64::MIN][..], &[5e-324], &[f64::MAX], &[f64::MIN], &[0.1 + 0.2, 0.3]] {
            let axis = Axis::new(values.iter().copied(), true, true);
            assert!(axis.ticks.len() > 1 && axis.ticks.len() < 52, "{axis:?}");
            assert!(values.iter().all(|value| axis.share(*value).is_finite()), "{axis:?}");
        }
    }

    #[test]
    fn values_are_shown_with_few_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (6.0, "6"),
            (-2.5, "−2.5"),
            (1234.0, "1234"),
            (12345.0, "12,345"),
            (0.1 + 0.2, "0.3"),
            (1234567.891, "1,234,567.891"),
            (1.0 / 3.0, "0.333333"),
            (1e15, "1e15"),
            (-1.5e-9, "−1.5e-9"),
            (f64::MAX, "1.79769e308"),
        ] {
            assert_eq!(shown(value), expected);
        }
    }
}
