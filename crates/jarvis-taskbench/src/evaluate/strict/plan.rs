//! Reads a plan, gold or predicted, the same way: repairs what is unambiguous, names what is not.
//!
//! Repairs, each counted under its name: steps given as objects or lists become their text (`steps`), one text of steps stands
//! (`steps`); one bare node becomes a list (`single_node`); `{name, value}` where a resource argument is wanted becomes
//! the value (`named_arguments`), and so do the values of an object of arguments; arguments given as one text, or one
//! bare argument, become a list (`single_argument`); a link given as a pair becomes source and target (`link_pairs`);
//! ends given as 1-based step numbers (`2`, `"2"`, `"Step 2"`) become names (`step_numbers`), unless a 0 among them
//! shows that they count otherwise; one bare link becomes a list (`single_link`); `<output_of_X>` becomes the one node
//! called X (`named_references`). No expression is ever evaluated.

use std::collections::{BTreeMap, BTreeSet};

use super::Catalogue;
use super::canonical::value_text;
use super::references::{Reference, references};
use super::steps::step_text;
use crate::data::{DependencyType, GoldRecord, normalised};
use crate::evaluate::kind_of;
use crate::json::{Json, Look, entries};
use crate::words::words;

/// Plans with more nodes than this are malformed; the largest gold plans have ten.
pub(crate) const MOST_NODES: usize = 500;
/// Lists with more links than this are no list of links.
const MOST_LINKS: usize = 2_000;

/// What is compared of an argument beside its tool: a kind of resource or a parameter's name, and the value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Argument {
    pub(crate) task: String,
    /// The kind of the value (resource) or the parameter's name (temporal).
    pub(crate) name: String,
    /// The value; for a reference the name of the tool referred to.
    pub(crate) value: String,
}

/// Placeholder name of an argument that refers to no other node.
const DANGLING: &str = "dangling reference";
/// Placeholder name of a malformed argument.
const MALFORMED: &str = "malformed argument";

impl Argument {
    /// True for what is counted under another name too.
    pub(crate) fn is_counted_elsewhere(&self) -> bool {
        [DANGLING, MALFORMED].contains(&self.name.as_str())
    }
}

/// A plan as it is compared. Names are normalised.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    pub(crate) steps: String,
    pub(crate) nodes: Vec<String>,
    /// The same as written.
    pub(crate) written: Vec<String>,
    pub(crate) arguments: BTreeSet<Argument>,
    /// The links that are scored: from references (resource) or as listed (temporal).
    pub(crate) links: BTreeSet<(String, String)>,
    /// The same as places in the list of nodes.
    pub(crate) edges: Vec<(usize, usize)>,
    /// The listed links, where there is a list.
    pub(crate) listed: Option<BTreeSet<(String, String)>>,
    /// How often each repair was made.
    pub(crate) repaired: BTreeMap<&'static str, u32>,
    /// References to no node, as `reference` in an argument of `tool`.
    pub(crate) dangling: Vec<String>,
    /// What is wrong with each malformed link.
    pub(crate) bad_links: Vec<String>,
    /// What is wrong with each malformed argument.
    pub(crate) bad_arguments: Vec<String>,
    /// Why it is no plan: the cause's stable word and a sentence.
    pub(crate) malformed: Option<(Cause, String)>,
}

words! {
    pub enum Cause {
        /// The reply or the line holds nothing that could be a plan.
        Unreadable = "unreadable",
        NotAnObject = "not_an_object",
        NoNodes = "no_task_nodes",
        NodesNotAList = "task_nodes_not_a_list",
        NodeNotAnObject = "node_not_an_object",
        NodeWithoutTask = "node_without_task",
        TooManyNodes = "too_many_nodes",
    }
}

impl Plan {
    pub(crate) fn of_gold(gold: &GoldRecord<'_>, catalogue: &Catalogue) -> Plan {
        let parts = [gold.task_steps.as_ref(), gold.task_nodes.as_ref(), gold.task_links.as_ref()];
        read(parts, catalogue)
    }

