//! Tables of a text as rows of strings, the first row being the header.

use csv::{ReaderBuilder, Trim};
use serde_json::Value;

/// The most columns of a table; SQLite takes no more than 2,000.
const MAX_COLUMNS: usize = 500;

/// The most tables of a text.
const MAX_TABLES: usize = 200;

/// What separates the fields of a line, the likeliest first.
const DELIMITERS: [u8; 4] = [b'\t', b';', b',', b'|'];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    /// The heading above it.
    pub(crate) heading: Option<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// The tables of a text: the whole text where it is JSON or delimited, else its Markdown tables.
pub(crate) fn find(name: &str, text: &str) -> Vec<Grid> {
    if let Some(rows) = records(text) {
        return vec![Grid { heading: None, rows }];
    }
    let found = markdown(text);
    if !found.is_empty() {
        return found;
    }
    delimited(name, text).map(|rows| Grid { heading: None, rows }).into_iter().collect()
}

/// A JSON list of objects, an object that holds one such list alone, or JSON lines.
fn records(text: &str) -> Option<Vec<Vec<String>>> {
    let text = text.trim();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let list = match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(items)) => items,
        Ok(Value::Object(fields)) => {
            let mut lists = fields.into_iter().filter_map(|(_, value)| match value {
                Value::Array(items) if items.iter().any(Value::is_object) => Some(items),
                _ => None,
            });
            let list = lists.next()?;
            if lists.next().is_some() {
                return None;
            }
            list
        }
        Ok(_) => return None,
        Err(_) => text.lines().map(|line| serde_json::from_str(line).ok()).collect::<Option<_>>()?,
    };
    let mut header: Vec<String> = Vec::new();
    for item in &list {
        for name in item.as_object()?.keys() {
            if !header.iter().any(|known| known == name) {
                header.push(name.clone());
            }
        }
        if header.len() > MAX_COLUMNS {
            return None;
        }
    }
    let shown = |value: Option<&Value>| match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let rows = list.iter().map(|item| header.iter().map(|name| shown(item.get(name))).collect::<Vec<_>>());
    let rows: Vec<Vec<String>> = rows.collect();
    (!header.is_empty()).then(|| std::iter::once(header.clone()).chain(rows).collect())
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
            found.push(Grid { heading: heading.clone(), rows });
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

/// Lines that one mark cuts into equally many fields. Without the name of such a file, prose with commas must not pass for it.
fn delimited(name: &str, text: &str) -> Option<Vec<Vec<String>>> {
    let is_named = [".csv", ".tsv", ".tab"].iter().any(|ending| name.to_ascii_lowercase().ends_with(ending));
    let mut rows = DELIMITERS.iter().find_map(|mark| fields(text, *mark)).or_else(|| {
        let single =
            || text.lines().map(|line| vec![line.trim().to_owned()]).filter(|row| row.concat() != "").collect();
        is_named.then(single)
    })?;
    let header = rows.first()?;
    let is_value = |cell: &str| cell.trim().is_empty() || crate::values::is_number(cell.trim());
    let is_headed = !header.iter().any(|cell| is_value(cell));
    let has_numbers = rows.iter().skip(1).flatten().any(|cell| crate::values::is_number(cell.trim()));
    if rows.len() < 2 || !(is_named || (is_headed && has_numbers)) {
        return None;
    }
    if !is_headed && header.iter().any(|cell| crate::values::is_number(cell.trim())) {
        let width = header.len();
        rows.insert(0, vec![String::new(); width]);
    }
    Some(rows)
}

/// The records of a text, where all have two fields or more and as many as the first.
fn fields(text: &str, mark: u8) -> Option<Vec<Vec<String>>> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    if !first.as_bytes().contains(&mark) {
        return None;
    }
    let mut reader =
        ReaderBuilder::new().delimiter(mark).has_headers(false).trim(Trim::All).from_reader(text.as_bytes());
    let mut rows = Vec::new();
    for record in reader.records() {
        // A record of another length is an error, and the text no table of this kind.
        let record = record.ok()?;
        let row: Vec<String> =
            record.iter().map(|field| field.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        rows.push(row);
    }
    let width = rows.first().map_or(0, Vec::len);
    (2..=MAX_COLUMNS).contains(&width).then_some(rows)
}
