//! The page: one HTML file with everything in it, no script and no network.
//!
//! `maud` writes it, because it escapes every text by default; a policy in the head forbids scripts besides.

mod charts;
mod graph;
mod samples;
mod tools;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

use self::charts::{Bar, Column, lying, standing};
use super::measure::Run;
use super::plan::Names;
use super::table::{Cells, EXTRA_COLUMNS, percent, wanted};
use super::text::{clean, cut, several};
use super::{DomainReport, Metric, Report, left_out, notes};
use crate::evaluate::table::{Column as FigureColumn, Form};
use crate::evaluate::{Group, Size, Split};

const STYLE: &str = include_str!("page/style.css");

/// The figures that groups are charted by.
const CHARTED: [&str; 3] = ["n-F1", "e-F1", "v-F1"];

/// The figure that runs are ordered by.
const LEADING: &str = "node_micro_f1_no_matching";

/// Columns of the table of runs beyond the published ones.
const MORE: [FigureColumn<'static>; 3] = [
    ("RL", "step_rougeL", Form::Percent),
    ("n-F1 macro", "node_macro_f1_no_matching", Form::Percent),
    ("edit distance", "edit_distance", Form::Plain),
];

/// The whole page.
pub fn page(report: &Report) -> String {
    let names: Vec<&str> = report.domains.iter().map(|domain| domain.name.as_str()).collect();
    let title = format!("TaskBench: {}", names.join(", "));
    let runs: usize = report.domains.iter().map(|domain| domain.runs.len()).sum();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "TaskBench report" }
                    p.lead {
                        (several(runs, "run")) " on "
                        @for (at, domain) in report.domains.iter().enumerate() {
                            @if at > 0 { ", " } (domain.name)
                        }
                        @if report.domains.iter().any(|domain| domain.published(report.leaderboard).next().is_some()) {
                            ", beside the published leaderboard"
                        }
                    }
                    nav { ul {
                        @for (at, domain) in report.domains.iter().enumerate() {
                            li {
                                a href=(format!("#d{at}")) { (domain.name) }
                                " (" a href=(format!("#d{at}-shape")) { "shape" } ", " a href=(format!("#d{at}-size")) { "size" } ", "
                                a href=(format!("#d{at}-tools")) { "tools" } ", " a href=(format!("#d{at}-worst")) { "worst" } ")"
                            }
                        }
                        li { a href="#notes" { "How to read it" } }
                    } }
                }
                main {
                    @for (at, domain) in report.domains.iter().enumerate() { (section(at, domain, report)) }
                    section #notes {
                        h2 { "How to read it" }
                        ul {
                            @for note in notes(report) { li { (ticked(&note)) } }
                            li { "Plans are of size n when the gold plan has n nodes. n under a bar is the number of samples that the figures rest on." }
                            li {
                                "Tools, worst samples and drawings come from a reading of their own, which compares names with "
                                code { "_" } " as a blank, counts repeated nodes, and also follows " code { "<output_of_X>" } "."
                            }
                            li { "A missing tool is paired with the surplus tool that shares most neighbours with it, else with the one nearest in the list." }
                            li { "Worst are the samples with the lowest mean of the F1 of nodes and of links; of equals, the larger plan comes first. Samples without a prediction are not among them." }
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}

/// A sentence in which what stands between backticks is code.
fn ticked(text: &str) -> Markup {
    let text = clean(text);
    html! { @for (at, piece) in text.split('`').enumerate() { @if at % 2 == 1 { code { (piece) } } @else { (piece) } } }
}

fn section(at: usize, domain: &DomainReport, report: &Report) -> Markup {
    let names = Names::of(&domain.tools);
    // The best first, as in the bars.
    let mut runs: Vec<&Run> = domain.runs.iter().collect();
    runs.sort_by(|a, b| node_f1(b).total_cmp(&node_f1(a)));
    let metrics = wanted(report.wanted);
    let sizes = sizes(&runs);
    let published_here = domain.published(report.leaderboard).next().is_some();
    let gold = domain.runs.first().map_or(0, |run| run.coverage.gold);
    html! {
        section id=(format!("d{at}")) {
            h2 { (domain.name) }
            p.soft { (several(domain.tools.tools.len(), "tool")) ", " (several(gold, "gold plan")) ", " (domain.dependency.as_str()) " dependencies" }
            (summary(domain, &runs, &metrics))
            h3 { @if published_here { "Beside the published figures" } @else { "Figures" } }
            p.soft { "Best first." @if published_here { " ▸ and the darker bar mark runs." } }
            div.panels {
                @for (place, metric) in &metrics {
                    @let bars = ranked(domain, report, *place);
                    @if !bars.is_empty() {
                        figure {
                            figcaption { b { (metric.short) } " " (metric.meaning) }
                            (lying(&format!("{} by model", metric.short), &bars, 100.0, &[0.0, 25.0, 50.0, 75.0, 100.0]))
                        }
                    }
                }
            }
            @if published_here {
                details { summary { "The figures as a table" } (published(domain, report, &metrics)) }
            }
            h3 id=(format!("d{at}-shape")) { "By plan shape" }
            p.soft { "Plans of shape single have no links, so their e-F1 is 0 by the original's rules." }
            @for run in &runs { (grouped(run, domain, &metrics, &shapes())) }
            h3 id=(format!("d{at}-size")) { "By plan size" }
            p.soft { "Size is the number of nodes of the gold plan." }
            @for run in &runs { (grouped(run, domain, &metrics, &sizes)) }
            h3 id=(format!("d{at}-tools")) { "Confusion of tools" }
            @for (nth, run) in runs.iter().enumerate() {
                (foldable(nth, domain, &run.name, tools::confusion(&run.confusion, &names)))
            }
            h3 id=(format!("d{at}-worst")) { "Worst samples" }
            p.key {
                span.k-hit { "solid: in both plans" } " "
                span.k-missing { "dashed: missing in the prediction" } " "
                span.k-surplus { "thick: surplus in the prediction" }
            }
            @for (nth, run) in runs.iter().enumerate() {
                @let missing = run.coverage.gold.saturating_sub(run.coverage.predicted);
                (foldable(nth, domain, &run.name, html! {
                    p.soft {
                        (run.wrong) " of " (several(run.coverage.predicted, "prediction")) @if run.wrong == 1 { " differs" } @else { " differ" } " from the gold plan in a node or a link"
                        @if run.wrong > run.worst.len() { "; the " (run.worst.len()) " worst" }
                        "."
                        @if missing == 1 { " One gold plan has no prediction and is not among them." }
                        @if missing > 1 { " " (missing) " gold plans have no prediction and are not among them." }
                    }
                    @for (rank, sample) in run.worst.iter().enumerate() { (samples::sample(rank + 1, sample, &names)) }
                }))
            }
        }
    }
}

/// A run's part: by itself when there is one run, else under its name, the first one open.
fn foldable(nth: usize, domain: &DomainReport, name: &str, inside: Markup) -> Markup {
    html! {
        @if domain.runs.len() == 1 { (inside) } @else {
            details.run open[nth == 0] { summary { h4 { (cut(name, 60)) } } (inside) }
        }
    }
}

/// The figure by which runs are ordered; below 0 where there is none.
fn node_f1(run: &Run) -> f64 {
    let figure = run.groups.get(&Group::OVERALL.to_string()).and_then(|group| group.get(LEADING)?.as_f64());
    figure.unwrap_or(-1.0)
}

/// What was measured, and what was left out. The figure that runs are ordered by comes first, so that it is seen on a narrow
/// screen; figures that no run has are left out.
fn summary(domain: &DomainReport, runs: &[&Run], metrics: &[(usize, &Metric)]) -> Markup {
    let overall = |run: &Run| run.groups.get(&Group::OVERALL.to_string()).cloned().unwrap_or(Value::Null);
    let has = |metric: &Metric| runs.iter().any(|run| look(&overall(run), metric.key).is_some_and(Value::is_number));
    let mut metrics: Vec<(usize, &Metric)> = metrics.iter().copied().filter(|(_, metric)| has(metric)).collect();
    metrics.sort_by_key(|(_, metric)| metric.key != LEADING);
    let more: Vec<&FigureColumn<'_>> = EXTRA_COLUMNS
        .iter()
        .chain(&MORE)
        .filter(|(_, path, _)| domain.runs.iter().any(|run| look(&overall(run), path).is_some()))
        .collect();
    html! {
        div.scroll { table {
            thead { tr {
                th { "Run" } th.n title="Samples that the figures rest on, of the gold plans there are" { "n" }
                @for (_, metric) in &metrics { th.n title=(metric.meaning) { (metric.short) } }
                @for (header, _, _) in &more { th.n { (header) } }
            } }
            tbody { @for run in runs {
                @let figures = overall(run);
                @let cells = Cells::of_group(&figures);
                tr.own {
                    td.name { (cut(&run.name, 60)) }
                    td.n { (figures.get("node_supports").and_then(Value::as_u64).unwrap_or(0)) "/" (run.coverage.gold) }
                    @for (place, _) in &metrics { td.n { (percent(cells.figures.get(*place).copied().flatten())) } }
                    @for (_, path, form) in &more { td.n { (look(&figures, path).map_or("-".into(), |value| form.write(value))) } }
                }
            } }
        } }
        @for words in left_out::told(domain, runs.iter().copied(), false) { p.soft { (ticked(&words)) } }
    }
}

fn look<'v>(figures: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('/').try_fold(figures, |value, key| value.get(key))
}

