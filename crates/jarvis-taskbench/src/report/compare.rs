//! A predicted plan beside its gold plan: what is right, missing, surplus or put in another's place, and in words what is
//! wrong. It ranks samples and explains them; the figures come from [`crate::evaluate`].

use std::collections::{HashMap, HashSet};

use super::plan::{Names, PlanView};
use super::text::cut;
use crate::evaluate::Counts;

/// Cells of a name in a sentence.
const NAME: usize = 60;
/// Names that a sentence lists before it counts the rest.
const LISTED: usize = 6;

/// What two plans have in common. Nodes are the same by name, a repeated name as often as both have it; links are the
/// same by the names of their ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// For each gold node, whether it was predicted.
    pub gold_nodes: Vec<bool>,
    /// For each predicted node, whether it is gold.
    pub predicted_nodes: Vec<bool>,
    /// For each gold link, whether it was predicted.
    pub gold_links: Vec<bool>,
    /// For each predicted link, whether it is gold.
    pub predicted_links: Vec<bool>,
    /// Missing gold nodes with the surplus node that seems to stand in their place: gold, predicted.
    pub replaced: Vec<(usize, usize)>,
    /// Nodes in common.
    pub nodes: Counts,
    /// Links in common.
    pub links: Counts,
}

impl Diff {
    /// Compares two plans.
    pub fn of(gold: &PlanView, predicted: &PlanView) -> Diff {
        let mut left: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, node) in gold.nodes.iter().enumerate().rev() {
            left.entry(&node.key).or_default().push(at);
        }
        let mut gold_nodes = vec![false; gold.nodes.len()];
        let predicted_nodes: Vec<bool> = predicted
            .nodes
            .iter()
            .map(|node| {
                let found = left.get_mut(node.key.as_str()).and_then(Vec::pop).and_then(|at| gold_nodes.get_mut(at));
                found.map(|hit| *hit = true).is_some()
            })
            .collect();
        let (gold_names, predicted_names) = (link_names(gold), link_names(predicted));
        let (gold_set, predicted_set): (HashSet<_>, HashSet<_>) =
            (gold_names.iter().copied().collect(), predicted_names.iter().copied().collect());
        let mut diff = Diff {
            nodes: Counts {
                common: predicted_nodes.iter().filter(|hit| **hit).count() as u64,
                predicted: predicted_nodes.len() as u64,
                gold: gold_nodes.len() as u64,
            },
            links: Counts {
                common: gold_set.intersection(&predicted_set).count() as u64,
                predicted: predicted_set.len() as u64,
                gold: gold_set.len() as u64,
            },
            gold_links: gold_names.iter().map(|link| predicted_set.contains(link)).collect(),
            predicted_links: predicted_names.iter().map(|link| gold_set.contains(link)).collect(),
            gold_nodes,
            predicted_nodes,
            replaced: Vec::new(),
        };
        diff.replaced = diff.replacements(gold, predicted);
        diff
    }

    /// How good the plan is, 0 to 1: the mean of the F1 of nodes and of links, or of nodes alone where there are no links.
    pub fn score(&self) -> f64 {
        if self.links.gold + self.links.predicted == 0 {
            return self.nodes_f1();
        }
        f64::midpoint(self.nodes_f1(), self.links.f1())
    }

    /// F1 of nodes; 1 when there are none on either side.
    pub fn nodes_f1(&self) -> f64 {
        if self.nodes.gold + self.nodes.predicted == 0 { 1.0 } else { self.nodes.f1() }
    }

    /// Pairs each missing node with the surplus one that shares most neighbours with it, else with the one nearest in
    /// list order.
    fn replacements(&self, gold: &PlanView, predicted: &PlanView) -> Vec<(usize, usize)> {
        let open = |hits: &[bool]| -> Vec<usize> {
            hits.iter().enumerate().filter(|(_, hit)| !**hit).map(|(at, _)| at).collect()
        };
        let (missing, surplus) = (open(&self.gold_nodes), open(&self.predicted_nodes));
        let beside: Vec<HashSet<(bool, &str)>> = surplus.iter().map(|at| neighbours(predicted, *at)).collect();
        let mut pairs = Vec::with_capacity(missing.len() * surplus.len());
        for own in &missing {
            let around = neighbours(gold, *own);
            for (other, beside) in surplus.iter().zip(&beside) {
                let shared = beside.intersection(&around).count();
                pairs.push((std::cmp::Reverse(shared), own.abs_diff(*other), *own, *other));
            }
        }
        pairs.sort_unstable();
        let (mut used, mut taken) = (HashSet::new(), HashSet::new());
        let mut replaced = Vec::new();
        for (_, _, own, other) in pairs {
            if !used.contains(&own) && !taken.contains(&other) {
                used.insert(own);
                taken.insert(other);
                replaced.push((own, other));
            }
        }
        replaced.sort_unstable();
        replaced
    }
}

