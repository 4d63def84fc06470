//! Which tools were taken for which: ranked bars, a heat map, the pairs, and a row for each tool.

use maud::{Markup, html};

use super::super::confusion::{Confusion, missed, surplus};
use super::super::plan::Names;
use super::super::text::{cut, several};
use super::charts::{Bar, Heat, heat, lying};

/// Cells of a name that hovers.
const NAME: usize = 120;
/// Bars of a ranking.
const RANKED: usize = 10;
/// Rows and columns of the heat map.
const HEAT: usize = 12;
/// Pairs shown before the rest is folded away, and pairs shown at all.
const PAIRS: usize = 12;
const MOST_PAIRS: usize = 400;
/// Tools shown before the rest is folded away, and tools shown at all.
const TOOLS: usize = 15;
const MOST_TOOLS: usize = 600;

/// The confusion of one run.
pub(super) fn confusion(confusion: &Confusion, names: &Names) -> Markup {
    let pairs = confusion.ranked();
    let tools = confusion.by_trouble();
    html! {
        p.soft { "Over " (several(confusion.samples, "prediction")) @if confusion.samples == 1 { " that is a plan." } @else { " that are plans." } }
        div.panels {
            (ranking("Most missed: in the gold plan, not predicted", &confusion.most_missed(), names))
            (ranking("Most surplus: predicted, not in the gold plan", &confusion.most_surplus(), names))
        }
        @if pairs.is_empty() { p { "No tool stands in another's place." } } @else {
            @if pairs.len() >= 3 {
                figure.heat {
                    figcaption { "Chosen instead: rows are gold tools, columns what stood in their place" }
                    div.scroll { (heat("Gold tools by what was chosen instead", &heat_of(&pairs, names))) }
                }
            }
            (folded("pairs", pairs.len(), PAIRS, MOST_PAIRS, |range| html! {
                table {
                    thead { tr { th { "Gold tool" } th { "Chosen instead" } th.n { "Times" } th { "Samples" } } }
                    tbody { @for (own, other, pair) in pairs.get(range).into_iter().flatten() {
                        tr {
                            td { (name(own, names)) } td { (name(other, names)) } td.n { (pair.times) }
                            td.soft { (cut(&pair.examples.join(", "), 60)) @if pair.times > pair.examples.len() { ", …" } }
                        }
                    } }
                }
            }))
        }
        (folded("tools", tools.len(), TOOLS, MOST_TOOLS, |range| html! {
            table {
                thead { tr {
                    th { "Tool" } th.n { "Gold" } th.n { "Predicted" } th.n { "Right" } th.n { "Missed" } th.n { "Surplus" }
                    th.n { "Precision" } th.n { "Recall" } th.n { "F1" }
                } }
                tbody { @for (key, counts) in tools.get(range).into_iter().flatten() {
                    tr {
                        td { (name(key, names)) } td.n { (counts.gold) } td.n { (counts.predicted) } td.n { (counts.common) }
                        td.n { (missed(*counts)) } td.n { (surplus(*counts)) }
                        td.n { (share(counts.precision(), counts.predicted)) } td.n { (share(counts.recall(), counts.gold)) }
                        td.n { (share(counts.f1(), counts.gold + counts.predicted)) }
                    }
                } }
            }
        }))
    }
}

/// A tool's name, with a word where the catalogue lacks it.
fn name(key: &str, names: &Names) -> Markup {
    let shown = names.shown(key);
    html! {
        span title=(cut(shown, NAME)) { (cut(shown, 40)) }
        @if !names.has(key) { " " span.unknown { "not in catalogue" } }
    }
}

fn share(value: f64, of: u64) -> String {
    if of == 0 { "-".into() } else { format!("{:.1}", value * 100.0) }
}

fn ranking(title: &str, tools: &[(&str, u64)], names: &Names) -> Markup {
    let bars: Vec<Bar> = tools
        .iter()
        .take(RANKED)
        .map(|(key, times)| Bar {
            label: cut(names.shown(key), NAME),
            value: *times as f64,
            figure: times.to_string(),
            own: false,
        })
        .collect();
    let most = bars.iter().map(|bar| bar.value).fold(1.0, f64::max);
    html! {
        figure {
            figcaption { (title) }
            @if bars.is_empty() { p.soft { "none" } } @else { (lying(title, &bars, most, &[])) }
        }
    }
}

/// The names that have most of the pairs, in rows and columns.
fn heat_of(pairs: &[(&str, &str, &super::super::confusion::Pair)], names: &Names) -> Heat {
    let mut rows: Vec<&str> = Vec::new();
    let mut columns: Vec<&str> = Vec::new();
    for (own, other, _) in pairs {
        // In the order of the most frequent pair that they are in.
        if rows.len() < HEAT && !rows.contains(own) {
            rows.push(own);
        }
        if columns.len() < HEAT && !columns.contains(other) {
            columns.push(other);
        }
    }
    let count = |row: &str, column: &str| {
        let found = pairs.iter().find(|(own, other, _)| *own == row && *other == column);
        found.map_or(0, |(_, _, pair)| pair.times)
    };
    let counts = rows.iter().map(|row| columns.iter().map(|column| count(row, column)).collect()).collect();
    let shown = |keys: &[&str]| keys.iter().map(|key| cut(names.shown(key), NAME)).collect();
    Heat { rows: shown(&rows), columns: shown(&columns), counts }
}

/// A table's first rows, and the others folded away.
fn folded(
    what: &str,
    rows: usize,
    first: usize,
    most: usize,
    table: impl Fn(std::ops::Range<usize>) -> Markup,
) -> Markup {
    let end = rows.min(most);
    html! {
        div.scroll { (table(0..rows.min(first))) }
        @if rows > first {
            details {
                summary { (rows - first) " more " (what) }
                div.scroll { (table(first..end)) }
                @if rows > end { p.soft { "and " (rows - end) " more" } }
            }
        }
    }
}
