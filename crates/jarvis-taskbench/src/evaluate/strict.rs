//! The strict profile: every gold sample counts, and nothing that a prediction lacks can raise its figures.
//!
//! A missing or malformed prediction is an empty plan, steps included; unambiguous slips of form are repaired first and
//! counted (see `plan`); tool names are compared with `_` as a blank on nodes, links and catalogue alike; tools outside the
//! catalogue count like any other, but not in the mean over tools. Per sample, *sets* of tool names, links and arguments are
//! compared, as in the legacy profile; repeats and order show in the edit distance and in the share of plans whose nodes are
//! exactly the gold ones.
//!
//! A figure with nothing to count on either side, such as the links of a group of single tools, is `null`: neither
//! right nor wrong.

mod canonical;
pub(crate) mod intervals;
mod lost;
pub(crate) mod order;
pub(crate) mod plan;
mod pool;
mod references;
mod steps;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value, json};

pub use intervals::Bootstrap;
#[cfg(feature = "planning")]
pub(crate) use lost::reasons;
pub use plan::Cause;
pub use pool::{Figure, Prf, StrictFigures, pool};

use self::plan::{Argument, Plan};
use super::Counts;
use super::rouge::{ROUGE_NAMES, Rouge, RougeF};
use crate::data::{DependencyType, GoldRecord, SampleId, ToolList, normalised};
use crate::json::Json;

/// The tools by their normalised names.
#[derive(Debug, Clone)]
pub struct Catalogue {
    dependency: DependencyType,
    /// Normalised name to code, a place in `tools`.
    codes: HashMap<String, u32>,
    /// As written, with the first kind each makes.
    tools: Vec<(String, Option<String>)>,
}

impl Catalogue {
    /// The tools of a domain; where names are equal once normalised, the first counts.
    pub fn new(tools: &ToolList, dependency: DependencyType) -> Catalogue {
        let mut catalogue = Catalogue { dependency, codes: HashMap::new(), tools: Vec::new() };
        for tool in &tools.tools {
            let code = u32::try_from(catalogue.tools.len()).unwrap_or(u32::MAX);
            if let std::collections::hash_map::Entry::Vacant(free) = catalogue.codes.entry(normalised(&tool.id)) {
                free.insert(code);
                let first = tool.outputs.as_ref().and_then(|kinds| kinds.first()).cloned();
                catalogue.tools.push((tool.id.clone(), first));
            }
        }
        catalogue
    }

    pub fn len(&self) -> usize {
        self.tools.len()
    }

    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub fn dependency(&self) -> DependencyType {
        self.dependency
    }

    pub(crate) fn code(&self, name: &str) -> Option<u32> {
        self.codes.get(name).copied()
    }

    fn tool(&self, name: &str) -> Option<&(String, Option<String>)> {
        self.tools.get(usize::try_from(self.code(name)?).ok()?)
    }

    /// A normalised name as the catalogue writes it.
    pub(crate) fn show<'n>(&'n self, name: &'n str) -> &'n str {
        self.tool(name).map_or(name, |(written, _)| written)
    }

    /// The kind of what a tool makes: its first output type, `none` without any, `other` for an unknown tool.
    fn output_kind(&self, name: &str) -> &str {
        match self.tool(name) {
            Some((_, kind)) => kind.as_deref().unwrap_or("none"),
            None => "other",
        }
    }
}

