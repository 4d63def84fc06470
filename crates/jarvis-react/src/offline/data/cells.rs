//! Documents in a format of their own: CSV with quoted fields, JSON, and JSON in lines. Their cells are taken out as the
//! formats mean them, before anything is read into them.

use indexmap::IndexSet;
use serde_json::{Map, Value};

use super::Table;

/// The most cells that are taken out.
const MOST: usize = 2_000_000;
/// How deep JSON is read.
const DEEPEST: usize = 16;

/// The cells of a document in such a format; empty for other documents.
#[derive(Debug, Default)]
pub(in crate::offline) struct Cells {
    tables: Vec<(Vec<Vec<String>>, Option<bool>)>,
    /// The values of a JSON document, each in a line behind its names.
    pub(in crate::offline) lines: Option<String>,
}

impl Cells {
    /// Takes the cells out of a document.
    pub(in crate::offline) fn of(document: &str) -> Cells {
        let text = document.trim_start_matches('\u{feff}').trim();
        json(text).or_else(|| quoted(text)).unwrap_or_default()
    }

    /// The tables of the document.
    pub(super) fn tables(&self) -> Vec<Table<'_>> {
        let mut found = Vec::new();
        for (rows, headed) in &self.tables {
            let rows = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
            found.extend(Table::new(rows, *headed).filter(|table| table.label.is_some()));
        }
        found
    }
}

/// CSV in which quotes matter: a field may hold separators, doubled quotes and breaks of lines.
fn quoted(text: &str) -> Option<Cells> {
    if !text.contains('"') {
        return None;
    }
    let head = text.lines().next()?;
    let separator = [b'\t', b';', b',', b'|'].into_iter().find(|mark| head.contains(char::from(*mark)))?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut cells = 0;
    for record in reader.records() {
        let record = record.ok()?;
        cells += record.len();
        let width = rows.first().map_or(record.len(), Vec::len);
        if record.len() != width || width < 2 || cells > MOST {
            return None;
        }
        let bare = |field: &str| field.split_whitespace().collect::<Vec<_>>().join(" ");
        rows.push(record.iter().map(bare).collect());
    }
    (rows.len() > 1).then(|| Cells { tables: vec![(rows, None)], lines: None })
}

fn json(text: &str) -> Option<Cells> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let value = serde_json::from_str(text).ok().or_else(|| {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let rows: Option<Vec<Value>> =
            lines.map(|line| serde_json::from_str(line).ok().filter(Value::is_object)).collect();
        rows.map(Value::Array)
    })?;
    let mut cells = Cells { lines: Some(String::new()), ..Cells::default() };
    cells.read("", &value, 0);
    Some(cells)
}

impl Cells {
    fn read(&mut self, name: &str, value: &Value, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match value {
            Value::Object(fields) => self.object(name, fields, depth),
            Value::Array(items) => self.array(name, items, depth),
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                if let (Some(lines), Some(text)) = (&mut self.lines, scalar(value)) {
                    lines.push_str(&format!("{name}: {text}\n\n"));
                }
            }
        }
    }

    fn object(&mut self, name: &str, fields: &Map<String, Value>, depth: usize) {
        let plain: Vec<(&String, String)> =
            fields.iter().filter_map(|(key, value)| Some((key, scalar(value)?))).collect();
        if name.is_empty() {
            // What stands at the top has names alone.
            let rows = plain.iter().map(|(key, text)| vec![spaced(key), text.clone()]).collect();
            self.tables.push((rows, Some(false)));
        } else if !plain.is_empty() {
            let header = std::iter::once(String::new()).chain(plain.iter().map(|(key, _)| spaced(key)));
            let row = std::iter::once(name.to_owned()).chain(plain.iter().map(|(_, text)| text.clone()));
            self.tables.push((vec![header.collect(), row.collect()], Some(true)));
        }
        for (key, value) in fields {
            let within = if name.is_empty() { spaced(key) } else { format!("{name} {}", spaced(key)) };
            self.read(&within, value, depth + 1);
        }
    }

    fn array(&mut self, name: &str, items: &[Value], depth: usize) {
        let objects: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
        if objects.len() < items.len() || objects.is_empty() {
            if items.iter().all(|item| scalar(item).is_some()) {
                let all: Vec<String> = items.iter().filter_map(scalar).collect();
                if let Some(lines) = &mut self.lines {
                    lines.push_str(&format!("{name}: {}\n\n", all.join(", ")));
                }
                return;
            }
            items.iter().for_each(|item| self.read(name, item, depth + 1));
            return;
        }
        let has =
            |key: &&String| objects.iter().any(|object| object.get(*key).is_some_and(|value| scalar(value).is_some()));
        let keys: IndexSet<&String> = objects.iter().flat_map(|object| object.keys()).collect();
        let keys: Vec<&String> = keys.into_iter().take(64).filter(has).collect();
        if keys.is_empty() || keys.len() * objects.len() > MOST {
            return;
        }
        let cell = |object: &Map<String, Value>, key: &String| object.get(key).and_then(scalar).unwrap_or_default();
        let rows: Vec<Vec<String>> =
            objects.iter().map(|object| keys.iter().map(|key| cell(object, key)).collect()).collect();
        if let Some(lines) = &mut self.lines {
            for row in &rows {
                let told = keys.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
                let told: Vec<String> = told.map(|(key, cell)| format!("{}: {cell}", spaced(key))).collect();
                lines.push_str(&format!("{name} {}\n\n", told.join(", ")));
            }
        }
        let header = keys.iter().map(|key| spaced(key)).collect();
        self.tables.push((std::iter::once(header).chain(rows).collect(), Some(true)));
        for object in objects {
            for (key, value) in object.iter().filter(|(_, value)| scalar(value).is_none()) {
                self.read(&format!("{name} {}", spaced(key)), value, depth + 1);
            }
        }
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A key as words.
fn spaced(key: &str) -> String {
    key.replace(['_', '-'], " ").trim().to_owned()
}
