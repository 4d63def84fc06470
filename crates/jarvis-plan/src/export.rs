//! A plan as JSON, Graphviz DOT, Mermaid and SVG.

mod svg;
pub mod text;

pub use svg::{svg, svg_alone};

use std::fmt::Write;

use serde_json::{Value, json};

use crate::{Plan, Task, TaskId};

/// The tasks as the original's `/tasks` lists them.
pub fn tasks_json(plan: &Plan) -> Value {
    serde_json::to_value(plan.tasks()).unwrap_or_else(|_| json!([]))
}

/// The graph in Graphviz DOT, left to right.
pub fn dot(plan: &Plan) -> String {
    dot_with(plan, |_| None)
}

/// The same, with a line for the model that is to perform each task, where `model` knows one.
pub fn dot_with(plan: &Plan, model: impl Fn(TaskId) -> Option<String>) -> String {
    let mut out = String::from("digraph plan {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n");
    for task in plan.tasks() {
        let style = if task.fault.is_some() { ", style=\"rounded,dashed\"" } else { "" };
        let _ = writeln!(out, "  t{} [label=\"{}\"{style}];", task.id, label(task, model(task.id), dot_escape, "\\n"));
    }
    for task in plan.tasks() {
        for dep in &task.dep {
            let _ = writeln!(out, "  t{dep} -> t{};", task.id);
        }
    }
    out.push_str("}\n");
    out
}

/// The graph in Mermaid, left to right.
pub fn mermaid(plan: &Plan) -> String {
    mermaid_with(plan, |_| None)
}

/// The same, with a line for the model that is to perform each task, where `model` knows one.
pub fn mermaid_with(plan: &Plan, model: impl Fn(TaskId) -> Option<String>) -> String {
    let mut out = String::from("flowchart LR\n");
    for task in plan.tasks() {
        let _ = writeln!(out, "  t{}[\"{}\"]", task.id, label(task, model(task.id), mermaid_escape, "<br/>"));
    }
    for task in plan.tasks() {
        for dep in &task.dep {
            let _ = writeln!(out, "  t{dep} --> t{}", task.id);
        }
    }
    for task in plan.tasks().iter().filter(|task| task.fault.is_some()) {
        let _ = writeln!(out, "  style t{} stroke-dasharray: 5 5", task.id);
    }
    out
}

/// Characters of an argument shown in a node.
const SHOWN: usize = 40;

fn label(task: &Task, model: Option<String>, escape: fn(&str) -> String, line: &str) -> String {
    let mut label = format!("{}. {}", task.id, escape(&task.task));
    for (name, arg) in &task.args {
        let value = arg.to_string();
        let mut shown: String = value.chars().take(SHOWN).collect();
        if shown.len() < value.len() {
            shown.push('…');
        }
        let _ = write!(label, "{line}{}: {}", escape(name), escape(&shown));
    }
    if let Some(model) = model {
        let _ = write!(label, "{line}[{}]", escape(&model));
    }
    label
}

fn dot_escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
}

fn mermaid_escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace(['\n', '\r'], " ")
}
