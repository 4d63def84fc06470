//! Graph edit distance between small directed graphs, as networkx computes it: the cheapest way to turn one graph into the
//! other, where a node or an edge that is added or removed costs 1, a node that becomes another costs what the caller says,
//! and an edge that stays costs nothing.

use std::collections::BTreeSet;

/// So many assignments are looked at; beyond them the cheapest so far counts. Gold plans with ten nodes stay far below.
const MOST: usize = 2_000_000;

/// A graph whose nodes are places.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Graph<N> {
    pub(super) nodes: Vec<N>,
    pub(super) edges: BTreeSet<(usize, usize)>,
}

impl<N: PartialEq> Graph<N> {
    pub(super) fn new() -> Graph<N> {
        Graph { nodes: Vec::new(), edges: BTreeSet::new() }
    }

    /// The place of a node, which is added where it is missing.
    pub(super) fn place(&mut self, node: N) -> usize {
        match self.nodes.iter().position(|own| *own == node) {
            Some(at) => at,
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        }
    }

    /// Nodes and edges: what it costs to remove it all.
    fn size(&self) -> f64 {
        (self.nodes.len() + self.edges.len()) as f64
    }
}

/// 1 − distance ÷ the size of both graphs; 1 for two empty ones.
pub(super) fn similarity<N: PartialEq>(a: &Graph<N>, b: &Graph<N>, replace: &dyn Fn(&N, &N) -> f64) -> f64 {
    let largest = a.size() + b.size();
    if largest > 0.0 { 1.0 - distance(a, b, replace) / largest } else { 1.0 }
}

fn distance<N: PartialEq>(a: &Graph<N>, b: &Graph<N>, replace: &dyn Fn(&N, &N) -> f64) -> f64 {
    // The smaller graph decides how deep the search is; the costs are the same both ways.
    let (small, large) = if a.nodes.len() <= b.nodes.len() { (a, b) } else { (b, a) };
    let mut search = Search { small, large, replace, best: small.size() + large.size(), left: MOST };
    search.assign(&mut Vec::with_capacity(small.nodes.len()), 0.0);
    search.best
}

struct Search<'g, N> {
    small: &'g Graph<N>,
    large: &'g Graph<N>,
    replace: &'g dyn Fn(&N, &N) -> f64,
    best: f64,
    left: usize,
}

impl<N: PartialEq> Search<'_, N> {
    /// Assigns the next node of the small graph to each free node of the large one, the cheapest first, and to none.
    /// `cost` is that of the nodes so far and of the edges between them.
    fn assign(&mut self, chosen: &mut Vec<Option<usize>>, cost: f64) {
        let at = chosen.len();
        // At least so many nodes of the large graph will have nothing assigned to them.
        let free = self.large.nodes.len() - chosen.iter().flatten().count();
        let least = free.saturating_sub(self.small.nodes.len() - at) as f64;
        if cost + least >= self.best || self.left == 0 {
            return;
        }
        self.left -= 1;
        let Some(node) = self.small.nodes.get(at) else {
            self.best = self.best.min(cost + self.added(chosen));
            return;
        };
        let mut ways: Vec<(f64, Option<usize>)> = Vec::new();
        for (place, other) in self.large.nodes.iter().enumerate() {
            if !chosen.contains(&Some(place)) {
                ways.push(((self.replace)(node, other) + self.edges(chosen, at, Some(place)), Some(place)));
            }
        }
        ways.push((1.0 + self.edges(chosen, at, None), None));
        ways.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (more, place) in ways {
            chosen.push(place);
            self.assign(chosen, cost + more);
            chosen.pop();
        }
    }

    /// The edges between a node and those before it that only one graph has.
    fn edges(&self, chosen: &[Option<usize>], at: usize, place: Option<usize>) -> f64 {
        let with_itself = std::iter::once((at, place));
        let others = chosen.iter().copied().enumerate().chain(with_itself);
        let mut differ = 0;
        for (other, other_place) in others {
            let both = [(at, other, place, other_place), (other, at, other_place, place)];
            let directions = if other == at { 1 } else { 2 };
            for (from, to, from_place, to_place) in both.into_iter().take(directions) {
                let has = from_place.zip(to_place).is_some_and(|edge| self.large.edges.contains(&edge));
                differ += usize::from(self.small.edges.contains(&(from, to)) != has);
            }
        }
        differ as f64
    }

    /// What is left of the large graph: nodes that nothing was assigned to, with their edges.
    fn added(&self, chosen: &[Option<usize>]) -> f64 {
        let is_free = |place: usize| !chosen.contains(&Some(place));
        let nodes = (0..self.large.nodes.len()).filter(|place| is_free(*place)).count();
        let edges = self.large.edges.iter().filter(|(from, to)| is_free(*from) || is_free(*to)).count();
        (nodes + edges) as f64
    }
}
