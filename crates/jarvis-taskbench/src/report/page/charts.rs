//! Charts as SVG: bars from 0 to 100 (or to the largest count) with their figures on them, and a heat map.
//!
//! The shapes are a few rectangles at computed places, so they are placed here; a chart crate would bring fonts, raster
//! output and a minute of building, and colours that do not follow the page. The template escapes every text.

use maud::{Markup, html};

use super::super::text::{cut, cut_inside};

/// A bar: what it stands for, its length, what is written at its end.
pub(super) struct Bar {
    /// The label.
    pub(super) label: String,
    /// The length, 0 to the chart's end.
    pub(super) value: f64,
    /// The figure as written.
    pub(super) figure: String,
    /// Whether it is the reader's own.
    pub(super) own: bool,
}

/// Width of a chart of lying bars, in pixels.
const WIDE: f64 = 360.0;
/// Where its bars begin.
const BARS: f64 = 138.0;
/// Where its bars end when they are full.
const FULL: f64 = 314.0;
/// Height of a row.
const ROW: f64 = 18.0;
/// Cells of a label.
const LABEL: usize = 20;

/// Lying bars under each other, in the order given. `end` is the value of a full bar; `ticks` are drawn as lines.
pub(super) fn lying(title: &str, bars: &[Bar], end: f64, ticks: &[f64]) -> Markup {
    let height = ROW * bars.len() as f64;
    let x = |value: f64| BARS + (FULL - BARS) * (value / end.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    html! {
        svg viewBox=(format!("0 0 {WIDE} {}", height + 22.0)) role="img" aria-label=(title) {
            @for tick in ticks {
                line.grid x1=(px(x(*tick))) x2=(px(x(*tick))) y1="0" y2=(px(height + 3.0)) {}
                text.tick x=(px(x(*tick))) y=(px(height + 15.0)) text-anchor="middle" { (tick) }
            }
            @for (at, bar) in bars.iter().enumerate() {
                @let y = ROW * at as f64;
                g class=(if bar.own { "own" } else { "other" }) {
                    title { (bar.label) ": " (bar.figure) }
                    text.label x=(px(BARS - 6.0)) y=(px(y + 13.0)) text-anchor="end" {
                        @if bar.own { "▸ " }
                        (cut_inside(&bar.label, if bar.own { LABEL - 2 } else { LABEL }))
                    }
                    rect.bar x=(px(BARS)) y=(px(y + 3.0)) width=(px(x(bar.value) - BARS)) height=(px(ROW - 6.0)) {}
                    text.figure x=(px(x(bar.value) + 4.0)) y=(px(y + 13.0)) { (bar.figure) }
                }
            }
            line.axis x1=(px(BARS)) x2=(px(BARS)) y1="0" y2=(px(height + 3.0)) {}
        }
    }
}

/// A standing bar of a group of samples.
pub(super) struct Column {
    /// The group.
    pub(super) label: String,
    /// The figure times 100; `None` when the group has none.
    pub(super) value: Option<f64>,
    /// The samples that the figure rests on.
    pub(super) samples: u64,
}

/// Standing bars side by side from 0 to 100, with the number of samples under each.
pub(super) fn standing(title: &str, columns: &[Column]) -> Markup {
    const LEFT: f64 = 26.0;
    const TOP: f64 = 14.0;
    const HEIGHT: f64 = 104.0;
    let step = (WIDE - LEFT) / columns.len().max(1) as f64;
    let width = (step - 8.0).min(40.0);
    let y = |value: f64| TOP + HEIGHT * (1.0 - (value / 100.0).clamp(0.0, 1.0));
    html! {
        svg viewBox=(format!("0 0 {WIDE} 154")) role="img" aria-label=(title) {
            @for tick in [0.0, 50.0, 100.0] {
                line class=(if tick == 0.0 { "axis" } else { "grid" }) x1=(px(LEFT)) x2=(px(WIDE)) y1=(px(y(tick))) y2=(px(y(tick))) {}
                text.tick x=(px(LEFT - 4.0)) y=(px(y(tick) + 3.5)) text-anchor="end" { (tick) }
            }
            @for (at, column) in columns.iter().enumerate() {
                @let middle = LEFT + step * (at as f64 + 0.5);
                g.own {
                    title {
                        (column.label) ": "
                        @if let Some(value) = column.value { (format!("{value:.2}")) } @else { "no figure" }
                        ", " (column.samples) @if column.samples == 1 { " sample" } @else { " samples" }
                    }
                    @if let Some(value) = column.value {
                        rect.bar x=(px(middle - width / 2.0)) y=(px(y(value))) width=(px(width)) height=(px(y(0.0) - y(value))) {}
                        text.figure x=(px(middle)) y=(px(y(value) - 3.0)) text-anchor="middle" { (format!("{value:.0}")) }
                    } @else {
                        text.figure x=(px(middle)) y=(px(y(0.0) - 3.0)) text-anchor="middle" { "–" }
                    }
                    text.label x=(px(middle)) y=(px(y(0.0) + 14.0)) text-anchor="middle" { (column.label) }
                    text.tick x=(px(middle)) y=(px(y(0.0) + 28.0)) text-anchor="middle" { (column.samples) }
                }
            }
            text.tick x=(px(LEFT - 4.0)) y=(px(y(0.0) + 28.0)) text-anchor="end" { "n" }
        }
    }
}

/// Counts of pairs: rows and columns are names, darker is more.
pub(super) struct Heat {
    /// The names of rows.
    pub(super) rows: Vec<String>,
    /// The names of columns.
    pub(super) columns: Vec<String>,
    /// For each row, for each column.
    pub(super) counts: Vec<Vec<usize>>,
}

/// Draws a heat map, with the count in each cell that is not 0.
pub(super) fn heat(title: &str, heat: &Heat) -> Markup {
    const CELL: f64 = 30.0;
    const NAMES: f64 = 172.0;
    // Column names stand at an angle above their columns.
    const HEAD: f64 = 118.0;
    // A few single mistakes are not dark.
    let most = heat.counts.iter().flatten().copied().max().unwrap_or(0).max(4);
    let width = NAMES + CELL * heat.columns.len() as f64 + 96.0;
    let height = HEAD + CELL * heat.rows.len() as f64 + 2.0;
    html! {
        svg viewBox=(format!("0 0 {width} {height}")) width=(px(width)) height=(px(height)) role="img" aria-label=(title) {
            @for (at, name) in heat.columns.iter().enumerate() {
                @let x = NAMES + CELL * (at as f64 + 0.5);
                text.label transform=(format!("translate({} {}) rotate(-45)", px(x), px(HEAD - 8.0))) {
                    title { (name) }
                    (cut(name, 22))
                }
            }
            @for (row, name) in heat.rows.iter().enumerate() {
                @let y = HEAD + CELL * row as f64;
                text.label x=(px(NAMES - 8.0)) y=(px(y + 19.0)) text-anchor="end" { title { (name) } (cut(name, 25)) }
                @for (column, count) in heat.counts.get(row).into_iter().flatten().enumerate() {
                    @let x = NAMES + CELL * column as f64;
                    @let share = *count as f64 / most as f64;
                    rect.cell x=(px(x + 1.0)) y=(px(y + 1.0)) width=(px(CELL - 2.0)) height=(px(CELL - 2.0)) {}
                    @if *count > 0 {
                        rect.warm x=(px(x + 1.0)) y=(px(y + 1.0)) width=(px(CELL - 2.0)) height=(px(CELL - 2.0))
                            fill-opacity=(format!("{:.2}", 0.15 + 0.85 * share)) {}
                        text class=(if share > 0.5 { "count strong" } else { "count" }) x=(px(x + CELL / 2.0)) y=(px(y + 19.0)) text-anchor="middle" { (count) }
                    }
                }
            }
        }
    }
}

/// A length in pixels, to a tenth.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
