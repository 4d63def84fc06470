//! Drawings of plans, as `jarvis plan --format svg|dot|mermaid` makes them. Here rather than by the program, so that a plan that was
//! edited, or decided by a server, is drawn as it is.

use jarvis_plan::export::{Diagram, Edge, Ground, Node, plural};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A task to draw.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Shape {
    name: String,
    details: Vec<(String, String)>,
    extra: Vec<String>,
}

/// Draws tasks; an edge is two places in their list.
#[pyfunction]
pub(crate) fn draw(tasks: Vec<Shape>, edges: Vec<(usize, usize)>, stages: usize, form: &str) -> PyResult<String> {
    let title = format!("Plan of {} in {}", plural(tasks.len(), "task"), plural(stages, "stage"));
    let node = |(id, shape): (u32, Shape)| {
        let Shape { name, details, extra } = shape;
        Node { id, name, details, extra, ..Node::default() }
    };
    let diagram = Diagram {
        name: "plan",
        title,
        nodes: (0..).zip(tasks).map(node).collect(),
        edges: edges.into_iter().map(|(from, to)| Edge { from, to, label: None }).collect(),
    };
    match form {
        "svg" => Ok(diagram.svg(Ground::Transparent)),
        "dot" => Ok(diagram.dot()),
        "mermaid" => Ok(diagram.mermaid()),
        other => Err(PyValueError::new_err(format!("unknown form `{other}`; use `svg`, `dot` or `mermaid`"))),
    }
}
