//! The report as one HTML page without scripts or network access: the same input gives the same bytes.
//!
//! `maud` escapes every text, a policy in the head forbids scripts, and control characters and marks that reorder a line
//! are replaced.

use jarvis_plan::export::plural;
use jarvis_plan::export::text::{clean, cut};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

use super::table::{EXTRA_COLUMNS, Layout, Source, at, comparison, percent};
use super::{DomainReport, Report, Run, notes};
use crate::evaluate::table::{Column, Form};

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{margin:0 auto;max-width:1100px;padding:20px;font:15px/1.5 system-ui,sans-serif}\
h2{margin-top:40px}table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}\
.scroll{overflow-x:auto}th,td{padding:3px 12px 3px 0;text-align:left;vertical-align:top;border-bottom:1px solid #8884}\
td.n,th.n{text-align:right;white-space:nowrap}td{overflow-wrap:anywhere}tr.own td:first-child{font-weight:600}\
small{display:block;opacity:.75}";

/// The strict figures that have an interval, beyond those of the comparison.
const STRICT: [Column<'static>; 5] = [
    ("strict exact", "strict/nodes/exact", Form::Percent),
    ("strict R1", "strict/rouge/rouge1", Form::Percent),
    ("strict R2", "strict/rouge/rouge2", Form::Percent),
    ("strict RL", "strict/rouge/rougeL", Form::Percent),
    ("strict ED", "strict/edit_distance/list", Form::Plain),
];
/// Cells of a run's name.
const NAME: usize = 60;
/// Cells of a sentence about a sample, which may quote a prediction.
const REASON: usize = 200;

pub fn page(report: &Report) -> String {
    let names: Vec<&str> = report.domains.iter().map(|domain| domain.name.as_str()).collect();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "TaskBench: " (names.join(", ")) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "TaskBench report" }
                @for domain in &report.domains { (section(domain, report)) }
                h2 { "How to read it" }
                ul {
                    @for note in notes(report) { li { (clean(&note)) } }
                    li { "[low, high]: 95 % interval by bootstrap over the gold plans." }
                    li { "exact: plans with exactly the gold tools; ED: edit distance of the nodes, from 0 to 1." }
                    li {
                        "Worst samples have the lowest mean of the strict F1 of nodes and of links; of equals, the larger gold \
                         plan comes first. Samples without a prediction are left out."
                    }
                }
            }
        }
    };
    page.into_string()
}

fn section(domain: &DomainReport, report: &Report) -> Markup {
    let gold = domain.runs.first().map_or(0, |run| run.coverage.gold);
    let alone = Report { domains: vec![domain.clone()], ..report.clone() };
    let table = comparison(&alone, Layout::Page);
    html! {
        h2 { (domain.name) }
        p { (plural(domain.tools.tools.len(), "tool")) ", " (plural(gold, "gold plan")) ", " (domain.dependency.as_str()) " dependencies" }
        div.scroll { table {
            thead { tr { @for (at, header) in table.headers.iter().enumerate() { th.n[at > 1] { (header) } } } }
            tbody { @for row in &table.rows {
                tr.own[row.get(1).is_some_and(|source| source == Source::Run.as_str())] {
                    @for (at, cell) in row.iter().enumerate() { td.n[at > 1] { (cut(cell, NAME)) } }
                }
            } }
        } }
        (intervals(domain))
        @for run in domain.runs.iter().filter(|run| !run.worst.is_empty()) { (worst(run)) }
    }
}

/// The strict figures of each run, with their intervals.
fn intervals(domain: &DomainReport) -> Markup {
    let has = |path: &str| domain.runs.iter().any(|run| at(&run.figures, path).is_some());
    let columns: Vec<&Column<'_>> = EXTRA_COLUMNS.iter().chain(&STRICT).filter(|(_, path, _)| has(path)).collect();
    let bound =
        |form: &Form, bounds: &Value, place: usize| bounds.get(place).map_or("-".into(), |bound| form.write(bound));
    html! {
        @if !columns.is_empty() {
            h3 { "Strict figures with their intervals" }
            div.scroll { table {
                thead { tr { th { "model" } @for (header, _, _) in &columns { th.n { (header) } } } }
                tbody { @for run in &domain.runs { tr.own {
                    td { (cut(&run.name, NAME)) }
                    @for (_, path, form) in &columns {
                        td.n {
                            (at(&run.figures, path).map_or("-".into(), |figure| form.write(figure)))
                            @if let Some(bounds) = at(&run.figures, &format!("{path}_interval")) {
                                small { "[" (bound(form, bounds, 0)) ", " (bound(form, bounds, 1)) "]" }
                            }
                        }
                    }
                } } }
            } }
        }
    }
}

fn worst(run: &Run) -> Markup {
    html! {
        h3 { "Worst samples of " (cut(&run.name, NAME)) }
        p { (run.wrong) " of " (plural(run.coverage.predicted, "prediction")) " not right in every node and link" }
        div.scroll { table {
            thead { tr { th { "id" } th.n { "n-F1" } th.n { "e-F1" } th { "why" } } }
            tbody { @for sample in &run.worst {
                tr {
                    td { (cut(&sample.id, NAME)) }
                    td.n { (percent(sample.node_f1.map(|f1| f1 * 100.0))) }
                    td.n { (percent(sample.link_f1.map(|f1| f1 * 100.0))) }
                    td { @for (at, reason) in sample.lost.iter().enumerate() { @if at > 0 { "; " } (cut(reason, REASON)) } }
                }
            } }
        } }
    }
}
