//! Why nothing is asked of a table: a word that nothing accounts for, several answers, a column that is not clear.

use std::collections::HashSet;
use std::ops::Range;

use super::intent::{Figure, Op, kinds};
use super::select::{Asking, Selection, is_of_kind};
use super::text::{Question, folded};
use crate::Cell;

/// Why a question is made into no query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Doubt {
    #[error("no row of the table matches all parts of the question")]
    NoRow,
    #[error("the table has no column of numbers of pieces, so what was sold cannot be counted")]
    NoPieces,
    /// A word of the question that is neither known nor in the table.
    #[error("“{0}” has no relation to the table that could be told")]
    UnknownWord(String),
    #[error("the question is more than can be calculated without a language model")]
    TooComplex,
    /// The names of the columns that may be meant.
    #[error("it is not clear which column is meant: {}", .0.join(", "))]
    WhichColumn(Vec<String>),
    /// The names of the tables that may be meant.
    #[error("it is not clear which table is meant: {}", .0.join(", "))]
    WhichTable(Vec<String>),
    #[error("the values are in different units, so they cannot be combined")]
    UnitsDiffer,
}

/// The rows whose cells are compared with the words of a question.
const MAX_ROWS: usize = 60;

impl Asking<'_, '_> {
    /// Why nothing is asked: a part of the question that plays no part in the query, or several answers.
    pub(super) fn doubt(&self, chosen: &Selection) -> Option<Doubt> {
        let shape = self.shape;
        let is_figure = matches!(self.intent.op, Op::Figure(_));
        let is_drawn = self.intent.chart.is_some();
        if matches!(self.intent.op, Op::Lookup | Op::Times) && chosen.by.is_empty() && !is_drawn {
            return None;
        }
        if chosen.rows.is_empty() && self.intent.bound.is_none() {
            return Some(Doubt::NoRow);
        }
        let is_sold = self.asks_for_pieces() && self.question.has("only_sold");
        if is_sold && !is_of_kind(shape.name(chosen.column), &["kind_quantity"]) {
            return Some(Doubt::NoPieces);
        }
        if let Some(word) = self.unknown_word(chosen) {
            return Some(Doubt::UnknownWord(word));
        }
        if self.limits_another_unit(chosen) {
            return Some(Doubt::UnitsDiffer);
        }
        if self.asks_twice(chosen)
            || self.names_several(chosen)
            || self.names_a_range(chosen)
            || self.is_in_two_columns(chosen)
        {
            return Some(Doubt::TooComplex);
        }
        let is_calculated = is_figure || self.intent.op == Op::Count;
        let named: Vec<&str> =
            shape.numeric.iter().filter(|it| self.mentions(**it)).map(|it| shape.name(*it)).collect();
        let longest = named.iter().max_by_key(|name| name.len()).map(|longest| Question::new(longest));
        let is_one = named.iter().all(|name| longest.as_ref().is_some_and(|longest| longest.mentions(name) == 1.0));
        // Of two columns one is the limit's, and which one is a guess.
        if is_figure && self.intent.bound.is_some() && !is_one {
            return Some(Doubt::TooComplex);
        }
        let names = || shape.numeric.iter().map(|column| shape.name(*column).to_owned()).collect();
        if self.intent.bound.is_some() && !chosen.is_limit_named && !chosen.is_column_named && shape.numeric.len() > 1 {
            return Some(Doubt::WhichColumn(names()));
        }
        if is_drawn && !is_one {
            return Some(Doubt::WhichColumn(names()));
        }
        if is_calculated && self.intent.bound.is_none() {
            let is_open = is_figure && named.is_empty() && !chosen.is_column_named && shape.numeric.len() > 1;
            if !is_one || is_open {
                return Some(Doubt::WhichColumn(names()));
            }
        }
        let is_complex = is_figure && shape.texts().any(|column| self.is_spare(column, chosen));
        is_complex.then_some(Doubt::TooComplex)
    }

