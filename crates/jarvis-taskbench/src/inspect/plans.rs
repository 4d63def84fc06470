//! Gold plans and predictions: what is odd about them, by the rules of the strict profile.

use std::collections::{BTreeMap, HashMap, HashSet};

use indexmap::{IndexMap, IndexSet};
use petgraph::algo::is_cyclic_directed;
use petgraph::graphmap::DiGraphMap;

use super::{Contents, by_frequency};
use crate::data::{DependencyType, Gold, GoldRecord, Lines, Release, Requests, SampleId, ToolGraph, normalised};
use crate::evaluate::Predictions;
use crate::evaluate::strict::Catalogue;
use crate::evaluate::strict::plan::Plan;
use crate::json::{Json, Look};

#[derive(Clone, Copy)]
pub(super) struct Against<'a> {
    /// Empty where no file lists tools.
    pub(super) catalogue: &'a Catalogue,
    pub(super) graph: Option<&'a ToolGraph>,
    pub(super) requests: Option<&'a Requests>,
}

pub(super) struct GoldPlans {
    pub(super) contents: Contents,
    pub(super) ids: IndexSet<SampleId>,
    /// The normalised names of the tools that plans use.
    pub(super) used: HashSet<String>,
}

const NO_SHAPE: &str = "plans whose type is none of single, chain, dag";
const NO_PLAN: &str = "plans without a usable list of nodes";
const ALPHABETICAL: &str = "plans of two tools and more that list them in alphabetical order";
const UNKNOWN_TOOL: &str = "plans with a tool outside the catalogue";
const OFF_GRAPH: &str = "plans with a link that is not in the tool graph";
const OTHER_WORDS: &str = "plans whose request is worded otherwise in user_requests.json";
const NO_REQUEST: &str = "plans whose id is not in user_requests.json";

type Test = fn(&Checked<'_>) -> bool;

/// What can be odd about a plan that has nodes, in the order of the report.
const ODD: [(&str, Test); 15] = [
    ("plans with another number of steps than of nodes", |plan| {
        length(&plan.record.task_steps).unwrap_or(0) != plan.size()
    }),
    (
        "plans whose n_tools is not the number of nodes",
        |plan| matches!(plan.record.n_tools, Some(Json::Int(sampled)) if usize::try_from(sampled) != Ok(plan.size())),
    ),
    ("plans with another number of sampled nodes than of nodes", |plan| {
        length(&plan.record.sampled_nodes).is_some_and(|sampled| sampled != plan.size())
    }),
    (ALPHABETICAL, |plan| plan.size() > 1 && plan.plan.nodes.is_sorted()),
    ("plans that use a tool more than once", |plan| plan.names.len() < plan.size()),
    (UNKNOWN_TOOL, |plan| !plan.unknown.is_empty()),
    ("plans with a listed link that is none", |plan| !plan.plan.bad_links.is_empty()),
    ("plans with a link from a tool to itself", |plan| plan.links.iter().any(|(source, target)| source == target)),
    ("plans with a link to a tool that is not among the nodes", |plan| {
        plan.links.iter().any(|(source, target)| !plan.names.contains(source) || !plan.names.contains(target))
    }),
    (OFF_GRAPH, |plan| !plan.off_graph.is_empty()),
    ("plans whose links go round in a circle", |plan| has_cycle(&plan.links)),
    ("plans with a reference to no other node", |plan| plan.is_resource && !plan.plan.dangling.is_empty()),
    ("plans that refer by `<output_of_X>`", |plan| {
        plan.is_resource && plan.plan.repaired.contains_key("named_references")
    }),
    ("plans with an argument that names another node's tool in words", |plan| {
        plan.is_resource && names_another(&plan.plan)
    }),
    ("plans with an argument that is no name with a value", |plan| !plan.plan.bad_arguments.is_empty()),
];

struct Checked<'a> {
    record: &'a GoldRecord<'a>,
    plan: Plan,
    is_resource: bool,
    names: HashSet<String>,
    /// Names outside the catalogue as written, where there is a catalogue.
    unknown: Vec<String>,
    /// The listed links, or those of references where none are listed.
    links: Vec<(String, String)>,
    off_graph: Vec<String>,
}

impl Checked<'_> {
    fn size(&self) -> usize {
        self.plan.nodes.len()
    }
}

