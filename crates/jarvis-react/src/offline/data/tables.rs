//! Tables: Markdown's, and lines with as many fields as their neighbours.

use tokio_util::sync::CancellationToken;

use super::{Table, pairs};

/// Columns beyond this many are no table.
const WIDEST: usize = 64;

/// All tables of a text, in order.
pub(super) fn find<'d>(document: &'d str, ended: &CancellationToken) -> Vec<Table<'d>> {
    let lines: Vec<&str> = document.lines().collect();
    let mut found = markdown(&lines, ended);
    if found.is_empty() {
        for separator in ['\t', ';', '；', '|', ',', '，'] {
            // What stands in no line parts none.
            if document.contains(separator) {
                found = separated(&lines, separator, ended);
            }
            if !found.is_empty() {
                break;
            }
        }
    }
    found
}

fn markdown<'d>(lines: &[&'d str], ended: &CancellationToken) -> Vec<Table<'d>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let (Some(head), Some(rule)) = (lines.get(at), lines.get(at + 1)) {
        at += 1;
        let is_rule = rule.contains('-') && rule.contains('|') && rule.chars().all(|c| "|-: \t".contains(c));
        if !is_rule || !head.contains('|') {
            continue;
        }
        let header = bars(head);
        if header.len() > WIDEST {
            continue;
        }
        let mut rows = Vec::new();
        at += 1;
        while let Some(line) = lines.get(at).filter(|line| line.contains('|') && !ended.is_cancelled()) {
            let mut row = bars(line);
            row.resize(header.len(), "");
            rows.push(row);
            at += 1;
        }
        rows.insert(0, header);
        found.extend(Table::new(rows, Some(true)));
    }
    found
}

/// The cells between bars.
fn bars(line: &str) -> Vec<&str> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    line.strip_suffix('|').unwrap_or(line).split('|').map(str::trim).collect()
}

/// Runs of lines that a separator cuts into as many fields, with amounts among them.
fn separated<'d>(lines: &[&'d str], separator: char, ended: &CancellationToken) -> Vec<Table<'d>> {
    let mut found = Vec::new();
    let mut rows: Vec<Vec<&'d str>> = Vec::new();
    let mut odd = 0;
    let mut close = |rows: &mut Vec<Vec<&'d str>>, odd: &mut usize| {
        let (rows, odd) = (std::mem::take(rows), std::mem::take(odd));
        if rows.len() > 1 {
            let table = Table::new(rows, None).filter(|table| table.label.is_some());
            found.extend(table.map(|table| Table { odd, ..table }));
        }
    };
    let cells = |line: &'d str| match line.contains(separator) && !(separator == ',' && pairs::is_decimal(line)) {
        true => fields(line, separator),
        false => Vec::new(),
    };
    let mut next = lines.iter().copied().map(cells).skip(1);
    for line in lines.iter().take_while(|_| !ended.is_cancelled()) {
        let (row, next) = (cells(line), next.next().unwrap_or_default());
        // A line of another length between two of one is a slip, and the table goes on.
        let width = rows.first().map_or(0, Vec::len);
        if rows.len() > 1 && !line.trim().is_empty() && row.len() != width && next.len() == width {
            odd += 1;
            continue;
        }
        if row.len() < 2 || row.len() > WIDEST {
            close(&mut rows, &mut odd);
            continue;
        }
        if rows.first().is_some_and(|first| first.len() != row.len()) {
            close(&mut rows, &mut odd);
        }
        rows.push(row);
    }
    close(&mut rows, &mut odd);
    found
}

/// The fields of a line; separators between quotes part nothing.
fn fields(line: &str, separator: char) -> Vec<&str> {
    let mut fields = Vec::new();
    let (mut start, mut quoted) = (0, false);
    for (at, c) in line.char_indices() {
        if c == '"' {
            quoted = !quoted;
        } else if c == separator && !quoted {
            fields.push(bare(line.get(start..at).unwrap_or_default()));
            start = at + c.len_utf8();
        }
    }
    fields.push(bare(line.get(start..).unwrap_or_default()));
    fields
}

fn bare(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).unwrap_or(field)
}
