//! What is asked of a selection: which query, and the form of its rows. `sql.rs` writes it.

use std::collections::HashSet;

use jarvis_plan::Language;

use super::doubts::Doubt;
use super::intent::{Figure, Op};
use super::select::{ADDITIVE, Asking, Selection, is_of_kind};
use super::shape::is_empty;
use super::sql::{EACH, TIMES};
use crate::{Column, Table};

/// The most rows whose cells or names are told.
const MAX_ROWS: usize = 12;

/// The most bars; more values are drawn as a line.
const MAX_BARS: usize = 200;

/// What the labels in a query of what is drawn are called, the second where the values are called the first.
const LABELS: [&str; 2] = ["label", "name"];

/// What became of a question: a query, something to draw, or both.
#[derive(Debug, Clone, PartialEq)]
pub struct Interpretation<'t> {
    pub table: &'t Table,
    /// The name of the column of amounts in the document, and the unit of its numbers.
    pub column: &'t str,
    pub unit: Option<&'t str>,
    pub query: Option<Query<'t>>,
    pub drawing: Option<Drawing<'t>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Query<'t> {
    pub sql: String,
    pub form: Form<'t>,
    /// How many values it is made of.
    pub values: usize,
    /// How many of the rows that are meant have no value.
    pub left_out: usize,
}

/// What the rows of a query are.
#[derive(Debug, Clone, PartialEq)]
pub enum Form<'t> {
    /// One number.
    Figure(Figure),
    /// A label and the figure of its rows, for each value of the column `by`.
    OfEach { figure: Figure, by: &'t str },
    /// Labels, then a value: the most or the least of all, or the one at a place counted from it. `of` is the figure of each
    /// group that the value is.
    Extreme { most: bool, rank: Option<usize>, of: Option<Figure> },
    /// Labels, then a value: the first ones in order.
    Top,
    /// A label and its value, another and its value, and what lies between.
    Difference,
    /// A number of rows and, where they are few, their names.
    Rows,
    /// A value of a text column, and how often it occurs.
    Kinds,
    /// The same for the most or the least frequent ones.
    Frequent { most: bool },
    /// Cells of these columns, the first being the label where `is_labelled`.
    Cells { columns: Vec<&'t Column>, is_labelled: bool },
}

/// Values by their labels, to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing<'t> {
    /// `bar`, `line` or `scatter`.
    pub kind: &'static str,
    /// Gives a label and a value in each row.
    pub sql: String,
    /// The name of its column of labels.
    pub label_column: String,
    /// The name of its column of values.
    pub value_column: String,
    /// The name of the labels' column.
    pub by: &'t str,
    /// The figure of each group that a value is.
    pub of_each: Option<Figure>,
    pub left_out: usize,
}