    /// Whether the question mentions a column that plays no part in the selection.
    pub(super) fn is_spare(&self, column: usize, chosen: &Selection) -> bool {
        Some(column) != self.shape.label
            && Some(column) != chosen.group
            && !chosen.by.contains(&column)
            && self.mentions(column)
    }

    /// Whether two numbers are asked for: "how many lamps and how many chairs", "the highest and the lowest", "total and average".
    fn asks_twice(&self, chosen: &Selection) -> bool {
        let twice = |words: &&str| self.question.folded.matches(words).count() > 1;
        let name = Question::new(self.shape.name(chosen.column));
        let is_used = |range: &Range<usize>| {
            self.intent.used.iter().any(|used| used.start <= range.start && range.end <= used.end)
        };
        let says = |row: &&str| !name.has(row) && self.question.find(row).iter().any(|range| !is_used(range));
        let figures = ["sum", "mean", "median"].iter().filter(|row| says(row)).count();
        // "Самая низкая" is one order, though "самая" alone is another.
        let least = self.question.find("least");
        let is_apart = |range: &Range<usize>| !least.iter().any(|it| it.start <= range.start && range.end <= it.end);
        let says_most = says(&"most") && self.question.find("most").iter().any(is_apart);
        let orders = usize::from(says_most) + usize::from(says(&"least"));
        let is_range = self.intent.op == Op::Figure(Figure::Difference);
        // "The highest average" is one figure of groups.
        let is_figure = matches!(self.intent.op, Op::Figure(_));
        // "The sum of the highest of each" is no highest sum.
        let place = |rows: &[&str]| rows.iter().flat_map(|row| self.question.find(row)).map(|range| range.start).min();
        let is_within = place(&["sum", "mean", "median"]) < place(&["most", "least"]);
        let is_outer = is_within && figures > 0 && orders > 0 && !self.question.folded.contains(jarvis_plan::is_han);
        let several = is_outer
            || figures > 1
            || (orders > 1 && !is_range)
            || (figures > 0 && orders > 0 && chosen.group.is_none());
        ["how many", "how much", "сколько", "多少"].iter().any(twice) || (is_figure && several) || self.asks_on()
    }

    /// Whether two cells of a column are the ends of a range: "from January to March".
    fn names_a_range(&self, chosen: &Selection) -> bool {
        let differ = |by: &usize| {
            let mut cells = chosen.rows.iter().map(|row| self.shape.cell(*row, *by).text());
            let first = cells.next();
            cells.any(|cell| Some(cell) != first)
        };
        self.question.has("only_range") && chosen.by.iter().any(differ)
    }

    /// Whether a word of the question stands in cells of two columns, such as where flights begin and where they end.
    fn is_in_two_columns(&self, chosen: &Selection) -> bool {
        let cells = |by: &usize| -> HashSet<String> {
            chosen.rows.iter().map(|row| folded(&self.shape.cell(*row, *by).text())).collect()
        };
        let mut seen: HashSet<String> = HashSet::new();
        chosen.by.iter().any(|by| {
            let cells = cells(by);
            let is_double = cells.iter().any(|cell| seen.contains(cell));
            seen.extend(cells);
            is_double
        })
    }

    /// Whether another question follows in the same sentence: "… and who made it?".
    fn asks_on(&self) -> bool {
        let asking = self.question.find("only_asking");
        let follows = |and: &Range<usize>| {
            let is_next = |ask: &&Range<usize>| and.end <= ask.start;
            let next = asking.iter().filter(is_next).min_by_key(|ask| ask.start);
            let between = next.and_then(|next| self.question.folded.get(and.end..next.start));
            between.is_some_and(|between| between.trim().is_empty())
        };
        self.question.find("only_and").iter().any(follows)
    }

    /// Whether the number of a limit is of another unit than the values.
    fn limits_another_unit(&self, chosen: &Selection) -> bool {
        let unit = self.shape.table.columns.get(chosen.limited).and_then(|column| column.unit.as_deref());
        let sign = self.intent.bound.as_ref().and_then(|bound| bound.sign);
        sign.is_some_and(|sign| !unit.is_some_and(|unit| unit.contains(sign)))
    }

