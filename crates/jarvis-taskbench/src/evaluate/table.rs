//! Tables of figures: for the terminal, as Markdown, as CSV. What is in them comes from metrics files as they are written.

use comfy_table::{CellAlignment, TableStyle, presets};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    pub headers: Vec<String>,
    /// The rows, each as long as the headers.
    pub rows: Vec<Vec<String>>,
}

/// A column of a table of groups: its header, and where its figure stands in a group.
pub type Column<'a> = (&'a str, &'a str, Form);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Count,
    /// A share of 1, times 100, with two decimals.
    Percent,
    /// A number with four decimals.
    Plain,
}

pub const LEGACY_COLUMNS: [Column<'static>; 12] = [
    ("samples", "all_samples", Form::Count),
    ("scored", "node_supports", Form::Count),
    ("R1", "step_rouge1", Form::Percent),
    ("R2", "step_rouge2", Form::Percent),
    ("RL", "step_rougeL", Form::Percent),
    ("BsF", "step_bertscore_f1", Form::Percent),
    ("n-F1", "node_micro_f1_no_matching", Form::Percent),
    ("n-F1 macro", "node_macro_f1_no_matching", Form::Percent),
    ("e-F1", "link_binary_f1", Form::Percent),
    ("t-F1", "argument_task_argname_binary_f1_no_matching", Form::Percent),
    ("v-F1", "argument_task_argname_value_binary_f1_no_matching", Form::Percent),
    ("ED", "edit_distance", Form::Plain),
];

pub const STRICT_COLUMNS: [Column<'static>; 14] = [
    ("samples", "samples", Form::Count),
    ("missing", "missing", Form::Count),
    ("malformed", "malformed", Form::Count),
    ("R1", "rouge/rouge1", Form::Percent),
    ("R2", "rouge/rouge2", Form::Percent),
    ("RL", "rouge/rougeL", Form::Percent),
    ("n-P", "nodes/precision", Form::Percent),
    ("n-R", "nodes/recall", Form::Percent),
    ("n-F1", "nodes/f1", Form::Percent),
    ("exact", "nodes/exact", Form::Percent),
    ("e-F1", "links/f1", Form::Percent),
    ("t-F1", "argument_names/f1", Form::Percent),
    ("v-F1", "argument_values/f1", Form::Percent),
    ("ED", "edit_distance/list", Form::Plain),
];

impl Table {
    /// A table with a row for each group and these columns; columns that no group has are left out.
    pub fn of_groups(groups: &Map<String, Value>, columns: &[Column<'_>]) -> Table {
        let at = |figures: &Value, path: &str| -> Option<Value> {
            path.split('/').try_fold(figures.clone(), |value, key| value.get(key).cloned())
        };
        let columns: Vec<&Column<'_>> =
            columns.iter().filter(|(_, path, _)| groups.values().any(|figures| at(figures, path).is_some())).collect();
        let mut table = Table { headers: vec!["group".into()], rows: Vec::new() };
        table.headers.extend(columns.iter().map(|(header, _, _)| (*header).to_owned()));
        for (group, figures) in groups {
            let cells =
                columns.iter().map(|(_, path, form)| at(figures, path).map_or("-".into(), |value| form.write(&value)));
            table.rows.push(std::iter::once(group.clone()).chain(cells).collect());
        }
        table
    }

    /// The original's table of tools: precision, recall and F1 times 100, support, then the micro and macro means.
    pub fn of_tools(figures: &Value) -> Option<Table> {
        let tools = figures.get("node_per_type_no_matchcing")?.as_object()?;
        let mut table = Table::of_rows("type", tools, &["precision", "recall", "f1-score"], &["support"]);
        let total: u64 = tools.values().filter_map(|row| row.get("support")?.as_u64()).sum();
        for kind in ["micro", "macro"] {
            let figure = |name: &str| {
                let key = format!("node_{kind}_{name}_no_matching");
                figures.get(&key).map_or("-".into(), |value| Form::Percent.write(value))
            };
            let shares = ["precision", "recall", "f1"].map(figure);
            table.rows.push(std::iter::once(kind.to_owned()).chain(shares).chain([total.to_string()]).collect());
        }
        Some(table)
    }

    /// Our table of tools: those that occur in gold or predicted plans.
    pub fn of_occurring_tools(figures: &Value) -> Option<Table> {
        let tools = figures.get("nodes")?.get("per_tool")?.as_object()?;
        let mut table = Table::of_rows("tool", tools, &["precision", "recall", "f1"], &["support", "predicted"]);
        // What is supported is the gold.
        table.headers.iter_mut().filter(|header| *header == "support").for_each(|header| *header = "gold".into());
        Some(table)
    }

    fn of_rows(name: &str, tools: &Map<String, Value>, shares: &[&str], counts: &[&str]) -> Table {
        let keys = || {
            let shares = shares.iter().map(|key| (*key, Form::Percent));
            shares.chain(counts.iter().map(|key| (*key, Form::Count)))
        };
        let headers = std::iter::once(name.to_owned()).chain(keys().map(|(key, _)| key.to_owned())).collect();
        let row = |(tool, figures): (&String, &Value)| {
            let cells = keys().map(|(key, form)| figures.get(key).map_or("-".into(), |value| form.write(value)));
            std::iter::once(tool.clone()).chain(cells).collect()
        };
        Table { headers, rows: tools.iter().map(row).collect() }
    }

    /// Columns side by side for a terminal: names to the left, figures to the right.
    pub fn text(&self) -> String {
        let drawn = self.drawn(presets::NOTHING);
        let lines: Vec<&str> = drawn.lines().map(str::trim_end).collect();
        lines.join("\n")
    }

    pub fn markdown(&self) -> String {
        self.drawn(presets::ASCII_MARKDOWN)
    }

    pub fn csv(&self) -> String {
        let mut out = csv::Writer::from_writer(Vec::new());
        for row in std::iter::once(&self.headers).chain(&self.rows) {
            out.write_record(row).expect("memory takes every write, and all rows are as long as the headers");
        }
        let bytes = out.into_inner().expect("memory takes every write");
        String::from_utf8(bytes).expect("cells are UTF-8")
    }

    fn drawn(&self, style: TableStyle) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(style).set_header(&self.headers).add_rows(&self.rows);
        // Names to the left, figures to the right.
        let is_name = |at: usize| self.rows.iter().filter_map(|row| row.get(at)).any(|cell| starts_with_a_letter(cell));
        for (at, column) in table.column_iter_mut().enumerate().skip(1) {
            if !is_name(at) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.to_string()
    }
}

/// True for names, also behind the mark of a run; false for figures and what stands for one.
fn starts_with_a_letter(cell: &str) -> bool {
    cell.trim_start_matches(['>', '*', ' ']).chars().next().is_some_and(char::is_alphabetic)
}

impl Form {
    /// The figure in this form; what is no number is written as it is.
    pub fn write(self, value: &Value) -> String {
        let sum = || {
            value
                .as_object()
                .map(|causes| causes.values().filter_map(Value::as_f64).fold(0.0, |sum, count| sum + count))
        };
        let Some(number) = value.as_f64().or_else(sum) else {
            return value.as_str().map_or_else(|| "-".to_owned(), str::to_owned);
        };
        match self {
            Form::Count => format!("{number:.0}"),
            Form::Percent => format!("{:.2}", number * 100.0),
            Form::Plain => format!("{number:.4}"),
        }
    }
}
