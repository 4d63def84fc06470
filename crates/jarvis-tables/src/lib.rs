//! Tables in texts: found in CSV, TSV, JSON and Markdown, typed column by column, and queried with SQL.
//!
//! Sheets, office files and web pages arrive here as Markdown; see `jarvis-document`.

mod grid;
mod names;
mod query;
mod result;
#[cfg(test)]
mod tests;
mod values;

pub use query::{Database, QueryError};
pub use result::{MAX_ROWS, QueryResult};

use grid::Grid;

/// A table with names that SQL takes without quotes.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub name: String,
    pub columns: Vec<Column>,
    /// Each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
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
    let mut tables: Vec<Table> = Vec::new();
    for Grid { heading, rows } in grids {
        let wanted = heading.filter(|_| !is_only).unwrap_or_else(|| stem.to_owned());
        let name = names::free(&names::identifier(&wanted, "table"), |name| tables.iter().any(|one| one.name == name));
        tables.push(typed(name, rows));
    }
    tables
}

/// The tables of several texts, with names that differ.
pub fn tables_of<'a>(texts: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Table> {
    let mut all: Vec<Table> = Vec::new();
    for (name, text) in texts {
        for table in tables(name, text) {
            let name = names::free(&table.name, |name| all.iter().any(|one| one.name == name));
            all.push(Table { name, ..table });
        }
    }
    all
}

/// Types the rows below the first one, which names the columns.
fn typed(name: String, mut rows: Vec<Vec<String>>) -> Table {
    let header = if rows.is_empty() { Vec::new() } else { rows.remove(0) };
    let mut columns: Vec<Column> = Vec::new();
    let mut cells: Vec<Vec<Cell>> = rows.iter().map(|_| Vec::with_capacity(header.len())).collect();
    for (at, label) in header.iter().enumerate() {
        let raw: Vec<&str> = rows.iter().map(|row| row.get(at).map_or("", |cell| cell.trim())).collect();
        let (values, unit) = values::read(&raw);
        for (row, value) in cells.iter_mut().zip(values) {
            row.push(value);
        }
        let wanted = names::identifier(label, &format!("column_{}", at + 1));
        let name = names::free(&wanted, |name| columns.iter().any(|one| one.name == name));
        columns.push(Column { name, label: label.trim().to_owned(), unit });
    }
    Table { name, columns, rows: cells }
}

impl Table {
    /// The table and its columns in one line: `sales(region text, units number)`.
    pub fn signature(&self) -> String {
        let column = |(at, column): (usize, &Column)| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(at)).filter(|cell| **cell != Cell::Empty);
            let kind = match cells.next() {
                Some(Cell::Integer(_) | Cell::Real(_)) => "number",
                Some(Cell::Text(_) | Cell::Empty) | None => "text",
            };
            let unit = column.unit.as_ref().map(|unit| format!(" in {unit}")).unwrap_or_default();
            format!("{} {kind}{unit}", column.name)
        };
        let columns: Vec<String> = self.columns.iter().enumerate().map(column).collect();
        format!("{}({})", self.name, columns.join(", "))
    }
}