impl GoldPlans {
    pub(super) fn inspect(gold: &Gold, against: Against<'_>) -> GoldPlans {
        let Against { catalogue, graph, requests } = against;
        let linked: Option<HashSet<(String, String)>> = graph
            .map(|graph| graph.links.iter().map(|link| (normalised(&link.source), normalised(&link.target))).collect());
        // The last of a repeated id counts, as everywhere.
        let asked: Option<HashMap<&SampleId, &str>> = requests
            .map(|requests| requests.requests.iter().map(|request| (&request.id, request.text.trim())).collect());
        let is_resource = catalogue.dependency() == DependencyType::Resource;

        let (mut bad, mut ids, mut used) = (Vec::new(), Vec::new(), HashSet::new());
        let mut shapes: BTreeMap<(usize, String), usize> = BTreeMap::new();
        let (mut sizes, mut releases) = (BTreeMap::<usize, usize>::new(), BTreeMap::<Release, usize>::new());
        let (mut nodes, mut links, mut references, mut several) = (0, 0, 0, 0);
        let (mut unknown, mut off_graph) = (HashMap::<String, usize>::new(), HashMap::<String, usize>::new());
        let order = [NO_SHAPE, NO_PLAN].into_iter().chain(ODD.map(|(what, _)| what)).chain([OTHER_WORDS, NO_REQUEST]);
        let mut odd: IndexMap<&'static str, Vec<String>> = order.map(|what| (what, Vec::new())).collect();
        for record in gold.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    bad.push(error.to_string());
                    continue;
                }
            };
            let mut put = |what: &'static str| odd.entry(what).or_default().push(record.id.to_string());
            *releases.entry(record.release).or_default() += 1;
            let shape = record.shape.as_deref().unwrap_or("none");
            let rank = ["single", "chain", "dag"].iter().position(|known| *known == shape).unwrap_or(3);
            *shapes.entry((rank, shape.to_owned())).or_default() += 1;
            if rank == 3 {
                put(NO_SHAPE);
            }
            let plan = Plan::of_gold(&record, catalogue);
            if plan.malformed.is_some() {
                put(NO_PLAN);
            } else {
                let own: Vec<(String, String)> = plan.listed.as_ref().unwrap_or(&plan.links).iter().cloned().collect();
                let off = own.iter().filter(|link| linked.as_ref().is_some_and(|linked| !linked.contains(*link)));
                let show = |(source, target): &(String, String)| {
                    format!("{} → {}", catalogue.show(source), catalogue.show(target))
                };
                let checked = Checked {
                    record: &record,
                    is_resource,
                    names: plan.nodes.iter().cloned().collect(),
                    unknown: outside(&plan, catalogue).cloned().collect(),
                    off_graph: off.map(show).collect(),
                    links: own,
                    plan,
                };
                *sizes.entry(checked.size()).or_default() += 1;
                nodes += checked.size();
                links += checked.links.len();
                several += usize::from(checked.size() > 1);
                references += if is_resource { checked.plan.edges.len() } else { 0 };
                ODD.iter().filter(|(_, is_so)| is_so(&checked)).for_each(|(what, _)| put(what));
                used.extend(checked.names);
                for (counts, found) in [(&mut unknown, checked.unknown), (&mut off_graph, checked.off_graph)] {
                    found.into_iter().for_each(|name| *counts.entry(name).or_default() += 1);
                }
            }
            match (asked.as_ref().map(|asked| asked.get(&record.id)), record.user_request.as_ref().and_then(Look::text))
            {
                (Some(None), _) => put(NO_REQUEST),
                (Some(Some(asked)), Some(gold)) if **asked != *gold.trim() => put(OTHER_WORDS),
                (Some(Some(_)), _) | (None, _) => {}
            }
            ids.push(record.id);
        }

        let mut file = Contents::default();
        file.count("plans", ids.len());
        file.counts("plans_by_type", shapes.into_iter().map(|((_, shape), count)| (shape, count)).collect());
        file.counts(
            "plans_by_number_of_nodes",
            sizes.into_iter().map(|(size, count)| (size.to_string(), count)).collect(),
        );
        let releases = releases.into_iter().map(|(release, count)| (release.to_string(), count));
        file.counts("plans_by_release_shape", releases.collect());
        file.count("nodes", nodes);
        file.count("links", links);
        if references > 0 {
            file.count("references_between_nodes", references);
        }
        file.odd("lines that cannot be used", bad, None);
        file.repeated_ids(&ids);
        for (what, which) in odd {
            file.odd(what, which, Some(if what == ALPHABETICAL { several } else { ids.len() }));
            let (what, counts, of) = match what {
                UNKNOWN_TOOL => ("nodes with a tool outside the catalogue", &unknown, nodes),
                OFF_GRAPH => ("links that are not in the tool graph", &off_graph, links),
                _ => continue,
            };
            file.odd_counted(what, counts.values().sum(), by_frequency(counts), Some(of));
        }
        GoldPlans { contents: file, ids: ids.into_iter().collect(), used }
    }
}

