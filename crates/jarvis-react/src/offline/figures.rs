//! How a number is worked out of amounts: the expression for `calculator`, and the unit of what it gives.

use jarvis_tools::local::evaluate;

use super::amount::Amount;
use super::say::Figure;
use super::tables::{Entry, WRITTEN};

/// An amount with the unit of most; what stands behind a single one may be a note.
pub(super) fn unit_of(entries: &[Entry<'_>]) -> Option<Amount> {
    let bare = |amount: &&Amount| amount.after.is_empty() && amount.before.is_empty();
    let with_units = || entries.iter().map(|entry| &entry.amount).filter(|amount| !bare(amount));
    with_units().next().filter(|_| with_units().count() * 2 >= entries.len()).cloned()
}

/// The expression of a figure. Of very many values the sums, or the extremes, of parts are written.
pub(super) fn expression(figure: Figure, entries: &[Entry<'_>]) -> Option<String> {
    let list =
        |entries: &[Entry<'_>]| entries.iter().map(|entry| entry.amount.plain.as_str()).collect::<Vec<_>>().join(", ");
    let function = figure.function();
    if entries.len() <= WRITTEN {
        return Some(format!("{function}({})", list(entries)));
    }
    if figure == Figure::Median {
        let mut sorted: Vec<&Entry<'_>> = entries.iter().collect();
        sorted.sort_by(|a, b| a.amount.size.total_cmp(&b.amount.size));
        let half = sorted.len() / 2;
        let from = if sorted.len().is_multiple_of(2) { half.checked_sub(1)? } else { half };
        let middle: Vec<&str> = sorted.get(from..=half)?.iter().map(|entry| entry.amount.plain.as_str()).collect();
        return Some(format!("median({})", middle.join(", ")));
    }
    let part = if figure == Figure::Mean { "sum" } else { function };
    let mut values: Vec<String> = entries.iter().map(|entry| entry.amount.plain.clone()).collect();
    while values.len() > WRITTEN {
        values = values
            .chunks(WRITTEN)
            .map(|chunk| evaluate(&format!("{part}({})", chunk.join(", "))).ok())
            .collect::<Option<_>>()?;
    }
    let values = values.join(", ");
    Some(if figure == Figure::Mean {
        format!("sum({values}) / {}", entries.len())
    } else {
        format!("{part}({values})")
    })
}
