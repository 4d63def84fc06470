//! The gold plans.

use std::collections::{BTreeMap, HashMap, HashSet};

use indexmap::IndexMap;

use super::{FileReport, GoldSeen, by_frequency, repeated};
use crate::data::{DependencyType, Gold, GoldRecord, Release, Requests, ToolGraph, ToolList, normalised};
use crate::evaluate::strict::Catalogue;
use crate::evaluate::strict::order::topological;
use crate::evaluate::strict::plan::Plan;
use crate::json::{Json, Look};

/// What plans are held against.
#[derive(Clone, Copy)]
pub(super) struct Against<'a> {
    pub(super) catalogue: &'a Catalogue,
    /// The tools; `None` where no file lists them.
    pub(super) known: Option<&'a ToolList>,
    pub(super) graph: Option<&'a ToolGraph>,
    pub(super) requests: Option<&'a Requests>,
}

/// What is odd about a plan, in the order it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Odd {
    NoShape,
    NoPlan,
    StepsDiffer,
    SampledDiffer,
    SampledListDiffers,
    Alphabetical,
    RepeatedTool,
    UnknownTool,
    BadLink,
    SelfLink,
    LinkEnd,
    OffGraph,
    Cycle,
    Dangling,
    OutputOf,
    Words,
    BadArgument,
    OtherWords,
    NoRequest,
}

impl Odd {
    fn what(self) -> &'static str {
        match self {
            Odd::NoShape => "plans whose type is none of single, chain, dag",
            Odd::NoPlan => "plans without a usable list of nodes",
            Odd::StepsDiffer => "plans with another number of steps than of nodes",
            Odd::SampledDiffer => "plans whose n_tools is not the number of nodes",
            Odd::SampledListDiffers => "plans with another number of sampled nodes than of nodes",
            Odd::Alphabetical => "plans of two tools and more that list them in alphabetical order",
            Odd::RepeatedTool => "plans that use a tool more than once",
            Odd::UnknownTool => "plans with a tool outside the catalogue",
            Odd::BadLink => "plans with a listed link that is none",
            Odd::SelfLink => "plans with a link from a tool to itself",
            Odd::LinkEnd => "plans with a link to a tool that is not among the nodes",
            Odd::OffGraph => "plans with a link that is not in the tool graph",
            Odd::Cycle => "plans whose links go round in a circle",
            Odd::Dangling => "plans with a reference to no other node",
            Odd::OutputOf => "plans that refer by `<output_of_X>`",
            Odd::Words => "plans with an argument that names another node's tool in words",
            Odd::BadArgument => "plans with an argument that is no name with a value",
            Odd::OtherWords => "plans whose request is worded otherwise in user_requests.json",
            Odd::NoRequest => "plans whose id is not in user_requests.json",
        }
    }
}

/// Counts over all plans.
#[derive(Default)]
struct Counts {
    releases: BTreeMap<Release, usize>,
    shapes: BTreeMap<(u8, String), usize>,
    sizes: BTreeMap<usize, usize>,
    nodes: usize,
    links: usize,
    references: usize,
    several: usize,
    odd: BTreeMap<Odd, Vec<String>>,
    unknown: HashMap<String, usize>,
    off_graph: HashMap<String, usize>,
}

pub(super) fn gold(gold: &Gold, against: Against<'_>) -> (FileReport, GoldSeen) {
    let mut file = FileReport::new("data.json");
    let mut seen = GoldSeen::default();
    let mut counts = Counts::default();
    let (mut bad, mut ids) = (Vec::new(), Vec::new());
    let linked = against.graph.map(|graph| {
        graph.links.iter().map(|link| (normalised(&link.source), normalised(&link.target))).collect::<HashSet<_>>()
    });
    // The last of a repeated id counts, as everywhere.
    let asked: Option<HashMap<_, _>> = against
        .requests
        .map(|requests| requests.requests.iter().map(|request| (&request.id, request.text.as_str())).collect());
    for record in gold.records() {
        match record {
            Ok(record) => {
                let found = counts.plan(&record, against, linked.as_ref(), &mut seen);
                let request = asked.as_ref().map(|asked| asked.get(&record.id));
                let gold_request = record.user_request.as_ref().and_then(Look::text);
                let told = match (request, gold_request) {
                    (Some(None), _) => Some(Odd::NoRequest),
                    (Some(Some(asked)), Some(gold)) if asked.trim() != gold.trim() => Some(Odd::OtherWords),
                    (Some(Some(_)), _) | (None, _) => None,
                };
                for odd in found.into_iter().chain(told) {
                    counts.odd.entry(odd).or_default().push(record.id.to_string());
                }
                seen.ids.insert(record.id.clone());
                ids.push(record.id);
            }
            Err(error) => bad.push(error.to_string()),
        }
    }
    file.odd("lines that cannot be used", bad, None);
    file.odd("ids that are repeated", repeated(&ids), None);
    counts.tell(&mut file, ids.len());
    (file, seen)
}

