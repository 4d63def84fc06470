//! Why nothing is calculated of a table: a word that nothing accounts for, several answers, a column that is not clear.

use std::collections::HashSet;
use std::ops::Range;

use super::super::data::Table;
use super::super::intent::{Figure, Op, kinds};
use super::super::question::{Question, folded};
use super::super::{Move, Step};
use super::{MAX_ROWS, MENTIONED, Selection, is_of_kind};

impl Step<'_> {
    /// Whether a cell is a number that the question uses otherwise: the 3 of "top 3".
    pub(super) fn is_limit(&self, cell: &str) -> bool {
        let cell = cell.trim();
        let is_number = !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit());
        let is_used = |at: usize| self.intent.used.iter().any(|used| used.contains(&at));
        is_number && self.question.folded.match_indices(cell).all(|(at, _)| is_used(at))
    }

    /// Why nothing is calculated: a part of the question that plays no part in the answer, or several answers.
    pub(super) fn refusal(&self, table: &Table, chosen: &Selection<'_>) -> Option<Move> {
        let is_figure = matches!(self.intent.op, Op::Figure(_));
        let is_drawn = self.intent.chart.is_some();
        if matches!(self.intent.op, Op::Lookup | Op::Times) && chosen.by.is_empty() && !is_drawn {
            return None;
        }
        if chosen.rows.is_empty() && self.intent.bound.is_none() {
            return Some(self.refuse("no_row", &[]));
        }
        let is_sold = self.asks_for_pieces() && self.question.has("only_sold");
        if is_sold && !is_of_kind(table.name(chosen.column), &["kind_quantity"]) {
            return Some(self.refuse("no_pieces", &[]));
        }
        if let Some(word) = self.unknown_word(table, chosen) {
            return Some(self.refuse("unknown_word", &[&word]));
        }
        if self.asks_twice() || self.names_several(table, chosen) {
            return Some(self.refuse("too_complex", &[]));
        }
        let mentions = |column: &usize| self.question.mentions(table.name(*column)) > MENTIONED;
        let is_spare = |column: &usize| {
            Some(*column) != table.label
                && Some(*column) != chosen.group
                && !chosen.by.contains(column)
                && mentions(column)
        };
        let is_calculated = is_figure || self.intent.op == Op::Count;
        // Of two columns one is the limit's, and which one is a guess.
        if is_figure && self.intent.bound.is_some() {
            let named: Vec<&str> = table.numeric.iter().filter(|it| mentions(it)).map(|it| table.name(*it)).collect();
            let longest = named.iter().max_by_key(|name| name.len());
            if !named.iter().all(|name| longest.is_some_and(|longest| Question::new(longest).mentions(name) == 1.0)) {
                return Some(self.refuse("too_complex", &[]));
            }
        }
        if is_calculated && self.intent.bound.is_none() {
            let named: Vec<&str> = table.numeric.iter().filter(|it| mentions(it)).map(|it| table.name(*it)).collect();
            let longest = named.iter().max_by_key(|name| name.len());
            let covers = |name: &&str| longest.is_some_and(|longest| Question::new(longest).mentions(name) == 1.0);
            if !named.iter().all(covers)
                || (is_figure && named.is_empty() && !chosen.is_column_named && table.numeric.len() > 1)
            {
                let names: Vec<&str> = table.numeric.iter().map(|column| table.name(*column)).collect();
                return Some(self.refuse("which_column", &[&self.names(&names)]));
            }
        }
        let is_complex = is_figure && table.texts().any(|column| is_spare(&column));
        is_complex.then(|| self.refuse("too_complex", &[]))
    }

    /// Whether two numbers are asked for: "how many lamps and how many chairs".
    fn asks_twice(&self) -> bool {
        ["how many", "how much", "сколько", "多少"].iter().any(|words| self.question.folded.matches(words).count() > 1)
    }

    /// Whether the greatest or least of several groups that the question names may mean one of each: "in Oslo and in Rome".
    fn names_several(&self, table: &Table, chosen: &Selection<'_>) -> bool {
        let is_extreme = matches!(self.intent.op, Op::Figure(Figure::Most | Figure::Least));
        let differ = |by: &usize| {
            let mut cells = chosen.rows.iter().filter_map(|row| row.get(*by)).map(|cell| folded(cell.trim()));
            let first = cells.next();
            cells.any(|cell| Some(cell) != first)
        };
        is_extreme && chosen.by.iter().filter(|by| Some(**by) != table.label).any(differ)
    }

    /// Whether the question wants something of each group: "per city", "by city".
    pub(super) fn is_of_each(&self, table: &Table, group: usize) -> bool {
        let at = self.question.place(table.name(group));
        let before = self.question.folded.get(..at).unwrap_or_default().trim_end();
        let by = [" by", " по", "按"].iter().any(|word| before.ends_with(word));
        by || self.question.has("only_grouped")
    }

    /// Whether the question is how many things there are, of which sales are one: "how many were sold", "the fewest".
    pub(super) fn asks_for_pieces(&self) -> bool {
        self.question.has("only_pieces") && !self.question.has("only_money")
    }

    /// A word of the question that is neither known nor a name of the table.
    pub(super) fn unknown_word(&self, table: &Table, chosen: &Selection<'_>) -> Option<String> {
        let signs = ['$', '€', '£', '¥', '₽', '%'];
        let is_foreign = |sign: &char| self.question.folded.contains(*sign) && !self.document.contains(*sign);
        if let Some(sign) = signs.iter().find(|sign| is_foreign(sign)) {
            return Some(sign.to_string());
        }
        let mut known = self.intent.used.clone();
        if chosen.group.is_some() {
            known.extend(self.question.find("only_grouped"));
        }
        if self.asks_for_pieces() && is_of_kind(table.name(chosen.column), &["kind_quantity"]) {
            known.extend(self.question.find("only_sold"));
        }
        // A column of no known kind that the question mentions may be of any kind.
        let name = table.name(chosen.column);
        let is_any = !table.has_names()
            || (self.question.mentions(name) > MENTIONED && kinds(&Question::new(name)).next().is_none());
        let headers: Vec<Question> = table.header.iter().map(|name| Question::new(name)).collect();
        let of_table: HashSet<&str> = headers.iter().flat_map(kinds).map(|(kind, _)| kind).collect();
        let (own, foreign): (Vec<_>, Vec<_>) =
            kinds(self.question).partition(|(kind, _)| is_any || of_table.contains(kind));
        known.extend(own.into_iter().map(|(_, range)| range));
        let cells =
            chosen.rows.iter().take(MAX_ROWS * 5).flat_map(|row| chosen.by.iter().filter_map(|by| row.get(*by)));
        let names: Vec<&str> = table.header.iter().chain(cells).map(String::as_str).collect();
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
}
