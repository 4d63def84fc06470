//! Selections written as SQL.

use std::collections::HashSet;

use super::doubts::Doubt;
use super::intent::Figure;
use super::select::{Asking, Selection};
use super::shape::is_empty;
use crate::Cell;

/// The most cells that a condition names.
const MAX_NAMED: usize = 200;

impl Asking<'_, '_> {
    /// A column's name in SQL.
    pub(super) fn sql_name(&self, column: usize) -> String {
        self.shape.table.columns.get(column).map_or_else(String::new, |column| column.name.clone())
    }

    pub(super) fn listing(&self, what: &str, chosen: &Selection, present: Option<usize>) -> Result<String, Doubt> {
        Ok(format!("SELECT {what}{}", self.from(chosen, present)?))
    }

    /// The table and the conditions by which the chosen rows are found; `present` must have a value in them.
    pub(super) fn from(&self, chosen: &Selection, present: Option<usize>) -> Result<String, Doubt> {
        let mut conditions = Vec::new();
        for by in &chosen.by {
            let mut cells: Vec<String> = chosen.rows.iter().map(|row| literal(self.shape.cell(*row, *by))).collect();
            let mut seen = HashSet::new();
            cells.retain(|cell| seen.insert(cell.clone()));
            let name = self.sql_name(*by);
            conditions.push(match cells.as_slice() {
                [] => return Err(Doubt::NoRow),
                [only] => format!("{name} = {only}"),
                several if several.len() <= MAX_NAMED => format!("{name} IN ({})", several.join(", ")),
                _ => return Err(Doubt::TooComplex),
            });
        }
        if let Some(bound) = &self.intent.bound {
            let sign = if bound.is_above { ">" } else { "<" };
            let equal = if bound.is_inclusive { "=" } else { "" };
            conditions.push(format!("{} {sign}{equal} {}", self.sql_name(chosen.limited), bound.number));
        }
        if let (Some(label), false) = (self.shape.label, self.shape.totals.is_empty()) {
            let totals: Vec<String> = self.shape.totals.iter().map(|total| text_literal(total)).collect();
            let name = self.sql_name(label);
            conditions.push(format!("({name} IS NULL OR {name} NOT IN ({}))", totals.join(", ")));
        }
        if let Some(present) = present {
            conditions.push(format!("{} IS NOT NULL", self.sql_name(present)));
        }
        let filter = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
        Ok(format!(" FROM {}{filter}", self.shape.table.name))
    }

    /// A figure of all chosen values.
    pub(super) fn of_all(&self, chosen: &Selection, figure: Figure) -> Result<String, Doubt> {
        let column = self.sql_name(chosen.column);
        let alias = alias(figure, &column);
        if figure == Figure::Median {
            let middle = self.middle(chosen, None)?;
            return Ok(format!("SELECT avg({column}) AS {alias} FROM ({middle}) WHERE {MIDDLE}"));
        }
        self.listing(&format!("{}({column}) AS {alias}", function(figure)), chosen, None)
    }

    /// Every value with its place in order, counted within its group.
    pub(super) fn middle(&self, chosen: &Selection, group: Option<&str>) -> Result<String, Doubt> {
        let column = self.sql_name(chosen.column);
        let (first, by) =
            group.map_or_else(<_>::default, |group| (format!("{group}, "), format!("PARTITION BY {group}")));
        let gap = if by.is_empty() { "" } else { " " };
        let what = format!(
            "{first}{column}, row_number() OVER ({by}{gap}ORDER BY {column}) AS {PLACE}, count(*) OVER ({by}) AS {TIMES}"
        );
        self.listing(&what, chosen, Some(chosen.column))
    }

    /// Labels and values: of each group its figure, or of each chosen row its value.
    pub(super) fn entries(&self, chosen: &Selection, of_each: Option<(usize, Figure)>) -> Result<Entries, Doubt> {
        let column = self.sql_name(chosen.column);
        if let Some((group, figure)) = of_each {
            let (label, alias) = (self.sql_name(group), alias(figure, &column));
            let sql = if figure == Figure::Median {
                let middle = self.middle(chosen, Some(&label))?;
                format!("SELECT {label}, avg({column}) AS {alias} FROM ({middle}) WHERE {MIDDLE} GROUP BY {label}")
            } else {
                let what = format!("{label}, {}({column}) AS {alias}", function(figure));
                let each = self.listing(&what, chosen, Some(chosen.column))?;
                format!("{each} GROUP BY {label} ORDER BY min(rowid)")
            };
            return Ok(Entries { sql, labels: vec![label], value: alias });
        }
        // Where the label repeats, other texts tell its rows apart.
        let others: Vec<usize> = match self.shape.label {
            Some(label) if chosen.rows.len() > 1 && self.shape.repeats(label) => {
                self.shape.texts().skip(1).take(2).collect()
            }
            Some(_) | None => Vec::new(),
        };
        let labels = self.shape.label.into_iter().chain(others);
        let labels: Vec<String> = labels.map(|label| self.sql_name(label)).collect();
        let what = [labels.as_slice(), std::slice::from_ref(&column)].concat().join(", ");
        let sql = self.listing(&what, chosen, Some(chosen.column))?;
        Ok(Entries { sql, labels, value: column })
    }