impl Counts {
    /// Counts one plan and says what is odd about it.
    fn plan(
        &mut self,
        record: &GoldRecord<'_>,
        against: Against<'_>,
        linked: Option<&HashSet<(String, String)>>,
        seen: &mut GoldSeen,
    ) -> Vec<Odd> {
        let mut odd = Vec::new();
        *self.releases.entry(record.release).or_default() += 1;
        let shape = record.shape.as_deref().unwrap_or("none");
        let place = ["single", "chain", "dag"].iter().position(|known| *known == shape);
        let rank = place.and_then(|place| u8::try_from(place).ok());
        *self.shapes.entry((rank.unwrap_or(3), shape.to_owned())).or_default() += 1;
        if rank.is_none() {
            odd.push(Odd::NoShape);
        }
        let plan = Plan::of_gold(record, against.catalogue);
        if plan.malformed.is_some() {
            odd.push(Odd::NoPlan);
            return odd;
        }
        let count = plan.nodes.len();
        *self.sizes.entry(count).or_default() += 1;
        self.nodes += count;
        numbers(record, count, &mut odd);
        self.tools(&plan, against, &mut odd, seen);
        self.links(&plan, against, linked, &mut odd);
        if against.catalogue.dependency() == DependencyType::Resource {
            self.references += plan.edges.len();
            if !plan.dangling.is_empty() {
                odd.push(Odd::Dangling);
            }
            if plan.repaired.contains_key("named_references") {
                odd.push(Odd::OutputOf);
            }
            if names_another(&plan) {
                odd.push(Odd::Words);
            }
        }
        if !plan.bad_arguments.is_empty() {
            odd.push(Odd::BadArgument);
        }
        odd
    }

    fn tools(&mut self, plan: &Plan, against: Against<'_>, odd: &mut Vec<Odd>, seen: &mut GoldSeen) {
        if plan.nodes.len() > 1 {
            self.several += 1;
            if plan.nodes.is_sorted() {
                odd.push(Odd::Alphabetical);
            }
        }
        let distinct: HashSet<&String> = plan.nodes.iter().collect();
        if distinct.len() < plan.nodes.len() {
            odd.push(Odd::RepeatedTool);
        }
        if against.known.is_some() {
            let named = plan.nodes.iter().zip(&plan.written);
            let unknown: Vec<&String> =
                named.filter(|(name, _)| against.catalogue.code(name).is_none()).map(|(_, written)| written).collect();
            if !unknown.is_empty() {
                odd.push(Odd::UnknownTool);
            }
            for name in unknown {
                *self.unknown.entry(name.clone()).or_default() += 1;
            }
        }
        for name in distinct {
            if !seen.used.contains(name) {
                seen.used.insert(name.clone());
            }
        }
    }

    /// The listed links, or those of references where none are listed.
    fn links(
        &mut self,
        plan: &Plan,
        against: Against<'_>,
        linked: Option<&HashSet<(String, String)>>,
        odd: &mut Vec<Odd>,
    ) {
        let links = plan.listed.as_ref().unwrap_or(&plan.links);
        self.links += links.len();
        if !plan.bad_links.is_empty() {
            odd.push(Odd::BadLink);
        }
        if links.iter().any(|(source, target)| source == target) {
            odd.push(Odd::SelfLink);
        }
        if links.iter().any(|(source, target)| !plan.nodes.contains(source) || !plan.nodes.contains(target)) {
            odd.push(Odd::LinkEnd);
        }
        if let Some(linked) = linked {
            let off: Vec<&(String, String)> = links.iter().filter(|link| !linked.contains(*link)).collect();
            if !off.is_empty() {
                odd.push(Odd::OffGraph);
            }
            for (source, target) in off {
                let show = |name| against.catalogue.show(name);
                *self.off_graph.entry(format!("{} → {}", show(source), show(target))).or_default() += 1;
            }
        }
        if goes_round(links) {
            odd.push(Odd::Cycle);
        }
    }

