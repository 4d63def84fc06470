//! The rows and the column of a table that a question speaks of.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::intent::{Op, kinds};
use super::shape::Shape;
use super::text::{Question, folded};
use super::{Intent, words};
use crate::Cell;

/// The share of a name's words from which a question is taken to mention it.
pub(super) const MENTIONED: f64 = 0.5;

/// Kinds of quantities whose sums mean something.
pub(super) const ADDITIVE: [&str; 6] =
    ["kind_revenue", "kind_quantity", "kind_expense", "kind_profit", "kind_visitors", "kind_staff"];

/// The most names that are compared with each other.
const MAX_COMPARED: usize = 50;

/// A question beside the table that it is asked of.
pub(super) struct Asking<'q, 't> {
    pub(super) question: &'q Question,
    pub(super) intent: &'q Intent,
    pub(super) shape: &'q Shape<'t>,
    /// Whether there are other tables.
    pub(super) is_one_of_several: bool,
}

pub(super) struct Selection {
    /// The rows that the question names by their cells and its limit, by their places.
    pub(super) rows: Vec<usize>,
    /// The text columns whose cells the question names; empty where all rows are meant.
    pub(super) by: Vec<usize>,
    pub(super) column: usize,
    /// Whether the question mentions the column, or the kind of quantity in it.
    pub(super) is_column_named: bool,
    /// The column that a limit is set for, and whether the words of the limit tell it: `older than`.
    pub(super) limited: usize,
    pub(super) is_limit_named: bool,
    /// The text column whose equal cells form groups.
    pub(super) group: Option<usize>,
}

pub(super) fn is_of_kind(name: &str, kinds: &[&str]) -> bool {
    let name = Question::new(name);
    kinds.iter().any(|kind| !name.find_all(words::row(kind)).is_empty())
}

impl Asking<'_, '_> {
    pub(super) fn select(&self) -> Selection {
        let shape = self.shape;
        // The word that asks for a count names no column.
        let is_order = |range: &std::ops::Range<usize>| self.question.part(range.clone()).starts_with("count");
        let mut asked: HashSet<&str> =
            kinds(self.question).filter(|(_, range)| !is_order(range)).map(|(kind, _)| kind).collect();
        // "How many were sold" asks for pieces, and a column of money is no number of them.
        let pieces = self.asks_for_pieces();
        if pieces {
            asked.remove("kind_revenue");
        }
        let kind_of = |column: usize| kinds(&Question::new(shape.name(column))).any(|(kind, _)| asked.contains(kind));
        // "How many did they order?" speaks of no column `order`.
        let counts = self.intent.op == Op::Count;
        let is_verb = |name: &str| counts && words::is_in("stop", &folded(name));
        let mentions = |name: &str| if is_verb(name) { 0.0 } else { self.question.mentions(name) };
        // Of "units" and "units returned" the longer one is meant where all of it is said.
        let length = |name: &str| name.split_whitespace().count() as f64;
        let whole = |name: &str| if mentions(name) == 1.0 { length(name) / 100.0 } else { 0.0 };
        let fit = |column: usize| {
            let name = shape.name(column);
            mentions(name) + whole(name) + if kind_of(column) { 0.6 } else { 0.0 }
        };
        let mut columns = shape.numeric.clone();
        columns.sort_by(|a, b| fit(*b).total_cmp(&fit(*a)));
        let mut column = *columns.first().expect("a shape has a column of amounts");
        let mut is_column_named = fit(column) > MENTIONED - f64::EPSILON;
        // `How many chairs` asks for their number rather than for their price.
        let quantity = columns.iter().copied().find(|column| is_of_kind(shape.name(*column), &["kind_quantity"]));
        let mut by = Vec::new();
        let mut rows: Option<HashSet<usize>> = None;
        for texts in shape.texts() {
            let found = self.rows_named(texts);
            if found.is_empty() {
                continue;
            }
            by.push(texts);
            rows = Some(match rows {
                None => found,
                Some(rows) => rows.intersection(&found).copied().collect(),
            });
        }
        let is_sold = pieces && self.question.has("only_sold");
        let is_count = counts || is_sold;
        if let (true, false, Some(quantity)) = (is_count, is_column_named, quantity) {
            column = quantity;
            is_column_named = is_sold || by.iter().any(|by| Some(*by) == shape.label);
        }
        let is_chosen = |at: &usize| rows.as_ref().is_none_or(|rows| rows.contains(at));
        let mut rows: Vec<usize> = shape.rows.iter().copied().filter(is_chosen).collect();
        let limited = self.intent.bound.as_ref().and_then(|bound| {
            let words = Question::new(&bound.words);
            let own: HashSet<&str> = kinds(&words).map(|(kind, _)| kind).collect();
            let shares =
                |column: &&usize| kinds(&Question::new(shape.name(**column))).any(|(kind, _)| own.contains(kind));
            shape.numeric.iter().find(shares).copied()
        });
        let is_limit_named = limited.is_some();
        let limited = limited.unwrap_or(column);
        if let Some(bound) = &self.intent.bound {
            rows.retain(|row| match shape.cell(*row, limited) {
                Cell::Integer(number) => bound.holds(*number as f64),
                Cell::Real(number) => bound.holds(*number),
                Cell::Empty | Cell::Text(_) => false,
            });
        }
        let is_group = |column: &usize| {
            self.question.mentions(shape.name(*column)) > MENTIONED && !by.contains(column) && shape.repeats(*column)
        };
        let group = shape.texts().filter(is_group).min_by_key(|column| self.question.place(shape.name(*column)));
        Selection { rows, by, column, is_column_named, limited, is_limit_named, group }
    }

