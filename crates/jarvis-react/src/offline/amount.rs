//! Amounts in cells and lines: a number with its unit.

use jarvis_tools::local::narrow;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Amount {
    /// The number in plain digits, the form that `calculator` takes.
    pub(super) plain: String,
    pub(super) size: f64,
    /// The unit before it, such as `$`.
    pub(super) before: String,
    /// The unit after it, such as `руб.`.
    pub(super) after: String,
}

/// The longest unit, in characters.
const UNIT: usize = 12;

impl Amount {
    /// Reads a text that is one number with a unit, and nothing else.
    pub(super) fn read(text: &str) -> Option<Amount> {
        let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '"' | '`' | '_'));
        if text.len() > 80 || !may_hold_digit(text) {
            return None;
        }
        let narrow: String = text.chars().map(plain_form).collect();
        let start = narrow.find(|c: char| c.is_ascii_digit())?;
        let (before, rest) = narrow.split_at_checked(start)?;
        let length = length(rest);
        let (digits, after) = rest.split_at_checked(length)?;
        let (power, after) = power(after);
        let brackets = before.trim() == "(" && after.trim() == ")";
        let after = if brackets { "" } else { after.trim() };
        let negative = brackets || before.trim().starts_with('-') || before.trim().ends_with('-');
        let bare = before.trim().trim_matches(['-', '+', '(']).trim();
        let fits = |unit: &str, most: usize| {
            unit.chars().count() <= most
                && !unit.contains(|c: char| c.is_ascii_digit() || ":=<>|,;，；。[]{}\"".contains(c))
        };
        // `a1` and `№ 5` are labels.
        let joined = before.chars().next_back().is_some_and(char::is_alphanumeric) || before.contains(['№', '#']);
        if joined || !fits(bare, 4) || !fits(after, UNIT) || after.split_whitespace().count() > 2 {
            return None;
        }
        let number = match power {
            None => plain(digits)?,
            Some(power) => {
                plain(digits)?.parse::<f64>().ok().map(|number| (number * 10_f64.powi(power)).to_string())?
            }
        };
        let plain = if negative { format!("-{number}") } else { number };
        let size = plain.parse().ok()?;
        Some(Amount { plain, size, before: bare.to_owned(), after: after.to_owned() })
    }

    pub(super) fn with(&self, number: &str) -> String {
        if self.after.is_empty() {
            return match number.strip_prefix('-') {
                Some(size) if !self.before.is_empty() => format!("-{}{size}", self.before),
                Some(_) | None => format!("{}{number}", self.before),
            };
        }
        let dense = self.after.starts_with(|c: char| !c.is_ascii() && !c.is_alphabetic() || jarvis_plan::is_han(c));
        let gap = if dense || self.after.starts_with(['%', '°']) { "" } else { " " };
        format!("{}{number}{gap}{}", self.before, self.after)
    }

    /// Whether two amounts can be added: their units begin alike, or one has none.
    pub(super) fn agrees(&self, other: &Amount) -> bool {
        let same = |one: &str, other: &str| {
            let same = one.chars().zip(other.chars()).take(3).all(|(a, b)| a.to_lowercase().eq(b.to_lowercase()));
            one.is_empty() || other.is_empty() || same
        };
        same(&self.before, &other.before) && same(&self.after, &other.after)
    }
}

/// The number at the beginning of a text, and its length in bytes.
pub(super) fn leading_number(text: &str) -> Option<(f64, usize)> {
    let length = length(text);
    Some((plain(text.get(..length)?)?.parse().ok()?, length))
}

/// Whether a text may hold a digit, full-width ones included.
pub(super) fn may_hold_digit(text: &str) -> bool {
    // Full-width forms are the only characters that begin with this byte, next to a few rare ones.
    text.bytes().any(|byte| byte.is_ascii_digit() || byte == 0xef)
}

