//! Random subgraphs of a tool graph: a single tool, a chain, an acyclic graph, a random walk. Every draw ends.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::rng::SeededRng;
use crate::data::ToolGraph;
use crate::words::words;

/// Starts from another tool before a method gives up.
const STARTS: usize = 400;
/// Steps of the search that settles whether a graph has a chain of some length.
const SEARCH_STEPS: usize = 200_000;
/// Of 1,000 steps of a walk with restarts, those that begin anew.
const RESTART_PER_MILLE: usize = 150;

words! {
    pub enum Method as "method" {
        Single = "single",
        /// A path that grows at both ends.
        Chain = "chain",
        /// At least three tools, connected, acyclic, at least one with two links in or out.
        Dag = "dag",
        /// A walk along links; each new tool is linked to the one it was reached from.
        RandomWalk = "random_walk",
        /// The same, which now and then begins anew at a tool without a link; so it may fall into parts.
        RandomWalkWithRestart = "random_walk_with_restart",
    }
}

impl Method {
    /// The number of tools drawn when `n` are asked for: one for a single tool, at least three for a dag.
    pub fn size(self, n: usize) -> usize {
        match self {
            Method::Single => 1,
            Method::Dag => n.max(3),
            Method::Chain | Method::RandomWalk | Method::RandomWalkWithRestart => n,
        }
    }
}

/// A method as generation draws it: single 3, chain 7, dag 8 of 18.
pub fn random_method(rng: &mut SeededRng) -> Method {
    rng.weighted(&[(Method::Single, 3), (Method::Chain, 7), (Method::Dag, 8)]).copied().unwrap_or(Method::Chain)
}

/// A number of tools as generation draws it: 2 to 10, mostly 3 to 5.
pub fn random_size(rng: &mut SeededRng) -> usize {
    const WEIGHTS: [(usize, usize); 9] =
        [(2, 100), (3, 200), (4, 300), (5, 200), (6, 100), (7, 50), (8, 25), (9, 25), (10, 25)];
    rng.weighted(&WEIGHTS).copied().unwrap_or(4)
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, serde::Deserialize)]
pub struct SampledLink {
    pub source: String,
    pub target: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SampledGraph {
    /// The tools: a chain from head to tail, else as they were drawn.
    pub nodes: Vec<String>,
    pub links: Vec<SampledLink>,
}

impl SampledGraph {
    /// The same with tools and links in alphabetical order.
    pub fn sorted(mut self) -> SampledGraph {
        self.nodes.sort();
        self.links.sort();
        self
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    #[error("a sample needs at least one tool")]
    Nothing,
    #[error("no graph of {n} tools can be drawn: there are {there}")]
    TooMany { n: usize, there: usize },
    #[error("no {method} of {n} tools can be reached: {reason}")]
    NotReachable { method: Method, n: usize, reason: String },
}

impl SampleError {
    pub fn hint(&self) -> &'static str {
        match self {
            SampleError::Nothing => "ask for 1 tool or more",
            SampleError::TooMany { .. } => "ask for fewer tools",
            SampleError::NotReachable { .. } => {
                "ask for fewer tools; `jarvis taskbench graph stats` lists the chains there are"
            }
        }
    }
}

#[derive(Debug, Clone)]
struct Incoming {
    from: usize,
    /// The kind that flows, in small letters.
    kind: Option<String>,
}

#[derive(Debug, Clone, Default)]
struct Node {
    id: String,
    incoming: Vec<Incoming>,
    followers: Vec<usize>,
    /// The kinds it takes, in small letters; `None` when it does not say, and then links are not counted.
    slots: Option<Vec<String>>,
}

/// A tool graph made ready for drawing many samples. Repeated links count once; links to themselves or to tools that
/// the graph does not list count nothing.
#[derive(Debug, Clone)]
pub struct Sampler {
    nodes: Vec<Node>,
}

impl Sampler {
    pub fn new(graph: &ToolGraph) -> Sampler {
        let mut nodes: Vec<Node> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for tool in &graph.nodes.tools {
            places.entry(&tool.id).or_insert_with(|| {
                let slots = tool.inputs.as_ref().map(|kinds| kinds.iter().map(|kind| kind.to_lowercase()).collect());
                nodes.push(Node { id: tool.id.clone(), slots, ..Node::default() });
                nodes.len() - 1
            });
        }
        let mut seen = HashSet::new();
        for link in &graph.links {
            let (Some(&from), Some(&to)) = (places.get(link.source.as_str()), places.get(link.target.as_str())) else {
                continue;
            };
            if from == to || !seen.insert((from, to)) {
                continue;
            }
            let kind = link.kind.as_ref().map(|kind| kind.to_lowercase());
            if let Some(node) = nodes.get_mut(from) {
                node.followers.push(to);
            }
            if let Some(node) = nodes.get_mut(to) {
                node.incoming.push(Incoming { from, kind });
            }
        }
        Sampler { nodes }
    }

