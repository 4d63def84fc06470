//! A plan as a drawing: SVG, left to right, readable on light and on dark ground and to a screen reader.
//!
//! The layout is own work ([`layout`]). `layout-rs` 0.1 was tried: fine drawings, but its time explodes with edges (24
//! tasks that all depend on each other took 16 s), it sizes no text, and its SVG has fixed colours. `rust-sugiyama`
//! routes no edges.

mod layout;

use std::fmt::Write;

use self::layout::{Curve, Layout, Rect};
use super::text::{cells, cut, escape, wrap_words};
use crate::{Plan, Task, TaskId, graph};

/// Cells of a line of a node; a Latin letter is one cell, a Han character two.
const LINE: usize = 38;
/// Arguments shown in a node; the rest are counted.
const ARGS: usize = 5;
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

/// The graph as an SVG document, left to right: one column for each level of tasks that may run together.
///
/// `extra` gives lines to show under the arguments of a task, such as the chosen model; an empty list shows nothing.
/// Long text is cut; the uncut text (up to 600 characters) is the node's tooltip. Tasks that cannot run have a dashed
/// border and say why. Every text is escaped, and characters that XML forbids or that could reorder a line are shown as
/// `U+FFFD`. The ground is transparent.
pub fn svg(plan: &Plan, extra: impl Fn(TaskId) -> Vec<String>) -> String {
    write_svg(plan, &title(plan), false, extra)
}

/// The same under a title of its own, on a painted ground: for a file that is opened by itself, which browsers show on white
/// whatever the scheme.
pub fn svg_alone(plan: &Plan, title: &str, extra: impl Fn(TaskId) -> Vec<String>) -> String {
    write_svg(plan, title, true, extra)
}

fn write_svg(plan: &Plan, title: &str, ground: bool, extra: impl Fn(TaskId) -> Vec<String>) -> String {
    let nodes: Vec<Node<'_>> = plan.tasks().iter().map(|task| Node::new(task, &extra(task.id))).collect();
    let sizes: Vec<(f64, f64)> = nodes.iter().map(Node::size).collect();
    let Layout { boxes, edges, width, height } = layout::layout(plan, &sizes);
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
        escape(title),
        escape(&description(plan)),
        w = width.ceil() + 2.0 * MARGIN,
        h = height.ceil() + 2.0 * MARGIN,
        x = -MARGIN,
    );
    if ground {
        let _ = writeln!(
            out,
            "<rect class=\"jp-ground\" x=\"{x:.0}\" y=\"{x:.0}\" width=\"100%\" height=\"100%\"/>",
            x = -MARGIN
        );
    }
    if nodes.is_empty() {
        out.push_str("<text class=\"jp-name\" x=\"0\" y=\"15\">an empty plan</text>\n");
    }
    for (from, to, curves) in &edges {
        draw_edge(&mut out, *from, *to, curves);
    }
    for (node, at) in nodes.iter().zip(&boxes) {
        node.draw(&mut out, *at);
    }
    out.push_str("</svg>\n");
    out
}

fn title(plan: &Plan) -> String {
    let tasks = plan.tasks().len();
    let levels = graph::stages(plan).len();
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    format!("Plan of {} in {}", plural(tasks, "task"), plural(levels, "stage"))
}

/// The graph in words, for who cannot see it.
fn description(plan: &Plan) -> String {
    let mut out = String::new();
    for task in plan.tasks() {
        let _ = write!(out, "Task {}: {}", task.id, cut(&task.task, LINE));
        if !task.dep.is_empty() {
            let after: Vec<String> = task.dep.iter().map(ToString::to_string).collect();
            let _ = write!(out, ", after {}", after.join(", "));
        }
        if let Some(fault) = &task.fault {
            let _ = write!(out, "; cannot run: {fault}");
        }
        out.push_str(". ");
    }
    out.truncate(out.trim_end().len());
    out
}

fn draw_edge(out: &mut String, from: TaskId, to: TaskId, curves: &[Curve]) {
    let _ =
        write!(out, "<path class=\"jp-edge\" data-from=\"{from}\" data-to=\"{to}\" marker-end=\"url(#jp-arrow)\" d=\"");
    for (nth, curve) in curves.iter().enumerate() {
        let Curve { from: (x1, y1), to: (x2, y2) } = *curve;
        if nth == 0 {
            let _ = write!(out, "M{x1:.1} {y1:.1}");
        } else {
            let _ = write!(out, "L{x1:.1} {y1:.1}");
        }
        let middle = f64::midpoint(x1, x2);
        let _ = write!(out, "C{middle:.1} {y1:.1} {middle:.1} {y2:.1} {x2:.1} {y2:.1}");
    }
    out.push_str("\"/>\n");
}

/// A node: what is written in it.
struct Node<'a> {
    task: &'a Task,
    name: String,
    /// The class and the text of each line under the name.
    lines: Vec<(&'static str, String)>,
    tooltip: String,
}

impl<'a> Node<'a> {
    fn new(task: &'a Task, extra: &[String]) -> Node<'a> {
        let name = cut(&format!("{}. {}", task.id, task.task), LINE);
        let mut lines = Vec::new();
        let mut tooltip = format!("{}. {}", task.id, task.task);
        for (name, arg) in &task.args {
            let line = format!("{name}: {arg}");
            if lines.len() < ARGS {
                lines.push(("jp-arg", cut(&line, LINE)));
            }
            let _ = write!(tooltip, "\n{line}");
        }
        if task.args.len() > ARGS {
            lines.push(("jp-arg", format!("and {} more", task.args.len() - ARGS)));
        }
        for line in extra {
            lines.push(("jp-extra", cut(line, LINE)));
            let _ = write!(tooltip, "\n{line}");
        }
        if let Some(fault) = &task.fault {
            lines.extend(wrap_words(&fault.to_string(), LINE, 3).into_iter().map(|line| ("jp-why", line)));
            let _ = write!(tooltip, "\n{fault}");
        }
        let tooltip = match tooltip.char_indices().nth(TOOLTIP) {
            Some((end, _)) => format!("{}…", tooltip.get(..end).unwrap_or_default()),
            None => tooltip,
        };
        Node { task, name, lines, tooltip }
    }

    fn size(&self) -> (f64, f64) {
        let name = cells(&self.name) as f64 * NAME_CELL;
        let lines = self.lines.iter().map(|(_, line)| cells(line) as f64 * CELL).fold(0.0, f64::max);
        let height = LINE_HEIGHT * (1 + self.lines.len()) as f64;
        (name.max(lines) + 2.0 * PADDING, height + 2.0 * PADDING - 4.0)
    }

    fn draw(&self, out: &mut String, at: Rect) {
        let class = if self.task.fault.is_some() { "jp-node jp-fault" } else { "jp-node" };
        let Rect { x, y, width, height } = at;
        let _ = write!(
            out,
            "<g class=\"{class}\" data-task=\"{}\"><title>{}</title>\
             <rect class=\"jp-box\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"9\"/>",
            self.task.id,
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