    fn tell(self, file: &mut FileReport, plans: usize) {
        file.count("plans", plans);
        file.counts("plans by type", self.shapes.into_iter().map(|((_, shape), count)| (shape, count)).collect());
        let sizes = self.sizes.into_iter().map(|(size, count)| (size.to_string(), count));
        file.counts("plans by number of nodes", sizes.collect());
        let release = |release: &Release| match release {
            Release::A => "A",
            Release::B => "B",
            Release::Mixed => "mixed",
        };
        let releases: IndexMap<String, usize> =
            self.releases.iter().map(|(kind, count)| (release(kind).to_owned(), *count)).collect();
        file.counts("plans by release shape", releases);
        file.count("nodes", self.nodes);
        file.count("links", self.links);
        if self.references > 0 {
            file.count("references between nodes", self.references);
        }
        for (odd, which) in self.odd {
            let of = if odd == Odd::Alphabetical { self.several } else { plans };
            file.odd(odd.what(), which, Some(of));
            match odd {
                Odd::UnknownTool => {
                    let nodes = self.unknown.values().sum();
                    let names = by_frequency(self.unknown.clone());
                    file.odd_counted("nodes with a tool outside the catalogue", nodes, names, Some(self.nodes));
                }
                Odd::OffGraph => {
                    let links = self.off_graph.values().sum();
                    let names = by_frequency(self.off_graph.clone());
                    file.odd_counted("links that are not in the tool graph", links, names, Some(self.links));
                }
                _ => {}
            }
        }
    }
}

/// Numbers that should be the same.
fn numbers(record: &GoldRecord<'_>, nodes: usize, odd: &mut Vec<Odd>) {
    let length = |value: &Option<Json<'_>>| value.as_ref().and_then(Look::list).map(<[Json<'_>]>::len);
    if length(&record.task_steps).unwrap_or(0) != nodes {
        odd.push(Odd::StepsDiffer);
    }
    if let Some(Json::Int(sampled)) = record.n_tools
        && usize::try_from(sampled) != Ok(nodes)
    {
        odd.push(Odd::SampledDiffer);
    }
    if length(&record.sampled_nodes).is_some_and(|sampled| sampled != nodes) {
        odd.push(Odd::SampledListDiffers);
    }
}

/// True when a literal argument holds the name of another node's tool.
fn names_another(plan: &Plan) -> bool {
    plan.arguments.iter().any(|argument| {
        let literal =
            !argument.told_elsewhere() && !plan.links.contains(&(argument.value.clone(), argument.task.clone()));
        let value = normalised(&argument.value);
        literal
            && plan.nodes.iter().any(|name| *name != argument.task && name.len() > 3 && value.contains(name.as_str()))
    })
}

/// True when following the links by name comes back to a tool; links from a tool to itself are told apart.
fn goes_round<'l>(links: impl IntoIterator<Item = &'l (String, String)> + Clone) -> bool {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut edges = Vec::new();
    for (source, target) in links {
        let mut place = |name: &'l str| {
            let next = places.len();
            *places.entry(name).or_insert(next)
        };
        let edge = (place(source), place(target));
        if edge.0 != edge.1 {
            edges.push(edge);
        }
    }
    let mut rank = vec![0; places.len()];
    for (at, node) in topological(places.len(), &edges).into_iter().enumerate() {
        if let Some(rank) = rank.get_mut(node) {
            *rank = at;
        }
    }
    edges.iter().any(|(from, to)| rank.get(*from) > rank.get(*to))
}

#[cfg(test)]
mod tests {
    use super::goes_round;

    #[test]
    fn circles_are_seen() {
        let cases = [
            ("", false),
            ("ab", false),
            ("ab bc", false),
            ("ab ba", true),
            ("aa", false),
            ("ab bc ca xy", true),
            ("ab ac bd cd", false),
        ];
        for (links, expected) in cases {
            let links: Vec<(String, String)> =
                links.split_whitespace().map(|pair| (pair[..1].into(), pair[1..].into())).collect();
            assert_eq!(goes_round(&links), expected, "{links:?}");
        }
    }
}