    /// Draws a part of [`Method::size`] tools.
    ///
    /// # Errors
    /// [`SampleError::NotReachable`] when the graph has none, or none was found within the bounds of the search;
    /// [`SampleError::Nothing`] when `n` is 0.
    pub fn sample(&self, method: Method, n: usize, rng: &mut SeededRng) -> Result<SampledGraph, SampleError> {
        if n == 0 {
            return Err(SampleError::Nothing);
        }
        let n = method.size(n);
        let unreachable = |reason: String| SampleError::NotReachable { method, n, reason };
        if n > self.nodes.len() {
            return Err(SampleError::TooMany { n, there: self.nodes.len() });
        }
        for _ in 0..STARTS {
            let start = rng.below(self.nodes.len());
            let drawn = match method {
                Method::Single => Some((vec![start], Vec::new())),
                Method::Chain => self.chain(start, n, rng),
                Method::Dag => Dag::new(self, start).grow(n, rng),
                Method::RandomWalk => self.walk(start, n, 0, rng),
                Method::RandomWalkWithRestart => self.walk(start, n, RESTART_PER_MILLE, rng),
            };
            if let Some((nodes, links)) = drawn {
                return Ok(self.named(&nodes, &links));
            }
        }
        let tried = || unreachable(format!("none was found from {STARTS} starts"));
        if method != Method::Chain {
            return Err(tried());
        }
        // Random starts found none: search in order, so that "not reachable" is a proof unless the search gives up.
        let mut starts: Vec<usize> = (0..self.nodes.len()).collect();
        rng.shuffle(&mut starts);
        match self.search(&starts, n) {
            Search::Found(path) => Ok(self.named(&path, &in_a_row(&path))),
            Search::None => Err(unreachable("the graph has no such path".into())),
            Search::Unknown => Err(tried()),
        }
    }

    /// Whether the graph has a path of `n` distinct tools; `None` when the search gives up.
    pub fn has_chain(&self, n: usize) -> Option<bool> {
        let starts: Vec<usize> = (0..self.nodes.len()).collect();
        match self.search(&starts, n) {
            Search::Found(_) => Some(true),
            Search::None => Some(false),
            Search::Unknown => None,
        }
    }

    fn incoming(&self, of: usize) -> &[Incoming] {
        self.nodes.get(of).map_or(&[], |node| &node.incoming)
    }

    fn followers(&self, of: usize) -> &[usize] {
        self.nodes.get(of).map_or(&[], |node| &node.followers)
    }

    fn named(&self, nodes: &[usize], links: &[(usize, usize)]) -> SampledGraph {
        let name =
            |at: &usize| self.nodes.get(*at).map(|node| node.id.clone()).expect("samples hold places of the graph");
        SampledGraph {
            nodes: nodes.iter().map(name).collect(),
            links: links.iter().map(|(a, b)| SampledLink { source: name(a), target: name(b) }).collect(),
        }
    }

    /// Grows a path at both ends; `None` when it can grow at neither.
    fn chain(&self, start: usize, n: usize, rng: &mut SeededRng) -> Option<Drawn> {
        let mut path = std::collections::VecDeque::from([start]);
        while path.len() < n {
            let (head, tail) = (*path.front()?, *path.back()?);
            let before: Vec<usize> = self.incoming(head).iter().map(|link| link.from).collect();
            let candidates: Vec<usize> = before
                .iter()
                .chain(self.followers(tail))
                .copied()
                .filter(|candidate| !path.contains(candidate))
                .collect();
            let drawn = *rng.pick(&candidates)?;
            if before.contains(&drawn) {
                path.push_front(drawn);
            } else {
                path.push_back(drawn);
            }
        }
        let path: Vec<usize> = path.into();
        let links = in_a_row(&path);
        Some((path, links))
    }

    /// Walks along links, linking each new tool to the one before; `None` when the walk leads nowhere new.
    fn walk(&self, start: usize, n: usize, restart: usize, rng: &mut SeededRng) -> Option<Drawn> {
        let (mut nodes, mut links, mut at) = (vec![start], Vec::new(), start);
        // Bounds walks that go round in a cycle.
        for _ in 0..(n * 50) {
            if nodes.len() == n {
                break;
            }
            let next = if rng.chance(restart) {
                let unused: Vec<usize> = (0..self.nodes.len()).filter(|node| !nodes.contains(node)).collect();
                let next = *rng.pick(&unused)?;
                nodes.push(next);
                next
            } else {
                let Some(&next) = rng.pick(self.followers(at)) else {
                    // A dead end: a walk that may begin anew does, the other has failed.
                    if restart == 0 {
                        return None;
                    }
                    continue;
                };
                if !nodes.contains(&next) {
                    nodes.push(next);
                    links.push((at, next));
                }
                next
            };
            at = next;
        }
        (nodes.len() == n).then_some((nodes, links))
    }