/// What one gold sample adds to the groups it is in, and why its prediction lost points.
#[derive(Debug, Clone)]
pub struct StrictSample {
    pub id: SampleId,
    pub missing: bool,
    pub malformed: Option<Cause>,
    /// Sets of tools.
    pub nodes: Counts,
    /// Sets of links: from references in resource mode, as listed in temporal mode.
    pub links: Counts,
    /// Sets of listed links in resource mode, where both sides list them.
    pub listed_links: Option<Counts>,
    /// Sets of (tool, kind or parameter).
    pub argument_names: Counts,
    /// Sets of (tool, kind or parameter, value).
    pub argument_values: Counts,
    /// True when the nodes are the gold ones, repeats included, in any order.
    pub exact_nodes: bool,
    /// Edit distance of the nodes in list order and in the order of the links, each 0 to 1.
    pub edit_distance: [f64; 2],
    /// ROUGE of the steps, when asked for; `None` too where the gold steps hold no word ROUGE sees.
    pub rouge: Option<RougeF>,
    /// Predicted links without a source and a target.
    pub malformed_links: u32,
    /// Predicted arguments without a name and a value.
    pub malformed_arguments: u32,
    /// References of the prediction that lead to no other node.
    pub dangling_references: u32,
    /// Nodes of the prediction that name no tool of the catalogue.
    pub unknown_tools: u32,
    /// What was repaired in the prediction, and how often.
    pub repaired: Box<[(&'static str, u32)]>,
    /// True when the gold plan itself is malformed; it counts as empty.
    pub gold_malformed: bool,
    /// Nodes of the gold plan that name no tool of the catalogue.
    pub gold_unknown_tools: u32,
    /// References of the gold plan that lead to no other node.
    pub gold_dangling_references: u32,
    /// Why points were lost, in plain words, the gravest first.
    pub lost: Box<[Box<str>]>,
    /// The catalogue's tools in it: code, in gold, predicted.
    tools: Box<[(u32, bool, bool)]>,
}

/// Scores one gold sample.
///
/// `prediction` is `None` where there is no line for the sample, `Some(Err(why))` for a line that is not usable JSON, else the
/// value of the line's `result` (or the whole line where the plan stands at its top). `rouge` is `None` when it is not wanted.
pub fn score(
    gold: &GoldRecord<'_>,
    prediction: Option<Result<&Json<'_>, &str>>,
    catalogue: &Catalogue,
    rouge: Option<&Rouge>,
) -> StrictSample {
    let wanted = Plan::of_gold(gold, catalogue);
    let missing = prediction.is_none();
    let predicted = match prediction {
        None => Plan::default(),
        Some(Err(why)) => Plan::malformed(Cause::Unreadable, why.to_owned()),
        Some(Ok(result)) => Plan::of_result(result, catalogue),
    };
    let lost = lost::reasons(&wanted, &predicted, missing, catalogue);
    let tools = tools(&wanted, &predicted, catalogue);
    let size = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let unknown = |plan: &Plan| size(plan.nodes.iter().filter(|name| catalogue.code(name).is_none()).count());
    let listed_links = match (catalogue.dependency(), &wanted.listed, &predicted.listed) {
        (DependencyType::Resource, Some(gold), Some(predicted)) => Some(Counts::of(gold, predicted)),
        (DependencyType::Resource | DependencyType::Temporal, ..) => None,
    };
    StrictSample {
        id: gold.id.clone(),
        missing,
        malformed: predicted.malformed.as_ref().map(|(cause, _)| *cause),
        nodes: Counts::of(&names(&wanted), &names(&predicted)),
        links: Counts::of(&wanted.links, &predicted.links),
        listed_links,
        argument_names: Counts::of(&argument_names(&wanted), &argument_names(&predicted)),
        argument_values: Counts::of(&wanted.arguments, &predicted.arguments),
        exact_nodes: sorted(&wanted.nodes) == sorted(&predicted.nodes),
        edit_distance: [
            order::distance(&wanted.nodes, &predicted.nodes),
            order::distance(&wanted.in_topological_order(), &predicted.in_topological_order()),
        ],
        rouge: rouge.and_then(|rouge| step_rouge(rouge, &wanted.steps, &predicted.steps)),
        malformed_links: size(predicted.bad_links.len()),
        malformed_arguments: size(predicted.bad_arguments.len()),
        dangling_references: size(predicted.dangling.len()),
        unknown_tools: unknown(&predicted),
        repaired: predicted.repaired.iter().map(|(kind, times)| (*kind, *times)).collect(),
        gold_malformed: wanted.malformed.is_some(),
        gold_unknown_tools: unknown(&wanted),
        gold_dangling_references: size(wanted.dangling.len()),
        lost,
        tools,
    }
}

fn names(plan: &Plan) -> BTreeSet<&str> {
    plan.nodes.iter().map(String::as_str).collect()
}

fn argument_names(plan: &Plan) -> BTreeSet<(&str, &str)> {
    plan.arguments.iter().map(|Argument { task, name, .. }| (task.as_str(), name.as_str())).collect()
}

fn sorted(names: &[String]) -> Vec<&String> {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    sorted
}

fn tools(wanted: &Plan, predicted: &Plan, catalogue: &Catalogue) -> Box<[(u32, bool, bool)]> {
    let mut sides: BTreeMap<u32, (bool, bool)> = BTreeMap::new();
    for code in wanted.nodes.iter().filter_map(|name| catalogue.code(name)) {
        sides.entry(code).or_default().0 = true;
    }
    for code in predicted.nodes.iter().filter_map(|name| catalogue.code(name)) {
        sides.entry(code).or_default().1 = true;
    }
    sides.into_iter().map(|(code, (gold, predicted))| (code, gold, predicted)).collect()
}

/// Equal texts are 1 in all four, even where a text of one word has no pair of words; `None` where the gold has no word.
fn step_rouge(rouge: &Rouge, gold: &str, predicted: &str) -> Option<RougeF> {
    if !gold.chars().any(|letter| letter.to_lowercase().any(|letter| letter.is_ascii_alphanumeric())) {
        return None;
    }
    if gold == predicted {
        return Some(RougeF { rouge1: 1.0, rouge2: 1.0, rouge_l: 1.0, rouge_lsum: 1.0 });
    }
    Some(rouge.score(gold, predicted))
}

impl StrictSample {
    /// The sample as one line of the per-sample file: `id`, `status`, figures, counters, and `lost`, the reasons why.
    pub fn to_value(&self) -> Value {
        let status = match (self.missing, self.malformed) {
            (true, _) => "missing".to_owned(),
            (false, Some(cause)) => format!("malformed: {}", cause.as_str()),
            (false, None) => "scored".to_owned(),
        };
        let mut line = Map::new();
        line.insert("id".into(), self.id.to_value());
        line.insert("status".into(), status.into());
        let families = [
            ("nodes", Some(self.nodes)),
            ("links", Some(self.links)),
            ("listed_links", self.listed_links),
            ("argument_names", Some(self.argument_names)),
            ("argument_values", Some(self.argument_values)),
        ];
        for (name, counts) in families {
            let Some(counts) = counts else { continue };
            let [precision, recall, f1] = pool::optional(pool::of_counts(counts));
            let counted = json!({"precision": precision, "recall": recall, "f1": f1,
                "common": counts.common, "predicted": counts.predicted, "gold": counts.gold});
            line.insert(name.into(), counted);
        }
        line.insert("exact_nodes".into(), self.exact_nodes.into());
        let [list, topological] = self.edit_distance;
        line.insert("edit_distance".into(), json!({"list": list, "topological": topological}));
        if let Some(rouge) = self.rouge {
            let values: Map<String, Value> =
                ROUGE_NAMES.iter().zip(rouge.values()).map(|(name, f)| ((*name).to_owned(), f.into())).collect();
            line.insert("rouge".into(), values.into());
        }
        for (name, count) in [
            ("malformed_links", self.malformed_links),
            ("malformed_arguments", self.malformed_arguments),
            ("dangling_references", self.dangling_references),
            ("unknown_tools", self.unknown_tools),
        ] {
            line.insert(name.into(), count.into());
        }
        let repaired: Map<String, Value> =
            self.repaired.iter().map(|(kind, times)| ((*kind).to_owned(), (*times).into())).collect();
        line.insert("repaired".into(), repaired.into());
        line.insert("lost".into(), self.lost.iter().map(|why| Value::from(why.as_ref())).collect());
        line.into()
    }
}

#[cfg(test)]
mod tests;