    /// A predicted plan: the value of `result`.
    pub(crate) fn of_result(result: &Json<'_>, catalogue: &Catalogue) -> Plan {
        match result {
            Json::Object(_) => read(["task_steps", "task_nodes", "task_links"].map(|key| result.look(key)), catalogue),
            other => Plan::malformed(Cause::NotAnObject, format!("the plan is {}, not an object", other.what())),
        }
    }

    pub(crate) fn malformed(cause: Cause, why: String) -> Plan {
        Plan { malformed: Some((cause, why)), ..Plan::default() }
    }

    /// The tools in the order of the links.
    pub(crate) fn in_topological_order(&self) -> Vec<&str> {
        super::order::topological(self.nodes.len(), &self.edges)
            .into_iter()
            .filter_map(|at| self.nodes.get(at).map(String::as_str))
            .collect()
    }

    fn repair(&mut self, kind: &'static str) {
        *self.repaired.entry(kind).or_default() += 1;
    }
}

fn read([steps, nodes, links]: [Option<&Json<'_>>; 3], catalogue: &Catalogue) -> Plan {
    let mut plan = Plan::default();
    let nodes = match listed_nodes(nodes, &mut plan) {
        Ok(nodes) => nodes,
        Err((cause, why)) => return Plan::malformed(cause, why),
    };
    if let Some(steps) = steps {
        let (text, repaired) = step_text(steps);
        plan.steps = text;
        if repaired {
            plan.repair("steps");
        }
    }
    for (at, node) in nodes.iter().enumerate() {
        let Some(arguments) = node.look("arguments") else { continue };
        match catalogue.dependency() {
            DependencyType::Resource => resource_arguments(&mut plan, at, arguments, catalogue),
            DependencyType::Temporal => temporal_arguments(&mut plan, at, arguments),
        }
    }
    plan.listed = links.and_then(|links| listed_links(links, &mut plan));
    if catalogue.dependency() == DependencyType::Temporal {
        plan.links = plan.listed.clone().unwrap_or_default();
        plan.edges = edges(&plan.nodes, &plan.links);
    }
    plan
}

fn listed_nodes<'v, 'a>(nodes: Option<&'v Json<'a>>, plan: &mut Plan) -> Result<&'v [Json<'a>], (Cause, String)> {
    let nodes = match nodes {
        None => return Err((Cause::NoNodes, "it has no `task_nodes`".into())),
        Some(Json::Array(items)) => items.as_slice(),
        Some(empty) if empty.is_empty_container() => &[],
        Some(one) if one.look("task").is_some() => {
            plan.repair("single_node");
            std::slice::from_ref(one)
        }
        Some(other) => return Err((Cause::NodesNotAList, format!("`task_nodes` is {}, not a list", other.what()))),
    };
    if nodes.len() > MOST_NODES {
        return Err((Cause::TooManyNodes, format!("it has {} nodes; at most {MOST_NODES} are read", nodes.len())));
    }
    for (at, node) in nodes.iter().enumerate() {
        if node.pairs().is_none() {
            return Err((Cause::NodeNotAnObject, format!("node {at} is {}, not an object", node.what())));
        }
        let task = node
            .look("task")
            .and_then(Look::text)
            .ok_or_else(|| (Cause::NodeWithoutTask, format!("node {at} has no text under `task`")))?;
        plan.nodes.push(normalised(task));
        plan.written.push(task.to_owned());
    }
    Ok(nodes)
}

/// The arguments of a node as a list of values, whatever container they came in.
fn resource_arguments(plan: &mut Plan, at: usize, arguments: &Json<'_>, catalogue: &Catalogue) {
    let is_pair = |value: &Json<'_>| value.look("name").is_some() && value.look("value").is_some();
    match arguments {
        Json::Null => {}
        Json::Array(items) => {
            for item in items.iter() {
                match item.look("value").filter(|_| is_pair(item)) {
                    Some(value) => {
                        plan.repair("named_arguments");
                        resource_argument(plan, at, value, catalogue);
                    }
                    None => resource_argument(plan, at, item, catalogue),
                }
            }
        }
        Json::Object(pairs) => {
            if !pairs.is_empty() {
                plan.repair("named_arguments");
            }
            match arguments.look("value").filter(|_| is_pair(arguments)) {
                Some(value) => resource_argument(plan, at, value, catalogue),
                None => {
                    for value in entries(pairs).into_values() {
                        resource_argument(plan, at, value, catalogue);
                    }
                }
            }
        }
        Json::Str(text) if text.is_empty() => {}
        Json::Str(_) | Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => {
            plan.repair("single_argument");
            resource_argument(plan, at, arguments, catalogue);
        }
    }
}

