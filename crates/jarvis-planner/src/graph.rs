//! The tool graph: which tool is known to follow which. Where a catalogue declares one, a plan along its links is likelier
//! than one across, the more so the fewer links there are; where it declares none, the graph says nothing.

use std::collections::{HashMap, HashSet};

use jarvis_plan::Tool;

/// The links between the tools of a list, by their places in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToolGraph {
    links: HashSet<(usize, usize)>,
    surprise: f32,
}

impl ToolGraph {
    /// The graph of pairs of names; names that are not in the list are left out.
    pub(crate) fn new<'n>(tools: &[Tool], links: impl IntoIterator<Item = (&'n str, &'n str)>) -> ToolGraph {
        let places: HashMap<&str, usize> =
            tools.iter().enumerate().map(|(at, tool)| (tool.name.as_str(), at)).collect();
        let mut graph = ToolGraph { links: HashSet::new(), surprise: 0.0 };
        for (source, target) in links {
            if let (Some(source), Some(target)) = (places.get(source), places.get(target)) {
                graph.links.insert((*source, *target));
            }
        }
        let pairs = (tools.len() * tools.len().saturating_sub(1)) as f32;
        if !graph.links.is_empty() && pairs > 0.0 {
            graph.surprise = (pairs / graph.links.len() as f32).ln().max(0.0);
        }
        graph
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    pub(crate) fn links(&self, source: usize, target: usize) -> bool {
        self.links.contains(&(source, target))
    }

    /// The share of pairs that are not linked, 0 to 1: how much it tells that a tool stands between two.
    pub(crate) fn sparsity(&self) -> f32 {
        1.0 - (-self.surprise).exp()
    }

    /// How much a link tells, in nats: the logarithm of one in how many pairs is linked. 0 for a complete graph and for
    /// none.
    pub(crate) fn surprise(&self) -> f32 {
        self.surprise
    }
}

#[cfg(test)]
mod tests {
    use jarvis_plan::Tool;

    use super::ToolGraph;

    fn check(names: &[&str], links: &[(&str, &str)], surprise: f32) -> ToolGraph {
        let tools: Vec<Tool> = names.iter().map(|name| Tool::typed(name, "", &[], &[])).collect();
        let graph = ToolGraph::new(&tools, links.iter().copied());
        assert!((graph.surprise() - surprise).abs() < 1e-5, "{links:?}: {}", graph.surprise());
        graph
    }

    #[test]
    fn a_link_tells_more_where_links_are_few() {
        let graph = check(&["a", "b", "c"], &[("a", "b"), ("a", "b"), ("a", "unknown")], 6.0_f32.ln());
        assert!(graph.links(0, 1) && !graph.links(1, 0) && !graph.links(2, 1));
        assert!((graph.sparsity() - 5.0 / 6.0).abs() < 1e-5);
        assert_eq!(check(&["a", "b"], &[("a", "b"), ("b", "a")], 0.0).sparsity(), 0.0);
        assert!(check(&["a", "b"], &[], 0.0).is_empty());
    }
}
