//! The result of a query, as rows, Markdown and CSV.

use serde_json::{Map, Value, json};

/// The most rows of a result.
pub const MAX_ROWS: usize = 10_000;

/// The rows that a text shows; whoever has less room shortens it.
const SHOWN: usize = 500;

/// The longest cell that a text shows, in characters.
const LONGEST: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueryResult {
    pub columns: Vec<String>,
    /// Each as long as `columns`: numbers, texts, and null where there is no value.
    pub rows: Vec<Vec<Value>>,
    /// Whether there are more rows than [`MAX_ROWS`], which were left out.
    pub is_cut: bool,
}

impl QueryResult {
    /// The only value, where there is one row of one column.
    pub fn single(&self) -> Option<&Value> {
        match self.rows.as_slice() {
            [row] => row.first().filter(|_| row.len() == 1),
            _ => None,
        }
    }

    /// `{"columns": ["a", …], "rows": [[…], …], "values": {"a": […], …}}`: the values of a column can be referred to by its name. With
    /// `"is_cut": true` where there are more rows.
    pub fn to_json(&self) -> Value {
        let column = |at: usize| self.rows.iter().filter_map(|row| row.get(at)).cloned().collect();
        let values: Map<String, Value> =
            self.columns.iter().enumerate().map(|(at, name)| (name.clone(), column(at))).collect();
        let mut json = json!({"columns": self.columns, "rows": self.rows, "values": values});
        if let Some(fields) = json.as_object_mut().filter(|_| self.is_cut) {
            fields.insert("is_cut".to_owned(), true.into());
        }
        json
    }

    /// A Markdown table of the first rows, and how many there are in all where it does not show them all; a single value as it is.
    pub fn to_markdown(&self) -> String {
        if let Some(single) = self.single().filter(|single| !single.is_null()) {
            return shown(single);
        }
        if self.rows.is_empty() {
            return format!("No row matches. Columns: {}", self.columns.join(", "));
        }
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.columns.iter().map(|name| escaped(name)).collect());
        text.push_str(&line(self.columns.iter().map(|_| "---".to_owned()).collect()));
        for row in self.rows.iter().take(SHOWN) {
            text.push_str(&line(row.iter().map(|value| escaped(&shown(value))).collect()));
        }
        if self.rows.len() > SHOWN {
            let all = if self.is_cut { format!("more than {}", self.rows.len()) } else { self.rows.len().to_string() };
            text.push_str(&format!("\n{SHOWN} of {all} rows are shown."));
        }
        text.trim_end().to_owned()
    }

    /// The whole result as CSV in UTF-8. Texts that a spreadsheet would calculate are kept from it by a quote.
    pub fn to_csv(&self) -> Vec<u8> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut write = |cells: Vec<String>| writer.write_record(cells).expect("a vector takes every record");
        write(self.columns.iter().map(|name| inert(name.clone())).collect());
        for row in &self.rows {
            let cell = |value: &Value| if value.is_string() { inert(shown(value)) } else { shown(value) };
            write(row.iter().map(cell).collect());
        }
        writer.into_inner().expect("a vector takes everything")
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn escaped(cell: &str) -> String {
    let words = cell.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    if words.chars().count() <= LONGEST {
        return words;
    }
    words.chars().take(LONGEST).chain(['…']).collect()
}

/// A text that a spreadsheet takes for a formula, made a plain one: <https://owasp.org/www-community/attacks/CSV_Injection>.
fn inert(cell: String) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}") } else { cell }
}