fn resource_argument(plan: &mut Plan, at: usize, value: &Json<'_>, catalogue: &Catalogue) {
    let Some(task) = plan.nodes.get(at).cloned() else { return };
    let mut found = Vec::new();
    references(value, &mut found);
    if found.is_empty() {
        let value = value_text(value).into_owned();
        let name = kind_of(&value).to_owned();
        plan.arguments.insert(Argument { task, name, value });
        return;
    }
    for reference in found {
        let target = match &reference {
            Reference::Node { at: Some(place), .. } => Some(*place),
            Reference::Node { at: None, .. } => None,
            Reference::OutputOf { tool, .. } => {
                let wanted = normalised(tool);
                let mut called = plan.nodes.iter().enumerate().filter(|(_, name)| **name == wanted);
                called.next().filter(|_| called.next().is_none()).map(|(place, _)| place)
            }
        };
        match target.filter(|place| *place != at).and_then(|place| Some((place, plan.nodes.get(place)?.clone()))) {
            Some((place, source)) => {
                if matches!(reference, Reference::OutputOf { .. }) {
                    plan.repair("named_references");
                }
                let name = catalogue.output_kind(&source).to_owned();
                plan.arguments.insert(Argument { task: task.clone(), name, value: source.clone() });
                plan.links.insert((source, task.clone()));
                plan.edges.push((place, at));
            }
            None => {
                let written = reference.written();
                plan.dangling.push(format!("{written} in an argument of {}", catalogue.show(&task)));
                let (name, value) = (DANGLING.to_owned(), written.to_owned());
                plan.arguments.insert(Argument { task: task.clone(), name, value });
            }
        }
    }
}

fn temporal_arguments(plan: &mut Plan, at: usize, arguments: &Json<'_>) {
    match arguments {
        Json::Null => {}
        empty if empty.is_empty_container() => {}
        Json::Array(items) => {
            for item in items.iter() {
                match (item.look("name"), item.look("value")) {
                    (Some(name), Some(value)) => temporal_argument(plan, at, &value_text(name), value),
                    _ => bad_argument(plan, at, item),
                }
            }
        }
        Json::Object(pairs) => match (arguments.look("name"), arguments.look("value")) {
            (Some(name), Some(value)) => {
                plan.repair("single_argument");
                temporal_argument(plan, at, &value_text(name), value);
            }
            _ => {
                plan.repair("named_arguments");
                for (name, value) in entries(pairs) {
                    temporal_argument(plan, at, name, value);
                }
            }
        },
        Json::Str(_) | Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => {
            bad_argument(plan, at, arguments);
        }
    }
}

fn temporal_argument(plan: &mut Plan, at: usize, name: &str, value: &Json<'_>) {
    let Some(task) = plan.nodes.get(at).cloned() else { return };
    plan.arguments.insert(Argument { task, name: name.to_owned(), value: value_text(value).into_owned() });
}

/// A malformed argument keeps its value, under a name that no gold argument has.
fn bad_argument(plan: &mut Plan, at: usize, value: &Json<'_>) {
    let Some(task) = plan.nodes.get(at).cloned() else { return };
    plan.bad_arguments.push(format!("an argument is {}, not a name with a value", value.what()));
    plan.arguments.insert(Argument { task, name: MALFORMED.into(), value: value_text(value).into_owned() });
}

