//! The report as tables: figures that all forms have, and under them those of the benchmarks.

use super::{Report, Row};
use crate::bench::Form;
use crate::bench::own::{self, OwnFigure};
use crate::evaluate::strict::Figure;
use crate::evaluate::table::Table;
use crate::report::table::markdown;

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Columns for a terminal.
    Terminal,
    Markdown,
    /// Comma-separated values: one table with every figure, intervals in columns of their own, shares from 0 to 1.
    Csv,
}

/// The figures that all forms have, as percentages; for CSV with those of the benchmarks.
pub fn main_table(report: &Report, layout: Layout) -> Table {
    if layout == Layout::Csv {
        return csv(report);
    }
    let has_calls = report.rows.iter().any(|row| row.spent.is_some_and(|spent| spent.calls > 0));
    let mut headers = vec!["set", "plans", "n", "n-P", "n-R", "n-F1", "n-F1 macro", "e-P", "e-R", "e-F1", "exact"];
    headers.extend(if has_calls { ["tokens", "cost"].as_slice() } else { &["plans/s"] });
    let mut table = Table { headers: headers.into_iter().map(str::to_owned).collect(), rows: Vec::new() };
    for row in &report.rows {
        let figures = &row.figures;
        let [node_p, node_r, node_f] = &figures.nodes;
        let [link_p, link_r, link_f] = &figures.links;
        let [_, _, macro_f] = &figures.nodes_macro;
        let planned = figures.samples - figures.missing;
        let count =
            if figures.missing == 0 { figures.samples.to_string() } else { format!("{planned}/{}", figures.samples) };
        let mut cells = names(row, layout);
        cells.push(count);
        cells.extend([node_p, node_r].map(percent));
        cells.extend([with_interval(node_f), percent(macro_f)]);
        cells.extend([link_p, link_r].map(percent));
        cells.extend([with_interval(link_f), with_interval(&figures.exact)]);
        let spent = row.spent.as_ref();
        if has_calls {
            let used = spent.filter(|spent| spent.prompt_tokens + spent.completion_tokens > 0);
            cells.push(
                used.map_or("-".into(), |spent| format!("{} + {}", spent.prompt_tokens, spent.completion_tokens)),
            );
            cells.push(spent.and_then(|spent| report.cost(spent)).map_or("-".into(), |cost| format!("${cost:.4}")));
        } else {
            cells.push(spent.and_then(super::Spent::rate).map_or("-".into(), |rate| format!("{rate:.0}")));
        }
        table.rows.push(cells);
    }
    table
}

/// The figures of the benchmarks, a table for each form that has some.
pub fn own_tables(report: &Report, layout: Layout) -> Vec<Table> {
    let of_form = |form: Form| {
        let columns = own::named(form);
        let headers = ["set", "plans"].into_iter().chain(columns.iter().map(|figure| figure.header));
        let mut table = Table { headers: headers.map(str::to_owned).collect(), rows: Vec::new() };
        for row in report.rows.iter().filter(|row| row.form == Some(form)) {
            let cells = columns.iter().map(|column| own_figure(row, column).map_or("-".into(), with_interval));
            table.rows.push(names(row, layout).into_iter().chain(cells).collect());
        }
        table
    };
    let forms = Form::ALL.into_iter().filter(|form| !own::named(*form).is_empty());
    forms.filter(|form| report.rows.iter().any(|row| row.form == Some(*form))).map(of_form).collect()
}

fn own_columns(report: &Report) -> Vec<&'static OwnFigure> {
    let mut columns: Vec<&OwnFigure> = Vec::new();
    for figure in report.rows.iter().filter_map(|row| row.form).flat_map(own::named) {
        if !columns.contains(&figure) {
            columns.push(figure);
        }
    }
    columns
}

fn own_figure<'r>(row: &'r Row, column: &OwnFigure) -> Option<&'r Figure> {
    let at = own::named(row.form?).iter().position(|figure| figure == column)?;
    row.figures.own.get(at)
}

