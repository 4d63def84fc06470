//! Questions about tables and pairs of labels and values.

mod doubts;

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use jarvis_tools::local::evaluate;
use serde_json::{Value, json};

use super::amount::Amount;
use super::data::{Row, Table, is_missing};
use super::figures::{Entry, expression, rounded, unit_of};
use super::intent::{Figure, Op, kinds};
use super::lists::number;
use super::question::{Question, folded};
use super::{Move, Step, words};

/// The most names that `count` is given.
const MAX_NAMES: usize = 5_000;
/// The most bars; more values are drawn as a line.
const MAX_BARS: usize = 200;
/// The most rows whose cells are shown.
const MAX_ROWS: usize = 12;
/// The share of a name's words from which a question is taken to mention it.
const MENTIONED: f64 = 0.5;

struct Selection<'t> {
    rows: Vec<&'t Row>,
    /// The text columns whose cells the question names; empty where all rows are meant.
    by: Vec<usize>,
    column: usize,
    /// Whether the question mentions the column, or the kind of quantity in it.
    is_column_named: bool,
    /// The text column whose equal cells form groups.
    group: Option<usize>,
}

impl Step<'_> {
    /// A question about a table; `None` where the question mentions nothing of it.
    pub(super) fn table(&self, table: &Table) -> Result<Option<String>, Move> {
        let chosen = self.select(table);
        if let Some(refusal) = self.refusal(table, &chosen) {
            let headed = table.header.iter().any(|name| self.question.mentions(name) > MENTIONED);
            let is_understood = || self.unknown_word(table, &chosen).is_none();
            let is_relevant = !chosen.by.is_empty() || chosen.is_column_named || headed || is_understood();
            return if is_relevant { Err(refusal) } else { Ok(None) };
        }
        let text = match self.intent.op {
            Op::Figure(figure) => self.figure(table, &chosen, figure)?,
            _ if self.intent.chart.is_some() => Some(String::new()),
            Op::Count => self.count(table, &chosen)?,
            Op::Kinds | Op::Frequent { .. } => Some(self.kinds(table, &chosen)?),
            Op::Lookup | Op::Times if chosen.by.is_empty() || chosen.rows.len() > MAX_ROWS => None,
            Op::Lookup | Op::Times => Some(self.cells(table, &chosen)?),
        };
        match (text, self.intent.chart) {
            (Some(text), Some(kind)) => Ok(self.plot(table, &chosen, kind)?.map(|chart| format!("{text}{chart}"))),
            (text, _) => Ok(text),
        }
    }

    fn select<'t>(&self, table: &'t Table) -> Selection<'t> {
        let mut asked: HashSet<&str> = kinds(self.question).map(|(kind, _)| kind).collect();
        // "How many were sold" asks for pieces, and a column of money is no number of them.
        let pieces = self.asks_for_pieces();
        if pieces {
            asked.remove("kind_revenue");
        }
        let kind_of = |column: usize| kinds(&Question::new(table.name(column))).any(|(kind, _)| asked.contains(kind));
        // "How many did they order?" speaks of no column `order`.
        let counts = self.intent.op == Op::Count;
        let is_verb = |name: &str| counts && words::is_in("stop", &folded(name));
        let mentions = |name: &str| if is_verb(name) { 0.0 } else { self.question.mentions(name) };
        let fit = |column: usize| mentions(table.name(column)) + if kind_of(column) { 0.6 } else { 0.0 };
        let mut columns = table.numeric.clone();
        columns.sort_by(|a, b| fit(*b).total_cmp(&fit(*a)));
        let mut column = *columns.first().expect("a table has a column of amounts");
        let mut is_column_named = fit(column) > MENTIONED - f64::EPSILON;
        // `How many chairs` asks for their number rather than for their price.
        let quantity = columns.iter().copied().find(|column| is_of_kind(table.name(*column), &["kind_quantity"]));
        let mut by = Vec::new();
        let mut rows: Option<HashSet<usize>> = None;
        for texts in table.texts() {
            let found = self.rows_named(table, texts);
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
        let is_count = self.intent.op == Op::Count || is_sold;
        if let (true, false, Some(quantity)) = (is_count, is_column_named, quantity) {
            column = quantity;
            is_column_named = is_sold || by.iter().any(|by| Some(*by) == table.label);
        }
        let is_chosen = |at: &usize| rows.as_ref().is_none_or(|rows| rows.contains(at));
        let mut rows: Vec<&Row> = (0..table.rows.len()).filter(is_chosen).filter_map(|at| table.rows.get(at)).collect();
        if let Some(bound) = &self.intent.bound {
            let words = Question::new(&bound.words);
            let shares = |column: &&usize| {
                let own: HashSet<&str> = kinds(&words).map(|(kind, _)| kind).collect();
                kinds(&Question::new(table.name(**column))).any(|(kind, _)| own.contains(kind))
            };
            let column = table.numeric.iter().find(shares).copied().unwrap_or(column);
            let amount = |row: &&Row| row.get(column).and_then(|cell| Amount::read(cell));
            rows.retain(|row| amount(row).is_some_and(|amount| bound.holds(amount.size)));
        }
        let is_group = |column: &usize| {
            self.question.mentions(table.name(*column)) > MENTIONED && !by.contains(column) && table.repeats(*column)
        };
        let group = table.texts().filter(is_group).min_by_key(|column| self.question.place(table.name(*column)));
        Selection { rows, by, column, is_column_named, group }
    }

    /// The rows that the question names by cells of a column: those of which it has the largest share of words.
    fn rows_named(&self, table: &Table, column: usize) -> HashSet<usize> {
        let is_header = |cell: &str| table.header.iter().any(|name| folded(name) == folded(cell));
        let mut known: HashMap<&str, f64> = HashMap::new();
        let mut score = |cell| {
            *known.entry(cell).or_insert_with(|| {
                if is_header(cell) || self.is_limit(cell) { 0.0 } else { self.question.mentions(cell) }
            })
        };
        let scores: Vec<f64> = table.rows.iter().map(|row| row.get(column).map_or(0.0, |cell| score(cell))).collect();
        let best = scores.iter().copied().fold(0.0, f64::max);
        // A cell that all rows share names none of them.
        if best < MENTIONED || (known.len() == 1 && table.rows.len() > 1) {
            return HashSet::new();
        }
        (0..scores.len()).filter(|row| scores.get(*row) == Some(&best)).collect()
    }

    /// The values of the chosen rows or, where there are groups, a figure of each; and how many rows have no value.
    fn entries(
        &self,
        table: &Table,
        chosen: &Selection<'_>,
        group: Option<usize>,
    ) -> Result<(Vec<Entry>, usize), Move> {
        let others: Vec<usize> = match table.label {
            Some(label) if chosen.rows.len() > 1 && table.repeats(label) => table.texts().skip(1).take(2).collect(),
            Some(_) | None => Vec::new(),
        };
        let label = |row: &Row| match group {
            Some(group) => row.get(group).map_or("", |cell| cell.trim()).to_owned(),
            None => {
                let cells = others.iter().filter_map(|other| row.get(*other)).map(|cell| cell.trim());
                let cells = std::iter::once(table.label(row)).chain(cells).filter(|cell| !cell.is_empty());
                cells.collect::<Vec<_>>().join(", ")
            }
        };
        let mut entries: Vec<Entry> = Vec::new();
        for row in &chosen.rows {
            let cell = row.get(chosen.column).map_or("", |cell| cell.trim());
            entries.extend(Amount::read(cell).map(|amount| Entry {
                label: label(row),
                shown: cell.to_owned(),
                amount,
            }));
        }
        let missing = chosen.rows.len() - entries.len() + table.skipped;
        let first = entries.first().map(|entry| entry.amount.clone());
        if first.is_some_and(|first| entries.iter().any(|entry| !entry.amount.agrees(&first))) {
            return Err(self.refuse("units_differ", &[]));
        }
        if group.is_none() {
            return Ok((entries, missing));
        }
        let unit = unit_of(&entries);
        let mut groups: IndexMap<String, Vec<Entry>> = IndexMap::new();
        for entry in entries {
            groups.entry(entry.label.clone()).or_default().push(entry);
        }
        let figure = self.intent.of_group.0;
        let entry = |(label, entries): (String, Vec<Entry>)| {
            let value = expression(figure, &entries).and_then(|it| evaluate(&it).ok());
            let value = value.ok_or_else(|| self.refuse("too_complex", &[]))?;
            let shown = unit.with(&rounded(&value).0);
            let size = value.parse().map_err(|_| self.refuse("too_complex", &[]))?;
            Ok(Entry { label, shown, amount: Amount { plain: value, size, ..unit.clone() } })
        };
        Ok((groups.into_iter().map(entry).collect::<Result<_, _>>()?, missing))
    }

    /// A figure of the values, calculated by `calculator`.
    fn figure(&self, table: &Table, chosen: &Selection<'_>, figure: Figure) -> Result<Option<String>, Move> {
        let is_extreme = matches!(figure, Figure::Most | Figure::Least);
        let name = table.name(chosen.column);
        let is_named = chosen.by.iter().any(|by| Some(*by) == table.label);
        if chosen.rows.len() == 1 && is_named && (figure == Figure::Sum || is_extreme) {
            return if is_extreme { Err(self.refuse("too_complex", &[])) } else { self.cells(table, chosen).map(Some) };
        }
        // The greatest single row says nothing about groups, and sums of prices or ages mean nothing unless asked for.
        let (of_group, is_group_figure_named) = self.intent.of_group;
        let is_order = self.intent.most.is_some();
        if chosen.group.is_some() && is_order && !is_group_figure_named && !is_of_kind(name, &ADDITIVE) {
            return Err(self.refuse("too_complex", &[]));
        }
        let is_of_each = chosen.group.is_some_and(|group| self.is_of_each(table, group));
        if is_order && !is_group_figure_named && is_of_each {
            return Err(self.refuse("too_complex", &[]));
        }
        if !is_extreme && figure != Figure::Difference && is_order && chosen.group.is_none() {
            return Err(self.refuse("too_complex", &[]));
        }
        let pair = match chosen.by.as_slice() {
            [by] if figure == Figure::Difference && chosen.rows.len() > 2 => Some(*by),
            _ => chosen.group,
        };
        let (mut entries, missing) = self.entries(table, chosen, pair)?;
        let left_out = if missing > 0 { self.messages.counted("left_out", missing, &[]) } else { String::new() };
        if entries.is_empty() {
            return Ok(None);
        }
        let of = if name.is_empty() { String::new() } else { self.text("of_column", &[name]) };
        if let (Some(by), false) = (chosen.group, is_order || figure == Figure::Difference) {
            let pairs = self.pairs(entries.iter().map(|entry| (entry.label.as_str(), entry.shown.as_str())));
            let text = self.text("of_each", &[&self.text(of_group.name(), &[]), &of, table.name(by), &pairs]);
            return Ok(Some(text + &left_out));
        }
        let (figure, of) = match (chosen.group, self.intent.most) {
            (Some(_), Some(most)) => {
                let of = self.text("figure_of_column", &[&self.text(of_group.name(), &[]), name]);
                (if most { Figure::Most } else { Figure::Least }, self.text("of_column", &[&of]))
            }
            _ => (figure, of),
        };
        if matches!(figure, Figure::Most | Figure::Least)
            && let Some(text) = self.ranked(&mut entries, figure == Figure::Most, &of)
        {
            return Ok(Some(text? + &left_out));
        }
        if figure == Figure::Difference {
            // Between two named things in the order of the question, else between the highest and the lowest value.
            let is_range = self.question.has("most") && self.question.has("least");
            match (is_range, entries.len()) {
                (false, 2) if !chosen.by.is_empty() => entries.sort_by_key(|entry| self.question.place(&entry.label)),
                (true, _) | (_, 2) => entries.sort_by(|a, b| b.amount.size.total_cmp(&a.amount.size)),
                _ => return Err(self.refuse("too_complex", &[])),
            }
        }
        let Some(expression) = expression(figure, &entries) else { return Ok(None) };
        let called = self.text(figure.name(), &[]);
        let thought = || self.text("calculate_next", &[&called, &of]);
        let Some(round) = self.round("calculator") else {
            return Err(Move::Call {
                thought: thought(),
                tool: "calculator",
                input: json!({"expression": expression}),
            });
        };
        let result = round.observation.trim();
        let Ok(size) = result.parse::<f64>() else { return Err(self.refuse("failed", &[&round.observation])) };
        let (digits, is_cut) = rounded(result);
        let result = unit_of(&entries).with(&digits);
        let result = if is_cut { self.text("about", &[&result]) } else { result };
        let labels = entries.iter().filter(|entry| entry.amount.size == size && !entry.label.is_empty());
        let labels: Vec<&str> = labels.map(|entry| entry.label.as_str()).collect();
        let text = match (figure, entries.as_slice()) {
            (Figure::Difference, [one, .., other]) => {
                let column = if name.is_empty() { String::new() } else { self.text("in_column", &[name]) };
                self.text("difference_between", &[&column, &one.label, &one.shown, &other.label, &other.shown, &result])
            }
            (Figure::Most, _) if !labels.is_empty() => self.text("highest", &[&self.names(&labels), &result, &of]),
            (Figure::Least, _) if !labels.is_empty() => self.text("lowest", &[&self.names(&labels), &result, &of]),
            _ => self.text("number", &[&called, &of, &result, &self.messages.counted("value", entries.len(), &[])]),
        };
        Ok(Some(text + &left_out))
    }

    /// The first of the order, or the one at a place in it, where the question asks for those.
    fn ranked(&self, entries: &mut [Entry], most: bool, of: &str) -> Option<Result<String, Move>> {
        let (rank, top) = (self.intent.rank, self.intent.top);
        entries.sort_by(|a, b| {
            let order = a.amount.size.total_cmp(&b.amount.size);
            if most { order.reverse() } else { order }
        });
        if let Some(rank) = rank {
            // Equal values share a place.
            let mut sizes: Vec<f64> = entries.iter().map(|entry| entry.amount.size).collect();
            sizes.dedup();
            let Some(size) = sizes.get(rank - 1) else { return Some(Err(self.refuse("no_row", &[]))) };
            let at: Vec<&Entry> = entries.iter().filter(|entry| entry.amount.size == *size).collect();
            let labels: Vec<&str> = at.iter().map(|entry| entry.label.as_str()).collect();
            let message = if most { "place_from_highest" } else { "place_from_lowest" };
            let shown = at.first().map_or("", |entry| entry.shown.as_str());
            return Some(Ok(self.text(message, &[&self.names(&labels), shown, of, &rank.to_string()])));
        }
        let first = entries.get(..top?.min(entries.len()))?;
        Some(Ok(self.pairs(first.iter().map(|entry| (entry.label.as_str(), entry.shown.as_str())))))
    }

    /// How many rows, or the value that `how many` asks for; `None` where the question may be about something else.
    fn count(&self, table: &Table, chosen: &Selection<'_>) -> Result<Option<String>, Move> {
        let mentions = |column: usize| self.question.mentions(table.name(column)) > MENTIONED;
        if self.intent.bound.is_some() {
            let names = chosen.rows.iter().map(|row| table.label(row));
            let cell = |row: &Row| row.get(chosen.column).map_or("", |cell| cell.trim()).to_owned();
            let shown: Vec<String> =
                chosen.rows.iter().map(|row| format!("{} ({})", table.label(row), cell(row))).collect();
            return self.rows(names.collect(), shown).map(Some);
        }
        if let Some(group) = chosen.group.filter(|_| !chosen.is_column_named) {
            let cells = chosen.rows.iter().filter_map(|row| row.get(group)).filter(|cell| !is_missing(cell));
            if self.is_of_each(table, group) {
                let items: Vec<&str> = cells.map(|cell| cell.trim()).collect();
                let counted = self.result("count", || self.text("count_next", &[]), json!({"items": items}))?;
                return self.counts(counted).map(Some);
            }
            let names: indexmap::IndexSet<&str> = cells.map(|cell| cell.trim()).collect();
            let shown = names.iter().map(|name| (*name).to_owned()).collect();
            return self.rows(names.into_iter().collect(), shown).map(Some);
        }
        let by_label = chosen.by.iter().all(|by| Some(*by) == table.label);
        if !chosen.by.is_empty() && (chosen.is_column_named || by_label) {
            return match chosen.rows.len() {
                1 => self.cells(table, chosen).map(Some),
                _ => self.figure(table, chosen, Figure::Sum),
            };
        }
        if chosen.by.is_empty() && chosen.is_column_named && !table.label.is_some_and(mentions) {
            return self.figure(table, chosen, Figure::Sum);
        }
        if chosen.by.is_empty() && !table.has_names() {
            return Ok(None);
        }
        let has_pieces = table.numeric.iter().any(|column| is_of_kind(table.name(*column), &["kind_quantity"]));
        if !chosen.by.is_empty() && has_pieces {
            // Rows, or the pieces in them?
            return Err(self.refuse("too_complex", &[]));
        }
        let names: Vec<&str> = chosen.rows.iter().map(|row| table.label(row)).collect();
        let shown = names.iter().map(|name| (*name).to_owned()).collect();
        self.rows(names, shown).map(Some)
    }

    /// How many names there are, counted by `count` where they are few.
    fn rows(&self, names: Vec<&str>, shown: Vec<String>) -> Result<String, Move> {
        let is_countable = (1..=MAX_NAMES).contains(&names.len()) && !names.iter().any(|name| name.is_empty());
        let count = if is_countable {
            let counted = self.result("count", || self.text("count_next", &[]), json!({"items": names}))?;
            number(counted, "total").ok_or_else(|| self.unreadable(counted))?
        } else {
            names.len()
        };
        let shown: Vec<&str> = shown.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        Ok(match shown.len() {
            1..=MAX_ROWS => self.text("rows_named", &[&count.to_string(), &self.names(&shown)]),
            _ => self.text("rows", &[&count.to_string()]),
        })
    }

    /// How often each value of a text column occurs: the column that the question mentions, or the only one that repeats.
    fn kinds(&self, table: &Table, chosen: &Selection<'_>) -> Result<String, Move> {
        let mentioned = table.texts().find(|column| self.question.mentions(table.name(*column)) > MENTIONED);
        let mut repeating = table.texts().filter(|column| table.repeats(*column));
        let only = repeating.next().filter(|_| repeating.next().is_none());
        let items = |column| chosen.rows.iter().filter_map(move |row| row.get(column)).map(|cell: &String| cell.trim());
        let items: Vec<&str> = mentioned.or(only).map(|column| items(column).collect()).unwrap_or_else(Vec::new);
        if !(1..=MAX_NAMES).contains(&items.len()) {
            return Err(self.refuse("too_complex", &[]));
        }
        let counted = self.result("count", || self.text("count_next", &[]), json!({"items": items}))?;
        self.counts(counted)
    }

    /// The cells of the chosen rows in the columns that the question mentions, or in all.
    fn cells(&self, table: &Table, chosen: &Selection<'_>) -> Result<String, Move> {
        let others = || (0..table.header.len()).filter(|column| Some(*column) != table.label);
        let mut columns: Vec<usize> =
            others().filter(|column| self.question.mentions(table.name(*column)) > MENTIONED).collect();
        if columns.is_empty() && chosen.is_column_named {
            columns.push(chosen.column);
        }
        if columns.is_empty() {
            columns = others().collect();
        }
        let mut pairs: Vec<(String, &str)> = Vec::new();
        for row in &chosen.rows {
            for column in &columns {
                let (label, name) = (table.label(row), table.name(*column));
                let label = match (label.is_empty(), name.is_empty()) {
                    (_, true) => label.to_owned(),
                    (true, false) => name.to_owned(),
                    (false, false) => self.text("cell", &[label, name]),
                };
                let cell = row.get(*column).map_or("", |cell| cell.trim());
                pairs.push((label, if is_missing(cell) { "—" } else { cell }));
            }
        }
        let shown = self.pairs(pairs.iter().map(|(label, cell)| (label.as_str(), *cell)));
        if pairs.iter().all(|(_, cell)| *cell == "—") {
            return Err(self.refuse("no_value", &[&shown]));
        }
        Ok(shown)
    }

    /// The values that are drawn, and a sentence about the chart; `None` where there are none.
    fn plot(&self, table: &Table, chosen: &Selection<'_>, kind: &str) -> Result<Option<String>, Move> {
        if self.intent.op == Op::Count && !chosen.is_column_named {
            // How many rows there are is no column to draw.
            return Err(self.refuse("too_complex", &[]));
        }
        let all = Selection { rows: table.rows.iter().collect(), by: Vec::new(), ..*chosen };
        let chosen = if chosen.rows.len() > 1 { chosen } else { &all };
        let (entries, missing) = self.entries(table, chosen, chosen.group)?;
        if entries.is_empty() {
            return Ok(None);
        }
        let by = chosen.group.or(table.label);
        let (value, label) = (table.name(chosen.column), by.map_or("", |by| table.name(by)));
        let title = match (value.is_empty(), label.is_empty()) {
            (true, _) => jarvis_net::text::shorten(&self.question.raw, 60),
            (false, true) => value.to_owned(),
            (false, false) => self.text("title", &[value, label]),
        };
        let label_of = |(at, entry): (usize, &Entry)| match entry.label.as_str() {
            "" => (at + 1).to_string(),
            label => label.to_owned(),
        };
        let x: Vec<String> = entries.iter().enumerate().map(label_of).collect();
        let exact =
            |entry: &Entry| serde_json::from_str(&entry.amount.plain).unwrap_or_else(|_| json!(entry.amount.plain));
        let y: Vec<Value> = entries.iter().map(exact).collect();
        let kind = if kind == "bar" && entries.len() > MAX_BARS { "line" } else { kind };
        let input = json!({"x": x, "y": y, "title": title, "x_label": label, "y_label": value, "kind": kind});
        let drawn = self.chart(input)?;
        let mut text = self.pairs(x.iter().map(String::as_str).zip(entries.iter().map(|entry| entry.shown.as_str())));
        if chosen.group.is_some() {
            let of = if value.is_empty() { String::new() } else { self.text("of_column", &[value]) };
            text = self.text("of_each", &[&self.text(self.intent.of_group.0.name(), &[]), &of, label, &text]);
        }
        if missing > 0 {
            text += &self.messages.counted("left_out", missing, &[]);
        }
        text += &drawn;
        let gap = if matches!(self.intent.op, Op::Figure(_)) { " " } else { "" };
        Ok(Some(format!("{gap}{text}")))
    }
}

/// Kinds of quantities whose sums mean something.
const ADDITIVE: [&str; 6] =
    ["kind_revenue", "kind_quantity", "kind_expense", "kind_profit", "kind_visitors", "kind_staff"];

fn is_of_kind(name: &str, kinds: &[&str]) -> bool {
    let name = Question::new(name);
    kinds.iter().any(|kind| !name.find_all(words::row(kind)).is_empty())
}