impl<'t> Asking<'_, 't> {
    pub(super) fn interpret(&self, chosen: &Selection) -> Result<Option<Interpretation<'t>>, Doubt> {
        let query = match self.intent.op {
            Op::Figure(figure) => match self.figure(chosen, figure)? {
                None => return Ok(None),
                query => query,
            },
            _ if self.intent.chart.is_some() => None,
            Op::Count => self.count(chosen)?,
            Op::Kinds | Op::Frequent { .. } => Some(self.kinds(chosen)?),
            Op::Lookup | Op::Times if chosen.by.is_empty() || chosen.rows.len() > MAX_ROWS => None,
            Op::Lookup | Op::Times => Some(self.cells(chosen)?),
        };
        let drawing = self.intent.chart.map(|kind| self.drawing(chosen, kind)).transpose()?.flatten();
        if query.is_none() && drawing.is_none() {
            return Ok(None);
        }
        let table = self.shape.table;
        let unit = table.columns.get(chosen.column).and_then(|column| column.unit.as_deref());
        Ok(Some(Interpretation { table, column: self.shape.name(chosen.column), unit, query, drawing }))
    }

    /// A figure of the values; `None` where there are none.
    fn figure(&self, chosen: &Selection, figure: Figure) -> Result<Option<Query<'t>>, Doubt> {
        let is_extreme = matches!(figure, Figure::Most | Figure::Least);
        let name = self.shape.name(chosen.column);
        let is_named = chosen.by.iter().any(|by| Some(*by) == self.shape.label);
        if chosen.rows.len() == 1 && is_named && (figure == Figure::Sum || is_extreme) {
            return if is_extreme { Err(Doubt::TooComplex) } else { self.cells(chosen).map(Some) };
        }
        // The greatest single row says nothing about groups, and sums of prices or ages mean nothing unless asked for.
        let (of_group, is_group_figure_named) = self.intent.of_group;
        let is_order = self.intent.most.is_some();
        let is_additive = is_of_kind(name, &ADDITIVE) && !is_of_kind(name, &["kind_price"]);
        if chosen.group.is_some() && is_order && !is_group_figure_named && !is_additive {
            return Err(Doubt::TooComplex);
        }
        // "Which area has the drink with the highest cost": the greatest row, not the greatest sum.
        let speaks_of_rows = self.shape.label.is_some_and(|label| Some(label) != chosen.group && self.mentions(label));
        if chosen.group.is_some() && is_order && speaks_of_rows {
            return Err(Doubt::TooComplex);
        }
        // Whether a limit is one of rows or of groups, nobody says.
        if chosen.group.is_some() && self.intent.bound.is_some() {
            return Err(Doubt::TooComplex);
        }
        let is_of_each = chosen.group.is_some_and(|group| self.is_of_each(group));
        if is_order && !is_group_figure_named && is_of_each {
            return Err(Doubt::TooComplex);
        }
        if !is_extreme && figure != Figure::Difference && is_order && chosen.group.is_none() {
            return Err(Doubt::TooComplex);
        }
        let values = self.values(chosen)?;
        if values == 0 {
            return Ok(None);
        }
        let query = |sql: String, form: Form<'t>| {
            let left_out = chosen.rows.len() - values + self.shape.table.skipped;
            Ok(Some(Query { sql, form, values, left_out }))
        };
        if figure == Figure::Difference {
            return query(self.difference(chosen, of_group)?, Form::Difference);
        }
        let of_each = chosen.group.map(|group| (group, of_group));
        if let (Some((group, figure)), false) = (of_each, is_order) {
            let form = Form::OfEach { figure, by: self.shape.name(group) };
            return query(self.entries(chosen, of_each)?.sql, form);
        }
        let most = self.intent.most.filter(|_| of_each.is_some()).unwrap_or(figure == Figure::Most);
        if let Some(rank) = self.intent.rank.filter(|_| of_each.is_none()) {
            let cells = chosen.rows.iter().map(|row| self.shape.cell(*row, chosen.column));
            let distinct: HashSet<String> =
                cells.filter(|cell| cell.is_number()).map(|cell| cell.text().into()).collect();
            if distinct.len() < rank {
                return Err(Doubt::NoRow);
            }
        }
        if of_each.is_some() || (is_extreme && self.shape.label.is_some()) {
            let form = match self.intent.top.filter(|_| self.intent.rank.is_none()) {
                Some(_) => Form::Top,
                None => Form::Extreme { most, rank: self.intent.rank, of: of_each.map(|(_, figure)| figure) },
            };
            return query(self.ordered(chosen, of_each, most)?, form);
        }
        if is_extreme && (self.intent.rank.is_some() || self.intent.top.is_some()) {
            return Err(Doubt::TooComplex);
        }
        query(self.of_all(chosen, figure)?, Form::Figure(figure))
    }

    /// How many of the chosen rows have a value.
    fn values(&self, chosen: &Selection) -> Result<usize, Doubt> {
        let cells = chosen.rows.iter().map(|row| self.shape.cell(*row, chosen.column));
        let values = cells.filter(|cell| !is_empty(cell)).count();
        let are_numbers = |column: usize| self.shape.table.is_number(column);
        let is_limited = self.intent.bound.is_some();
        if !are_numbers(chosen.column) || (is_limited && !are_numbers(chosen.limited)) {
            return Err(Doubt::UnitsDiffer);
        }
        Ok(values)
    }

    /// How many rows, or the value that `how many` asks for; `None` where the question may be about something else.
    fn count(&self, chosen: &Selection) -> Result<Option<Query<'t>>, Doubt> {
        let shape = self.shape;
        if self.intent.bound.is_some() {
            let repeats = shape.label.is_some_and(|label| shape.repeats(label));
            if repeats
                || chosen.group.is_some()
                || shape.texts().any(|column| Some(column) != shape.label && self.is_spare(column, chosen))
            {
                return Err(Doubt::TooComplex);
            }
            self.values(chosen)?;
            return self.rows(chosen, Some(self.sql_name(chosen.column))).map(Some);
        }
        let is_counted = |group: &usize| self.is_counted(*group);
        if let Some(group) = chosen.group.filter(|group| is_counted(group) || !chosen.is_column_named) {
            if self.is_of_each(group) {
                return self.occurrences(chosen, group, Form::Kinds).map(Some);
            }
            // "How many students passed" is no question of what there is in a column.
            if !self.is_counted(group) || shape.texts().any(|column| self.is_spare(column, chosen)) {
                return Err(Doubt::TooComplex);
            }
            let name = self.sql_name(group);
            let distinct = self.listing(&format!("DISTINCT {name}"), chosen, Some(group))?;
            let distinct_cells: HashSet<String> =
                chosen.rows.iter().map(|row| shape.cell(*row, group).text().to_ascii_lowercase()).collect();
            let sql = self.counted(&name, distinct_cells.len(), &format!(" FROM ({distinct})"));
            return Ok(Some(self.whole(chosen, sql, Form::Rows)));
        }
        let by_label = chosen.by.iter().all(|by| Some(*by) == shape.label);
        if !chosen.by.is_empty() && (chosen.is_column_named || by_label) {
            return match chosen.rows.len() {
                1 => self.cells(chosen).map(Some),
                _ => self.figure(chosen, Figure::Sum),
            };
        }
        let is_label_named = shape.label.is_some_and(|label| self.mentions(label));
        if chosen.by.is_empty() && chosen.is_column_named && !is_label_named {
            return self.figure(chosen, Figure::Sum);
        }
        if chosen.by.is_empty() && !shape.has_names() {
            return Ok(None);
        }
        if chosen.group.is_some() || shape.texts().any(|column| self.is_spare(column, chosen)) {
            return Err(Doubt::TooComplex);
        }
        let has_pieces = shape.numeric.iter().any(|column| is_of_kind(shape.name(*column), &["kind_quantity"]));
        if !chosen.by.is_empty() && has_pieces {
            // Rows, or the pieces in them?
            return Err(Doubt::TooComplex);
        }
        self.rows(chosen, None).map(Some)
    }

    /// How many rows there are with, where they are few, their labels and what stands in a column.
    fn rows(&self, chosen: &Selection, column: Option<String>) -> Result<Query<'t>, Doubt> {
        let from = self.from(chosen, None)?;
        let label = self.shape.label.map(|label| self.sql_name(label));
        let sql = match (label, column) {
            (None, _) => format!("SELECT count(*) AS count{from}"),
            (Some(label), None) => self.counted(&label, chosen.rows.len(), &from),
            (Some(label), Some(column)) => {
                self.counted(&format!("{label} || ' (' || {column} || ')'"), chosen.rows.len(), &from)
            }
        };
        Ok(self.whole(chosen, sql, Form::Rows))
    }

    /// A count with the names of what is counted, where it is at most [`MAX_ROWS`].
    fn counted(&self, name: &str, count: usize, from: &str) -> String {
        let comma = if Language::of(&self.question.raw) == Language::Chinese { "、" } else { ", " };
        match count {
            1..=MAX_ROWS => format!("SELECT count(*) AS count, group_concat({name}, '{comma}') AS names{from}"),
            _ => format!("SELECT count(*) AS count{from}"),
        }
    }

    /// How often each value of a text column occurs: the column that the question mentions, or the only one that repeats.
    fn kinds(&self, chosen: &Selection) -> Result<Query<'t>, Doubt> {
        let mentioned = self.shape.texts().find(|column| self.mentions(*column));
        let mut repeating = self.shape.texts().filter(|column| self.shape.repeats(*column));
        let only = repeating.next().filter(|_| repeating.next().is_none());
        let column = mentioned.or(only).ok_or(Doubt::TooComplex)?;
        if chosen.rows.is_empty() {
            return Err(Doubt::NoRow);
        }
        match self.intent.op {
            Op::Frequent { most } => self.occurrences(chosen, column, Form::Frequent { most }),
            _ => self.occurrences(chosen, column, Form::Kinds),
        }
    }

    fn occurrences(&self, chosen: &Selection, column: usize, form: Form<'t>) -> Result<Query<'t>, Doubt> {
        let name = self.sql_name(column);
        let each = self.listing(&format!("{name}, count(*) AS {TIMES}"), chosen, Some(column))?;
        let each = format!("{each} GROUP BY {name}");
        let sql = match form {
            Form::Frequent { most } => {
                let best = if most { "max" } else { "min" };
                format!(
                    "WITH {EACH} AS ({each}) SELECT * FROM {EACH} WHERE {TIMES} = (SELECT {best}({TIMES}) FROM {EACH})"
                )
            }
            _ => format!("{each} ORDER BY {TIMES} DESC"),
        };
        Ok(self.whole(chosen, sql, form))
    }

    /// The cells of the chosen rows in the columns that the question mentions, or in all.
    fn cells(&self, chosen: &Selection) -> Result<Query<'t>, Doubt> {
        let others = || (0..self.shape.table.columns.len()).filter(|column| Some(*column) != self.shape.label);
        let mut columns: Vec<usize> = others().filter(|column| self.mentions(*column)).collect();
        if columns.is_empty() && chosen.is_column_named {
            columns.push(chosen.column);
        }
        if columns.is_empty() {
            columns = others().collect();
        }
        let columns: Vec<usize> = self.shape.label.into_iter().chain(columns).collect();
        let listed: Vec<String> = columns.iter().map(|column| self.sql_name(*column)).collect();
        let sql = self.listing(&listed.join(", "), chosen, None)?;
        let is_labelled = self.shape.label.is_some();
        let asked = || columns.iter().skip(usize::from(is_labelled));
        let cells = chosen.rows.iter().flat_map(|row| asked().map(|column| self.shape.cell(*row, *column)));
        let values = cells.filter(|cell| !is_empty(cell)).count();
        let columns = columns.iter().filter_map(|column| self.shape.table.columns.get(*column)).collect();
        Ok(Query { values, ..self.whole(chosen, sql, Form::Cells { columns, is_labelled }) })
    }

    /// The values that are drawn; `None` where there are none.
    fn drawing(&self, chosen: &Selection, kind: &'static str) -> Result<Option<Drawing<'t>>, Doubt> {
        if self.intent.op == Op::Count && !chosen.is_column_named {
            // How many rows there are is no column to draw.
            return Err(Doubt::TooComplex);
        }
        let all = Selection { rows: self.shape.rows.clone(), by: Vec::new(), ..*chosen };
        let chosen = if chosen.by.is_empty() && chosen.rows.len() < 2 { &all } else { chosen };
        let values = self.values(chosen)?;
        if values == 0 {
            return Ok(None);
        }
        let of_each = chosen.group.map(|group| (group, self.intent.of_group.0));
        let by = chosen.group.or(self.shape.label).map_or("", |by| self.shape.name(by));
        let left_out = chosen.rows.len() - values + self.shape.table.skipped;
        let entries = self.entries(chosen, of_each)?;
        let (label, sql) = match (entries.labels.as_slice(), of_each) {
            ([only], Some(_)) => (only.as_str(), entries.sql),
            (labels, _) => {
                let label = match labels {
                    [] => "row_number() OVER ()".to_owned(),
                    several => {
                        let present = several.iter().map(|label| format!("coalesce({label}, '')"));
                        present.collect::<Vec<_>>().join(" || ', ' || ")
                    }
                };
                let from = self.from(chosen, Some(chosen.column))?;
                let [usual, other] = LABELS;
                let called = if entries.value == usual { other } else { usual };
                (called, format!("SELECT {label} AS {called}, {}{from}", entries.value))
            }
        };
        let kind = if kind == "bar" && values > MAX_BARS { "line" } else { kind };
        Ok(Some(Drawing {
            kind,
            sql,
            label_column: label.to_owned(),
            value_column: entries.value,
            by,
            of_each: of_each.map(|(_, figure)| figure),
            left_out,
        }))
    }

    fn whole(&self, chosen: &Selection, sql: String, form: Form<'t>) -> Query<'t> {
        Query { sql, form, values: chosen.rows.len(), left_out: 0 }
    }
}
