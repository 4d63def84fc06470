//! What the agent does not work out: conditions it does not understand, and rows and columns that are not there. A plain
//! word is better than a wrong number.

use std::collections::HashSet;

use jarvis_tools::local::evaluate;

use super::Step;
use super::conditions::unknown;
use super::data::{Table, is_year};
use super::groups::{grouped, nth};
use super::matching::{Question, is_price, is_quantity};
use super::say::{Figure, rounded};
use super::tables::{Chosen, Entry, Said, mentioned};
use super::wish::Op;

/// The most rows that are shown with a refusal.
const SHOWN: usize = 4;

impl Step<'_> {
    /// Why a question is not answered from a table. Rows that it leaves out are taken out of the choice.
    pub(super) fn refused<'t, 'd>(&self, table: &'t Table<'d>, chosen: &mut Chosen<'t, 'd>) -> Option<String> {
        let wish = self.wish;
        let works = wish.chart.is_some() || !matches!(wish.op, Op::Words | Op::Times(_));
        if !works && !chosen.named {
            return None;
        }
        if let Some(name) = unknown(self.question, self.document) {
            return Some(self.say.no_such(name));
        }
        let years: Vec<&str> =
            self.question.raw.split(|c: char| !c.is_ascii_digit()).filter(|word| is_year(word)).collect();
        let dated = table.numeric.iter().filter(|column| is_year(table.name(**column))).count() > 1;
        let held = |year: &&&str| table.header.iter().any(|name| name.contains(**year));
        if dated
            && let Some(year) = years.iter().find(|year| !held(year))
            && wish.bound.is_none()
        {
            return Some(self.say.no_such(year));
        }
        if self.clashes(table) {
            return Some(self.say.no_row());
        }
        let conditions = wish.conditions;
        let compared = conditions.unclear && !matches!(wish.op, Op::Difference);
        let unsaid = dated && years.is_empty() && !chosen.column_said && works;
        if compared || unsaid || self.unbound(table, chosen) {
            return Some(self.beyond(table, chosen));
        }
        if wish.chart.is_none() {
            if let Some(word) = self.unheard(table, chosen) {
                let known = chosen.named || self.document.contains(&word);
                return Some(if known { self.beyond(table, chosen) } else { self.say.unheard(&word) });
            }
            if self.divided(table, chosen)
                || self.unmeasured(table, chosen)
                || self.counts_times(table, chosen)
                || self.several(table, chosen)
            {
                return Some(self.beyond(table, chosen));
            }
        }
        if conditions.negated {
            let whole = matches!(wish.op, Op::Words | Op::Difference | Op::Kinds | Op::Times(_) | Op::Frequent { .. });
            if !chosen.named || chosen.by.len() != 1 || whole || wish.bound.is_some() {
                return Some(self.beyond(table, chosen));
            }
            let out: HashSet<*const Vec<&str>> = chosen.rows.iter().map(|row| std::ptr::from_ref(*row)).collect();
            chosen.rows = table.rows.iter().filter(|row| !out.contains(&std::ptr::from_ref(*row))).collect();
        }
        None
    }

    /// Whether more than one thing is to be worked out: a number of the first few, or of one of several columns.
    fn several(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> bool {
        let wish = self.wish;
        let placed = wish.conditions.top.is_some() || wish.conditions.rank.is_some();
        let number = matches!(wish.op, Op::Sum | Op::Mean | Op::Median);
        let of_first = matches!(wish.op, Op::Extreme { .. }) && (wish.sum || wish.mean);
        let grouped = || self.group_column(table, chosen).is_some();
        // The price of all is a sum of products where there are numbers of things.
        let price = wish.op == Op::Sum && is_price(table.name(chosen.column)) && chosen.rows.len() > 1;
        let products = price && table.numeric.iter().any(|column| is_quantity(table.name(*column)));
        let number = number || wish.op == Op::Difference;
        let whichever = number && !chosen.column_said && table.numeric.len() > 1 && wish.bound.is_none();
        (placed && (number || wish.op == Op::Count || (of_first && !grouped()))) || whichever || products
    }

    /// Whether the question names cells of two columns that stand together in no row.
    fn clashes(&self, table: &Table<'_>) -> bool {
        let mut left: Option<HashSet<usize>> = None;
        for column in table.texts() {
            let found = mentioned(self.question, table, column);
            let whole = |row: &usize| {
                let cell = table.rows.get(*row).and_then(|row| row.get(column));
                cell.is_some_and(|cell| self.question.mentions(cell) == 1.0)
            };
            if found.is_empty() || !found.first().is_some_and(whole) {
                continue;
            }
            let found: HashSet<usize> = found.into_iter().collect();
            left = Some(match left {
                None => found,
                Some(left) => left.intersection(&found).copied().collect(),
            });
        }
        left.is_some_and(|left| left.is_empty())
    }

    /// Whether it cannot be told what a bound is for.
    fn unbound(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> bool {
        let Some(bound) = &self.wish.bound else { return false };
        if self.wish.scaled {
            return true;
        }
        let meant = |column: &&usize| Question::new(&bound.word).shares_kind(table.name(**column));
        let said = |column: &&usize| self.question.mentions(table.name(**column)) > 0.5;
        table.numeric.len() > 1
            && !table.numeric.iter().any(|column| meant(&column))
            && (!chosen.column_said || table.numeric.iter().filter(said).count() > 1)
    }

    /// The column that a bound is for: one that its own word speaks of, or the one asked about.
    pub(super) fn bounded(&self, table: &Table<'_>, column: usize) -> usize {
        let Some(bound) = &self.wish.bound else { return column };
        let word = Question::new(&bound.word);
        table.numeric.iter().copied().find(|column| word.shares_kind(table.name(*column))).unwrap_or(column)
    }

    /// A refusal with the rows that the question is about, where they are few.
    pub(super) fn beyond(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> String {
        if !chosen.named || chosen.rows.len() > SHOWN {
            return self.say.beyond("");
        }
        match self.looked_up(table, chosen) {
            Said::Text(rows) | Said::Nothing(rows) => self.say.beyond(&rows),
            Said::Act(_) => self.say.beyond(""),
        }
    }

    /// What stands at a place in the order, or the first few; `None` where neither is asked for.
    pub(super) fn ranked(&self, name: &str, entries: &[Entry<'_>], most: bool) -> Option<Said> {
        let conditions = self.wish.conditions;
        if conditions.rank.is_none() && conditions.top.is_none() {
            return None;
        }
        let mut ordered: Vec<&Entry<'_>> = entries.iter().collect();
        let size = |entry: &Entry<'_>| entry.amount.size;
        ordered.sort_by(|a, b| if most { size(b).total_cmp(&size(a)) } else { size(a).total_cmp(&size(b)) });
        let shown = |entry: &&Entry<'_>| (entry.label.to_string(), entry.cell.to_owned());
        if let Some(rank) = conditions.rank {
            let Some(at) = nth(&ordered, rank, size) else { return Some(Said::Nothing(self.say.no_row())) };
            let pairs: Vec<(String, String)> =
                ordered.iter().filter(|entry| size(entry) == size(at)).map(shown).collect();
            return Some(Said::Text(self.say.ranked(rank, most, name, &pairs)));
        }
        let pairs: Vec<(String, String)> = ordered.iter().take(conditions.top?).map(shown).collect();
        Some(Said::Text(self.say.pairs(&pairs)))
    }

    /// A difference that is not one between two rows: between groups of rows or columns, or none that can be told.
    pub(super) fn apart(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> Option<Said> {
        let refused = || Some(Said::Nothing(self.beyond(table, chosen)));
        let said: Vec<usize> =
            table.numeric.iter().copied().filter(|column| self.question.mentions(table.name(*column)) > 0.5).collect();
        if let ([one, other], [row]) = (said.as_slice(), chosen.rows.as_slice()) {
            let entry = |column: usize| self.entries(table, &[row], column).into_iter().next();
            let (Some(a), Some(b)) = (entry(*one), entry(*other)) else { return refused() };
            let result = evaluate(&format!("abs({} - ({}))", a.amount.plain, b.amount.plain)).ok()?;
            let (name, other) = (table.name(*one), table.name(*other));
            let shown = a.amount.with(&rounded(&result).0);
            let text = self.say.difference(table.label(row), (name, a.cell), (other, b.cell), &shown);
            return Some(Said::Text(text));
        }
        if said.len() > 1 {
            return refused();
        }
        let pair = table.texts().find(|column| self.names_two(table, *column));
        let by = match (chosen.named, chosen.by.as_slice(), pair) {
            (true, _, _) if chosen.rows.len() == 2 => {
                let known = self.entries(table, &chosen.rows, chosen.column).len() == 2;
                return if known { None } else { refused() };
            }
            _ if self.wish.conditions.range => return None,
            (false, _, None) => return if table.rows.len() == 2 { None } else { refused() },
            (false, _, Some(by)) => by,
            (true, [by], _) => *by,
            (true, _, _) => return refused(),
        };
        let figure = if self.wish.mean { Figure::Mean } else { Figure::Sum };
        let Ok(groups) = grouped(&chosen.rows, by, chosen.column, figure) else {
            return Some(Said::Nothing(self.say.units_differ()));
        };
        let [one, other] = groups.groups.as_slice() else { return refused() };
        let result = evaluate(&format!("abs({} - ({}))", one.1, other.1)).ok()?;
        let unit = self.entries(table, &chosen.rows, chosen.column).into_iter().next()?.amount;
        let name = self.say.figure_of(figure, table.name(chosen.column));
        let text = self.say.difference(&name, (&one.0, &one.2), (&other.0, &other.2), &unit.with(&rounded(&result).0));
        Some(Said::Text(format!("{text}{}", self.say.left_out(groups.left_out + table.odd))))
    }

    /// Whether the question names two of the values of a column, which are all that it has.
    fn names_two(&self, table: &Table<'_>, column: usize) -> bool {
        let cells = table.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.trim());
        let kinds: HashSet<&str> = cells.collect();
        kinds.len() == 2 && table.rows.len() > 2 && kinds.iter().all(|kind| self.question.mentions(kind) == 1.0)
    }
}
