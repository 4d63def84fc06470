//! The original's figures, with its rules and its flaws, to 1e-9 (microsoft/JARVIS `taskbench/evaluate.py`). Where the
//! original would stop the whole run over one bad link, only the link is left out, and counted.

mod figures;
mod resource;
mod steps;
mod temporal;

use std::collections::{BTreeSet, HashMap};

pub use figures::{LegacyFigures, NodeFigures, pool};
pub(crate) use steps::{gold_text as gold_steps, predicted_text as predicted_steps};

use serde_json::{Map, Value};

use super::rouge::ROUGE_NAMES;
use super::{Counts, Rouge, RougeF, sequence_ratio};
use crate::data::{DependencyType, GoldRecord, ToolList};
use crate::json::{Json, Look, printed};

/// The catalogue as this profile looks at it: names are compared as they stand, without any normalisation.
#[derive(Debug, Clone)]
pub struct Catalogue {
    ids: Vec<String>,
    /// Where a repeated id counts for nodes: its first place.
    first: HashMap<String, u32>,
    /// Where it counts for the edit distance: its last place.
    last: HashMap<String, u32>,
    /// The first output type of each id; `none` without one.
    output: HashMap<String, String>,
    dependency: DependencyType,
}

impl Catalogue {
    pub fn new(tools: &ToolList, dependency: DependencyType) -> Catalogue {
        let mut made = Catalogue {
            ids: Vec::new(),
            first: HashMap::new(),
            last: HashMap::new(),
            output: HashMap::new(),
            dependency,
        };
        for (tool, at) in tools.tools.iter().zip(0u32..) {
            made.ids.push(tool.id.clone());
            made.first.entry(tool.id.clone()).or_insert(at);
            made.last.insert(tool.id.clone(), at);
            let output = tool.outputs.as_ref().and_then(|outputs| outputs.first()).map_or("none", String::as_str);
            made.output.insert(tool.id.clone(), output.to_owned());
        }
        made
    }

    pub fn ids(&self) -> &[String] {
        &self.ids
    }
}

/// What one sample brings to its groups.
#[derive(Debug, Clone, PartialEq)]
pub struct LegacySample {
    pub steps: Option<StepFigures>,
    pub arguments: bool,
    /// The rest, when nothing was malformed.
    pub plan: Option<PlanFigures>,
    pub malformed_links: u32,
    pub dropped: Option<Dropped>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepFigures {
    pub rouge: Option<RougeF>,
    /// BERTScore, when there is a model: precision, recall, F1.
    pub bertscore: Option<[f64; 3]>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PlanFigures {
    /// The predicted catalogue tools, by place, each once.
    pub predicted: Box<[u32]>,
    /// The gold catalogue tools, by place, each once.
    pub gold: Box<[u32]>,
    /// Pairs of task and argument name.
    pub argument_names: Counts,
    /// Triples of task, argument name and value.
    pub argument_values: Counts,
    pub links: Counts,
    /// How alike the sequences of tools are, 0 to 1.
    pub likeness: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, thiserror::Error)]
pub enum Dropped {
    #[error("the gold plan is malformed")]
    Gold,
    #[error("`result` is not an object")]
    Result,
    #[error("`task_steps` is missing")]
    Steps,
    #[error("`task_nodes` is not a list")]
    Nodes,
    #[error("a node is not an object with a `task`")]
    Node,
    #[error("the `task` of a node is not text")]
    Task,
    #[error("the `arguments` of a node cannot be read")]
    Arguments,
    #[error("`task_links` is missing")]
    Links,
}

/// A node as both dependency types read it: its task, and what it is called with.
pub(crate) struct Node<'v, 'a> {
    task: &'v Json<'a>,
    arguments: Option<&'v Json<'a>>,
}

type Records = Vec<Vec<(String, String)>>;

impl LegacySample {
    /// The sample's own figures, and why it was dropped, for the per-sample file.
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| {
            out.insert(key.to_owned(), value);
        };
        put("dropped", self.dropped.map(|dropped| dropped.to_string()).into());
        if let Some(rouge) = self.steps.and_then(|steps| steps.rouge) {
            for (name, value) in ROUGE_NAMES.into_iter().zip(rouge.values()) {
                put(&format!("step_{name}"), value.into());
            }
        }
        if let Some([precision, recall, f1]) = self.steps.and_then(|steps| steps.bertscore) {
            put("step_bertscore_precision", precision.into());
            put("step_bertscore_recall", recall.into());
            put("step_bertscore_f1", f1.into());
        }
        if let Some(plan) = &self.plan {
            let common = plan.predicted.iter().filter(|at| plan.gold.binary_search(at).is_ok()).count();
            let nodes =
                Counts { common: common as u64, predicted: plan.predicted.len() as u64, gold: plan.gold.len() as u64 };
            put("node_f1", nodes.f1().into());
            put("link_f1", plan.links.f1().into());
            put("argument_name_f1", plan.argument_names.f1().into());
            put("argument_value_f1", plan.argument_values.f1().into());
            put("edit_distance", (1.0 - plan.likeness).into());
        }
        if self.malformed_links > 0 {
            put("malformed_links", self.malformed_links.into());
        }
        Value::Object(out)
    }
}

/// Compares one prediction with its gold plan. `rouge` is given when it is wanted; `steps` when figures about steps are.
pub fn score(
    gold: &GoldRecord<'_>,
    result: Option<&Json<'_>>,
    catalogue: &Catalogue,
    steps: bool,
    rouge: Option<&Rouge>,
) -> LegacySample {
    let mut sample = LegacySample { steps: None, arguments: false, plan: None, malformed_links: 0, dropped: None };
    if let Err(dropped) = fill(&mut sample, gold, result, catalogue, steps, rouge) {
        sample.dropped = Some(dropped);
    }
    sample
}