/// The listed links; `None` where there is no list of them.
fn listed_links(links: &Json<'_>, plan: &mut Plan) -> Option<BTreeSet<(String, String)>> {
    let items = match links {
        Json::Null => return None,
        Json::Array(items) if items.len() > MOST_LINKS => {
            plan.bad_links.push(format!("`task_links` has {} links; at most {MOST_LINKS} are read", items.len()));
            return None;
        }
        Json::Array(items) => items.as_slice(),
        empty if empty.is_empty_container() => &[],
        one if one.look("source").is_some() && one.look("target").is_some() => {
            plan.repair("single_link");
            std::slice::from_ref(one)
        }
        other => {
            plan.bad_links.push(format!("`task_links` is {}, not a list", other.what()));
            return None;
        }
    };
    let mut listed = BTreeSet::new();
    // A step 0 shows that steps are not counted from 1, and then their base is unknown.
    let counted = !items.iter().filter_map(link_ends).flatten().any(|end| number_of(end) == Some(0));
    for item in items {
        match listed_link(item, counted, plan) {
            Ok(link) => {
                listed.insert(link);
            }
            Err(why) => plan.bad_links.push(why),
        }
    }
    Some(listed)
}

fn link_ends<'v, 'a>(item: &'v Json<'a>) -> Option<[&'v Json<'a>; 2]> {
    match (item, item.look("source"), item.look("target")) {
        (_, Some(source), Some(target)) => Some([source, target]),
        (Json::Array(ends), ..) if let [source, target] = ends.as_slice() => Some([source, target]),
        _ => None,
    }
}

fn listed_link(item: &Json<'_>, counted: bool, plan: &mut Plan) -> Result<(String, String), String> {
    let Some([source, target]) = link_ends(item) else {
        return Err(match item {
            Json::Object(_) => "a link has no `source` or no `target`".into(),
            other => format!("a link is {}, not a source and a target", other.what()),
        });
    };
    let link = (link_end(source, counted, plan)?, link_end(target, counted, plan)?);
    if item.list().is_some() {
        plan.repair("link_pairs");
    }
    Ok(link)
}

fn link_end(end: &Json<'_>, counted: bool, plan: &mut Plan) -> Result<String, String> {
    let name = end.text().map(normalised);
    let number = match (name, number_of(end)) {
        // A tool may well be called 7.
        (Some(name), number) if number.is_none() || plan.nodes.contains(&name) => return Ok(name),
        (_, Some(number)) => number,
        (_, None) => return Err(format!("an end of a link is {}, not a name", value_text(end))),
    };
    let named = number.checked_sub(1).filter(|_| counted).and_then(|at| plan.nodes.get(at)).cloned();
    let named = named.ok_or_else(|| format!("a link names step {}, of {}", value_text(end), plan.nodes.len()))?;
    plan.repair("step_numbers");
    Ok(named)
}

/// The step number that an end of a link is.
fn number_of(end: &Json<'_>) -> Option<usize> {
    match end {
        Json::Str(text) => step_number(text),
        Json::Int(number) => Some(usize::try_from(*number).unwrap_or(0)),
        Json::Null | Json::Bool(_) | Json::BigInt(_) | Json::Float(_) | Json::Array(_) | Json::Object(_) => None,
    }
}

/// The number in `3`, `Step 3` or `step3`.
fn step_number(text: &str) -> Option<usize> {
    let text = text.trim();
    let bare = match text.get(..4) {
        Some(word) if word.eq_ignore_ascii_case("step") => text.get(4..)?.trim_start(),
        Some(_) | None => text,
    };
    if bare.is_empty() || !bare.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    bare.parse().ok()
}

/// Links by name as links between places; a name that stands for several nodes links them all.
fn edges(nodes: &[String], links: &BTreeSet<(String, String)>) -> Vec<(usize, usize)> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, name) in nodes.iter().enumerate() {
        places.entry(name).or_default().push(at);
    }
    let of = |name: &String| places.get(name.as_str()).map_or(&[] as &[usize], Vec::as_slice);
    links
        .iter()
        .flat_map(|(from, to)| of(from).iter().flat_map(move |a| of(to).iter().map(move |b| (*a, *b))))
        .collect()
}