/// The names outside the catalogue as written, where there is a catalogue.
fn outside<'p>(plan: &'p Plan, catalogue: &Catalogue) -> impl Iterator<Item = &'p String> {
    let named = plan.nodes.iter().zip(&plan.written);
    named.filter(|(name, _)| !catalogue.is_empty() && catalogue.code(name).is_none()).map(|(_, written)| written)
}

fn length(value: &Option<Json<'_>>) -> Option<usize> {
    value.as_ref().and_then(Look::list).map(<[Json<'_>]>::len)
}

/// True when a literal argument holds the name of another node's tool.
fn names_another(plan: &Plan) -> bool {
    plan.arguments.iter().any(|argument| {
        let literal =
            !argument.is_counted_elsewhere() && !plan.links.contains(&(argument.value.clone(), argument.task.clone()));
        let value = normalised(&argument.value);
        literal
            && plan.nodes.iter().any(|name| *name != argument.task && name.len() > 3 && value.contains(name.as_str()))
    })
}

fn has_cycle(links: &[(String, String)]) -> bool {
    let ends = links.iter().map(|(source, target)| (source.as_str(), target.as_str()));
    is_cyclic_directed(&DiGraphMap::<&str, ()>::from_edges(ends.filter(|(source, target)| source != target)))
}

pub(super) fn predictions(lines: &Lines, catalogue: &Catalogue, plans: Option<&GoldPlans>) -> Contents {
    let mut file = Contents::default();
    let read = Predictions::of(lines);
    let (mut malformed, mut nodes) = (Vec::new(), 0);
    let mut repairs: BTreeMap<&str, u32> = BTreeMap::new();
    let mut unknown: HashMap<String, usize> = HashMap::new();
    for prediction in &read.lines {
        let Some(result) = &prediction.result else {
            malformed.push(format!("{} (there is no `result`)", prediction.id));
            continue;
        };
        let plan = Plan::of_result(result, catalogue);
        malformed.extend(plan.malformed.iter().map(|(_, why)| format!("{} ({why})", prediction.id)));
        for (kind, times) in &plan.repaired {
            *repairs.entry(kind).or_default() += times;
        }
        nodes += plan.nodes.len();
        outside(&plan, catalogue).for_each(|name| *unknown.entry(name.clone()).or_default() += 1);
    }
    let ids: IndexSet<&SampleId> = read.lines.iter().map(|prediction| &prediction.id).collect();
    let count = read.lines.len();
    file.count("predictions", count);
    if let Some(plans) = plans {
        file.count("gold_plans_covered", plans.ids.iter().filter(|id| ids.contains(id)).count());
    }
    let repairs =
        repairs.into_iter().map(|(kind, times)| (kind.to_owned(), usize::try_from(times).unwrap_or(usize::MAX)));
    file.counts("repairs_that_strict_scoring_makes", repairs.collect());
    let mut bad: Vec<String> = read.bad.iter().map(ToString::to_string).collect();
    let last_is_bad = lines.iter().last().zip(read.bad.last()).is_some_and(|((line, _), bad)| line == bad.line);
    if let (true, false, Some(last)) = (last_is_bad, lines.ends_whole(), bad.last_mut()) {
        last.push_str(" (the last line, cut short)");
    }
    file.odd("lines that cannot be used", bad, None);
    file.repeated_ids(read.lines.iter().map(|prediction| &prediction.id));
    file.odd("predictions that are no plan", malformed, Some(count));
    let strange = unknown.values().sum();
    file.odd_counted("nodes with a tool outside the catalogue", strange, by_frequency(&unknown), Some(nodes));
    if let Some(plans) = plans {
        let uncovered = plans.ids.iter().filter(|id| !ids.contains(id)).map(ToString::to_string).collect();
        file.odd("gold plans without a prediction", uncovered, Some(plans.ids.len()));
        let surplus = ids.iter().filter(|id| !plans.ids.contains(**id)).map(ToString::to_string).collect();
        file.odd("predictions for no gold plan", surplus, Some(count));
    }
    file
}
