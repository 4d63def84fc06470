//! The structure of a document: a table, pairs of labels and values, a list, or running text.

mod formats;
mod pairs;

use std::collections::HashSet;

use super::amount::Amount;
use super::question::{Question, folded};
use super::words;

pub(super) type Row = Vec<String>;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    /// Names of the columns; all empty where the document gives none.
    pub(super) header: Row,
    /// Rows of as many cells as the header; those that sum up others are left out.
    pub(super) rows: Vec<Row>,
    pub(super) label: Option<usize>,
    pub(super) numeric: Vec<usize>,
    /// The lines among the rows that were skipped because they have another number of cells.
    pub(super) skipped: usize,
}

#[derive(Debug, PartialEq)]
pub(super) enum Data<'d> {
    Table(Table),
    List(&'d str),
    Text,
}

/// Rows that are looked at to tell what a column holds.
const SAMPLE: usize = 200;
/// The marks that part the items of a list, but for line breaks.
const MARKS: [char; 5] = [',', '，', '、', ';', '；'];

impl Table {
    /// A table of rows of equal length, the first of which may be the header.
    fn new(mut rows: Vec<Row>, is_headed: Option<bool>) -> Option<Table> {
        let width = rows.first()?.len();
        let is_numeric = |rows: &[Row], column: usize| {
            let cells = || rows.iter().take(SAMPLE).filter_map(|row| row.get(column)).filter(|cell| !is_missing(cell));
            let all = cells().count();
            all > 0 && cells().filter(|cell| Amount::read(cell).is_some()).count() * 5 >= all * 4
        };
        let is_headed = is_headed.unwrap_or_else(|| {
            let (top, below) = rows.split_first().unwrap_or((const { &Row::new() }, &[]));
            let names = |(column, cell): (usize, &String)| Amount::read(cell).is_none() && is_numeric(below, column);
            top.iter().enumerate().any(names) || names_years(&rows)
        });
        let header: Row = if is_headed {
            rows.remove(0).iter().map(|cell| cell.trim().trim_matches('*').to_owned()).collect()
        } else {
            vec![String::new(); width]
        };
        let mut numeric: Vec<usize> = (0..width).filter(|column| is_numeric(&rows, *column)).collect();
        // Years and row numbers are amounts only where there are no others.
        let is_date = |column: &usize| {
            let is_named = header.get(*column).is_some_and(|name| words::is_in("year_column", &folded(name)));
            is_named || rows.iter().take(SAMPLE).all(|row| row.get(*column).is_some_and(|cell| is_year(cell)))
        };
        let amounts: Vec<usize> = numeric.iter().copied().filter(|column| !is_date(column)).collect();
        if !amounts.is_empty() {
            numeric = amounts;
        }
        let is_numbered = numeric.len() > 1 && numeric.first() == Some(&0) && counts_up(&rows);
        if is_numbered {
            numeric.remove(0);
        }
        let is_distinct = |column: usize| {
            let mut seen = HashSet::new();
            rows.iter().take(SAMPLE).filter_map(|row| row.get(column)).all(|cell| seen.insert(cell))
        };
        let first_text = usize::from(is_numbered);
        let texts = || (first_text..width).filter(|column| !numeric.contains(column));
        let mut label = texts().find(|column| is_distinct(*column)).or(texts().next());
        if label.is_none() && width > 1 && is_distinct(0) {
            label = Some(0);
            numeric.retain(|column| *column != 0);
        }
        if let Some(label) = label {
            rows.retain(|row| !row.get(label).is_some_and(|cell| is_total(cell)));
        }
        let holds_data = !numeric.is_empty() && !rows.is_empty();
        holds_data.then_some(Table { header, rows, label, numeric, skipped: 0 })
    }

    pub(super) fn name(&self, column: usize) -> &str {
        self.header.get(column).map_or("", String::as_str)
    }

