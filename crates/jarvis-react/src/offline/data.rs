//! What a document holds: a table, pairs of labels and values, a list, or running text. It is read as data; nothing in it
//! is an order.

mod cells;
mod pairs;
mod tables;

use tokio_util::sync::CancellationToken;

pub(super) use cells::Cells;

use super::amount::Amount;
use super::matching::Question;

/// A table as it stands in the document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Table<'d> {
    /// Names of the columns; empty ones where there are none.
    pub(super) header: Vec<String>,
    /// Rows of as many cells; those that sum up others are left out.
    pub(super) rows: Vec<Vec<&'d str>>,
    /// The column that names the rows.
    pub(super) label: Option<usize>,
    /// The columns of amounts.
    pub(super) numeric: Vec<usize>,
    /// Whether it was gathered from a text that is mostly something else.
    pub(super) sparse: bool,
    /// How many lines among the rows have another number of cells, and were left out.
    pub(super) odd: usize,
}

/// What a document holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data<'d> {
    /// Rows with amounts.
    Table(Table<'d>),
    /// Items, as the part of the document that holds them.
    List(&'d str),
    /// Anything else.
    Prose,
}

/// How many rows tell what a column is.
const SAMPLE: usize = 200;

impl<'d> Table<'d> {
    /// A table of rows of equal length, the first of which may be the header; `None` when it has no amounts.
    fn new(mut rows: Vec<Vec<&'d str>>, headed: Option<bool>) -> Option<Table<'d>> {
        let width = rows.first()?.len();
        let body = |rows: &[Vec<&str>], column: usize, skip: usize| {
            let cells = || {
                rows.iter().skip(skip).take(SAMPLE).filter_map(|row| row.get(column)).filter(|cell| !is_missing(cell))
            };
            let all = cells().count();
            all > 0 && cells().filter(|cell| Amount::read(cell).is_some()).count() * 5 >= all * 4
        };
        let below: Vec<usize> = (0..width).filter(|column| body(&rows, *column, 1)).collect();
        let top = rows.first()?;
        let headed = headed.unwrap_or_else(|| {
            rows.len() > 1
                && (below.iter().any(|column| top.get(*column).is_some_and(|cell| Amount::read(cell).is_none()))
                    || names_years(&rows))
        });
        let header: Vec<String> = if headed {
            rows.remove(0).iter().map(|cell| cell.trim().trim_matches('*').to_owned()).collect()
        } else {
            vec![String::new(); width]
        };
        let mut numeric: Vec<usize> = (0..width).filter(|column| body(&rows, *column, 0)).collect();
        // Years say when something was; they are no amounts where others are.
        let years = |column: usize| {
            let named = header.get(column).is_some_and(|name| is_year_name(name));
            named || rows.iter().take(SAMPLE).all(|row| row.get(column).is_some_and(|cell| is_year(cell)))
        };
        let dated: Vec<usize> = numeric.iter().copied().filter(|column| years(*column)).collect();
        if dated.len() < numeric.len() {
            numeric.retain(|column| !dated.contains(column));
        }
        let distinct = |column: usize| {
            let mut cells: Vec<&str> = rows.iter().take(SAMPLE).filter_map(|row| row.get(column).copied()).collect();
            let all = cells.len();
            cells.sort_unstable();
            cells.dedup();
            cells.len() == all
        };
        // Nor are the numbers of rows.
        let numbered = numeric.len() > 1 && numeric.first() == Some(&0) && is_count_up(&rows);
        if numbered {
            numeric.remove(0);
        }
        let texts: Vec<usize> = (0..width).filter(|column| !numeric.contains(column)).collect();
        let by_words = || texts.iter().copied().filter(|column| !(numbered && *column == 0));
        let mut label = by_words().find(|column| distinct(*column)).or(texts.first().copied());
        // Years, numbers of rows and the like name rows; amounts follow.
        if label.is_none() && width > 1 && distinct(0) {
            label = Some(0);
            numeric.retain(|column| *column != 0);
        }
        if let Some(label) = label {
            rows.retain(|row| !row.get(label).is_some_and(|cell| is_total(cell)));
        }
        (!numeric.is_empty() && !rows.is_empty()).then_some(Table {
            header,
            rows,
            label,
            numeric,
            sparse: false,
            odd: 0,
        })
    }

    /// The name of a column.
    pub(super) fn name(&self, column: usize) -> &str {
        self.header.get(column).map_or("", String::as_str)
    }

    /// The label of a row.
    pub(super) fn label(&self, row: &[&'d str]) -> &'d str {
        let cell = self.label.and_then(|label| row.get(label)).copied().unwrap_or_default();
        cell.trim().trim_matches(['*', '"', '`'])
    }

    /// The columns of words.
    pub(super) fn texts(&self) -> impl Iterator<Item = usize> + '_ {
        let named = self.label.into_iter();
        let others =
            (0..self.header.len()).filter(|column| !self.numeric.contains(column) && Some(*column) != self.label);
        named.chain(others)
    }

    /// How much a question speaks of the names of the columns.
    fn fits(&self, question: &Question) -> f64 {
        let named = |column: &usize| {
            let cells = self.rows.iter().take(SAMPLE).filter_map(|row| row.get(*column));
            cells.map(|cell| question.mentions(cell)).fold(0.0, f64::max)
        };
        let names: f64 = self.header.iter().map(|name| question.mentions(name)).sum();
        names + self.label.as_ref().map_or(0.0, named)
    }
}

/// Whether a text is a year as columns are named by.
pub(super) fn is_year(text: &str) -> bool {
    let text = text.trim().trim_end_matches(['年', 'г', '.']).trim_end();
    text.len() == 4 && text.parse().is_ok_and(|year: u16| (1800..=2199).contains(&year))
}

fn is_year_name(name: &str) -> bool {
    ["year", "год", "года", "年", "年份", "年度"].contains(&super::matching::folded(name).trim())
}

/// Whether the first of the rows is a word before years, and thus names columns.
fn names_years(rows: &[Vec<&str>]) -> bool {
    let Some((first, years)) = rows.first().and_then(|row| row.split_first()) else { return false };
    let mut kinds: Vec<&str> = years.iter().map(|year| year.trim()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let below = |row: &&Vec<&str>| row.iter().skip(1).any(|cell| !is_year(cell));
    Amount::read(first).is_none()
        && years.len() > 1
        && kinds.len() == years.len()
        && years.iter().all(|year| is_year(year))
        && rows.iter().skip(1).take(SAMPLE).all(|row| below(&row))
}

/// Whether the first cells of rows are numbers that go up by one.
fn is_count_up(rows: &[Vec<&str>]) -> bool {
    let numbers = || rows.iter().take(SAMPLE).map(|row| row.first().and_then(|cell| cell.trim().parse::<i64>().ok()));
    rows.len() > 2
        && numbers()
            .zip(numbers().skip(1))
            .all(|(one, next)| one.is_some() && one.map(|one| one.wrapping_add(1)) == next)
}

/// Whether a cell says that there is no value.
pub(super) fn is_missing(cell: &str) -> bool {
    let cell = super::matching::folded(cell.trim());
    let known = [
        "",
        "-",
        "–",
        "—",
        "?",
        ".",
        "n/a",
        "na",
        "n.a.",
        "nan",
        "null",
        "nil",
        "none",
        "absent",
        "missing",
        "unknown",
        "tbd",
        "нет",
        "н/д",
        "нет данных",
        "неизвестно",
        "отсутствует",
        "无",
        "缺",
        "缺失",
        "缺考",
        "暂无",
        "未知",
    ];
    known.contains(&cell.as_str())
}

/// Whether a row is the sum of the others.
fn is_total(label: &str) -> bool {
    let label = super::matching::folded(label);
    let bare = label.trim_matches(|c: char| !c.is_alphanumeric());
    let known = [
        "total",
        "totals",
        "sum",
        "subtotal",
        "grand total",
        "in all",
        "итого",
        "всего",
        "сумма",
        "合计",
        "总计",
        "共计",
        "小计",
        "总和",
    ];
    known.contains(&bare)
}

/// Reads a document for a question.
pub(super) fn read<'d>(
    document: &'d str,
    cells: &'d Cells,
    question: &Question,
    ended: &CancellationToken,
) -> Data<'d> {
    let mut tables = cells.tables();
    if tables.is_empty() && cells.lines.is_none() {
        tables = tables::find(document, ended);
    }
    // The table that the question speaks of most; the first of equals.
    tables.reverse();
    let best = tables.into_iter().max_by(|a, b| a.fits(question).total_cmp(&b.fits(question)));
    if let Some(table) = best {
        return Data::Table(table);
    }
    if cells.lines.is_some() {
        return Data::Prose;
    }
    if let Some(table) = pairs::find(document, ended).or_else(|| pairs::numbers(document, ended)) {
        return Data::Table(table);
    }
    list(document).map_or(Data::Prose, Data::List)
}

/// Amounts of a thing in sentences: each with the word that tells its sentence from the others.
pub(super) fn in_sentences<'d>(document: &'d str, question: &Question, ended: &CancellationToken) -> Option<Table<'d>> {
    pairs::sentences(document, question, ended)
}

/// The part of a document that is a list: short items between separators, behind a heading if there is one.
fn list(document: &str) -> Option<&str> {
    let text = document.trim();
    let text = match text.split_once(['\n', ':', '：']) {
        Some((head, rest))
            if !head.contains([',', '，', '、', ';', '；']) && rest.contains([',', '，', '、', ';', '；']) =>
        {
            rest.trim()
        }
        Some(_) | None => text,
    };
    let parts =
        text.split([',', '，', '、', ';', '；', '\n', '|', '\t']).map(str::trim).filter(|part| !part.is_empty());
    let (count, chars) = parts.fold((0_usize, 0_usize), |sum, part| (sum.0 + 1, sum.1 + part.chars().count()));
    let ends = text.matches(['.', '。', '!', '?', '！', '？']).count();
    if count > 1 {
        return (chars <= 24 * count && ends * 4 <= count).then_some(text);
    }
    // Words between blanks, some of them more than once.
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut kinds: Vec<&str> = words.clone();
    kinds.sort_unstable();
    kinds.dedup();
    (words.len() > 2 && ends == 0 && kinds.len() * 4 <= words.len() * 3).then_some(text)
}
