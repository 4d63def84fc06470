//! Figures of the values of a table: their unit, the expression that calculates them, and the number as it is shown.

use jarvis_tools::local::evaluate;

use super::amount::Amount;
use super::intent::Figure;

/// The most values in one expression of `calculator`.
const MAX_VALUES: usize = 300;

/// A value with the name of its row or group.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) label: String,
    pub(super) shown: String,
    pub(super) amount: Amount,
}

/// The unit of most of the values; that of a single one may be a note.
pub(super) fn unit_of(entries: &[Entry]) -> Amount {
    let with_unit =
        || entries.iter().map(|entry| &entry.amount).filter(|it| !(it.before.is_empty() && it.after.is_empty()));
    let unit = with_unit().next().filter(|_| with_unit().count() * 2 >= entries.len()).cloned();
    unit.unwrap_or(Amount { plain: String::new(), size: 0.0, before: String::new(), after: String::new() })
}

/// The expression of a figure for `calculator`. Of very many values, parts are calculated first.
pub(super) fn expression(figure: Figure, entries: &[Entry]) -> Option<String> {
    let mut values: Vec<String> = entries.iter().map(|entry| entry.amount.plain.clone()).collect();
    let count = values.len();
    let function = figure.function();
    match figure {
        Figure::Difference => {
            let (one, other) = (values.first()?, values.last()?);
            return Some(format!("abs({one} - ({other}))"));
        }
        Figure::Median if count > MAX_VALUES => {
            let mut sorted: Vec<&Entry> = entries.iter().collect();
            sorted.sort_by(|a, b| a.amount.size.total_cmp(&b.amount.size));
            let middle = sorted.get((count - 1) / 2..=count / 2)?;
            values = middle.iter().map(|entry| entry.amount.plain.clone()).collect();
        }
        _ if count > MAX_VALUES => {
            let part = if figure == Figure::Mean { "sum" } else { function };
            while values.len() > MAX_VALUES {
                let parts =
                    values.chunks(MAX_VALUES).map(|chunk| evaluate(&format!("{part}({})", chunk.join(", "))).ok());
                values = parts.collect::<Option<_>>()?;
            }
            if figure == Figure::Mean {
                return Some(format!("sum({}) / {count}", values.join(", ")));
            }
        }
        _ => {}
    }
    Some(format!("{function}({})", values.join(", ")))
}

/// A number as it is shown: at most six decimals, or four digits of a very small one; and whether any were cut off.
pub(super) fn rounded(number: &str) -> (String, bool) {
    let Some((_, decimals)) = number.split_once('.').filter(|_| !number.contains(['e', 'E'])) else {
        return (number.to_owned(), false);
    };
    let is_small = number.trim_start_matches('-').starts_with("0.");
    let zeros = if is_small { decimals.bytes().take_while(|digit| *digit == b'0').count() } else { 0 };
    let (most, places) = if zeros > 3 { (zeros + 4, zeros + 4) } else { (6, 4) };
    match number.parse::<f64>() {
        Ok(size) if decimals.len() > most => {
            (format!("{size:.places$}").trim_end_matches('0').trim_end_matches('.').to_owned(), true)
        }
        Ok(_) | Err(_) => (number.to_owned(), false),
    }
}