    pub(super) fn label<'r>(&self, row: &'r Row) -> &'r str {
        self.label.and_then(|label| row.get(label)).map_or("", |cell| unmarked(cell.trim()))
    }

    pub(super) fn has_names(&self) -> bool {
        self.header.iter().any(|name| !name.is_empty())
    }

    /// The columns of text, the label first.
    pub(super) fn texts(&self) -> impl Iterator<Item = usize> + '_ {
        let is_other = |column: &usize| !self.numeric.contains(column) && Some(*column) != self.label;
        self.label.into_iter().chain((0..self.header.len()).filter(is_other))
    }

    pub(super) fn repeats(&self, column: usize) -> bool {
        let mut seen = HashSet::new();
        self.rows.iter().filter_map(|row| row.get(column)).any(|cell| !seen.insert(cell.trim()))
    }

    fn relevance(&self, question: &Question) -> f64 {
        let names: f64 = self.header.iter().map(|name| question.mentions(name)).sum();
        let labels = self.rows.iter().take(SAMPLE).map(|row| question.mentions(self.label(row)));
        names + labels.fold(0.0, f64::max)
    }
}

/// Reads a document; of several tables it takes the one that the question mentions most, the first of equals.
pub(super) fn read<'d>(document: &'d str, question: &Question) -> Data<'d> {
    let mut tables = formats::tables(document);
    tables.reverse();
    let best = tables.into_iter().max_by(|a, b| a.relevance(question).total_cmp(&b.relevance(question)));
    match best.or_else(|| pairs::labelled(document)).or_else(|| pairs::bare_numbers(document)) {
        Some(table) => Data::Table(table),
        None => list(document).map_or(Data::Text, Data::List),
    }
}

/// The part of a document that is a list: short items between marks, behind a heading if there is one.
fn list(document: &str) -> Option<&str> {
    if document.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let text = document.trim();
    let text = match text.split_once(['\n', ':', '：']) {
        Some((head, rest)) if !head.contains(MARKS) && rest.contains(MARKS) => rest.trim(),
        Some(_) | None => text,
    };
    let parts =
        text.split(|c| MARKS.contains(&c) || "\n|\t".contains(c)).map(str::trim).filter(|part| !part.is_empty());
    let (count, chars) = parts.fold((0, 0), |(count, chars), part| (count + 1, chars + part.chars().count()));
    let ends = text.matches(['.', '。', '!', '?', '！', '？']).count();
    if count > 1 {
        return (chars <= 24 * count && ends * 4 <= count).then_some(text);
    }
    // Words between blanks are a list where some repeat.
    let words: Vec<&str> = text.split_whitespace().collect();
    let kinds: HashSet<&&str> = words.iter().collect();
    (words.len() > 2 && ends == 0 && kinds.len() * 4 <= words.len() * 3).then_some(text)
}

fn is_year(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['年', 'г', '.']).trim_end();
    text.len() == 4 && text.parse().is_ok_and(|year: u16| (1800..=2199).contains(&year))
}

/// Whether the first row is a word before distinct years, and thus names columns.
fn names_years(rows: &[Row]) -> bool {
    let Some(([first, years @ ..], below)) = rows.split_first().map(|(top, below)| (top.as_slice(), below)) else {
        return false;
    };
    let distinct: HashSet<&str> = years.iter().map(|year| year.trim()).collect();
    let is_data = |row: &Row| row.iter().skip(1).any(|cell| !is_year(cell));
    Amount::read(first).is_none()
        && distinct.len() > 1
        && distinct.len() == years.len()
        && years.iter().all(|year| is_year(year))
        && below.iter().take(SAMPLE).all(is_data)
}

/// Whether the first cells of the rows are numbers that go up by one.
fn counts_up(rows: &[Row]) -> bool {
    let first = |row: &Row| row.first()?.trim().parse::<i64>().ok();
    let numbers: Option<Vec<i64>> = rows.iter().take(SAMPLE).map(first).collect();
    let goes_up = |pair: &[i64]| matches!(pair, [one, next] if one.checked_add(1) == Some(*next));
    rows.len() > 2 && numbers.is_some_and(|numbers| numbers.windows(2).all(goes_up))
}

pub(super) fn is_missing(cell: &str) -> bool {
    let cell = cell.trim();
    cell.is_empty() || (cell.len() < 32 && words::is_in("missing", &folded(cell)))
}

/// A cell without the marks around it; a quotation mark at one end alone belongs to the cell.
fn unmarked(cell: &str) -> &str {
    let cell = cell.trim_matches(['*', '`']);
    cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(cell)
}

fn is_total(label: &str) -> bool {
    label.len() < 32 && words::is_in("total_row", folded(label).trim_matches(|c: char| !c.is_alphanumeric()))
}
