//! Questions about tables and pairs of labels and values: `table-query` is asked, and its rows are worded.

use jarvis_tables::Column;
use jarvis_tables::question::{Doubt, Drawing, Figure, Form, Interpretation, Query};
use jarvis_tools::local::TABLE_QUERY;
use serde_json::{Value, json};

use super::{Move, Step};

/// The rows of a result, each with its cells.
type Rows<'v> = Vec<&'v [Value]>;

impl Step<'_> {
    /// A question about tables; `None` where it mentions nothing of them.
    pub(super) fn table(&self, made: &Interpretation<'_>) -> Result<Option<String>, Move> {
        let text = made.query.as_ref().map(|query| self.told(made, query)).transpose()?;
        let Some(drawing) = &made.drawing else { return Ok(text) };
        let gap = if text.is_some() { " " } else { "" };
        let chart = self.drawn(made, drawing)?;
        Ok(Some(format!("{}{gap}{chart}", text.unwrap_or_default())))
    }

    pub(super) fn doubted(&self, doubt: &Doubt) -> Move {
        match doubt {
            Doubt::NoRow => self.refuse("no_row", &[]),
            Doubt::NoPieces => self.refuse("no_pieces", &[]),
            Doubt::UnknownWord(word) => self.refuse("unknown_word", &[word]),
            Doubt::TooComplex => self.refuse("too_complex", &[]),
            Doubt::WhichColumn(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.refuse("which_column", &[&self.names(&names)])
            }
            Doubt::WhichTable(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                self.refuse("which_table", &[&self.names(&names)])
            }
            Doubt::UnitsDiffer => self.refuse("units_differ", &[]),
        }
    }

    /// The rows that a query gives.
    fn rows(&self, sql: &str, thought: impl FnOnce() -> String) -> Result<Rows<'_>, Move> {
        let input = json!({"sql": sql});
        let asked = self
            .rounds
            .iter()
            .rev()
            .find(|round| round.action == TABLE_QUERY && round.input_json() == Some(input.clone()));
        let Some(round) = asked else { return Err(Move::Call { thought: thought(), tool: TABLE_QUERY, input }) };
        if round.value.as_ref().is_some_and(|value| value.get("is_cut").is_some()) {
            return Err(self.refuse("too_complex", &[]));
        }
        let rows = round.value.as_ref().and_then(|value| value.get("rows")).and_then(Value::as_array);
        let rows = rows.ok_or_else(|| self.refuse("failed", &[&round.observation]))?;
        Ok(rows.iter().filter_map(|row| row.as_array()).map(Vec::as_slice).collect())
    }

    /// What a query gives, as a sentence.
    fn told(&self, made: &Interpretation<'_>, query: &Query<'_>) -> Result<String, Move> {
        let of = if made.column.is_empty() { String::new() } else { self.text("of_column", &[made.column]) };
        let figure = match &query.form {
            Form::Figure(figure) | Form::OfEach { figure, .. } => Some(*figure),
            Form::Extreme { most, .. } => Some(if *most { Figure::Most } else { Figure::Least }),
            Form::Difference => Some(Figure::Difference),
            Form::Top | Form::Rows | Form::Kinds | Form::Frequent { .. } | Form::Cells { .. } => None,
        };
        let thought = || match figure {
            Some(figure) => self.text("calculate_next", &[&self.text(figure.name(), &[]), &of]),
            None => self.text("query_next", &[]),
        };
        let rows = self.rows(&query.sql, thought)?;
        let left_out = match query.left_out {
            0 => String::new(),
            left_out => self.messages.counted("left_out", left_out, &[]),
        };
        let first = || rows.first().copied().ok_or_else(|| self.refuse("no_row", &[]));
        let amount = |value: Option<&Value>| value.map_or_else(String::new, |value| amount(value, made.unit));
        let text = match &query.form {
            Form::Figure(figure) => {
                let value = first()?.first().filter(|value| value.is_number());
                let value = value.ok_or_else(|| self.refuse("too_complex", &[]))?;
                let shown = self.about(value, made.unit);
                self.text(
                    "number",
                    &[&self.text(figure.name(), &[]), &of, &shown, &self.messages.counted("value", query.values, &[])],
                )
            }
            Form::OfEach { figure, by } => {
                let pairs = self.labelled(&rows, made.unit);
                self.text("of_each", &[&self.text(figure.name(), &[]), &of, by, &pairs])
            }
            Form::Extreme { most, rank, of: of_group } => {
                let of = match of_group {
                    Some(figure) => {
                        let figure = self.text("figure_of_column", &[&self.text(figure.name(), &[]), made.column]);
                        self.text("of_column", &[&figure])
                    }
                    None => of,
                };
                let labels: Vec<String> = rows.iter().map(|row| label(row)).collect();
                let labels = self.names(&labels.iter().map(String::as_str).collect::<Vec<_>>());
                let value = amount(first()?.last());
                match (rank, most) {
                    (Some(rank), true) => self.text("place_from_highest", &[&labels, &value, &of, &rank.to_string()]),
                    (Some(rank), false) => self.text("place_from_lowest", &[&labels, &value, &of, &rank.to_string()]),
                    (None, true) => self.text("highest", &[&labels, &value, &of]),
                    (None, false) => self.text("lowest", &[&labels, &value, &of]),
                }
            }
            Form::Top => self.labelled(&rows, made.unit),
            Form::Difference => {
                let [one, of_one, other, of_other, difference] = first()? else {
                    return Err(self.refuse("too_complex", &[]));
                };
                let column =
                    if made.column.is_empty() { String::new() } else { self.text("in_column", &[made.column]) };
                let (of_one, of_other) = (amount(Some(of_one)), amount(Some(of_other)));
                let difference = self.about(difference, made.unit);
                self.text("difference_between", &[&column, &plain(one), &of_one, &plain(other), &of_other, &difference])
            }
            Form::Rows => match first()? {
                [count, names] if !names.is_null() => self.text("rows_named", &[&plain(count), &plain(names)]),
                row => self.text("rows", &[&row.first().map_or_else(String::new, plain)]),
            },
            Form::Kinds => {
                let total: u64 = rows.iter().filter_map(|row| row.last()?.as_u64()).sum();
                let pairs = self.labelled(&rows, None);
                self.messages.counted("kinds", rows.len(), &[&total.to_string(), &pairs])
            }
            Form::Frequent { most } => {
                let labels: Vec<String> = rows.iter().map(|row| label(row)).collect();
                let labels = self.names(&labels.iter().map(String::as_str).collect::<Vec<_>>());
                let count = first()?.last().and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
                let times = self.messages.counted("time", count.unwrap_or_default(), &[]);
                self.text(if *most { "most_frequent" } else { "least_frequent" }, &[&labels, &times])
            }
            Form::Cells { columns, is_labelled } => self.cells(&rows, columns, *is_labelled)?,
        };
        Ok(text + &left_out)
    }

    /// The cells of rows, each with the label of its row and the name of its column.
    fn cells(&self, rows: &Rows<'_>, columns: &[&Column], is_labelled: bool) -> Result<String, Move> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for row in rows {
            let label = row.first().filter(|_| is_labelled).map_or_else(String::new, plain);
            for (column, cell) in columns.iter().zip(*row).skip(usize::from(is_labelled)) {
                let name = column.label.as_str();
                let told = match (label.is_empty(), name.is_empty()) {
                    (_, true) => label.clone(),
                    (true, false) => name.to_owned(),
                    (false, false) => self.text("cell", &[&label, name]),
                };
                pairs.push((told, if cell.is_null() { "—".to_owned() } else { amount(cell, column.unit.as_deref()) }));
            }
        }
        let shown = self.pairs(pairs.iter().map(|(label, cell)| (label.as_str(), cell.as_str())));
        if pairs.iter().all(|(_, cell)| cell == "—") {
            return Err(self.refuse("no_value", &[&shown]));
        }
        Ok(shown)
    }

    /// Draws values, and tells them.
    fn drawn(&self, made: &Interpretation<'_>, drawing: &Drawing<'_>) -> Result<String, Move> {
        let rows = self.rows(&drawing.sql, || self.text("query_next", &[]))?;
        let (value, label_name) = (made.column, drawing.by);
        let title = match (value.is_empty(), label_name.is_empty()) {
            (true, _) => jarvis_net::text::shorten(&self.question.raw, 60),
            (false, true) => value.to_owned(),
            (false, false) => self.text("title", &[value, label_name]),
        };
        let x: Vec<String> = rows.iter().map(|row| label(row)).collect();
        let y: Vec<&Value> = rows.iter().filter_map(|row| row.last()).collect();
        let kind = drawing.kind;
        let input = json!({"x": x, "y": y, "title": title, "x_label": label_name, "y_label": value, "kind": kind});
        let drawn = self.chart(input)?;
        let mut text = self.labelled(&rows, made.unit);
        if let Some(figure) = drawing.of_each {
            let of = if value.is_empty() { String::new() } else { self.text("of_column", &[value]) };
            text = self.text("of_each", &[&self.text(figure.name(), &[]), &of, label_name, &text]);
        }
        if drawing.left_out > 0 {
            text += &self.messages.counted("left_out", drawing.left_out, &[]);
        }
        Ok(text + &drawn)
    }

    /// Rows of labels and a value as a sentence.
    fn labelled(&self, rows: &Rows<'_>, unit: Option<&str>) -> String {
        let pairs: Vec<(String, String)> = rows
            .iter()
            .map(|row| (label(row), row.last().map_or_else(String::new, |value| amount(value, unit))))
            .collect();
        self.pairs(pairs.iter().map(|(label, value)| (label.as_str(), value.as_str())))
    }

    /// A number as it is shown, and whether digits of it were left out.
    fn about(&self, value: &Value, unit: Option<&str>) -> String {
        let shown = amount(value, unit);
        let is_cut = value.is_number() && rounded(&value.to_string()).1;
        if is_cut { self.text("about", &[&shown]) } else { shown }
    }
}