fn fill(
    sample: &mut LegacySample,
    gold: &GoldRecord<'_>,
    result: Option<&Json<'_>>,
    catalogue: &Catalogue,
    steps: bool,
    rouge: Option<&Rouge>,
) -> Result<(), Dropped> {
    let result = result.filter(|result| result.pairs().is_some()).ok_or(Dropped::Result)?;
    if steps {
        let predicted = result.look("task_steps").ok_or(Dropped::Steps)?;
        let gold = gold.task_steps.as_ref().and_then(gold_steps).ok_or(Dropped::Gold)?;
        let rouge = rouge.map(|rouge| rouge.score(&gold, &predicted_steps(predicted)));
        sample.steps = Some(StepFigures { rouge, bertscore: None });
    }
    let predicted_nodes = nodes(result.look("task_nodes").ok_or(Dropped::Nodes)?)?;
    let gold_nodes = nodes(gold.task_nodes.as_ref().ok_or(Dropped::Gold)?).map_err(|_| Dropped::Gold)?;
    let scored = match catalogue.dependency {
        DependencyType::Resource => {
            let gold_names = texts(&gold_nodes).ok_or(Dropped::Gold)?;
            let names = texts(&predicted_nodes).ok_or(Dropped::Task)?;
            let mut last = None;
            let gold = resource::read(&gold_nodes, &gold_names, true, catalogue, &mut last).ok_or(Dropped::Gold)?;
            let predicted =
                resource::read(&predicted_nodes, &names, false, catalogue, &mut last).ok_or(Dropped::Arguments)?;
            sample.arguments = true;
            PlanFigures::of(catalogue, Side::of(&gold_names, gold), Side::of(&names, predicted))
        }
        DependencyType::Temporal => {
            let predicted_links = result.look("task_links").ok_or(Dropped::Links)?;
            let gold_links = gold.task_links.as_ref().ok_or(Dropped::Gold)?;
            // Only the prediction's names must be text.
            let gold_names = gold_nodes.iter().map(|node| printed(node.task).into_owned()).collect();
            let gold_records = temporal::records(&gold_nodes, true).ok_or(Dropped::Gold)?;
            let records = temporal::records(&predicted_nodes, false).ok_or(Dropped::Arguments)?;
            let (gold_links, gold_bad) = temporal::links(gold_links);
            let (links, bad) = temporal::links(predicted_links);
            sample.malformed_links = gold_bad + bad;
            sample.arguments = true;
            let names = texts(&predicted_nodes).ok_or(Dropped::Task)?;
            PlanFigures::of(
                catalogue,
                Side { names: gold_names, records: gold_records, links: gold_links },
                Side { names, records, links },
            )
        }
    };
    sample.plan = Some(scored);
    Ok(())
}

struct Side<L> {
    names: Vec<String>,
    records: Records,
    links: BTreeSet<L>,
}

impl<L> Side<L> {
    fn of(names: &[String], (records, links): (Records, BTreeSet<L>)) -> Side<L> {
        Side { names: names.iter().map(|name| name.replace('_', " ")).collect(), records, links }
    }

    /// `{task}-{argument}` and `{task}-{argument}-{value}`; the joined text is what is compared.
    fn arguments(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut named, mut valued) = (BTreeSet::new(), BTreeSet::new());
        for (task, records) in self.names.iter().zip(&self.records) {
            for (name, value) in records {
                named.insert(format!("{task}-{name}"));
                valued.insert(format!("{task}-{name}-{value}"));
            }
        }
        (named, valued)
    }
}

impl PlanFigures {
    fn of<L: Ord>(catalogue: &Catalogue, gold: Side<L>, predicted: Side<L>) -> PlanFigures {
        let (gold_named, gold_valued) = gold.arguments();
        let (named, valued) = predicted.arguments();
        let places = |names: &[String]| -> Box<[u32]> {
            let mut places: Vec<u32> =
                names.iter().filter_map(|name| catalogue.first.get(name.as_str()).copied()).collect();
            places.sort_unstable();
            places.dedup();
            places.into()
        };
        // Names outside the catalogue are all one code.
        let codes = |names: &[String]| -> Vec<u32> {
            names.iter().map(|name| catalogue.last.get(name.as_str()).map_or(0, |at| at + 1)).collect()
        };
        PlanFigures {
            predicted: places(&predicted.names),
            gold: places(&gold.names),
            argument_names: Counts::of(&gold_named, &named),
            argument_values: Counts::of(&gold_valued, &valued),
            links: Counts::of(&gold.links, &predicted.links),
            likeness: sequence_ratio(&codes(&gold.names), &codes(&predicted.names)),
        }
    }
}

fn nodes<'v, 'a>(value: &'v Json<'a>) -> Result<Vec<Node<'v, 'a>>, Dropped> {
    let Some(items) = value.list() else {
        return if value.is_empty_container() { Ok(Vec::new()) } else { Err(Dropped::Nodes) };
    };
    items
        .iter()
        .map(|item| {
            let task = item.look("task").ok_or(Dropped::Node)?;
            Ok(Node { task, arguments: item.look("arguments") })
        })
        .collect()
}

fn texts(nodes: &[Node<'_, '_>]) -> Option<Vec<String>> {
    nodes.iter().map(|node| node.task.text().map(str::to_owned)).collect()
}
