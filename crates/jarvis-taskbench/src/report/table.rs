//! Runs and published rows in one table, and the words under it.

use jarvis_plan::export::text::{clean, cut};
use serde_json::Value;

use super::{METRICS, Metric, Report, Run, full_size, left_out};
use crate::evaluate::Wanted;
use crate::evaluate::table::{Column, Form, Table};
use crate::words::words;

/// Figures beyond those of the published tables, shown for runs that have them: a header, and where the figure stands in
/// a group (a path with `/` leads into objects).
pub const EXTRA_COLUMNS: &[Column<'static>] = &[
    ("strict n-F1", "strict/nodes/f1", Form::Percent),
    ("strict e-F1", "strict/links/f1", Form::Percent),
    ("strict t-F1", "strict/argument_names/f1", Form::Percent),
    ("strict v-F1", "strict/argument_values/f1", Form::Percent),
];

words! {
    pub enum Source {
        Run = "run",
        Published = "published",
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub name: String,
    pub source: Source,
    /// For each domain of the report what is known.
    pub cells: Vec<Option<Cells>>,
}

/// A model's figures in one domain, times 100.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells {
    /// The samples they rest on, and the gold plans there are; of a run.
    pub samples: Option<(u64, usize)>,
    /// In the order of [`METRICS`]; `None` where there is no such figure.
    pub figures: Vec<Option<f64>>,
    /// In the order of [`EXTRA_COLUMNS`], as shares; null where a run has the column and no figure for it.
    pub extra: Vec<Option<Value>>,
}

/// The rows of a report, the best first: by node F1 in the first domain, then in the next ones, then by name; a row
/// without the figure stands behind those that have it.
pub fn rows(report: &Report) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let domains = report.domains.len();
    let mut put = |name: &str, source: Source, domain: usize, cells: Cells| {
        let at = rows.iter().position(|row| row.name == name && row.source == source);
        let row = match at {
            Some(at) => rows.get_mut(at),
            None => {
                rows.push(Row { name: name.to_owned(), source, cells: vec![None; domains] });
                rows.last_mut()
            }
        };
        if let Some(cell) = row.and_then(|row| row.cells.get_mut(domain)) {
            *cell = Some(cells);
        }
    };
    for (at, domain) in report.domains.iter().enumerate() {
        for run in &domain.runs {
            let samples = run.figures.get("node_supports").and_then(Value::as_u64);
            let samples = samples.map(|samples| (samples, run.coverage.gold));
            put(&run.name, Source::Run, at, Cells { samples, ..Cells::of(&run.figures) });
        }
        for row in domain.published(report.leaderboard) {
            let figures = row.figures.map(Some).to_vec();
            put(
                &row.llm,
                Source::Published,
                at,
                Cells { samples: None, figures, extra: vec![None; EXTRA_COLUMNS.len()] },
            );
        }
    }
    let node_f1 = |row: &Row| -> Vec<f64> {
        // What is missing sorts last.
        row.cells.iter().map(|cells| cells.as_ref().and_then(|cells| cells.node_f1()).unwrap_or(-1.0)).collect()
    };
    rows.sort_by(|a, b| {
        let order = node_f1(a).into_iter().zip(node_f1(b)).map(|(a, b)| b.total_cmp(&a));
        order.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then).then_with(|| a.name.cmp(&b.name))
    });
    rows
}

impl Cells {
    fn of(figures: &Value) -> Cells {
        Cells {
            samples: None,
            figures: METRICS.iter().map(|metric| Some(at(figures, metric.key)?.as_f64()? * 100.0)).collect(),
            extra: EXTRA_COLUMNS.iter().map(|(_, path, _)| at(figures, path).cloned()).collect(),
        }
    }

    fn node_f1(&self) -> Option<f64> {
        METRICS.iter().zip(&self.figures).find(|(metric, _)| metric.short == "n-F1").and_then(|(_, figure)| *figure)
    }
}

/// The figure at a path of keys with `/` between them.
pub(crate) fn at<'v>(figures: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('/').try_fold(figures, |value, key| value.get(key))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// For a terminal: short headers in two lines, runs marked with `>`.
    Terminal,
    /// Markdown: runs in bold.
    Markdown,
    /// Comma-separated values: plain names.
    Csv,
    /// HTML: plain names.
    Page,
}