/// The labels of a row, which stand before its value.
fn label(row: &[Value]) -> String {
    let labels = row.split_last().map_or(&[][..], |(_, labels)| labels).iter().map(plain);
    labels.filter(|label| !label.is_empty()).collect::<Vec<_>>().join(", ")
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A cell with the unit of its column.
fn amount(value: &Value, unit: Option<&str>) -> String {
    let (Value::Number(number), unit) = (value, unit.unwrap_or_default()) else { return plain(value) };
    let (digits, _) = rounded(&number.to_string());
    if ["$", "€", "£", "¥", "₹"].contains(&unit) {
        return match digits.strip_prefix('-') {
            Some(size) => format!("-{unit}{size}"),
            None => format!("{unit}{digits}"),
        };
    }
    let is_dense = unit.starts_with(|c: char| !c.is_ascii() && !c.is_alphabetic() || jarvis_plan::is_han(c));
    let gap = if unit.is_empty() || is_dense || unit.starts_with(['%', '°']) { "" } else { " " };
    format!("{digits}{gap}{unit}")
}

/// A number as it is shown: at most six decimals, or four digits of a very small one; and whether any were cut off.
fn rounded(number: &str) -> (String, bool) {
    let Some((_, decimals)) = number.split_once('.').filter(|_| !number.contains(['e', 'E'])) else {
        return (number.to_owned(), false);
    };
    let is_small = number.trim_start_matches('-').starts_with("0.");
    let zeros = if is_small { decimals.bytes().take_while(|digit| *digit == b'0').count() } else { 0 };
    let (most, places) = if zeros > 3 { (zeros + 4, zeros + 4) } else { (6, 4) };
    match number.parse::<f64>() {
        Ok(size) if decimals.len() > most => {
            (format!("{size:.places$}").trim_end_matches('0').trim_end_matches('.').to_owned(), true)
        }
        Ok(_) | Err(_) => (number.to_owned(), false),
    }
}
