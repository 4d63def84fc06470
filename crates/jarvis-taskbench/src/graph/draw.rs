//! Tool graphs as SVG, Graphviz DOT and Mermaid, by the writers of `jarvis-plan`. The same graph gives the same bytes.

use std::collections::{HashMap, HashSet};

use jarvis_plan::export::{Diagram, Edge, Ground, Node, plural};

use super::sample::SampledGraph;
use crate::data::ToolGraph;
use crate::words::words;

/// The links that Mermaid draws at most unless its host raises `maxEdges`.
pub const MERMAID_LINKS: usize = 500;
/// With more links than this, DOT and Mermaid do not write their kinds on them.
const LABELLED: usize = 40;

words! {
    pub enum Drawing as "drawing format" {
        Svg = "svg",
        Dot = "dot",
        Mermaid = "mermaid",
    }
}

/// Draws each tool and each link once, and dashed the tools that only links name.
pub fn draw(graph: &ToolGraph, drawing: Drawing) -> String {
    let mut net = Net::default();
    for tool in &graph.nodes.tools {
        net.node(&tool.id, Some(&tool.desc));
    }
    for link in &graph.links {
        // Every link of a complete graph is of this kind, which says nothing.
        net.link(&link.source, &link.target, link.kind.as_deref().filter(|kind| *kind != "complete"));
    }
    net.draw(drawing)
}

pub fn draw_sample(sample: &SampledGraph, drawing: Drawing) -> String {
    let mut net = Net::default();
    for name in &sample.nodes {
        net.node(name, Some(""));
    }
    for link in &sample.links {
        net.link(&link.source, &link.target, None);
    }
    net.draw(drawing)
}

#[derive(Default)]
struct Net<'g> {
    places: HashMap<&'g str, usize>,
    linked: HashSet<(usize, usize)>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
}

impl<'g> Net<'g> {
    /// The place of a node, which is added if it is new; one without a description is no tool of the graph.
    fn node(&mut self, name: &'g str, description: Option<&str>) -> usize {
        *self.places.entry(name).or_insert_with(|| {
            self.nodes.push(Node {
                id: u32::try_from(self.nodes.len()).unwrap_or(u32::MAX),
                name: name.to_owned(),
                description: description.unwrap_or_default().to_owned(),
                fault: description.is_none().then(|| "no tool of the graph".to_owned()),
                ..Node::default()
            });
            self.nodes.len() - 1
        })
    }

    fn link(&mut self, source: &'g str, target: &'g str, kind: Option<&str>) {
        let (from, to) = (self.node(source, None), self.node(target, None));
        if self.linked.insert((from, to)) {
            self.edges.push(Edge { from, to, label: kind.map(str::to_owned) });
        }
    }

    fn draw(mut self, drawing: Drawing) -> String {
        let (tools, links) = (self.nodes.len(), self.edges.len());
        if drawing != Drawing::Svg && links > LABELLED {
            self.edges.iter_mut().for_each(|edge| edge.label = None);
        }
        let title = format!("Graph of {} and {}", plural(tools, "tool"), plural(links, "link"));
        let diagram = Diagram { name: "tools", title, nodes: self.nodes, edges: self.edges };
        match drawing {
            Drawing::Svg => diagram.svg(Ground::Painted),
            Drawing::Dot => diagram.dot(),
            Drawing::Mermaid => diagram.mermaid(),
        }
    }
}