/// The table of all rows: name, source, and for each domain the samples of runs and the figures of the published tables
/// in their order, as far as they were asked for. What is not known is `-`, and in CSV empty. On a terminal several
/// domains stand one below the other, and columns without figures are left out.
pub fn comparison(report: &Report, layout: Layout) -> Table {
    if layout == Layout::Terminal && report.domains.len() > 1 {
        return stacked(report);
    }
    let rows = rows(report);
    let prefixes: Vec<String> = report
        .domains
        .iter()
        .map(|domain| if report.domains.len() > 1 { format!("{} ", domain.name) } else { String::new() })
        .collect();
    written(&rows, &prefixes, &Columns::of(report, &rows, layout), layout)
}

struct Columns {
    /// Published metrics with their places.
    metrics: Vec<(usize, &'static Metric)>,
    /// Places in [`EXTRA_COLUMNS`].
    extra: Vec<usize>,
}

impl Columns {
    /// The metrics asked for, and the further figures that some row has; on a terminal no metric without figures.
    fn of(report: &Report, rows: &[Row], layout: Layout) -> Columns {
        let known = || rows.iter().flat_map(|row| row.cells.iter().flatten());
        let mut metrics = wanted(report.wanted);
        if matches!(layout, Layout::Terminal | Layout::Page) {
            metrics.retain(|(at, _)| known().any(|cells| matches!(cells.figures.get(*at), Some(Some(_)))));
        }
        let has = |at: &usize| known().any(|cells| matches!(cells.extra.get(*at), Some(Some(_))));
        Columns { metrics, extra: (0..EXTRA_COLUMNS.len()).filter(has).collect() }
    }
}

/// Rows as they are written, with the columns of each domain behind its prefix.
fn written(rows: &[Row], prefixes: &[String], columns: &Columns, layout: Layout) -> Table {
    let Columns { metrics, extra } = columns;
    let none = if layout == Layout::Csv { "" } else { "-" };
    let mut table = Table { headers: vec!["model".into(), "source".into()], rows: Vec::new() };
    for prefix in prefixes {
        let names = metrics.iter().map(|(_, metric)| metric.short);
        let extra = extra.iter().filter_map(|at| EXTRA_COLUMNS.get(*at)).map(|(header, _, _)| *header);
        // A spreadsheet would take `3/5` for a date.
        let counts: &[&str] = if layout == Layout::Csv { &["n", "of"] } else { &["n"] };
        table.headers.extend(counts.iter().copied().chain(names).chain(extra).map(|name| match layout {
            Layout::Terminal => name.replace(' ', "\n"),
            Layout::Markdown | Layout::Csv | Layout::Page => format!("{prefix}{name}"),
        }));
    }
    for row in rows {
        let is_run = row.source == Source::Run;
        let mut cells = vec![
            match layout {
                Layout::Terminal if is_run => format!("> {}", cut(&row.name, 60)),
                Layout::Terminal => format!("  {}", row.name),
                Layout::Markdown if is_run => format!("**{}**", markdown(&row.name)),
                Layout::Markdown => markdown(&row.name),
                Layout::Csv | Layout::Page => row.name.clone(),
            },
            row.source.as_str().to_owned(),
        ];
        for known in &row.cells {
            let figure = |at: usize| known.as_ref().and_then(|cells| *cells.figures.get(at)?);
            let samples = known.as_ref().and_then(|cells| cells.samples);
            match (samples, layout) {
                (Some((scored, gold)), Layout::Csv) => cells.extend([scored.to_string(), gold.to_string()]),
                (Some((scored, gold)), Layout::Terminal | Layout::Markdown | Layout::Page) => {
                    cells.push(format!("{scored}/{gold}"))
                }
                (None, Layout::Csv) => cells.extend([none.to_owned(), none.to_owned()]),
                (None, Layout::Terminal | Layout::Markdown | Layout::Page) => cells.push(none.into()),
            }
            let written = |figure: Option<f64>| figure.map_or(none.to_owned(), |figure| percent(Some(figure)));
            cells.extend(metrics.iter().map(|(at, _)| written(figure(*at))));
            cells.extend(extra.iter().map(|at| {
                let share = known.as_ref().and_then(|cells| cells.extra.get(*at)?.as_ref()?.as_f64());
                written(share.map(|share| share * 100.0))
            }));
        }
        table.rows.push(cells);
    }
    table
}

/// The domains one below the other, each with its own order, so that the table stays as wide as that of one domain.
fn stacked(report: &Report) -> Table {
    let rows = rows(report);
    let columns = Columns::of(report, &rows, Layout::Terminal);
    let mut table = Table::default();
    for (at, domain) in report.domains.iter().enumerate() {
        let mut here: Vec<Row> = Vec::new();
        for row in &rows {
            if let Some(Some(cells)) = row.cells.get(at) {
                here.push(Row { name: row.name.clone(), source: row.source, cells: vec![Some(cells.clone())] });
            }
        }
        let first = |row: &Row| row.cells.first().and_then(|cells| cells.as_ref()?.node_f1()).unwrap_or(-1.0);
        here.sort_by(|a, b| first(b).total_cmp(&first(a)));
        let alone = written(&here, &[String::new()], &columns, Layout::Terminal);
        if table.headers.is_empty() {
            table.headers = std::iter::once("domain".to_owned()).chain(alone.headers).collect();
        } else {
            table.rows.push(vec![String::new(); table.headers.len()]);
        }
        table.rows.extend(alone.rows.into_iter().map(|row| std::iter::once(domain.name.clone()).chain(row).collect()));
    }
    table
}

pub(crate) fn percent(figure: Option<f64>) -> String {
    figure.map_or("-".into(), |figure| Form::Percent.write(&(figure / 100.0).into()))
}

pub(crate) fn wanted(wanted: Wanted) -> Vec<(usize, &'static Metric)> {
    METRICS.iter().enumerate().filter(|(_, metric)| (metric.wanted)(wanted)).collect()
}

/// A name that Markdown takes as it is.
pub(crate) fn markdown(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for letter in clean(name).chars() {
        match letter {
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '&' => out.extend(['\\', letter]),
            '\n' | '\t' => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

/// What a reader of the table must know: what runs rest on, what published rows are, what the columns mean.
pub fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    notes.push(
        "Runs are scored by the original's rules, which leave out samples whose gold plan is malformed, or whose prediction \
         is missing or malformed: n is how many are left of how many gold plans."
            .to_owned(),
    );
    for domain in &report.domains {
        notes.extend(left_out::sentences(domain, report.domains.len() > 1));
    }
    let sizes = report.domains.iter().filter(|_| report.leaderboard).filter_map(|domain| {
        let known = domain.known?;
        Some(format!("{known} {}", full_size(known)?))
    });
    let mut sizes: Vec<String> = sizes.collect();
    sizes.dedup();
    if !sizes.is_empty() {
        notes.push(format!(
            "Published rows are TaskBench's own leaderboard, on its full test sets ({}); a run compares with them only if \
             it covers the same set.",
            sizes.join(", ")
        ));
    }
    let meanings: Vec<String> =
        wanted(report.wanted).into_iter().map(|(_, metric)| format!("{}: {}", metric.short, metric.meaning)).collect();
    notes.push(format!(
        "{}. All times 100; - (in CSV nothing, in JSON null) where there is no figure.",
        meanings.join("; ")
    ));
    let has_strict = |run: &Run| run.figures.get("strict").is_some();
    if report.domains.iter().flat_map(|domain| &domain.runs).any(has_strict) {
        notes.push(
            "strict: the same figures over every gold plan; what is missing or malformed counts as an empty plan."
                .to_owned(),
        );
    }
    let has_bertscore = |run: &Run| run.figures.get("step_bertscore_f1").is_some();
    if report.wanted.bertscore && !report.domains.iter().flat_map(|domain| &domain.runs).any(has_bertscore) {
        notes.push("BsF of runs is missing: it needs an embedding model.".to_owned());
    }
    if let [first, _, ..] = report.domains.as_slice() {
        notes.push(format!("Sorted by n-F1 of {}, then of the next domain.", first.name));
    }
    notes
}
