//! Workbooks: each sheet as Markdown tables, with values as they were calculated last.

use std::fmt::Display;
use std::io::Cursor;

use calamine::{Data, ExcelDateTime, Ods, Range, Reader, SheetType, Xls, Xlsb, Xlsx};

use super::{push_table, unreadable};
use crate::{DocumentError, Format};

/// The most cells of all sheets together, empty ones between others included.
const MAX_CELLS: usize = 2_000_000;

/// The formats of workbooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Book {
    Xlsx,
    Xlsb,
    Xls,
    Ods,
}

/// The text of a workbook: a heading and the tables of each sheet that holds something.
pub(super) fn text(book: Book, bytes: &[u8]) -> Result<String, DocumentError> {
    match book {
        Book::Xlsx => sheets::<Xlsx<_>>(bytes),
        Book::Xlsb => sheets::<Xlsb<_>>(bytes),
        Book::Xls => sheets::<Xls<_>>(bytes),
        Book::Ods => sheets::<Ods<_>>(bytes),
    }
}

fn sheets<'b, R: Reader<Cursor<&'b [u8]>>>(bytes: &'b [u8]) -> Result<String, DocumentError>
where
    R::Error: Display,
{
    let mut book = R::new(Cursor::new(bytes)).map_err(|error| unreadable(Format::Sheet, &error))?;
    // Sheets of charts and macros hold no cells.
    let sheets = book.sheets_metadata().iter().filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let names: Vec<String> = sheets.map(|sheet| sheet.name.clone()).collect();
    let (mut text, mut cells) = (String::new(), 0);
    for name in &names {
        let range = book.worksheet_range(name).map_err(|error| unreadable(Format::Sheet, &error))?;
        let (height, width) = range.get_size();
        cells += height * width;
        if cells > MAX_CELLS {
            let reason = format!("the sheet `{name}` has {height} rows and {width} columns, which are too many");
            return Err(unreadable(Format::Sheet, &reason));
        }
        if !range.is_empty() {
            text.push_str(&format!("## {}\n\n", name.trim()));
            push_sheet(&mut text, &range);
        }
    }
    Ok(text)
}

/// The text of an office file of before 2007; only workbooks are read.
pub(super) fn old(bytes: &[u8]) -> Result<String, DocumentError> {
    text(Book::Xls, bytes).map_err(|error| match error {
        DocumentError::Unreadable(reason) => {
            DocumentError::Unreadable(format!("{reason}; .doc and .ppt files are to be saved as .docx and .pptx"))
        }
        other => other,
    })
}

/// Blocks of rows, which empty rows divide. A row with one value above wider ones is a caption.
fn push_sheet(text: &mut String, range: &Range<Data>) {
    let rows: Vec<Vec<String>> = range.rows().map(|row| row.iter().map(shown).collect()).collect();
    for block in rows.split(|row| row.iter().all(String::is_empty)) {
        let filled = |row: &[String]| row.iter().filter(|cell| !cell.is_empty()).count();
        let captions = match block.iter().any(|row| filled(row) > 1) {
            true => block.iter().take_while(|row| filled(row) == 1).count(),
            false => 0,
        };
        let (captions, table) = block.split_at(captions);
        for caption in captions {
            text.push_str(&caption.concat());
            text.push_str("\n\n");
        }
        let used = |column: usize| table.iter().any(|row| row.get(column).is_some_and(|cell| !cell.is_empty()));
        let columns: Vec<usize> = (0..table.iter().map(Vec::len).max().unwrap_or(0)).filter(|at| used(*at)).collect();
        let kept = |row: &Vec<String>| columns.iter().filter_map(|at| row.get(*at).cloned()).collect();
        push_table(text, &table.iter().map(kept).collect::<Vec<_>>());
    }
}

/// A cell as text: numbers in plain digits, dates in the form of ISO 8601.
fn shown(cell: &Data) -> String {
    match cell {
        Data::Empty => String::new(),
        Data::Int(number) => number.to_string(),
        Data::Float(number) => plain(*number),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.trim().to_owned(),
        Data::Bool(is_true) => is_true.to_string(),
        Data::DateTime(time) => date(time),
        Data::Error(error) => error.to_string(),
    }
}

/// A number with the 15 digits that spreadsheets keep: 0.1 + 0.2 is 0.3 there.
fn plain(number: f64) -> String {
    format!("{number:.14e}").parse::<f64>().unwrap_or(number).to_string()
}

fn date(time: &ExcelDateTime) -> String {
    let value = time.as_f64();
    if time.is_duration() {
        let seconds = (value * 86_400.0).round();
        return format!("{}:{:02}:{:02}", (seconds / 3_600.0).trunc(), (seconds / 60.0).trunc() % 60.0, seconds % 60.0);
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    match (value < 1.0, value.fract() == 0.0) {
        (true, false) => clock,
        (_, true) => format!("{year:04}-{month:02}-{day:02}"),
        (false, false) => format!("{year:04}-{month:02}-{day:02} {clock}"),
    }
}
