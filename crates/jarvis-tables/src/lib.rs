//! Tables in texts: found in CSV, TSV, JSON and Markdown, typed column by column, and queried with SQL.
//!
//! Sheets, office files and web pages arrive here as Markdown; see `jarvis-document`.

mod grid;
mod names;
mod query;
pub mod question;
mod result;
#[cfg(test)]
mod tests;
mod values;

pub use query::{Database, QueryError};
pub use result::{MAX_ROWS, QueryResult};

use grid::{Grid, Row};
use names::Names;

/// A table with names that SQL takes without quotes.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    /// Each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// The lines among the rows that are left out because they have another number of cells.
    pub skipped: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    /// The name in the document.
    pub label: String,
    /// What stands beside every number of the column, such as `$`, `%` or `kg`; the numbers are without it.
    pub unit: Option<String>,
}

/// A value of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Empty,
    Integer(i64),
    Real(f64),
    /// Anything else, dates in the form of ISO 8601 among it.
    Text(String),
}

/// The tables of a text that came under the name of a file.
pub fn tables(name: &str, text: &str) -> Vec<Table> {
    let grids = grid::find(name, text);
    let stem = names::stem(name);
    let is_only = grids.len() == 1;
    let (mut tables, mut known) = (Vec::new(), Names::default());
    for Grid { heading, rows, skipped } in grids {
        let wanted = heading.filter(|_| !is_only).unwrap_or_else(|| stem.to_owned());
        let name = known.free(&names::identifier(&wanted, "document"));
        tables.push(Table { skipped, ..typed(name, rows) });
    }
    tables
}

/// The tables of several texts by their files, with names that differ.
pub fn tables_of<'a>(texts: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Table> {
    tables_by_text(texts).into_iter().flatten().collect()
}

/// The same, those of each text apart.
pub fn tables_by_text<'a>(texts: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Vec<Table>> {
    let mut known = Names::default();
    let mut named = |table: Table| Table { name: known.free(&table.name), ..table };
    texts.map(|(name, text)| tables(name, text).into_iter().map(&mut named).collect()).collect()
}

/// Types the rows below the first one, which names the columns.
fn typed(name: String, mut rows: Vec<Row>) -> Table {
    let header = if rows.is_empty() { Vec::new() } else { rows.remove(0) };
    let (mut columns, mut known) = (Vec::new(), Names::default());
    let mut cells: Vec<Vec<Cell>> = rows.iter().map(|_| Vec::with_capacity(header.len())).collect();
    for (at, label) in header.iter().enumerate() {
        let raw: Vec<&str> = rows.iter().map(|row| row.get(at).map_or("", |cell| cell.trim())).collect();
        let (values, unit) = values::read(&raw);
        for (row, value) in cells.iter_mut().zip(values) {
            row.push(value);
        }
        let wanted = names::identifier(label, &format!("column_{}", at + 1));
        let name = known.free(&wanted);
        columns.push(Column { name, label: label.trim().to_owned(), unit });
    }
    Table { name, columns, rows: cells, skipped: 0 }
}

impl Cell {
    fn is_number(&self) -> bool {
        matches!(self, Cell::Integer(_) | Cell::Real(_))
    }

    /// The value as text; empty where there is none.
    fn text(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Cell::Empty => "".into(),
            Cell::Integer(number) => number.to_string().into(),
            Cell::Real(number) => number.to_string().into(),
            Cell::Text(text) => text.into(),
        }
    }
}

impl Table {
    /// Whether a column holds numbers.
    fn is_number(&self, column: usize) -> bool {
        self.rows.iter().filter_map(|row| row.get(column)).any(Cell::is_number)
    }

    /// The table and its columns in one line: `sales(region text, units number)`.
    pub fn signature(&self) -> String {
        let column = |(at, column): (usize, &Column)| {
            let kind = if self.is_number(at) { "number" } else { "text" };
            let unit = column.unit.as_ref().map(|unit| format!(" in {unit}")).unwrap_or_default();
            format!("{} {kind}{unit}", column.name)
        };
        let columns: Vec<String> = self.columns.iter().enumerate().map(column).collect();
        format!("{}({})", self.name, columns.join(", "))
    }
}
