//! What the columns of a table are to a question: amounts, labels of the rows, or other texts.

use std::collections::HashSet;

use super::text::{Question, folded};
use super::words;
use crate::values::{SAMPLE, are_amounts};
use crate::{Cell, Table};

/// A table as a question sees it.
#[derive(Debug, Clone)]
pub struct Shape<'t> {
    pub table: &'t Table,
    /// The rows but for those that sum up others, by their places.
    pub rows: Vec<usize>,
    /// The labels of the rows that sum up others.
    pub(super) totals: Vec<&'t str>,
    /// The column that tells the rows apart.
    pub label: Option<usize>,
    /// The columns of amounts.
    pub numeric: Vec<usize>,
}

impl<'t> Shape<'t> {
    /// The shape of a table that holds amounts.
    pub fn of(table: &'t Table) -> Option<Shape<'t>> {
        let width = table.columns.len();
        let sample = || table.rows.iter().take(SAMPLE);
        let is_numeric = |column: usize| are_amounts(table.rows.iter().filter_map(|row| Some(row.get(column)?.text())));
        let mut numeric: Vec<usize> = (0..width).filter(|column| is_numeric(*column)).collect();
        // Years and row numbers are amounts only where there are no others.
        let is_date = |column: &usize| {
            let is_named =
                table.columns.get(*column).is_some_and(|column| words::is_in("year_column", &folded(&column.label)));
            is_named || sample().all(|row| row.get(*column).is_some_and(|cell| is_year(&cell.text())))
        };
        let amounts: Vec<usize> = numeric.iter().copied().filter(|column| !is_date(column)).collect();
        if !amounts.is_empty() {
            numeric = amounts;
        }
        let is_numbered = numeric.len() > 1 && numeric.first() == Some(&0) && counts_up(table);
        if is_numbered {
            numeric.remove(0);
        }
        let is_distinct = |column: usize| {
            let mut seen = HashSet::new();
            sample().filter_map(|row| row.get(column)).all(|cell| seen.insert(cell.text()))
        };
        let first_text = usize::from(is_numbered);
        let texts = || (first_text..width).filter(|column| !numeric.contains(column));
        let mut label = texts().find(|column| is_distinct(*column)).or(texts().next());
        if label.is_none() && width > 1 && is_distinct(0) {
            label = Some(0);
            numeric.retain(|column| *column != 0);
        }
        let mut shape = Shape { table, rows: (0..table.rows.len()).collect(), totals: Vec::new(), label, numeric };
        shape.leave_out_totals();
        (!shape.numeric.is_empty() && !shape.rows.is_empty()).then_some(shape)
    }

    fn leave_out_totals(&mut self) {
        let Some(label) = self.label else { return };
        let table = self.table;
        self.rows.retain(|row| match table.rows.get(*row).and_then(|row| row.get(label)) {
            Some(Cell::Text(text)) if is_total(text) => {
                self.totals.push(text);
                false
            }
            Some(_) | None => true,
        });
    }

    /// The name that the document gives to a column; empty where it gives none.
    pub fn name(&self, column: usize) -> &'t str {
        self.table.columns.get(column).map_or("", |column| column.label.as_str())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        self.table.columns.iter().map(|column| column.label.as_str())
    }

    pub(super) fn cell(&self, row: usize, column: usize) -> &'t Cell {
        self.table.rows.get(row).and_then(|row| row.get(column)).unwrap_or(&Cell::Empty)
    }

    pub(super) fn has_names(&self) -> bool {
        self.names().any(|name| !name.is_empty())
    }

    /// The columns of text, the label first.
    pub(super) fn texts(&self) -> impl Iterator<Item = usize> + '_ {
        let is_other = |column: &usize| !self.numeric.contains(column) && Some(*column) != self.label;
        self.label.into_iter().chain((0..self.table.columns.len()).filter(is_other))
    }

    pub(super) fn repeats(&self, column: usize) -> bool {
        let mut seen = HashSet::new();
        self.rows.iter().any(|row| !seen.insert(self.cell(*row, column).text()))
    }

    /// How much of the table a question mentions.
    pub(super) fn relevance(&self, question: &Question) -> f64 {
        let names: f64 = self.names().map(|name| question.mentions(name)).sum();
        let label = |row: &usize| self.label.map_or(0.0, |label| question.mentions(&self.cell(*row, label).text()));
        let table = question.mentions(&self.table.name.replace('_', " "));
        names + table + self.rows.iter().take(SAMPLE).map(label).fold(0.0, f64::max)
    }
}

/// Whether a cell has no value, or says that it has none.
pub(super) fn is_empty(cell: &Cell) -> bool {
    match cell {
        Cell::Empty => true,
        Cell::Text(text) => is_missing(text),
        Cell::Integer(_) | Cell::Real(_) => false,
    }
}

/// Whether a text says that there is no value.
pub(crate) fn is_missing(cell: &str) -> bool {
    let cell = cell.trim();
    cell.is_empty() || (cell.len() < 32 && words::is_in("missing", &folded(cell)))
}

/// Whether a text is a year and nothing else.
pub(crate) fn is_year(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['年', 'г', '.']).trim_end();
    text.len() == 4 && text.parse().is_ok_and(|year: u16| (1800..=2199).contains(&year))
}

/// Whether the first cells of the rows are numbers that go up by one.
fn counts_up(table: &Table) -> bool {
    let first = |row: &Vec<Cell>| match row.first() {
        Some(Cell::Integer(number)) => Some(*number),
        Some(_) | None => None,
    };
    let numbers: Option<Vec<i64>> = table.rows.iter().take(SAMPLE).map(first).collect();
    let goes_up = |pair: &[i64]| matches!(pair, [one, next] if one.checked_add(1) == Some(*next));
    table.rows.len() > 2 && numbers.is_some_and(|numbers| numbers.windows(2).all(goes_up))
}

fn is_total(label: &str) -> bool {
    label.len() < 32 && words::is_in("total_row", folded(label).trim_matches(|c: char| !c.is_alphanumeric()))
}