/// The runs and published rows that have this figure, the best first.
fn ranked(domain: &DomainReport, report: &Report, place: usize) -> Vec<Bar> {
    let figure = |run: &Run| {
        let overall = run.groups.get(&Group::OVERALL.to_string())?;
        Cells::of_group(overall).figures.get(place).copied().flatten()
    };
    let bar = |label: String, value: f64, own: bool| Bar { label, value, figure: format!("{value:.2}"), own };
    let runs = domain.runs.iter().filter_map(|run| Some(bar(clean(&run.name), figure(run)?, true)));
    let mut bars: Vec<Bar> = runs.collect();
    if bars.is_empty() {
        return bars;
    }
    let published = domain.published(report.leaderboard);
    bars.extend(published.filter_map(|row| Some(bar(row.llm.clone(), *row.figures().get(place)?, false))));
    bars.sort_by(|a, b| b.value.total_cmp(&a.value));
    bars
}

/// Runs and published rows of one domain as a table.
fn published(domain: &DomainReport, report: &Report, metrics: &[(usize, &Metric)]) -> Markup {
    let alone = Report { domains: vec![domain.clone()], leaderboard: report.leaderboard, wanted: report.wanted };
    html! {
        div.scroll { table {
            thead { tr { th { "Model" } th { "Source" } @for (_, metric) in metrics { th.n { (metric.short) } } } }
            tbody { @for row in super::table::rows(&alone) {
                tr class=(if row.source == super::table::Source::Run { "own" } else { "other" }) {
                    td { (cut(&row.name, 60)) } td { (row.source.as_str()) }
                    @for (place, _) in metrics {
                        @let figure = row.cells.first().and_then(|cells| *cells.as_ref()?.figures.get(*place)?);
                        td.n { (percent(figure)) }
                    }
                }
            } }
        } }
    }
}

