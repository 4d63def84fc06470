//! A diagram as SVG, left to right, readable on light and dark ground and by a screen reader.
//!
//! Why a layout of our own ([`layout`]): `layout-rs` 0.1 draws well, but its time explodes with edges (24 tasks that all
//! depend on each other took 16 s), it does not size text, and its colours are fixed. `rust-sugiyama` routes no edges.

mod layout;

use std::fmt::Write;

use self::layout::{Curve, Layout, Rect};
use super::text::{cells, cut, escape, wrap_words};
use super::{Diagram, Edge, Node};

/// Cells of a line of a node; a Latin letter is one cell, a Han character two.
const LINE: usize = 38;
/// Details shown in a node; the rest are counted.
const DETAILS: usize = 5;
/// Characters of the full text that a node's tooltip shows.
const TOOLTIP: usize = 600;
/// Height of a line in pixels.
const LINE_HEIGHT: f64 = 17.0;
/// Space between the border of a node and its text.
const PADDING: f64 = 12.0;
/// Width of a cell of the lines, which are monospaced: 0.6 of the 12 pixels of the font, and a little.
const CELL: f64 = 7.3;
/// Width of a cell of the name, which is bold and proportional: a safe mean.
const NAME_CELL: f64 = 8.6;
/// Nodes before a node that its description names; the rest are counted.
const NAMED: usize = 6;
/// Space around the drawing.
const MARGIN: f64 = 16.0;

const STYLE: &str = "\
svg:root{color-scheme:light dark}.jp-ground{fill:#fff}\
.jp-box{fill:#fff;stroke:#5b6b82;stroke-width:1.5}\
.jp-fault .jp-box{stroke:#c0392b;stroke-dasharray:6 4}\
.jp-edge{fill:none;stroke:#7a889c;stroke-width:1.5}\
.jp-head{fill:#7a889c}\
.jp-name{font:600 14px system-ui,'Segoe UI','Noto Sans','Noto Sans CJK SC','WenQuanYi Micro Hei',sans-serif;fill:#16202e}\
.jp-arg,.jp-extra,.jp-why{font:12px ui-monospace,'SF Mono',Menlo,'DejaVu Sans Mono','Noto Sans Mono CJK SC',monospace}\
.jp-arg{fill:#4a5668}.jp-extra{fill:#1a6b3c}.jp-why{fill:#c0392b}\
@media (prefers-color-scheme:dark){.jp-ground{fill:#12161c}\
.jp-box{fill:#1b2330;stroke:#8c9ab0}.jp-fault .jp-box{stroke:#ff8a7a}.jp-edge{stroke:#8c9ab0}.jp-head{fill:#8c9ab0}\
.jp-name{fill:#eef2f8}.jp-arg{fill:#b6c1d1}.jp-extra{fill:#7fd6a3}.jp-why{fill:#ff8a7a}}";

/// What the drawing stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// Nothing: for a page that has its own.
    Transparent,
    /// White, or dark in a dark scheme: for a file by itself, which browsers show on white whatever the scheme.
    Painted,
}