    /// The entries at one end of their order: the first `top`, or those at a place in it.
    pub(super) fn ordered(
        &self,
        chosen: &Selection,
        of_each: Option<(usize, Figure)>,
        most: bool,
    ) -> Result<String, Doubt> {
        let Entries { sql, value, .. } = self.entries(chosen, of_each)?;
        let order = if most { " DESC" } else { "" };
        let from = match of_each {
            Some(_) => format!(" FROM {EACH}"),
            None => self.from(chosen, Some(chosen.column))?,
        };
        let end = match (self.intent.rank, self.intent.top) {
            (Some(rank), _) => {
                let before = rank.saturating_sub(1);
                format!("= (SELECT DISTINCT {value}{from} ORDER BY {value}{order} LIMIT 1 OFFSET {before})")
            }
            (None, Some(top)) => {
                return Ok(match of_each {
                    Some(_) => format!("WITH {EACH} AS ({sql}) SELECT *{from} ORDER BY {value}{order} LIMIT {top}"),
                    None => format!("{sql} ORDER BY {value}{order} LIMIT {top}"),
                });
            }
            (None, None) => format!("= (SELECT {}({value}){from})", if most { "max" } else { "min" }),
        };
        Ok(match of_each {
            Some(_) => format!("WITH {EACH} AS ({sql}) SELECT *{from} WHERE {value} {end}"),
            None => format!("{sql} AND {value} {end}"),
        })
    }

    /// What lies between two named things in the order of the question, or between the highest and the lowest value.
    pub(super) fn difference(&self, chosen: &Selection, of_group: Figure) -> Result<String, Doubt> {
        let by = match chosen.by.as_slice() {
            [by] if chosen.rows.len() > 2 => Some(*by),
            _ => chosen.group,
        };
        let Entries { sql, labels, value } = self.entries(chosen, by.map(|by| (by, of_group)))?;
        let label_column = by.or(self.shape.label);
        let mut entries: Vec<&Cell> = Vec::new();
        for row in &chosen.rows {
            let cell = label_column.map_or(&Cell::Empty, |label| self.shape.cell(*row, label));
            if !is_empty(self.shape.cell(*row, chosen.column)) && (by.is_none() || !entries.contains(&cell)) {
                entries.push(cell);
            }
            // More than two are no pair, however many they are.
            if entries.len() > 2 {
                break;
            }
        }
        let is_range = self.question.has("most") && self.question.has("least");
        let named = |of: &str| match labels.is_empty() {
            true => "''".to_owned(),
            false => labels.iter().map(|label| format!("{of}.{label}")).collect::<Vec<_>>().join(" || ', ' || "),
        };
        let end = match entries.as_mut_slice() {
            [one, other] if !is_range && !chosen.by.is_empty() => {
                if one == other || labels.len() != 1 {
                    return Err(Doubt::TooComplex);
                }
                let mut pair = [*one, *other];
                pair.sort_by_key(|cell| self.question.place(&cell.text()));
                let [one, other] = pair.map(literal);
                format!("WHERE one.{0} = {one} AND other.{0} = {other}", labels.concat())
            }
            entries if is_range || entries.len() == 2 => {
                let end =
                    |of: &str, order: &str| format!("(SELECT * FROM {EACH} ORDER BY {value}{order} LIMIT 1) AS {of}");
                return Ok(format!(
                    "WITH {EACH} AS ({sql}) {} FROM {}, {}",
                    between(&named, &value),
                    end("one", " DESC"),
                    end("other", "")
                ));
            }
            _ => return Err(Doubt::TooComplex),
        };
        Ok(format!("WITH {EACH} AS ({sql}) {} FROM {EACH} AS one, {EACH} AS other {end}", between(&named, &value)))
    }
}

/// Two entries and what lies between their values.
fn between(named: &impl Fn(&str) -> String, value: &str) -> String {
    format!(
        "SELECT {} AS one, one.{value} AS of_one, {} AS other, other.{value} AS of_other, \
         abs(one.{value} - other.{value}) AS difference",
        named("one"),
        named("other")
    )
}

/// A relation of labels and a value, and how its columns are called.
pub(super) struct Entries {
    pub(super) sql: String,
    pub(super) labels: Vec<String>,
    pub(super) value: String,
}

/// The middle value, or the two of them.
const MIDDLE: &str = r##""#place" IN (("#" + 1) / 2, ("#" + 2) / 2)"##;

/// Names that no column and no table has.
pub(super) const TIMES: &str = r##""#""##;
const PLACE: &str = r##""#place""##;
pub(super) const EACH: &str = r##""#each""##;

fn function(figure: Figure) -> &'static str {
    match figure {
        Figure::Sum => "sum",
        Figure::Mean | Figure::Median => "avg",
        Figure::Most => "max",
        Figure::Least => "min",
        Figure::Difference => "abs",
    }
}

fn alias(figure: Figure, column: &str) -> String {
    let figure = match figure {
        Figure::Sum => "total",
        Figure::Mean => "mean",
        Figure::Median => "median",
        Figure::Most => "highest",
        Figure::Least => "lowest",
        Figure::Difference => "difference",
    };
    format!("{figure}_{column}")
}

fn literal(cell: &Cell) -> String {
    match cell {
        Cell::Empty => "NULL".to_owned(),
        Cell::Integer(number) => number.to_string(),
        Cell::Real(number) => number.to_string(),
        Cell::Text(text) => text_literal(text),
    }
}

fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