/// The groups by shape, with labels.
fn shapes() -> Vec<(String, Group)> {
    let group = |split: Split| {
        let label = if split == Split::Overall { "all" } else { split.as_str() };
        (label.to_owned(), Group { split, size: Size::Overall })
    };
    Split::ALL.into_iter().map(group).collect()
}

/// The groups by size up to the largest that some run has, with labels.
fn sizes(runs: &[&Run]) -> Vec<(String, Group)> {
    let sizes = Size::all().into_iter().filter(|size| *size != Size::Overall);
    let mut groups: Vec<(String, Group)> =
        sizes.map(|size| (size.to_string(), Group { split: Split::Overall, size })).collect();
    let used = |group: &Group| runs.iter().any(|run| scored(run, group) > 0);
    let end = groups.iter().rposition(|(_, group)| used(group)).map_or(1, |at| at + 1);
    groups.truncate(end);
    groups
}

/// The samples of a group that a run's figures rest on.
fn scored(run: &Run, group: &Group) -> u64 {
    let figures = run.groups.get(&group.to_string());
    figures.and_then(|figures| figures.get("node_supports")?.as_u64()).unwrap_or(0)
}

/// One run's figures by group.
fn grouped(run: &Run, domain: &DomainReport, metrics: &[(usize, &Metric)], groups: &[(String, Group)]) -> Markup {
    let charted = metrics.iter().filter(|(_, metric)| CHARTED.contains(&metric.short));
    html! {
        @if domain.runs.len() > 1 { h4 { (cut(&run.name, 60)) } }
        div.panels {
            @for (place, metric) in charted {
                figure {
                    figcaption { b { (metric.short) } " " (metric.meaning) }
                    (standing(&format!("{} of {}", metric.short, cut(&run.name, 60)), &columns(run, *place, groups)))
                }
            }
        }
    }
}

fn columns(run: &Run, place: usize, groups: &[(String, Group)]) -> Vec<Column> {
    let column = |(label, group): &(String, Group)| {
        let cells = run.groups.get(&group.to_string()).map(Cells::of_group);
        Column {
            label: label.clone(),
            value: cells.as_ref().and_then(|cells| *cells.figures.get(place)?),
            samples: scored(run, group),
        }
    };
    groups.iter().map(column).collect()
}
