//! Tool graphs as pictures and diagrams: SVG, Graphviz DOT, Mermaid. The same graph gives the same bytes.
//!
//! The layout is own work ([`layout`]): the kept layout crates are either for layered graphs, which these are not
//! (`rust-sugiyama`), or under a licence that does not fit (`forceatlas2`). Sampled parts are small and without circles;
//! `jarvis-plan` draws them.

mod layout;
mod svg;
mod text;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fmt::Write;
use std::str::FromStr;

use jarvis_plan::{Plan, Vocabulary, export};

use super::sample::SampledGraph;
use crate::data::ToolGraph;

pub use svg::svg;

use text::{dot_escape, mermaid_escape};

/// The links that Mermaid draws at most unless its host raises `maxEdges`.
pub const MERMAID_LINKS: usize = 500;
/// With more links than this, their kinds are not written on them.
const LABELLED: usize = 40;

/// How a graph is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawing {
    /// A picture.
    Svg,
    /// For Graphviz.
    Dot,
    /// For Mermaid.
    Mermaid,
}

impl Drawing {
    /// Its word in options, and the ending of its files.
    pub fn as_str(self) -> &'static str {
        match self {
            Drawing::Svg => "svg",
            Drawing::Dot => "dot",
            Drawing::Mermaid => "mermaid",
        }
    }
}

impl fmt::Display for Drawing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Drawing {
    type Err = String;

    fn from_str(word: &str) -> Result<Drawing, String> {
        match word {
            "svg" => Ok(Drawing::Svg),
            "dot" => Ok(Drawing::Dot),
            "mermaid" => Ok(Drawing::Mermaid),
            other => Err(format!("`{other}` is no drawing; it is `svg`, `dot` or `mermaid`")),
        }
    }
}

/// The graph as a drawing.
pub fn draw(graph: &ToolGraph, drawing: Drawing) -> String {
    match drawing {
        Drawing::Svg => svg(graph),
        Drawing::Dot => dot(graph),
        Drawing::Mermaid => mermaid(graph),
    }
}

/// A sampled part as a drawing, left to right. Only a part with circles, which no method draws, is laid out as a whole
/// graph is.
pub fn draw_sample(sample: &SampledGraph, drawing: Drawing) -> String {
    let Some(plan) = as_plan(sample) else { return draw(&as_graph(sample), drawing) };
    match drawing {
        Drawing::Svg => export::svg_alone(&plan, &title(sample), |_| Vec::new()),
        Drawing::Dot => export::dot(&plan),
        Drawing::Mermaid => export::mermaid(&plan),
    }
}

fn title(sample: &SampledGraph) -> String {
    let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let links: HashSet<_> = sample.links.iter().collect();
    format!("Graph of {} and {}", plural(sample.nodes.len(), "tool"), plural(links.len(), "link"))
}

/// The graph in Graphviz DOT.
pub fn dot(graph: &ToolGraph) -> String {
    let net = Net::of(graph);
    let mut out = String::from(
        "digraph tools {\n  layout=neato;\n  overlap=false;\n  splines=true;\n  node [shape=box, style=rounded];\n",
    );
    for (at, node) in net.nodes.iter().enumerate() {
        let _ = writeln!(out, "  n{at} [label=\"{}\"];", dot_escape(node.name));
    }
    for link in &net.links {
        let _ = write!(out, "  n{} -> n{}", link.from, link.to);
        if let Some(kind) = link.kind.filter(|_| net.links.len() <= LABELLED) {
            let _ = write!(out, " [label=\"{}\"]", dot_escape(kind));
        }
        out.push_str(";\n");
    }
    out.push_str("}\n");
    out
}

/// The graph in Mermaid. Mermaid draws no more than [`MERMAID_LINKS`] links unless its host allows it.
pub fn mermaid(graph: &ToolGraph) -> String {
    let net = Net::of(graph);
    let mut out = String::from("flowchart LR\n");
    for (at, node) in net.nodes.iter().enumerate() {
        let _ = writeln!(out, "  n{at}[\"{}\"]", mermaid_escape(node.name));
    }
    for link in &net.links {
        match link.kind.filter(|_| net.links.len() <= LABELLED) {
            Some(kind) => {
                let _ = writeln!(out, "  n{} -->|\"{}\"| n{}", link.from, mermaid_escape(kind), link.to);
            }
            None => {
                let _ = writeln!(out, "  n{} --> n{}", link.from, link.to);
            }
        }
    }
    out
}

/// What is drawn: each tool and each link once. Tools that only links name are drawn too.
struct Net<'g> {
    nodes: Vec<NetNode<'g>>,
    links: Vec<NetLink<'g>>,
}

struct NetNode<'g> {
    name: &'g str,
    desc: &'g str,
    /// False when only links name it.
    known: bool,
}

struct NetLink<'g> {
    from: usize,
    to: usize,
    /// Not told for links of complete graphs.
    kind: Option<&'g str>,
}

impl<'g> Net<'g> {
    fn of(graph: &'g ToolGraph) -> Net<'g> {
        let mut nodes: Vec<NetNode<'g>> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for tool in &graph.nodes.tools {
            places.entry(&tool.id).or_insert_with(|| {
                nodes.push(NetNode { name: &tool.id, desc: &tool.desc, known: true });
                nodes.len() - 1
            });
        }
        let mut place = |name: &'g str| {
            *places.entry(name).or_insert_with(|| {
                nodes.push(NetNode { name, desc: "", known: false });
                nodes.len() - 1
            })
        };
        let (mut links, mut seen) = (Vec::new(), HashSet::new());
        for link in &graph.links {
            let (from, to) = (place(&link.source), place(&link.target));
            if seen.insert((from, to)) {
                links.push(NetLink { from, to, kind: link.kind.as_deref().filter(|kind| *kind != "complete") });
            }
        }
        Net { nodes, links }
    }
}

/// The sample as a plan; `None` when it has circles or names a tool twice.
fn as_plan(sample: &SampledGraph) -> Option<Plan> {
    let tools = Vocabulary::named(sample.nodes.iter().map(String::as_str));
    let graph = sample.nodes.iter().fold(Plan::builder(), |graph, name| {
        let before = sample.links.iter().filter(|link| link.target == *name).map(|link| link.source.as_str());
        graph.task_after(name, before, serde_json::json!({}))
    });
    graph.check(&tools).ok()
}

fn as_graph(sample: &SampledGraph) -> ToolGraph {
    use crate::data::{BenchTool, GraphLink, ToolList};
    let tool = |id: &String| BenchTool {
        id: id.clone(),
        desc: String::new(),
        inputs: None,
        outputs: None,
        parameters: None,
        entry: serde_json::Value::Null,
    };
    let link = |link: &super::sample::SampledLink| GraphLink {
        source: link.source.clone(),
        target: link.target.clone(),
        kind: None,
    };
    ToolGraph {
        nodes: ToolList { tools: sample.nodes.iter().map(tool).collect() },
        links: sample.links.iter().map(link).collect(),
    }
}