/// The names around a node, and on which side they stand.
fn neighbours(plan: &PlanView, node: usize) -> HashSet<(bool, &str)> {
    let name = |at: usize| plan.nodes.get(at).map(|node| node.key.as_str());
    plan.links
        .iter()
        .filter_map(|(source, target)| {
            if *target == node {
                Some((false, name(*source)?))
            } else if *source == node {
                Some((true, name(*target)?))
            } else {
                None
            }
        })
        .collect()
}

/// The names of both ends of each link.
fn link_names(plan: &PlanView) -> Vec<(&str, &str)> {
    let name = |at: usize| plan.nodes.get(at).map_or("", |node| node.key.as_str());
    plan.links.iter().map(|(source, target)| (name(*source), name(*target))).collect()
}

/// What is wrong with a prediction, one thing a sentence; nothing when all nodes and links are right.
pub fn complaints(gold: &PlanView, predicted: &PlanView, diff: &Diff, names: &Names) -> Vec<String> {
    let mut said = Vec::new();
    if predicted.nodes.is_empty() && !gold.nodes.is_empty() {
        said.push("The plan is empty".to_owned());
    }
    let name = |plan: &PlanView, at: usize| -> String {
        plan.nodes.get(at).map_or_else(String::new, |node| names.shown(&node.key).to_owned())
    };
    for (own, other) in diff.replaced.iter().take(LISTED) {
        said.push(format!("{} stands where {} should", quoted(&name(predicted, *other)), quoted(&name(gold, *own))));
    }
    if diff.replaced.len() > LISTED {
        said.push(format!("{} more tools stand in the place of others", diff.replaced.len() - LISTED));
    }
    let alone = |hits: &[bool], paired: &dyn Fn(usize) -> bool| -> Vec<usize> {
        hits.iter().enumerate().filter(|(at, hit)| !**hit && !paired(*at)).map(|(at, _)| at).collect()
    };
    let missing = alone(&diff.gold_nodes, &|at| diff.replaced.iter().any(|(own, _)| *own == at));
    if !missing.is_empty() && !predicted.nodes.is_empty() {
        said.push(format!("Missing: {}", listed(missing.iter().map(|at| quoted(&name(gold, *at))))));
    }
    let surplus = alone(&diff.predicted_nodes, &|at| diff.replaced.iter().any(|(_, other)| *other == at));
    let is_repeat = |at: &usize| {
        let key = predicted.nodes.get(*at).map(|node| &node.key);
        predicted.nodes.iter().take(*at).any(|node| Some(&node.key) == key)
    };
    let (repeated, surplus): (Vec<usize>, Vec<usize>) = surplus.into_iter().partition(is_repeat);
    if !surplus.is_empty() {
        said.push(format!("Surplus: {}", listed(surplus.iter().map(|at| quoted(&name(predicted, *at))))));
    }
    if !repeated.is_empty() {
        said.push(format!(
            "Called once too often: {}",
            listed(repeated.iter().map(|at| quoted(&name(predicted, *at))))
        ));
    }
    let mut unknown: Vec<&str> =
        predicted.nodes.iter().map(|node| node.key.as_str()).filter(|key| !names.has(key)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    if !unknown.is_empty() {
        said.push(format!("Not in the catalogue: {}", listed(unknown.into_iter().map(|key| quoted(names.shown(key))))));
    }
    said.extend(links(gold, predicted, diff, names));
    if is_cyclic(predicted) {
        said.push("The links form a cycle".to_owned());
    }
    said.extend(predicted.faults.iter().take(LISTED).map(|fault| capital(&cut(fault, 2 * NAME))));
    if !predicted.nodes.is_empty() && !predicted.steps.is_empty() && predicted.steps.len() != predicted.nodes.len() {
        let (steps, nodes) = (predicted.steps.len(), predicted.nodes.len());
        said.push(format!("{} for {}", counted(steps, "step"), counted(nodes, "node")));
    }
    said
}

fn links(gold: &PlanView, predicted: &PlanView, diff: &Diff, names: &Names) -> Vec<String> {
    let (gold_names, predicted_names) = (link_names(gold), link_names(predicted));
    // A link to a tool that is itself missing or surplus goes without saying.
    let both: HashSet<&str> = {
        let keys = |plan: &'_ PlanView| plan.nodes.iter().map(|node| node.key.clone()).collect::<HashSet<_>>();
        let in_gold = keys(gold);
        predicted.nodes.iter().map(|node| node.key.as_str()).filter(|key| in_gold.contains(*key)).collect()
    };
    let wrong = |hits: &[bool], all: &[(&str, &str)]| -> Vec<(String, String)> {
        let mut seen = HashSet::new();
        let known = |link: &(&str, &str)| both.contains(link.0) && both.contains(link.1);
        let own = all.iter().zip(hits).filter(|(link, hit)| !**hit && known(link) && seen.insert(**link));
        own.map(|((source, target), _)| ((*source).to_owned(), (*target).to_owned())).collect()
    };
    let missing = wrong(&diff.gold_links, &gold_names);
    let surplus = wrong(&diff.predicted_links, &predicted_names);
    let flip = |(source, target): &(String, String)| (target.clone(), source.clone());
    let arrow = |(source, target): &(String, String)| {
        format!("{} → {}", cut(names.shown(source), NAME), cut(names.shown(target), NAME))
    };
    let turned: Vec<&(String, String)> = surplus.iter().filter(|link| missing.contains(&flip(link))).collect();
    let mut said = Vec::new();
    if !turned.is_empty() {
        said.push(format!("Linked the wrong way round: {}", listed(turned.iter().map(|link| arrow(link)))));
    }
    let others = |own: &[(String, String)], other: &[(String, String)]| -> Vec<String> {
        own.iter().filter(|link| !other.contains(&flip(link))).map(arrow).collect()
    };
    let (missing, surplus) = (others(&missing, &surplus), others(&surplus, &missing));
    if !missing.is_empty() && !predicted.nodes.is_empty() {
        said.push(format!("Missing links: {}", listed(missing.into_iter())));
    }
    if !surplus.is_empty() {
        said.push(format!("Surplus links: {}", listed(surplus.into_iter())));
    }
    said
}

fn is_cyclic(plan: &PlanView) -> bool {
    let mut left: Vec<(usize, usize)> = plan.links.clone();
    loop {
        let targets: HashSet<usize> = left.iter().map(|(_, target)| *target).collect();
        let before = left.len();
        left.retain(|(source, _)| targets.contains(source));
        if left.len() == before {
            return before > 0;
        }
    }
}

fn quoted(name: &str) -> String {
    format!("“{}”", cut(name, NAME))
}

fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(LISTED);
    let shown: Vec<String> = items.take(LISTED).collect();
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{tail}", shown.join(", "))
}

