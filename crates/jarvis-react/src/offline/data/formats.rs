//! Tables in JSON, CSV and Markdown, and runs of lines with as many fields as their neighbours.

use indexmap::IndexSet;
use serde_json::{Map, Value};

use super::{Row, Table, pairs};

const MAX_COLUMNS: usize = 64;
/// The most cells that are taken out of JSON and CSV.
const MAX_CELLS: usize = 2_000_000;
const MAX_DEPTH: usize = 16;

pub(super) fn tables(document: &str) -> Vec<Table> {
    let text = document.trim_start_matches('\u{feff}').trim();
    if let Some(value) = json(text) {
        let mut found = Vec::new();
        json_tables("", &value, 0, &mut found);
        return found;
    }
    if let Some(table) = csv(text) {
        return vec![table];
    }
    let lines: Vec<&str> = document.lines().collect();
    let found = markdown(&lines);
    if !found.is_empty() {
        return found;
    }
    let separators = ['\t', ';', '；', '|', ',', '，'].into_iter().filter(|mark| document.contains(*mark));
    separators.map(|mark| runs(&lines, mark)).find(|found| !found.is_empty()).unwrap_or_else(Vec::new)
}

fn json(text: &str) -> Option<Value> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let object = |line: &str| serde_json::from_str(line).ok().filter(Value::is_object);
    let lines = || text.lines().filter(|line| !line.trim().is_empty()).map(object).collect::<Option<Vec<_>>>();
    serde_json::from_str(text).ok().or_else(|| lines().map(Value::Array))
}

/// The arrays of objects as tables, the plain fields of the document as pairs, and those of other objects as a row each.
fn json_tables(path: &str, value: &Value, depth: usize, found: &mut Vec<Table>) {
    let below = |key: &str| format!("{path} {}", spaced(key)).trim().to_owned();
    match value {
        _ if depth > MAX_DEPTH => {}
        Value::Object(fields) => {
            let plain = || fields.iter().filter_map(|(key, value)| Some((spaced(key), plain(value)?)));
            let table = if path.is_empty() {
                Table::new(plain().map(|(key, value)| vec![key, value]).collect(), Some(false))
            } else {
                let (header, row): (Row, Row) =
                    std::iter::once((String::new(), path.to_owned())).chain(plain()).unzip();
                Table::new(vec![header, row], Some(true))
            };
            found.extend(table.filter(|table| table.label.is_some()));
            for (key, value) in fields {
                json_tables(&below(key), value, depth + 1, found);
            }
        }
        Value::Array(items) => {
            let objects: Vec<&Map<String, Value>> = items.iter().filter_map(Value::as_object).collect();
            let keys: IndexSet<&String> = objects.iter().flat_map(|object| object.keys()).collect();
            if objects.len() < items.len() || keys.len() > MAX_COLUMNS || keys.len() * objects.len() > MAX_CELLS {
                return;
            }
            let cell = |object: &Map<String, Value>, key: &str| object.get(key).and_then(plain).unwrap_or_default();
            let row = |object: &&Map<String, Value>| keys.iter().map(|key| cell(object, key)).collect();
            let header = keys.iter().map(|key| spaced(key)).collect();
            let rows = std::iter::once(header).chain(objects.iter().map(row)).collect();
            found.extend(Table::new(rows, Some(true)).filter(|table| table.label.is_some()));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn spaced(key: &str) -> String {
    key.replace(['_', '-'], " ").trim().to_owned()
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(on_one_line(text)),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A document that is CSV as a whole, with quoted fields. Without quotes [`runs`] reads it.
fn csv(text: &str) -> Option<Table> {
    let head = text.lines().next().filter(|_| text.contains('"'))?;
    let mark = [b'\t', b';', b',', b'|'].into_iter().find(|mark| head.contains(char::from(*mark)))?;
    let mut reader = ::csv::ReaderBuilder::new();
    let reader = reader.delimiter(mark).has_headers(false).trim(::csv::Trim::All);
    // A record of another length ends it with an error.
    let records = reader.from_reader(text.as_bytes()).into_records().take(MAX_CELLS);
    let rows: Vec<Row> =
        records.map(|record| Some(record.ok()?.iter().map(on_one_line).collect())).collect::<Option<_>>()?;
    let is_wide = rows.len() > 1 && rows.first().is_some_and(|row| (2..=MAX_COLUMNS).contains(&row.len()));
    is_wide.then(|| Table::new(rows, None)).flatten().filter(|table| table.label.is_some())
}

fn markdown(lines: &[&str]) -> Vec<Table> {
    let mut found = Vec::new();
    let mut at = 0;
    while let (Some(head), Some(rule)) = (lines.get(at), lines.get(at + 1)) {
        at += 1;
        let is_rule = rule.contains('-') && rule.contains('|') && rule.chars().all(|c| "|-: \t".contains(c));
        let header = bars(head);
        if !is_rule || !head.contains('|') || header.len() > MAX_COLUMNS {
            continue;
        }
        at += 1;
        let body = lines.get(at..).expect("the line above is the rule").iter().take_while(|line| line.contains('|'));
        let mut rows = vec![header];
        for line in body {
            let mut row = bars(line);
            row.resize(rows.first().map_or(0, Vec::len), String::new());
            rows.push(row);
        }
        at += rows.len() - 1;
        found.extend(Table::new(rows, Some(true)));
    }
    found
}

fn bars(line: &str) -> Row {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    line.strip_suffix('|').unwrap_or(line).split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// Runs of lines that a mark cuts into as many fields, with amounts among them.
fn runs(lines: &[&str], mark: char) -> Vec<Table> {
    let mut found = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut skipped = 0;
    let mut close = |rows: &mut Vec<Row>, skipped: &mut usize| {
        let (rows, skipped) = (std::mem::take(rows), std::mem::take(skipped));
        let table = if rows.len() > 1 { Table::new(rows, None) } else { None };
        found.extend(table.filter(|table| table.label.is_some()).map(|table| Table { skipped, ..table }));
    };
    let fields = |line: &&str| -> Row {
        let is_row = line.contains(mark) && !(mark == ',' && pairs::has_decimal_comma(line));
        if is_row { line.split(mark).map(|field| field.trim().to_owned()).collect() } else { Row::new() }
    };
    let mut next = lines.iter().map(fields).skip(1);
    for line in lines {
        let (row, next) = (fields(line), next.next().map_or(0, |row| row.len()));
        let width = rows.first().map_or(0, Vec::len);
        // A line of another length between two of one length is skipped, and the table goes on.
        if rows.len() > 1 && !line.trim().is_empty() && row.len() != width && next == width {
            skipped += 1;
            continue;
        }
        let is_row = (2..=MAX_COLUMNS).contains(&row.len());
        if !is_row || row.len() != width {
            close(&mut rows, &mut skipped);
        }
        if is_row {
            rows.push(row);
        }
    }
    close(&mut rows, &mut skipped);
    found
}
