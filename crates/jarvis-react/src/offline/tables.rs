//! Questions about tables and pairs of labels and values.

use std::borrow::Cow;
use std::collections::HashMap;

use jarvis_plan::is_han;
use serde_json::{Value, json};

use super::amount::Amount;
use super::data::{Table, is_missing};
use super::figures::{expression, unit_of};
use super::groups::{grouped, repeats};
use super::matching::{Question, folded, is_quantity};
use super::say::{Figure, rounded};
use super::wish::{Bound, Op};
use super::{Move, Step};

/// Values up to which all of them are written into one expression.
pub(super) const WRITTEN: usize = 300;
/// Names up to which rows are counted by the tool.
const NAMED: usize = 500;
/// The most bars; more values are drawn as a line.
const BARS: usize = 200;

/// A row with its amount in the column asked about.
#[derive(Debug, Clone)]
pub(super) struct Entry<'d> {
    pub(super) label: Cow<'d, str>,
    pub(super) cell: &'d str,
    pub(super) amount: Amount,
}

/// What the question selects of a table.
#[derive(Default)]
pub(super) struct Chosen<'t, 'd> {
    pub(super) rows: Vec<&'t Vec<&'d str>>,
    /// The columns that name them.
    pub(super) by: Vec<usize>,
    /// Whether rows were named, and not all are meant.
    pub(super) named: bool,
    pub(super) column: usize,
    /// Whether the column was named, or what it holds.
    pub(super) column_said: bool,
    /// Whether it is the only column that can be meant.
    column_meant: bool,
}