    /// Looks for a path of `n` tools from the starts in order, deep first.
    fn search(&self, starts: &[usize], n: usize) -> Search {
        let mut steps = 0;
        for &start in starts {
            let mut path = vec![start];
            let mut left = vec![self.followers(start).iter()];
            while let Some(open) = left.last_mut() {
                if path.len() >= n {
                    return Search::Found(path);
                }
                steps += 1;
                if steps > SEARCH_STEPS {
                    return Search::Unknown;
                }
                match open.find(|next| !path.contains(next)) {
                    Some(&next) => {
                        path.push(next);
                        left.push(self.followers(next).iter());
                    }
                    None => {
                        path.pop();
                        left.pop();
                    }
                }
            }
        }
        Search::None
    }
}

type Drawn = (Vec<usize>, Vec<(usize, usize)>);

fn in_a_row(path: &[usize]) -> Vec<(usize, usize)> {
    path.iter().copied().zip(path.iter().copied().skip(1)).collect()
}

enum Search {
    Found(Vec<usize>),
    None,
    Unknown,
}

struct Dag<'s> {
    sampler: &'s Sampler,
    members: Vec<usize>,
    links: Vec<(usize, usize)>,
    /// For each member the kinds that no link brings yet; `None` when links are not counted.
    open: HashMap<usize, Option<Vec<String>>>,
}

impl<'s> Dag<'s> {
    fn new(sampler: &'s Sampler, start: usize) -> Dag<'s> {
        let mut dag = Dag { sampler, members: Vec::new(), links: Vec::new(), open: HashMap::new() };
        dag.join(start);
        dag
    }

    /// Grows to `n` tools; `None` when it cannot, or when it has become a mere path.
    fn grow(mut self, n: usize, rng: &mut SeededRng) -> Option<Drawn> {
        let most = n - 1 + n.div_ceil(2);
        while self.members.len() < n {
            let (mut fresh, mut second) = (Vec::new(), Vec::new());
            let mut order: Vec<usize> = self.members.clone();
            rng.shuffle(&mut order);
            for member in order {
                for link in self.links_at(member) {
                    let (from, to) = link;
                    let other = if from == member { to } else { from };
                    if self.members.contains(&other) { second.push(link) } else { fresh.push(link) }
                }
                if !fresh.is_empty() {
                    break;
                }
                second.clear();
            }
            if fresh.is_empty() {
                return None;
            }
            // A second link must not use up the links that the remaining tools need.
            if self.links.len() + (n - self.members.len()) < most {
                fresh.extend(second);
            }
            let link = *rng.pick(&fresh)?;
            self.add(link);
        }
        let branches = |member: &usize| {
            let into = self.links.iter().filter(|(_, to)| to == member).count();
            let out = self.links.iter().filter(|(from, _)| from == member).count();
            into >= 2 || out >= 2
        };
        if !self.members.iter().any(branches) {
            self.close(rng)?;
        }
        Some((self.members, self.links))
    }

    /// Makes a path branch by a second link, where one is possible.
    fn close(&mut self, rng: &mut SeededRng) -> Option<()> {
        let possible: Vec<(usize, usize)> = self
            .members
            .iter()
            .flat_map(|member| self.links_at(*member))
            .filter(|(from, to)| self.members.contains(from) && self.members.contains(to))
            .collect();
        // Half of the paths are drawn anew instead, or small samples would all be triangles.
        let link = *rng.pick(&possible).filter(|_| rng.chance(500))?;
        self.add(link);
        Some(())
    }

    fn join(&mut self, node: usize) {
        if !self.members.contains(&node) {
            self.members.push(node);
            let slots = self.sampler.nodes.get(node).and_then(|node| node.slots.clone());
            self.open.insert(node, slots);
        }
    }

    fn add(&mut self, (from, to): (usize, usize)) {
        self.join(from);
        self.join(to);
        self.links.push((from, to));
        let kind = self.kind(from, to);
        if let (Some(Some(open)), Some(kind)) = (self.open.get_mut(&to), kind)
            && let Some(at) = open.iter().position(|slot| *slot == kind)
        {
            open.remove(at);
        }
    }

    fn kind(&self, from: usize, to: usize) -> Option<String> {
        self.sampler.incoming(to).iter().find(|link| link.from == from)?.kind.clone()
    }

    /// The links between a member and others that may still be added.
    fn links_at(&self, member: usize) -> Vec<(usize, usize)> {
        let before = self.sampler.incoming(member).iter().map(|link| (link.from, member));
        let after = self.sampler.followers(member).iter().map(|to| (member, *to));
        before.chain(after).filter(|link| self.may_add(*link)).collect()
    }

    fn may_add(&self, (from, to): (usize, usize)) -> bool {
        let has_slot = match self.open.get(&to) {
            Some(Some(open)) => self.kind(from, to).is_none_or(|kind| open.contains(&kind)),
            Some(None) | None => true,
        };
        // A tool that is not a member yet closes no cycle.
        let fresh = !self.open.contains_key(&from) || !self.open.contains_key(&to);
        has_slot && (fresh || !self.links.contains(&(from, to)) && !self.reaches(to, from))
    }

    fn reaches(&self, from: usize, goal: usize) -> bool {
        let (mut open, mut seen) = (vec![from], HashSet::new());
        while let Some(at) = open.pop() {
            if at == goal {
                return true;
            }
            if seen.insert(at) {
                open.extend(self.links.iter().filter(|(source, _)| *source == at).map(|(_, target)| *target));
            }
        }
        false
    }
}
