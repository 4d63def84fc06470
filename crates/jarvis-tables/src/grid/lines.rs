//! Runs of lines with as many fields as their neighbours, amid other text.

use super::{Grid, Row, headers, pairs};

/// The most fields of a line; prose has more commas than tables that stand in it.
const MAX_FIELDS: usize = 64;

pub(super) fn grids(text: &str) -> Vec<Grid> {
    let lines: Vec<&str> = text.lines().collect();
    let separators = ['\t', ';', '；', '|', ',', '，'].into_iter().filter(|mark| text.contains(*mark));
    separators.map(|mark| runs(&lines, mark)).find(|found| !found.is_empty()).unwrap_or_else(Vec::new)
}

/// Runs of lines that a mark cuts into as many fields, with amounts among them.
fn runs(lines: &[&str], mark: char) -> Vec<Grid> {
    let mut found = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut skipped = 0;
    let mut close = |rows: &mut Vec<Row>, skipped: &mut usize| {
        let (rows, skipped) = (std::mem::take(rows), std::mem::take(skipped));
        if rows.len() > 1 {
            let grid = Grid { skipped, ..Grid::new(rows) };
            found.extend(Some(grid).filter(|grid| headers::holds_data(&grid.rows)));
        }
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
        let is_row = (2..=MAX_FIELDS).contains(&row.len());
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