fn plain_form(c: char) -> char {
    match narrow(c) {
        '\u{a0}' | '\u{202f}' | '\u{2009}' => ' ',
        '\u{2212}' | '\u{2013}' => '-',
        c => c,
    }
}

/// How many bytes of a text that begins with a digit belong to the number.
fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    loop {
        let next = digits(length + 1);
        match bytes.get(length) {
            Some(b',' | b'.' | b'\'') if next > 0 => length += 1 + next,
            Some(b' ') if next == 3 => length += 4,
            Some(_) | None => return length,
        }
    }
}

/// The power of ten behind the digits of `1.5e3`, and what follows it.
fn power(after: &str) -> (Option<i32>, &str) {
    let rest = after.strip_prefix(['e', 'E']).unwrap_or_default();
    let digits = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (power, unit) = rest.split_at(rest.len() - digits.len() + length);
    match power.parse::<i32>() {
        Ok(power) if power.abs() <= 15 && length > 0 => (Some(power), unit),
        Ok(_) | Err(_) => (None, after),
    }
}

/// Digits with separators as plain digits with a point; `None` where the separators are ambiguous.
fn plain(digits: &str) -> Option<String> {
    let digits = digits.replace([' ', '\''], "");
    let grouped = |mark: char| {
        let mut groups = digits.split(mark);
        let first = groups.next().expect("a split has a first part");
        (1..=3).contains(&first.len()) && first != "0" && groups.all(|group| group.len() == 3)
    };
    let commas = digits.matches(',').count();
    let points = digits.matches('.').count();
    match (commas, points) {
        (0, 0 | 1) => Some(digits),
        (_, 0) if grouped(',') => Some(digits.replace(',', "")),
        (1, 0) => Some(digits.replace(',', ".")),
        (0, _) if grouped('.') => Some(digits.replace('.', "")),
        (_, 1) if digits.rfind(',') < digits.find('.') => Some(digits.replace(',', "")),
        (1, _) if digits.rfind('.') < digits.find(',') => Some(digits.replace('.', "").replace(',', ".")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Amount;

    #[test]
    fn amounts_are_read() {
        for (text, expected) in [
            ("12", Some("12||")),
            ("$1,200.50", Some("1200.50|$|")),
            ("$-50", Some("-50|$|")),
            ("-$50", Some("-50|$|")),
            ("1 200 руб.", Some("1200||руб.")),
            ("45,50 руб.", Some("45.50||руб.")),
            ("1.234,5 €", Some("1234.5||€")),
            ("90分", Some("90||分")),
            ("¥１２", Some("12|¥|")),
            ("−4 °C", Some("-4||°C")),
            ("(120)", Some("-120||")),
            ("45%", Some("45||%")),
            ("1,200", Some("1200||")),
            ("1,2", Some("1.2||")),
            ("**$3,600**", Some("3600|$|")),
            ("2024-01-05", None),
            ("12:30", None),
            ("1.2.3", None),
            ("12 of 30", None),
            ("about 12 or so many words more", None),
            ("Milk: 12", None),
            ("USD 12", Some("12|USD|")),
            ("Q1", None),
            ("第3", None),
            ("№ 5", None),
            ("1e1", Some("10||")),
            ("2.5E-1 kg", Some("0.25||kg")),
            ("5 e", Some("5||e")),
            ("3e99", None),
            ("none", None),
            ("", None),
        ] {
            let found = Amount::read(text).map(|amount| format!("{}|{}|{}", amount.plain, amount.before, amount.after));
            assert_eq!(found.as_deref(), expected, "{text}");
        }
        let amount = |text: &str| Amount::read(text).unwrap();
        assert_eq!(amount("$5").with("-7.5"), "-$7.5");
        assert_eq!(amount("5 руб.").with("7"), "7 руб.");
        assert_eq!(amount("5元").with("7"), "7元");
        assert!(amount("5 рублей").agrees(&amount("1 рубль")) && !amount("2 kg").agrees(&amount("3 pieces")));
    }
}
