//! Tables of a text as rows of strings, the first row being the header.

mod headers;
mod json;
mod lines;
mod pairs;

use csv::{ReaderBuilder, Trim};

/// The most columns of a table; SQLite takes no more than 2,000.
const MAX_COLUMNS: usize = 500;

/// The most tables of a text.
const MAX_TABLES: usize = 200;

/// What separates the fields of a line, the likeliest first.
const DELIMITERS: [u8; 4] = [b'\t', b';', b',', b'|'];

pub(crate) type Row = Vec<String>;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Grid {
    /// The heading above it.
    pub(crate) heading: Option<String>,
    /// The first row names the columns, in empty texts where the text names none.
    pub(crate) rows: Vec<Row>,
    /// The lines among the rows that were skipped because they have another number of cells.
    pub(crate) skipped: usize,
}

impl Grid {
    /// A grid whose first row may name the columns.
    fn new(mut rows: Vec<Row>) -> Grid {
        if !headers::is_headed(&rows) {
            let width = rows.first().map_or(0, Vec::len);
            rows.insert(0, vec![String::new(); width]);
        }
        Grid { rows, ..Grid::default() }
    }
}

/// The tables of a text: those of JSON, of Markdown, the whole text where it is delimited, runs of delimited lines, or labels
/// with values.
pub(crate) fn find(name: &str, text: &str) -> Vec<Grid> {
    let text = text.trim_start_matches('\u{feff}');
    let mut found = match json::parse(text.trim()) {
        Some(value) => json::grids(value),
        None => in_text(name, text),
    };
    found.truncate(MAX_TABLES);
    found
}

fn in_text(name: &str, text: &str) -> Vec<Grid> {
    let found = markdown(text);
    if !found.is_empty() {
        return found;
    }
    if let Some((rows, skipped)) = delimited(name, text) {
        return vec![Grid { skipped, ..Grid::new(rows) }];
    }
    let found = lines::grids(text);
    if !found.is_empty() {
        return found;
    }
    let unnamed = |rows: Vec<Row>| {
        let width = rows.first().map_or(0, Vec::len);
        let rows = std::iter::once(vec![String::new(); width]).chain(rows).collect();
        Grid { rows, ..Grid::default() }
    };
    pairs::labelled(text).or_else(|| pairs::bare_numbers(text)).map(unnamed).into_iter().collect()
}

fn markdown(text: &str) -> Vec<Grid> {
    let mut found = Vec::new();
    let mut heading = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(title) = line.trim_start().strip_prefix('#') {
            heading = Some(title.trim_matches(['#', ' ']).to_owned()).filter(|title| !title.is_empty());
            continue;
        }
        let is_head = line.contains('|') && lines.peek().is_some_and(|next| is_rule(next));
        let header = if is_head { cells(line) } else { Vec::new() };
        if header.is_empty() || header.len() > MAX_COLUMNS {
            continue;
        }
        lines.next();
        let mut rows = vec![header];
        while let Some(line) = lines.next_if(|line| line.contains('|')) {
            rows.push(cells(line));
        }
        if rows.len() > 1 && found.len() < MAX_TABLES {
            found.push(Grid { heading: heading.clone(), rows, skipped: 0 });
        }
    }
    found
}

/// Whether a line divides a header from its rows: `|---|:--:|`.
fn is_rule(line: &str) -> bool {
    line.contains('-') && line.contains('|') && line.chars().all(|c| "|-: \t".contains(c))
}

/// The cells of a line of a Markdown table; `\|` is a bar within a cell.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut is_escaped = false;
    for c in line.chars() {
        let cell = cells.last_mut().expect("there is always a last cell");
        match c {
            '|' if is_escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' => cells.push(String::new()),
            c => cell.push(c),
        }
        is_escaped = c == '\\';
    }
    // The bar at the end opens no cell.
    if cells.len() > 1 && cells.last().is_some_and(|last| last.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| cell.trim().trim_matches('*').to_owned()).collect()
}

/// Lines that one mark cuts into equally many fields, and how many others were left out, which only a file that is named as such may
/// have. Without such a name, prose with commas must not pass for a table.
fn delimited(name: &str, text: &str) -> Option<(Vec<Row>, usize)> {
    let is_named = [".csv", ".tsv", ".tab"].iter().any(|ending| name.to_ascii_lowercase().ends_with(ending));
    let cut = DELIMITERS.iter().filter_map(|mark| fields(text, *mark)).min_by_key(|(_, skipped)| *skipped);
    let (rows, skipped) = cut.filter(|(_, skipped)| *skipped == 0 || is_named).or_else(|| {
        let single =
            || text.lines().map(|line| vec![line.trim().to_owned()]).filter(|row| row.concat() != "").collect();
        is_named.then(|| (single(), 0))
    })?;
    let is_table = is_named || (headers::is_headed(&rows) && headers::holds_data(&rows));
    (rows.len() > 1 && is_table).then_some((rows, skipped))
}

/// The records of a text that have as many fields as the first, which are two or more, and how many have not: fewer than those.
fn fields(text: &str, mark: u8) -> Option<(Vec<Row>, usize)> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    if !first.as_bytes().contains(&mark) {
        return None;
    }
    let mut reader = ReaderBuilder::new();
    reader.delimiter(mark).has_headers(false).flexible(true).trim(Trim::All);
    let mut reader = reader.from_reader(text.as_bytes());
    let mut rows: Vec<Row> = Vec::new();
    let mut skipped = 0;
    for record in reader.records() {
        let row: Row = record.ok()?.iter().map(on_one_line).collect();
        if rows.first().is_some_and(|first| first.len() != row.len()) {
            skipped += 1;
        } else {
            rows.push(row);
        }
    }
    let width = rows.first().map_or(0, Vec::len);
    ((2..=MAX_COLUMNS).contains(&width) && skipped < rows.len()).then_some((rows, skipped))
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
