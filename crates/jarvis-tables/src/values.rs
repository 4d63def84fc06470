//! The values of a column, read alike: whether `1,200` is a thousand or a fraction is told by the column as a whole.

use jarvis_plan::narrow;

use crate::Cell;
use crate::question::is_missing;

/// Marks of currencies and the like that stand before or after a number.
const SIGNS: &str = "$€£¥₽₹%‰";

/// The longest unit in characters, such as `kg` or `тыс. руб.`.
const LONGEST_UNIT: usize = 12;

/// How the numbers of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `1200.5` and `1 200.5`.
    Point,
    /// `1,200.5`.
    Thousands,
    /// `1200,5` and `1.200,5`.
    Comma,
}

/// The longest text that may be a number, in bytes.
const LONGEST: usize = 80;

/// Whether a text is one number with or without a unit, and nothing else.
pub(crate) fn is_amount(text: &str) -> bool {
    may_hold_digit(text) && numbers(&[text.trim()]).is_some()
}

/// Cells that are looked at to tell what a column holds.
pub(crate) const SAMPLE: usize = 200;

/// Whether at least four of five cells of a column are amounts, those without a value aside.
pub(crate) fn are_amounts<S: AsRef<str>>(cells: impl Iterator<Item = S>) -> bool {
    let (mut all, mut amounts) = (0, 0);
    for cell in cells.take(SAMPLE) {
        let cell = cell.as_ref();
        if !is_missing(cell) {
            all += 1;
            amounts += usize::from(is_amount(cell));
        }
    }
    all > 0 && amounts * 5 >= all * 4
}

/// Whether a text may hold a digit, full-width ones included.
pub(crate) fn may_hold_digit(text: &str) -> bool {
    // Full-width forms are the only characters that begin with this byte, next to a few rare ones.
    text.bytes().any(|byte| byte.is_ascii_digit() || byte == 0xef)
}

/// The number at the beginning of a text, and its length in bytes.
pub(crate) fn leading_number(text: &str) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    loop {
        let next = digits(length + 1);
        match bytes.get(length) {
            Some(b',' | b'.' | b'\'') if next > 0 => length += 1 + next,
            Some(b' ') if next == 3 => length += 4,
            Some(_) | None => break,
        }
    }
    let (values, _) = numbers(&[text.get(..length)?])?;
    match values.first()? {
        Cell::Integer(number) => Some((*number as f64, length)),
        Cell::Real(number) => Some((*number, length)),
        Cell::Empty | Cell::Text(_) => None,
    }
}

/// The values of a column and their common unit. Where they are not all numbers of one style and unit, they are text.
pub(crate) fn read(cells: &[&str]) -> (Vec<Cell>, Option<String>) {
    numbers(cells).unwrap_or_else(|| (cells.iter().map(|cell| text(cell)).collect(), None))
}

fn text(cell: &str) -> Cell {
    if cell.is_empty() { Cell::Empty } else { Cell::Text(cell.to_owned()) }
}

fn numbers(cells: &[&str]) -> Option<(Vec<Cell>, Option<String>)> {
    let mut unit: Option<Option<String>> = None;
    let mut bare: Vec<Option<String>> = Vec::with_capacity(cells.len());
    for cell in cells {
        if is_missing(cell) {
            bare.push(None);
            continue;
        }
        let (digits, own) = parts(cell)?;
        // An empty unit beside another one would mix quantities.
        if !is_same(unit.get_or_insert_with(|| own.clone()), &own) {
            return None;
        }
        bare.push(Some(digits));
    }
    let unit = unit?;
    let style = style(bare.iter().flatten())?;
    let cells = bare.into_iter().map(|digits| match digits {
        Some(digits) => value(&digits, style),
        None => Some(Cell::Empty),
    });
    Some((cells.collect::<Option<_>>()?, unit))
}

