//! Rows put together by what a column says of them: sums of groups, the greatest of them, and how many there are.

use indexmap::{IndexMap, IndexSet};
use jarvis_tools::local::evaluate;
use serde_json::json;

use super::Step;
use super::amount::Amount;
use super::data::{Table, is_missing};
use super::matching::is_additive;
use super::say::{Figure, rounded};
use super::tables::{Chosen, Said, WRITTEN};
use super::wish::Op;

/// A group of rows with its figure in plain digits, and as it is shown.
pub(super) type Group = (String, String, String);

/// The figures of groups.
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    /// How many rows have no value.
    pub(super) left_out: usize,
}

impl Step<'_> {
    /// The column that parts the rows into groups: one that the question speaks of, and that says one thing of several
    /// rows.
    pub(super) fn group_column(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> Option<usize> {
        let asked = |column: &usize| {
            let name = table.name(*column);
            self.question.mentions(name) > 0.5 && !chosen.by.contains(column) && repeats(table, *column)
        };
        table.texts().filter(asked).min_by_key(|column| self.question.place(table.name(*column)))
    }

    /// The answer from groups of rows, where the question asks for one.
    pub(super) fn of_groups(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> Option<Said> {
        if self.wish.chart.is_some() {
            return None;
        }
        let column = self.group_column(table, chosen)?;
        let name = table.name(chosen.column);
        let figure = if self.wish.mean { Figure::Mean } else { Figure::Sum };
        match self.wish.op {
            Op::Count if self.wish.bound.is_none() && !chosen.column_said => {
                let first = table.texts().filter(|other| self.question.mentions(table.name(*other)) > 0.5);
                let first = first.min_by_key(|other| self.question.place(table.name(*other)))?;
                (first == column).then(|| self.distinct(chosen, column)).flatten()
            }
            Op::Extreme { .. } | Op::Sum | Op::Mean => {
                let extreme = self.wish.most;
                // Sums of prices, ages and temperatures say nothing, unless they are asked for.
                let asked = self.wish.mean || self.wish.sum || is_additive(name);
                if !asked || (extreme.is_none() && !self.wish.grouped) {
                    return None;
                }
                let Ok(groups) = grouped(&chosen.rows, column, chosen.column, figure) else {
                    return Some(Said::Nothing(self.say.units_differ()));
                };
                let left_out = self.say.left_out(groups.left_out + table.odd);
                let by = table.name(column);
                let Some(most) = extreme else {
                    let pairs: Vec<(String, String)> =
                        groups.groups.into_iter().map(|(label, _, shown)| (label, shown)).collect();
                    let said = self.say.of_each(figure, name, by, &self.say.pairs(&pairs));
                    return Some(Said::Text(format!("{said}{left_out}")));
                };
                self.best(&groups.groups, most, figure, name, by).map(|said| match said {
                    Said::Text(text) => Said::Text(format!("{text}{left_out}")),
                    said => said,
                })
            }
            Op::Kinds | Op::Times(_) | Op::Frequent { .. } | Op::Count | Op::Median | Op::Difference | Op::Words => {
                None
            }
        }
    }

    fn best(&self, groups: &[Group], most: bool, figure: Figure, name: &str, by: &str) -> Option<Said> {
        let function = if most { "max" } else { "min" };
        let size = |group: &Group| group.1.parse::<f64>().unwrap_or_default();
        let mut ordered: Vec<&Group> = groups.iter().collect();
        ordered.sort_by(|a, b| if most { size(b).total_cmp(&size(a)) } else { size(a).total_cmp(&size(b)) });
        if let Some(rank) = self.wish.conditions.rank {
            let group = nth(&ordered, rank, |group| size(group))?;
            return Some(Said::Text(self.say.ranked(rank, most, name, &[(group.0.clone(), group.2.clone())])));
        }
        if let Some(top) = self.wish.conditions.top {
            let pairs = ordered.iter().take(top).map(|group| (group.0.clone(), group.2.clone())).collect::<Vec<_>>();
            return Some(Said::Text(self.say.of_each(figure, name, by, &self.say.pairs(&pairs))));
        }
        let values: Vec<&str> = groups.iter().take(WRITTEN).map(|group| group.1.as_str()).collect();
        let Some(observed) = self.observed("calculator") else {
            let input = json!({"expression": format!("{function}({})", values.join(", "))});
            return Some(Said::Act(self.act("calculator", self.say.will_calculate(figure, name), input)));
        };
        if groups.len() > WRITTEN || observed.trim().parse::<f64>().is_err() {
            return Some(Said::Nothing(self.say.failed(observed)));
        }
        let first = ordered.first()?;
        let best: Vec<&str> =
            ordered.iter().filter(|group| size(group) == size(first)).map(|group| group.0.as_str()).collect();
        Some(Said::Text(self.say.best_group(most, figure, (name, by), &best, &first.2)))
    }

    /// How many different values a column has.
    fn distinct(&self, chosen: &Chosen<'_, '_>, column: usize) -> Option<Said> {
        let cells = chosen.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.trim());
        let names: IndexSet<&str> = cells.filter(|cell| !is_missing(cell)).collect();
        let shown: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        self.count_of(&names.iter().copied().collect::<Vec<_>>(), &shown)
    }
}

/// The first of a place in an order; equal ones share a place.
pub(super) fn nth<'t, T>(ordered: &[&'t T], rank: usize, size: impl Fn(&T) -> f64) -> Option<&'t T> {
    let mut places: Vec<&T> = Vec::new();
    for one in ordered {
        if places.last().is_none_or(|last| size(last) != size(one)) {
            places.push(one);
        }
    }
    places.get(rank.checked_sub(1)?).copied()
}

/// Whether a column says the same of several rows.
pub(super) fn repeats(table: &Table<'_>, column: usize) -> bool {
    let mut seen = IndexSet::new();
    table.rows.iter().filter_map(|row| row.get(column)).any(|cell| !seen.insert(cell.trim()))
}

/// The sum, or the mean, of each group of rows, in the order of their first rows. An error means that units differ.
pub(super) fn grouped(rows: &[&Vec<&str>], group: usize, column: usize, figure: Figure) -> Result<Groups, ()> {
    let mut groups: IndexMap<&str, Vec<Amount>> = IndexMap::new();
    let mut left_out = 0;
    let mut first: Option<Amount> = None;
    for row in rows {
        let name = row.get(group).copied().unwrap_or_default().trim();
        let Some(amount) = row.get(column).and_then(|cell| Amount::read(cell)) else {
            left_out += 1;
            continue;
        };
        if first.as_ref().is_some_and(|first| !first.agrees(&amount)) {
            return Err(());
        }
        first.get_or_insert_with(|| amount.clone());
        groups.entry(name).or_default().push(amount);
    }
    let summed = groups.into_iter().map(|(name, amounts)| {
        let count = amounts.len();
        let mut values: Vec<String> = amounts.iter().map(|amount| amount.plain.clone()).collect();
        while values.len() > 1 {
            values = values
                .chunks(WRITTEN)
                .map(|chunk| evaluate(&format!("sum({})", chunk.join(", "))).ok())
                .collect::<Option<_>>()?;
        }
        let mut sum = values.pop()?;
        if figure == Figure::Mean {
            sum = evaluate(&format!("({sum}) / {count}")).ok()?;
        }
        let (digits, _) = rounded(&sum);
        let shown = amounts.first()?.with(&digits);
        Some((name.to_owned(), sum, shown))
    });
    Ok(Groups { groups: summed.collect::<Option<_>>().ok_or(())?, left_out })
}
