//! Whether rows hold data, and whether the first of them names the columns.

use std::collections::HashSet;

use super::Row;
use crate::question::is_year;
use crate::values::{SAMPLE, are_amounts, is_amount};

fn is_numeric(rows: &[Row], column: usize) -> bool {
    are_amounts(rows.iter().filter_map(|row| row.get(column)))
}

/// Whether the first row names the columns: it has no amount, or words above amounts, or is a word before distinct years.
pub(super) fn is_headed(rows: &[Row]) -> bool {
    let Some((top, below)) = rows.split_first() else { return false };
    let is_name = |cell: &String| !cell.trim().is_empty() && !is_amount(cell);
    let is_above = |(column, cell): (usize, &String)| !is_amount(cell) && is_numeric(below, column);
    top.iter().all(is_name) || top.iter().enumerate().any(is_above) || names_years(top, below)
}

/// Whether there are amounts below the first row, with something that they are of.
pub(super) fn holds_data(rows: &[Row]) -> bool {
    let Some((top, below)) = rows.split_first() else { return false };
    let numeric = (0..top.len()).filter(|column| is_numeric(below, *column)).count();
    let is_distinct = || {
        let mut seen = HashSet::new();
        top.len() > 1 && below.iter().take(SAMPLE).filter_map(|row| row.first()).all(|cell| seen.insert(cell))
    };
    numeric > 0 && (numeric < top.len() || is_distinct())
}

/// Whether the first row is a word before distinct years, and thus names columns.
fn names_years(top: &Row, below: &[Row]) -> bool {
    let Some((first, years)) = top.split_first() else { return false };
    let distinct: HashSet<&str> = years.iter().map(|year| year.trim()).collect();
    let is_data = |row: &Row| row.iter().skip(1).any(|cell| !is_year(cell));
    !is_amount(first)
        && distinct.len() > 1
        && distinct.len() == years.len()
        && years.iter().all(|year| is_year(year))
        && below.iter().take(SAMPLE).all(is_data)
}