/// Set and planner; planners are marked among the floors.
fn names(row: &Row, layout: Layout) -> Vec<String> {
    let (set, plans) = (jarvis_plan::export::text::clean(&row.set), row.plans.as_str());
    match (layout, row.is_floor) {
        (Layout::Terminal, false) => vec![set, format!("> {plans}")],
        (Layout::Terminal, true) => vec![set, format!("  {plans}")],
        (Layout::Markdown, false) => vec![markdown(&set), format!("**{}**", markdown(plans))],
        (Layout::Markdown, true) => vec![markdown(&set), markdown(plans)],
        (Layout::Csv, _) => vec![set, plans.to_owned()],
    }
}

fn percent(figure: &Figure) -> String {
    figure.value.map_or("-".into(), |value| format!("{:.1}", value * 100.0))
}

fn with_interval(figure: &Figure) -> String {
    match figure.interval {
        Some([low, high]) => format!("{} [{:.1}, {:.1}]", percent(figure), low * 100.0, high * 100.0),
        None => percent(figure),
    }
}

fn csv(report: &Report) -> Table {
    let columns = own_columns(report);
    let common = [
        "node_precision",
        "node_recall",
        "node_f1",
        "node_macro_precision",
        "node_macro_recall",
        "node_macro_f1",
        "edge_precision",
        "edge_recall",
        "edge_f1",
        "exact",
    ];
    let mut headers: Vec<String> =
        ["set", "form", "plans", "floor", "samples", "missing"].into_iter().map(str::to_owned).collect();
    let figures = common.into_iter().chain(columns.iter().map(|figure| figure.key));
    headers.extend(figures.flat_map(|name| [name.to_owned(), format!("{name}_low"), format!("{name}_high")]));
    let spent = ["plans_per_second", "calls", "prompt_tokens", "completion_tokens", "cost"];
    headers.extend(spent.into_iter().map(str::to_owned));
    let mut table = Table { headers, rows: Vec::new() };
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.6}"));
    for row in &report.rows {
        let own = &row.figures;
        let form = row.form.map_or("", |form| form.as_str());
        let [set, plans] = [&row.set, &row.plans].map(|name| jarvis_plan::export::text::clean(name));
        let mut cells = vec![set, form.to_owned(), plans, row.is_floor.to_string()];
        cells.extend([own.samples, own.missing].map(|count| count.to_string()));
        let all = own.nodes.iter().chain(&own.nodes_macro).chain(&own.links).chain([&own.exact]).map(Some);
        for figure in all.chain(columns.iter().map(|column| own_figure(row, column))) {
            let [low, high] = figure.and_then(|figure| figure.interval).map_or([None; 2], |both| both.map(Some));
            cells.extend([figure.and_then(|figure| figure.value), low, high].map(number));
        }
        match &row.spent {
            Some(spent) => {
                cells.push(number(spent.rate()));
                cells.push(spent.calls.to_string());
                cells.extend([spent.prompt_tokens, spent.completion_tokens].map(|count| count.to_string()));
                cells.push(number(report.cost(spent)));
            }
            None => cells.extend(spent_columns()),
        }
        table.rows.push(cells);
    }
    table
}

fn spent_columns() -> [String; 5] {
    std::array::from_fn(|_| String::new())
}

/// What a reader of the tables must know.
pub fn notes(report: &Report) -> Vec<String> {
    let mut notes = vec![
        "Times 100, with 95 % bootstrap intervals; - where there is nothing to count.".to_owned(),
        "n: samples, planned/all where plans are missing, which count as empty; n-: tools as multisets of names over all \
         samples; macro: the mean over samples; e-: links as pairs of names; exact: same tools and links."
            .to_owned(),
        "every listed tool: all tools that a request is offered, without links; a constant plan: the most frequent gold \
         plan of the other samples."
            .to_owned(),
    ];
    let own: Vec<String> =
        own_columns(report).iter().map(|figure| format!("{}: {}", figure.header, figure.meaning)).collect();
    notes.extend(own.into_iter().map(|meaning| format!("{meaning}.")));
    notes
}
