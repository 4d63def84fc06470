//! A graph as Graphviz DOT, Mermaid and SVG, left to right; a plan also as JSON.

mod svg;
pub mod text;

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::{Value, json};

pub use svg::Ground;

use self::text::clean;
use crate::{Plan, TaskId, graph};

/// The tasks as the original's `/tasks` lists them.
pub fn tasks_json(plan: &Plan) -> Value {
    serde_json::to_value(plan.tasks()).unwrap_or_else(|_| json!([]))
}

/// A graph to be written down. Edges may repeat, form cycles, or lead from a node to itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagram {
    /// The graph's name in DOT, an identifier.
    pub name: &'static str,
    /// What a screen reader calls the drawing.
    pub title: String,
    /// Drawn in this order where their edges leave a choice.
    pub nodes: Vec<Node>,
    /// Written in this order.
    pub edges: Vec<Edge>,
}

/// A node of a [`Diagram`]. Text from users and models may stand in every field: each writer escapes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// Unique in the diagram: node 3 is `t3` in DOT and Mermaid.
    pub id: u32,
    /// The first line of the node.
    pub name: String,
    /// Names and values, such as arguments. The drawing shows the first five, and cuts what is long.
    pub details: Vec<(String, String)>,
    /// Lines set apart from the details, such as the chosen model.
    pub extra: Vec<String>,
    /// Text for the drawing's tooltip alone.
    pub description: String,
    /// Why the node is unusable; its border is dashed then.
    pub fault: Option<String>,
}

/// An edge of a [`Diagram`] between two places in its list of nodes. Edges that leave the list are not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// Index of the source in [`Diagram::nodes`].
    pub from: usize,
    /// Index of the target in [`Diagram::nodes`].
    pub to: usize,
    /// Written on the edge in DOT and Mermaid, its tooltip in SVG.
    pub label: Option<String>,
}

/// The diagram of a plan. `extra` gives lines to show under the arguments of a task, such as the chosen model.
pub fn plan(plan: &Plan, extra: impl Fn(TaskId) -> Vec<String>) -> Diagram {
    let places: HashMap<TaskId, usize> = plan.tasks().iter().enumerate().map(|(at, task)| (task.id, at)).collect();
    let mut diagram = Diagram { name: "plan", ..Diagram::default() };
    for (to, task) in plan.tasks().iter().enumerate() {
        diagram.nodes.push(Node {
            id: task.id.0,
            name: format!("{}. {}", task.id, task.task),
            details: task.args.iter().map(|(name, arg)| (name.clone(), arg.to_string())).collect(),
            extra: extra(task.id),
            description: String::new(),
            fault: task.faults.first().map(ToString::to_string),
        });
        let before = task.dep.iter().filter_map(|dep| places.get(dep));
        diagram.edges.extend(before.map(|from| Edge { from: *from, to, label: None }));
    }
    let stages = graph::stages(plan).len();
    diagram.title = format!("Plan of {} in {}", plural(plan.tasks().len(), "task"), plural(stages, "stage"));
    diagram
}

/// `1 tool`, `2 tools`.
pub fn plural(number: usize, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// Characters of a value in a label of DOT or Mermaid.
const VALUE: usize = 40;

impl Diagram {
    /// The graph in Graphviz DOT.
    pub fn dot(&self) -> String {
        let mut out = format!("digraph {} {{\n  rankdir=LR;\n  node [shape=box, style=rounded];\n", self.name);
        for node in &self.nodes {
            let style = if node.fault.is_some() { ", style=\"rounded,dashed\"" } else { "" };
            let _ = writeln!(out, "  t{} [label=\"{}\"{style}];", node.id, node.label(dot_escape, "\\n"));
        }
        for (from, to, label) in self.named_edges() {
            let label = label.map_or_else(String::new, |label| format!(" [label=\"{}\"]", dot_escape(label)));
            let _ = writeln!(out, "  t{from} -> t{to}{label};");
        }
        out.push_str("}\n");
        out
    }

    /// The graph in Mermaid.
    pub fn mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n");
        for node in &self.nodes {
            let _ = writeln!(out, "  t{}[\"{}\"]", node.id, node.label(mermaid_escape, "<br/>"));
        }
        for (from, to, label) in self.named_edges() {
            let label = label.map_or_else(String::new, |label| format!("|\"{}\"|", mermaid_escape(label)));
            let _ = writeln!(out, "  t{from} -->{label} t{to}");
        }
        for node in self.nodes.iter().filter(|node| node.fault.is_some()) {
            let _ = writeln!(out, "  style t{} stroke-dasharray: 5 5", node.id);
        }
        out
    }

    /// The edges between nodes of the list, by the ids of their ends.
    fn named_edges(&self) -> impl Iterator<Item = (u32, u32, Option<&str>)> {
        let id = |at: usize| self.nodes.get(at).map(|node| node.id);
        self.edges.iter().filter_map(move |edge| Some((id(edge.from)?, id(edge.to)?, edge.label.as_deref())))
    }
}

impl Node {
    fn label(&self, escape: fn(&str) -> String, line: &str) -> String {
        let detail = |(name, value): &(String, String)| {
            let mut short: String = value.chars().take(VALUE).collect();
            if short.len() < value.len() {
                short.push('…');
            }
            format!("{name}: {short}")
        };
        let details = self.details.iter().map(detail);
        let extra = self.extra.iter().map(|line| format!("[{line}]"));
        let lines = std::iter::once(self.name.clone()).chain(details).chain(extra).map(|line| escape(&line));
        lines.collect::<Vec<_>>().join(line)
    }
}

fn one_line(text: &str) -> String {
    clean(&text.replace(['\n', '\r', '\t'], " "))
}

fn dot_escape(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('"', "\\\"")
}

/// Mermaid reads HTML entities, entities of its own that begin with `#`, and Markdown between backticks.
fn mermaid_escape(text: &str) -> String {
    let text = one_line(text).replace('#', "#35;").replace('`', "#96;");
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}