    /// The rows that the question names by cells of a column: those of which it has the largest share of words.
    fn rows_named(&self, column: usize) -> HashSet<usize> {
        let is_header = |cell: &str| self.shape.names().any(|name| folded(name) == folded(cell));
        let mut known: HashMap<Cow<'_, str>, f64> = HashMap::new();
        let mut score = |row: usize| {
            let cell = self.shape.cell(row, column).text();
            *known.entry(cell).or_insert_with_key(|cell| {
                if is_header(cell) || self.is_limit(cell) { 0.0 } else { self.question.mentions(cell) }
            })
        };
        let scores: Vec<(usize, f64)> = self.shape.rows.iter().map(|row| (*row, score(*row))).collect();
        let best = scores.iter().map(|(_, score)| *score).fold(0.0, f64::max);
        // A cell that all rows share names none of them.
        if best < MENTIONED || (known.len() == 1 && scores.len() > 1) {
            return HashSet::new();
        }
        let named: Vec<usize> = scores.into_iter().filter(|(_, score)| *score == best).map(|(row, _)| row).collect();
        let cells: HashSet<String> = named.iter().map(|row| folded(&self.shape.cell(*row, column).text())).collect();
        // "Green Tea" means no row of "Tea".
        let is_part = |cell: &str| {
            let mut others = cells.iter().filter(|other| other.len() > cell.len());
            others.any(|other| Question::new(other).mentions(cell) == 1.0)
        };
        let parts: HashSet<&String> = match cells.len() {
            2..=MAX_COMPARED if best == 1.0 => cells.iter().filter(|cell| is_part(cell)).collect(),
            _ => HashSet::new(),
        };
        let is_meant = |row: &usize| !parts.contains(&folded(&self.shape.cell(*row, column).text()));
        named.into_iter().filter(is_meant).collect()
    }

    /// Whether the question counts what a column names: "how many regions", "有几个地区".
    pub(super) fn is_counted(&self, column: usize) -> bool {
        let at = self.question.place(self.shape.name(column));
        let Some(before) = self.question.folded.get(..at) else { return false };
        let before = before.trim_end_matches([' ', '的', '不', '同']);
        let counts = ["count", "kinds"].iter().flat_map(|row| self.question.find(row));
        let is_right_before = |range: &std::ops::Range<usize>| {
            let between = before.get(range.end..).map(str::trim);
            range.end >= before.len()
                || between.is_some_and(|words| ["", "different", "distinct", "unique", "the", "of"].contains(&words))
        };
        counts.into_iter().any(|range| is_right_before(&range))
            || self.question.folded.get(at..).is_some_and(|rest| {
                // "地区有几个" counts what stands before.
                rest.chars().next().is_some_and(jarvis_plan::is_han) && self.question.has("count")
            })
    }

    /// Whether a cell is a number that the question uses otherwise: the 3 of "top 3".
    fn is_limit(&self, cell: &str) -> bool {
        let cell = cell.trim();
        let is_number = !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
        let is_used = |at: usize| self.intent.used.iter().any(|used| used.contains(&at));
        is_number && self.question.folded.match_indices(cell).all(|(at, _)| is_used(at))
    }

    /// Whether the question is how many things there are, of which sales are one: "how many were sold", "the fewest".
    pub(super) fn asks_for_pieces(&self) -> bool {
        self.question.has("only_pieces") && !self.question.has("only_money")
    }

    pub(super) fn mentions(&self, column: usize) -> bool {
        self.question.mentions(self.shape.name(column)) > MENTIONED
    }

    /// Whether the question wants something of each group: "per city", "by city".
    pub(super) fn is_of_each(&self, group: usize) -> bool {
        let at = self.question.place(self.shape.name(group));
        let before = self.question.folded.get(..at).unwrap_or_default().trim_end();
        let by = [" by", " по", "按"].iter().any(|word| before.ends_with(word));
        by || self.question.has("only_grouped")
    }
}