fn counted(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::{Diff, complaints};
    use crate::data::{DependencyType, ToolList};
    use crate::json::{Look, parse};
    use crate::report::plan::{Names, PlanView};

    /// A plan in short: names, then links by name.
    fn plan(nodes: &str, links: &str) -> PlanView {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let nodes: Vec<_> = words(nodes).iter().map(|name| serde_json::json!({"task": name})).collect();
        let links: Vec<_> = words(links)
            .iter()
            .filter_map(|link| link.split_once('>'))
            .map(|(source, target)| serde_json::json!({"source": source, "target": target}))
            .collect();
        let json = serde_json::json!({"n": nodes, "l": links}).to_string();
        let value = parse(json.as_bytes()).unwrap();
        PlanView::read(None, value.look("n"), value.look("l"), DependencyType::Temporal).unwrap()
    }

    #[test]
    fn says_what_is_wrong() {
        let tools: Vec<_> = ["a", "b", "c", "d", "x", "y"].iter().map(|id| serde_json::json!({"id": id})).collect();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tool_desc.json");
        std::fs::write(&file, serde_json::json!({"nodes": tools}).to_string()).unwrap();
        let names = Names::of(&ToolList::read(&file).unwrap());
        for (gold, gold_links, predicted, links, score, expected) in [
            ("a b", "a>b", "b a", "a>b", 1.0, ""),
            ("a b c", "a>b b>c", "a x c", "a>x x>c", 1.0 / 3.0, "“x” stands where “b” should"),
            // `x` stands between the same neighbours as `c`, though `b` is nearer in the list.
            ("a b c d", "a>c c>d", "a x d", "a>x x>d", 2.0 / 7.0, "“x” stands where “c” should; Missing: “b”"),
            ("a b c", "a>b b>c", "a b c", "a>c b>c", 0.75, "Missing links: a → b; Surplus links: a → c"),
            ("a b", "a>b", "a b", "b>a", 0.5, "Linked the wrong way round: b → a"),
            ("a", "", "a a", "", 2.0 / 3.0, "Called once too often: “a”"),
            ("a", "", "a zz", "", 2.0 / 3.0, "Surplus: “zz”; Not in the catalogue: “zz”"),
            ("a", "", "", "", 0.0, "The plan is empty"),
            ("a b", "", "a b", "a>b b>a", 0.5, "Surplus links: a → b, b → a; The links form a cycle"),
            ("", "", "", "", 1.0, ""),
        ] {
            let (gold, predicted) = (plan(gold, gold_links), plan(predicted, links));
            let diff = Diff::of(&gold, &predicted);
            assert_eq!(complaints(&gold, &predicted, &diff, &names).join("; "), expected);
            assert!((diff.score() - score).abs() < 1e-12, "{} is not {score}: {expected}", diff.score());
        }
    }
}