impl Step<'_> {
    /// A question about a table; `None` when the table has nothing to do with it.
    pub(super) fn table(&self, table: &Table<'_>) -> Option<Move> {
        let mut chosen = self.chosen(table);
        // Pairs that stand here and there between other lines belong together in nothing.
        if table.sparse
            && (self.wish.chart.is_some() || !matches!(self.wish.op, Op::Count | Op::Words))
            && !chosen.named
        {
            return None;
        }
        if let Some(refused) = self.refused(table, &mut chosen) {
            return Some(self.nothing(refused));
        }
        let groups = self.of_groups(table, &chosen);
        let text = match &self.wish.op {
            _ if groups.is_some() => groups,
            // The most of one row says nothing of the groups that are asked about.
            Op::Extreme { .. } if self.group_column(table, &chosen).is_some_and(|by| Some(by) != table.label) => {
                Some(Said::Nothing(self.beyond(table, &chosen)))
            }
            Op::Sum if chosen.rows.len() == 1 && chosen.named => Some(self.looked_up(table, &chosen)),
            Op::Sum => Some(self.figure(table, &chosen, Figure::Sum)?),
            Op::Mean => Some(self.figure(table, &chosen, Figure::Mean)?),
            Op::Median => Some(self.figure(table, &chosen, Figure::Median)?),
            Op::Extreme { most } => {
                Some(self.figure(table, &chosen, if *most { Figure::Most } else { Figure::Least })?)
            }
            Op::Difference => Some(self.figure(table, &chosen, Figure::Difference)?),
            Op::Count | Op::Kinds | Op::Frequent { .. } | Op::Times(_) | Op::Words if self.wish.chart.is_some() => None,
            Op::Count => Some(self.counted(table, &chosen)?),
            Op::Kinds | Op::Frequent { .. } => {
                let column = table.texts().find(|column| self.question.mentions(table.name(*column)) > 0.5);
                // Where each occurs once, none is the most frequent.
                let telling = |column: &usize| matches!(self.wish.op, Op::Kinds) || repeats(table, *column);
                let mut others = table.texts().filter(telling);
                match column.or(others.next().filter(|_| self.wish.op == Op::Kinds || others.next().is_none())) {
                    Some(column) => Some(self.kinds(&chosen, column)?),
                    None => Some(Said::Nothing(self.beyond(table, &chosen))),
                }
            }
            Op::Times(_) | Op::Words => Some(self.words(table, &chosen)?),
        };
        let text = match text {
            Some(Said::Act(act)) => return Some(act),
            Some(Said::Nothing(text)) => return Some(self.nothing(text)),
            Some(Said::Text(text)) => text,
            None => String::new(),
        };
        let Some(kind) = self.wish.chart else { return Some(self.answer(text)) };
        let Drawn { input, pairs, sums, left_out } = match self.chart(table, &chosen, kind) {
            Ok(drawn) => drawn?,
            Err(why) => return Some(self.nothing(why)),
        };
        let Some(drawn) = self.observed("plot") else {
            return Some(self.act("plot", self.say.will_plot(), input));
        };
        let gap = if text.is_empty() { "" } else { " " };
        let unheard = self.unheard(table, &chosen).filter(|word| !self.document.contains(word.as_str()));
        let unheard = unheard.map_or_else(String::new, |word| self.say.not_regarded(&word));
        let pairs = self.say.pairs(&pairs);
        Some(self.answer(format!("{text}{gap}{sums}{pairs}{left_out} {}{unheard}", self.about_chart(drawn))))
    }

    /// The rows and the column that the question speaks of.
    fn chosen<'t, 'd>(&self, table: &'t Table<'d>) -> Chosen<'t, 'd> {
        let fit = |column: usize| {
            let name = table.name(column);
            let said = self.question.mentions(name);
            let kind = if !name.is_empty() && self.question.shares_kind(name) { 0.6 } else { 0.0 };
            said + kind
        };
        let mut column = table.numeric.first().copied().unwrap_or_default();
        for other in &table.numeric {
            if fit(*other) > fit(column) {
                column = *other;
            }
        }
        let column_said = fit(column) > 0.3;
        // `How many chairs` asks for their number rather than for their price.
        let quantity = table.numeric.iter().copied().find(|column| is_quantity(table.name(*column)));
        let of_things = self.wish.op == Op::Count && !column_said;
        let column_meant = column_said || (of_things && quantity.is_some());
        if let (true, Some(quantity)) = (of_things, quantity) {
            column = quantity;
        }
        let mut rows: Option<Vec<usize>> = None;
        let mut by = Vec::new();
        for texts in table.texts() {
            let found = mentioned(self.question, table, texts);
            if found.is_empty() {
                continue;
            }
            by.push(texts);
            rows = Some(match rows {
                None => found,
                Some(rows) => {
                    let both: Vec<usize> =
                        rows.iter().copied().filter(|row| found.binary_search(row).is_ok()).collect();
                    if both.is_empty() { rows } else { both }
                }
            });
        }
        let named = rows.is_some();
        let mut rows: Vec<&Vec<&str>> = match rows {
            Some(rows) => rows.into_iter().filter_map(|row| table.rows.get(row)).collect(),
            None => table.rows.iter().collect(),
        };
        if let Some(bound) = &self.wish.bound {
            let column = self.bounded(table, column);
            rows.retain(|row| {
                row.get(column).and_then(|cell| Amount::read(cell)).is_some_and(|amount| within(bound, amount.size))
            });
        }
        Chosen { rows, by, named, column, column_said, column_meant }
    }

    pub(super) fn entries<'d>(&self, table: &Table<'d>, rows: &[&Vec<&'d str>], column: usize) -> Vec<Entry<'d>> {
        // Where rows share a name, other words tell them apart.
        let shared = rows.len() > 1 && table.label.is_some_and(|label| repeats(table, label));
        let others: Vec<usize> = table.texts().skip(1).filter(|_| shared).take(2).collect();
        let label = |row: &Vec<&'d str>| {
            let own = table.label(row);
            let told = others.iter().filter_map(|other| row.get(*other)).map(|cell| cell.trim());
            let told: Vec<&str> = std::iter::once(own).chain(told).filter(|cell| !cell.is_empty()).collect();
            if others.is_empty() { Cow::Borrowed(own) } else { Cow::Owned(told.join(", ")) }
        };
        let entry = |row: &&Vec<&'d str>| {
            let cell = row.get(column).copied()?.trim();
            Some(Entry { label: label(row), cell, amount: Amount::read(cell)? })
        };
        rows.iter().take_while(|_| !self.ended.is_cancelled()).filter_map(entry).collect()
    }

    /// A number worked out of the values by `calculator`.
    fn figure(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>, figure: Figure) -> Option<Said> {
        let extreme = matches!(figure, Figure::Most | Figure::Least);
        // The best of one is no choice; the question names something else.
        let all: Vec<&Vec<&str>> = table.rows.iter().collect();
        let aside = chosen.named && chosen.rows.len() < 2 && self.wish.bound.is_none();
        let aside = aside && extreme && chosen.by.iter().all(|by| Some(*by) == table.label);
        if aside && chosen.rows.iter().any(|row| self.question.mentions(table.label(row)) == 1.0) {
            return Some(Said::Nothing(self.beyond(table, chosen)));
        }
        let rows = if aside { &all } else { &chosen.rows };
        let mut entries = self.entries(table, rows, chosen.column);
        let first = entries.first()?.clone();
        if entries.iter().any(|entry| !entry.amount.agrees(&first.amount)) {
            return Some(Said::Nothing(self.say.units_differ()));
        }
        let unit =
            unit_of(&entries).unwrap_or_else(|| Amount { before: String::new(), after: String::new(), ..first.amount });
        let name = table.name(chosen.column);
        if extreme && let Some(said) = self.ranked(name, &entries, figure == Figure::Most) {
            return Some(said);
        }
        let expression = if figure == Figure::Difference {
            if let Some(said) = self.apart(table, chosen) {
                return Some(said);
            }
            if chosen.named && chosen.rows.len() == 2 {
                entries.sort_by_key(|entry| self.question.place(&entry.label));
            } else {
                entries.sort_by(|a, b| b.amount.size.total_cmp(&a.amount.size));
            }
            let (one, other) = (entries.first()?, entries.last()?);
            format!("abs({} - {})", one.amount.plain, bracketed(&other.amount.plain))
        } else {
            expression(figure, &entries)?
        };
        let Some(observed) = self.observed("calculator") else {
            let thought = self.say.will_calculate(figure, name);
            return Some(Said::Act(self.act("calculator", thought, json!({"expression": expression}))));
        };
        let Ok(size) = observed.trim().parse::<f64>() else { return Some(Said::Nothing(self.say.failed(observed))) };
        let (digits, cut) = rounded(observed.trim());
        let result = unit.with(&digits);
        let result = if cut { self.say.about(&result) } else { result };
        let left_out = self.say.left_out(rows.len() - entries.len() + table.odd);
        let told = match figure {
            Figure::Difference => {
                let (one, other) = (entries.first()?, entries.last()?);
                self.say.difference(name, (&one.label, one.cell), (&other.label, other.cell), &result)
            }
            Figure::Most | Figure::Least => {
                let labels = entries.iter().filter(|entry| entry.amount.size == size && !entry.label.is_empty());
                let labels: Vec<&str> = labels.map(|entry| entry.label.as_ref()).collect();
                if labels.is_empty() {
                    self.say.number(figure, name, &result, entries.len())
                } else {
                    self.say.extreme(extreme && figure == Figure::Most, name, &labels, &result)
                }
            }
            Figure::Sum | Figure::Mean | Figure::Median => self.say.number(figure, name, &result, entries.len()),
        };
        Some(Said::Text(format!("{told}{left_out}")))
    }

    /// How many rows, or the value that `how many` asks for.
    fn counted(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> Option<Said> {
        let text_named = table.texts().any(|column| self.question.mentions(table.name(column)) > 0.5);
        let column_said = self.question.mentions(table.name(chosen.column)) > 0.5;
        // `How many bolts and nuts` asks for their numbers rather than for how many rows they are.
        let several = chosen.rows.len() > 1 && chosen.by.iter().all(|by| Some(*by) == table.label);
        let plain = self.wish.bound.is_none() && !self.wish.conditions.negated;
        if plain && chosen.named && several && is_quantity(table.name(chosen.column)) {
            return self.figure(table, chosen, Figure::Sum);
        }
        if plain {
            let headed = !table.name(chosen.column).is_empty();
            let of_rows = (text_named && !chosen.column_said)
                || (headed && !chosen.column_said && (chosen.rows.len() > 1 || self.speaks_of_rows(table)));
            if chosen.named && (column_said || !of_rows) {
                return if chosen.rows.len() == 1 || !headed {
                    Some(self.looked_up(table, chosen))
                } else {
                    self.figure(table, chosen, Figure::Sum)
                };
            }
            if chosen.column_said && !text_named && !chosen.named {
                return self.figure(table, chosen, Figure::Sum);
            }
            if !of_rows && !self.speaks_of_rows(table) || (!chosen.named && !text_named && !self.speaks_of_rows(table))
            {
                return None;
            }
        }
        let entries = self.entries(table, &chosen.rows, chosen.column);
        let names: Vec<&str> = chosen.rows.iter().map(|row| table.label(row)).collect();
        let shown: Vec<String> = if self.wish.bound.is_some() {
            entries.iter().map(|entry| format!("{} ({})", entry.label, entry.cell)).collect()
        } else {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        self.count_of(&names, &shown)
    }

    /// How many names there are, by the tool where they are few.
    pub(super) fn count_of(&self, names: &[&str], shown: &[String]) -> Option<Said> {
        if names.is_empty() || names.len() > NAMED || names.iter().any(|name| name.is_empty()) {
            return Some(Said::Text(self.say.rows(names.len(), shown)));
        }
        let Some(observed) = self.observed("count") else {
            return Some(Said::Act(self.act("count", self.say.will_count(), json!({"items": names}))));
        };
        // `…; 3 kinds, 4 in all`: rows with equal names are rows too.
        let first = observed.lines().next().unwrap_or_default();
        let total = first.rsplit(", ").next().and_then(|end| end.strip_suffix(" in all")?.parse::<usize>().ok());
        Some(Said::Text(match total {
            Some(total) => self.say.rows(total, shown),
            None => self.say.failed(observed),
        }))
    }

    /// Whether the question asks for the rows themselves: things, or people where they are the rows.
    fn speaks_of_rows(&self, table: &Table<'_>) -> bool {
        let says = |known: &str| {
            known.split_whitespace().any(|known| {
                let han = known.chars().any(is_han);
                if han {
                    self.question.lower.contains(known)
                } else {
                    self.question.words().iter().any(|word| word == known)
                }
            })
        };
        let things =
            "items rows lines entries records products goods товаров строк записей позиций 商品 项 行 条 产品 东西";
        let people =
            "people persons employees workers человек людей сотрудников работников 个人 多少人 几人 哪些人 员工";
        let name = folded(table.label.map_or("", |label| table.name(label)));
        let named =
            "name full person employee worker staff member имя фио фамил сотрудник работник 姓名 名字 员工 人员";
        let of_people = named.split_whitespace().any(|known| name.starts_with(known));
        says(things) || (of_people && says(people))
    }

    /// How often each value of a column occurs.
    fn kinds(&self, chosen: &Chosen<'_, '_>, column: usize) -> Option<Said> {
        let items: Vec<&str> = chosen.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.trim()).collect();
        if items.len() > NAMED * 10 {
            return None;
        }
        let Some(observed) = self.observed("count") else {
            return Some(Said::Act(self.act("count", self.say.will_count(), json!({"items": items}))));
        };
        Some(Said::Text(self.counts(observed)))
    }

    /// The value of a named row, where no number is to be worked out.
    fn words(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> Option<Said> {
        if !chosen.named || chosen.rows.len() > 12 {
            return None;
        }
        Some(self.looked_up(table, chosen))
    }

    /// The cells that the question asks for, of the rows that it names.
    pub(super) fn looked_up(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>) -> Said {
        let asked = |column: &usize| Some(*column) != table.label && self.question.mentions(table.name(*column)) > 0.5;
        let mut columns: Vec<usize> = (0..table.header.len()).filter(asked).collect();
        let asks_for_words = matches!(self.wish.op, Op::Words) && table.header.len() > 2;
        if columns.is_empty() && (chosen.column_meant || (table.numeric.len() == 1 && !asks_for_words)) {
            columns.push(chosen.column);
        }
        if columns.is_empty() {
            columns = (0..table.header.len()).filter(|column| Some(*column) != table.label).collect();
        }
        let mut pairs = Vec::new();
        for row in &chosen.rows {
            for column in &columns {
                let (label, name) = (table.label(row), table.name(*column));
                let cell = row.get(*column).copied().unwrap_or_default().trim();
                pairs.push((self.say.cell(label, name), cell.to_owned()));
            }
        }
        if pairs.iter().all(|(_, cell)| is_missing(cell)) {
            pairs.iter_mut().for_each(|(_, cell)| *cell = "—".to_owned());
            return Said::Nothing(self.say.pairs(&pairs));
        }
        Said::Text(self.say.pairs(&pairs))
    }

    /// The chart that is asked for; an error says why it is not drawn.
    fn chart(&self, table: &Table<'_>, chosen: &Chosen<'_, '_>, kind: &str) -> Result<Option<Drawn>, String> {
        let all: Vec<&Vec<&str>> = table.rows.iter().collect();
        let rows = if chosen.rows.len() > 1 { &chosen.rows } else { &all };
        let group = if self.wish.grouped { self.group_column(table, chosen) } else { None };
        let figure = if self.wish.mean { Figure::Mean } else { Figure::Sum };
        let (points, by, left_out) = match group {
            Some(group) => {
                let groups = grouped(rows, group, chosen.column, figure).map_err(|()| self.say.units_differ())?;
                (groups.groups, group, groups.left_out)
            }
            None => {
                let entries = self.entries(table, rows, chosen.column);
                let left_out = rows.len() - entries.len();
                let Some(first) = entries.first() else { return Ok(None) };
                if entries.iter().any(|entry| !entry.amount.agrees(&first.amount)) {
                    return Err(self.say.units_differ());
                }
                let points = entries.iter().zip(1..).map(|(entry, at)| {
                    let label = if entry.label.is_empty() { at.to_string() } else { entry.label.to_string() };
                    (label, entry.amount.plain.clone(), entry.cell.to_owned())
                });
                (points.collect(), table.label.unwrap_or(usize::MAX), left_out)
            }
        };
        let points: Vec<(String, String, String)> = points;
        let kind = if kind == "bar" && points.len() > BARS { "line" } else { kind };
        let (value, label) = (table.name(chosen.column), table.name(by));
        let x: Vec<&str> = points.iter().map(|point| point.0.as_str()).collect();
        let y: Vec<Value> = points.iter().map(|point| number(&point.1)).collect();
        let title = self.say.title(value, label);
        let title = if title.is_empty() { value_title(&self.question.raw) } else { title };
        let input = json!({"x": x, "y": y, "title": title, "x_label": label, "y_label": value, "kind": kind});
        let sums = group.map_or_else(String::new, |_| self.say.of_each(figure, value, label, ""));
        let left_out = self.say.left_out(left_out + table.odd);
        let pairs = points.into_iter().map(|(label, _, cell)| (label, cell)).collect();
        Ok(Some(Drawn { input, pairs, sums, left_out }))
    }
}

/// A chart as it is drawn and told.
struct Drawn {
    /// The input of `plot`.
    input: Value,
    pairs: Vec<(String, String)>,
    /// What its values are, where they are figures of groups.
    sums: String,
    left_out: String,
}

/// What came of a part of the work.
pub(super) enum Said {
    Act(Move),
    Text(String),
    /// Nothing can be said of what is asked but this.
    Nothing(String),
}

/// A title where the columns have no names: the question itself, in short.
fn value_title(question: &str) -> String {
    jarvis_net::text::shorten(question, 60)
}

/// The rows that a question names by the cells of a column, in order; whole names before parts of names.
pub(super) fn mentioned(question: &Question, table: &Table<'_>, column: usize) -> Vec<usize> {
    let amounts: Vec<Question> = table.numeric.iter().map(|numeric| Question::new(table.name(*numeric))).collect();
    // A word that is the name of an amount names no row.
    let taken = |cell: &str| amounts.iter().any(|amount| amount.mentions(cell) == 1.0);
    // Cells are often alike.
    let mut known: HashMap<&str, f64> = HashMap::new();
    let mut score = |cell| {
        *known.entry(cell).or_insert_with(|| {
            let score = question.names(cell);
            if score > 0.0 && taken(cell) { 0.0 } else { score }
        })
    };
    let scores: Vec<f64> = table.rows.iter().map(|row| row.get(column).map_or(0.0, |cell| score(*cell))).collect();
    let best = scores.iter().copied().fold(0.0, f64::max);
    if best < 0.3 {
        return Vec::new();
    }
    let rows: Vec<usize> = (0..scores.len()).filter(|row| scores.get(*row) == Some(&best)).collect();
    // A word that all rows have names none of them.
    if rows.len() == table.rows.len() && rows.len() > 1 { Vec::new() } else { rows }
}

fn within(bound: &Bound, size: f64) -> bool {
    (bound.itself && size == bound.number) || (if bound.above { size > bound.number } else { size < bound.number })
}

fn bracketed(number: &str) -> String {
    if number.starts_with('-') { format!("({number})") } else { number.to_owned() }
}

/// A decimal text as a JSON number.
fn number(plain: &str) -> Value {
    serde_json::from_str(plain).unwrap_or_else(|_| json!(plain))
}