impl Diagram {
    /// The graph as an SVG document: one column for each level of nodes, edges from left to right but for those that close
    /// a cycle.
    ///
    /// Long text is cut; the first 600 characters of the uncut text are the node's tooltip. Every text is escaped, and
    /// characters that XML forbids or that could reorder a line are shown as `U+FFFD`.
    pub fn svg(&self, ground: Ground) -> String {
        let nodes: Vec<Cell<'_>> = self.nodes.iter().map(Cell::new).collect();
        let sizes: Vec<(f64, f64)> = nodes.iter().map(Cell::size).collect();
        let ends: Vec<(usize, usize)> = self.edges.iter().map(|edge| (edge.from, edge.to)).collect();
        let Layout { boxes, edges, width, height } = layout::layout(&sizes, &ends);
        let (width, height) = if nodes.is_empty() { (160.0, 20.0) } else { (width, height) };

        let mut out = String::new();
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"{x:.0} {x:.0} {w:.0} {h:.0}\" \
             role=\"img\" aria-labelledby=\"jp-title jp-desc\">\n\
             <title id=\"jp-title\">{}</title>\n<desc id=\"jp-desc\">{}</desc>\n\
             <style>{STYLE}</style>\n\
             <defs><marker id=\"jp-arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" \
             orient=\"auto\"><path class=\"jp-head\" d=\"M0 1 10 5 0 9z\"/></marker></defs>\n",
            escape(&self.title),
            escape(&self.in_words()),
            w = width.ceil() + 2.0 * MARGIN,
            h = height.ceil() + 2.0 * MARGIN,
            x = -MARGIN,
        );
        if ground == Ground::Painted {
            let _ = writeln!(
                out,
                "<rect class=\"jp-ground\" x=\"{x:.0}\" y=\"{x:.0}\" width=\"100%\" height=\"100%\"/>",
                x = -MARGIN
            );
        }
        if nodes.is_empty() {
            out.push_str("<text class=\"jp-name\" x=\"0\" y=\"15\">an empty graph</text>\n");
        }
        for (edge, curves) in self.edges.iter().zip(&edges) {
            self.draw_edge(&mut out, edge, curves, &boxes);
        }
        for (node, at) in nodes.iter().zip(&boxes) {
            node.draw(&mut out, *at);
        }
        out.push_str("</svg>\n");
        out
    }

    /// The graph in words, a line for each node, for screen readers.
    fn in_words(&self) -> String {
        let mut before: Vec<Vec<&str>> = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            if let (Some(from), Some(before)) = (self.nodes.get(edge.from), before.get_mut(edge.to)) {
                before.push(&from.name);
            }
        }
        let mut out = String::new();
        for (node, before) in self.nodes.iter().zip(before) {
            out.push_str(&cut(&node.name, LINE));
            for (at, name) in before.iter().take(NAMED).enumerate() {
                let _ = write!(out, "{}{}", if at == 0 { ", after " } else { ", " }, cut(name, LINE));
            }
            if before.len() > NAMED {
                let _ = write!(out, " and {} more", before.len() - NAMED);
            }
            if let Some(fault) = &node.fault {
                let _ = write!(out, "; unusable: {fault}");
            }
            out.push('\n');
        }
        out.truncate(out.trim_end().len());
        out
    }

    fn draw_edge(&self, out: &mut String, edge: &Edge, curves: &[Curve], boxes: &[Rect]) {
        let (Some(from), Some(to)) = (self.nodes.get(edge.from), self.nodes.get(edge.to)) else { return };
        let _ = write!(
            out,
            "<path class=\"jp-edge\" data-from=\"{}\" data-to=\"{}\" marker-end=\"url(#jp-arrow)\" d=\"",
            from.id, to.id
        );
        if let (true, Some(at)) = (edge.from == edge.to, boxes.get(edge.from)) {
            let (right, left, top, y) = (at.x + at.width - 12.0, at.x + at.width - 36.0, at.y - 16.0, at.y);
            let _ = write!(out, "M{right:.1} {y:.1}C{right:.1} {top:.1} {left:.1} {top:.1} {left:.1} {y:.1}");
        }
        for (nth, curve) in curves.iter().enumerate() {
            let Curve { from: (x1, y1), to: (x2, y2) } = *curve;
            let _ = write!(out, "{}{x1:.1} {y1:.1}", if nth == 0 { 'M' } else { 'L' });
            let middle = f64::midpoint(x1, x2);
            let _ = write!(out, "C{middle:.1} {y1:.1} {middle:.1} {y2:.1} {x2:.1} {y2:.1}");
        }
        match &edge.label {
            Some(label) => {
                let names = format!("{} → {}: {}", cut(&from.name, LINE), cut(&to.name, LINE), cut(label, LINE));
                let _ = writeln!(out, "\"><title>{}</title></path>", escape(&names));
            }
            None => out.push_str("\"/>\n"),
        }
    }
}

/// A node with what is written in it.
struct Cell<'a> {
    node: &'a Node,
    name: String,
    /// The class and the text of each line under the name.
    lines: Vec<(&'static str, String)>,
    tooltip: String,
}

impl<'a> Cell<'a> {
    fn new(node: &'a Node) -> Cell<'a> {
        let mut tooltip = node.name.clone();
        let mut lines = Vec::new();
        for (name, value) in &node.details {
            let line = format!("{name}: {value}");
            if lines.len() < DETAILS {
                lines.push(("jp-arg", cut(&line, LINE)));
            }
            let _ = write!(tooltip, "\n{line}");
        }
        if node.details.len() > DETAILS {
            lines.push(("jp-arg", format!("and {} more", node.details.len() - DETAILS)));
        }
        lines.extend(node.extra.iter().map(|line| ("jp-extra", cut(line, LINE))));
        if let Some(fault) = &node.fault {
            lines.extend(wrap_words(fault, LINE, 3).into_iter().map(|line| ("jp-why", line)));
        }
        let description = Some(&node.description).filter(|description| !description.is_empty());
        for line in description.into_iter().chain(&node.extra).chain(&node.fault) {
            let _ = write!(tooltip, "\n{line}");
        }
        if let Some((end, _)) = tooltip.char_indices().nth(TOOLTIP) {
            tooltip.truncate(end);
            tooltip.push('…');
        }
        Cell { node, name: cut(&node.name, LINE), lines, tooltip }
    }

    fn size(&self) -> (f64, f64) {
        let name = cells(&self.name) as f64 * NAME_CELL;
        let lines = self.lines.iter().map(|(_, line)| cells(line) as f64 * CELL).fold(0.0, f64::max);
        let height = LINE_HEIGHT * (1 + self.lines.len()) as f64;
        (name.max(lines) + 2.0 * PADDING, height + 2.0 * PADDING - 4.0)
    }

    fn draw(&self, out: &mut String, at: Rect) {
        let class = if self.node.fault.is_some() { "jp-node jp-fault" } else { "jp-node" };
        let Rect { x, y, width, height } = at;
        let _ = write!(
            out,
            "<g class=\"{class}\" data-task=\"{}\"><title>{}</title>\
             <rect class=\"jp-box\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"9\"/>",
            self.node.id,
            escape(&self.tooltip)
        );
        let x = x + PADDING;
        let mut y = y + PADDING + 11.0;
        let _ = write!(out, "<text class=\"jp-name\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(&self.name));
        for (class, line) in &self.lines {
            y += LINE_HEIGHT;
            let _ = write!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(line));
        }
        out.push_str("</g>\n");
    }
}