    /// Whether the greatest or least of several groups that the question names may mean one of each: "in Oslo and in Rome".
    fn names_several(&self, chosen: &Selection) -> bool {
        let is_extreme = matches!(self.intent.op, Op::Figure(Figure::Most | Figure::Least));
        let differ = |by: &usize| {
            let mut cells = chosen.rows.iter().map(|row| folded(&self.shape.cell(*row, *by).text()));
            let first = cells.next();
            cells.any(|cell| Some(cell) != first)
        };
        is_extreme && chosen.by.iter().filter(|by| Some(**by) != self.shape.label).any(differ)
    }

    /// A word of the question that is neither known nor a name of the table.
    pub(super) fn unknown_word(&self, chosen: &Selection) -> Option<String> {
        let shape = self.shape;
        let signs = ['$', '€', '£', '¥', '₽', '%'];
        let is_foreign = |sign: &char| self.question.folded.contains(*sign) && !self.is_in_table(*sign);
        if let Some(sign) = signs.iter().find(|sign| is_foreign(sign)) {
            return Some(sign.to_string());
        }
        let mut known = self.intent.used.clone();
        if chosen.group.is_some() {
            known.extend(self.question.find("only_grouped"));
        }
        if self.asks_for_pieces() && is_of_kind(shape.name(chosen.column), &["kind_quantity"]) {
            known.extend(self.question.find("only_sold"));
        }
        // A column of no known kind that the question mentions may be of any kind.
        let name = shape.name(chosen.column);
        let is_any =
            !shape.has_names() || (self.mentions(chosen.column) && kinds(&Question::new(name)).next().is_none());
        let headers: Vec<Question> = shape.names().map(Question::new).collect();
        let of_table: HashSet<&str> = headers.iter().flat_map(kinds).map(|(kind, _)| kind).collect();
        let (own, foreign): (Vec<_>, Vec<_>) =
            kinds(self.question).partition(|(kind, _)| is_any || of_table.contains(kind));
        known.extend(own.into_iter().map(|(_, range)| range));
        let rows = chosen.rows.iter().take(MAX_ROWS);
        let cells: Vec<_> = rows.flat_map(|row| chosen.by.iter().map(move |by| shape.cell(*row, *by).text())).collect();
        // The name of a table tells it from others; a word in the name of a column that plays no part says something else.
        let table = if self.is_one_of_several { shape.table.name.replace('_', " ") } else { String::new() };
        let is_told = |column: &usize| {
            let plays = [Some(chosen.column), Some(chosen.limited), chosen.group, shape.label].contains(&Some(*column));
            plays || chosen.by.contains(column) || self.mentions(*column)
        };
        let columns = (0..shape.table.columns.len()).filter(is_told).map(|column| shape.name(column));
        let names: Vec<&str> = columns.chain([table.as_str()]).chain(cells.iter().map(|cell| &**cell)).collect();
        // `oldest` asks for ages, whatever other columns there are.
        let is_extreme = matches!(self.intent.op, Op::Figure(Figure::Most | Figure::Least));
        let mut foreign = foreign.into_iter().map(|(_, range)| range).filter(|_| is_extreme);
        let is_within = |range: &Range<usize>| known.iter().any(|it| it.start <= range.start && range.end <= it.end);
        let is_name = |range: &Range<usize>| {
            names.iter().any(|it| Question::new(it).mentions(self.question.part(range.clone())) == 1.0)
        };
        let foreign = foreign.find(|range| !is_within(range) && !is_name(range));
        foreign.or_else(|| self.question.unknown(&known, &names)).map(|range| self.question.part(range).to_owned())
    }

    fn is_in_table(&self, sign: char) -> bool {
        let table = self.shape.table;
        let is_in_cell = |cell: &Cell| matches!(cell, Cell::Text(text) if text.contains(sign));
        let is_in_name = |column: &crate::Column| {
            column.label.contains(sign) || column.unit.as_ref().is_some_and(|unit| unit.contains(sign))
        };
        table.columns.iter().any(is_in_name) || table.rows.iter().flatten().any(is_in_cell)
    }
}