/// Whether two units are the same, in whatever form: `рубль` and `рублей`.
fn is_same(one: &Option<String>, other: &Option<String>) -> bool {
    let stem = |unit: &str| jarvis_plan::stem(&unit.trim_end_matches('.').to_lowercase());
    match (one, other) {
        (Some(one), Some(other)) => one == other || stem(one) == stem(other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// The sign and digits of a number, and its unit.
fn parts(cell: &str) -> Option<(String, Option<String>)> {
    let cell = cell.trim_matches(|c: char| c.is_whitespace() || "*\"`_".contains(c));
    if cell.len() > LONGEST || !may_hold_digit(cell) {
        return None;
    }
    let cell: String = cell.chars().map(narrow).collect::<String>().replace(['−', '–'], "-");
    // Accountants write `(120)` for -120.
    let cell = match cell.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => format!("-{inner}"),
        None => cell,
    };
    let (sign, rest) = match cell.strip_prefix('-') {
        Some(rest) => ("-", rest.trim_start()),
        None => ("", cell.strip_prefix('+').unwrap_or(&cell)),
    };
    let before = rest.chars().next().filter(|c| SIGNS.contains(*c));
    let rest = rest.trim_start_matches(|c| SIGNS.contains(c)).trim_start();
    let (sign, rest) = match rest.strip_prefix('-') {
        Some(rest) if sign.is_empty() => ("-", rest),
        Some(_) => return None,
        None => (sign, rest),
    };
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ' ' | '\u{a0}' | '\u{202f}' | '\'');
    let end = exponent(rest).unwrap_or_else(|| rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
    let (digits, after) = (rest.get(..end)?.trim_end(), rest.get(end..)?.trim());
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || digits.ends_with(['.', ',']) {
        return None;
    }
    let is_unit = after.chars().count() <= LONGEST_UNIT
        && after.chars().all(|c| c.is_alphabetic() || ". /°".contains(c) || SIGNS.contains(c));
    let unit = match (before, after) {
        (None, "") => None,
        (Some(sign), "") => Some(sign.to_string()),
        (None, after) if is_unit => Some(after.to_owned()),
        (None | Some(_), _) => return None,
    };
    let is_blank = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\'');
    // Blanks part thousands, and nothing else: `12 34` is no number.
    let mut groups = digits.split(is_blank);
    let first = groups.next()?;
    let is_group = |group: &str| group.get(..3).is_some_and(|three| three.bytes().all(|byte| byte.is_ascii_digit()));
    let mut groups = groups.peekable();
    if groups.peek().is_some() && (first.len() > 3 || first.contains(['.', ','])) {
        return None;
    }
    while let Some(group) = groups.next() {
        let is_whole =
            group.len() == 3 || (groups.peek().is_none() && group.get(3..4).is_some_and(|c| ".,".contains(c)));
        if !is_group(group) || !is_whole {
            return None;
        }
    }
    let digits: String = digits.chars().filter(|c| !is_blank(*c)).collect();
    // Leading zeros are kept by codes, such as postcodes.
    let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.get(1..2).is_some_and(|c| ".,".contains(c));
    (!is_code).then(|| (format!("{sign}{digits}"), unit))
}

/// Where a number in scientific notation ends, as in `1.5e-7`.
fn exponent(rest: &str) -> Option<usize> {
    let at = rest.find(['e', 'E'])?;
    let (mantissa, power) = (rest.get(..at)?, rest.get(at + 1..)?);
    let power = power.trim_start_matches(['+', '-']);
    let is_number =
        mantissa.parse::<f64>().is_ok() && !power.is_empty() && power.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(rest.len())
}

/// The style in which all numbers of a column can be read; `None` where there is none, or two that differ in value.
fn style<'a>(numbers: impl Iterator<Item = &'a String> + Clone) -> Option<Style> {
    let mut commas = numbers.clone().filter(|number| number.contains(',')).peekable();
    if commas.peek().is_none() {
        // `1.200` three digits each may be thousands of another country; only several points in one number tell so.
        let is_pointed = numbers.clone().all(|number| number.matches('.').count() <= 1);
        return Some(if is_pointed { Style::Point } else { Style::Comma });
    }
    let fits = |style: Style| numbers.clone().all(|number| value(number, style).is_some());
    let is_fraction = |number: &&String| number.rsplit_once(',').is_some_and(|(_, after)| after.len() != 3);
    match (fits(Style::Thousands), fits(Style::Comma)) {
        (true, false) => Some(Style::Thousands),
        (false, true) => Some(Style::Comma),
        // `1,200` in every cell: thousands, unless a fraction stands among them.
        (true, true) => Some(if commas.any(|number| is_fraction(&number)) { Style::Comma } else { Style::Thousands }),
        (false, false) => None,
    }
}

fn value(number: &str, style: Style) -> Option<Cell> {
    let (thousands, point) = match style {
        Style::Point => (None, '.'),
        Style::Thousands => (Some(','), '.'),
        Style::Comma => (Some('.'), ','),
    };
    let (whole, fraction) = match number.split_once(point) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    let groups: Vec<&str> = thousands.map_or_else(|| vec![whole], |mark| whole.split(mark).collect());
    let is_grouped = groups.iter().skip(1).all(|group| group.len() == 3);
    let is_first =
        groups.len() == 1 || groups.first().is_some_and(|first| (1..=3).contains(&first.trim_start_matches('-').len()));
    if !is_grouped || !is_first {
        return None;
    }
    let whole = groups.concat();
    match fraction {
        None if !whole.contains(['e', 'E']) => match whole.parse::<i64>() {
            Ok(number) => Some(Cell::Integer(number)),
            Err(_) => whole.parse::<f64>().ok().filter(|number| number.is_finite()).map(Cell::Real),
        },
        None => whole.parse::<f64>().ok().filter(|number| number.is_finite()).map(Cell::Real),
        Some(fraction) => {
            format!("{whole}.{fraction}").parse().ok().filter(|number: &f64| number.is_finite()).map(Cell::Real)
        }
    }
}
