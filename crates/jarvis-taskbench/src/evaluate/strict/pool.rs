//! Sums samples into the figures of a group.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::intervals::{Bootstrap, intervals};
use super::{Catalogue, StrictSample};
use crate::data::DependencyType;
use crate::evaluate::rouge::ROUGE_NAMES;
use crate::evaluate::{Counts, Wanted};

/// A figure and, when asked for, the interval that holds it with 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The value, 0 to 1; `None` when there is nothing to count.
    pub value: Option<f64>,
    pub interval: Option<[f64; 2]>,
}

/// Precision, recall and F1 over the sums of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prf {
    pub counts: Counts,
    pub figures: [Figure; 3],
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct StrictFigures {
    /// Gold samples, all of which count.
    pub samples: usize,
    /// Of them without a prediction.
    pub missing: usize,
    /// Of them with a prediction that is no plan, by cause.
    pub malformed: BTreeMap<&'static str, u64>,
    /// Predicted links without a source and a target.
    pub malformed_links: u64,
    /// Predicted arguments without a name and a value.
    pub malformed_arguments: u64,
    /// Predicted references to no other node.
    pub dangling_references: u64,
    /// Predicted nodes that name no tool.
    pub unknown_tools: u64,
    pub repaired: BTreeMap<&'static str, u64>,
    /// Gold plans that are malformed, gold nodes that name no tool, gold references to no other node.
    pub gold: [u64; 3],
    /// Tools, micro, with the share of plans whose nodes are exactly the gold ones.
    pub nodes: Option<(Prf, Figure)>,
    /// Means of precision, recall and F1 over the catalogue's tools that occur on either side.
    pub macro_nodes: Option<[f64; 3]>,
    /// Those tools, in catalogue order.
    pub tools: Vec<(String, Counts)>,
    pub links: Option<Prf>,
    /// Listed links in resource mode: on how many samples both sides list them, and the figures there.
    pub listed_links: Option<(usize, Prf)>,
    /// Arguments: names and names with values.
    pub arguments: Option<[Prf; 2]>,
    /// Mean edit distance in list order and in the order of the links.
    pub edit_distance: Option<[Figure; 2]>,
    /// Means of the four ROUGE values, over how many samples.
    pub rouge: Option<(usize, [Figure; 4])>,
}

/// Columns of a sample's row: five families of three counts, one, two distances, exact nodes, four ROUGE values, one for
/// a sample that has them.
const COLUMNS: usize = 24;
/// Figures of a row of sums: five families of three, two distances, exact nodes, four ROUGE means.
const FIGURES: usize = 22;

fn row(sample: &StrictSample) -> [f64; COLUMNS] {
    let mut row = [0.0; COLUMNS];
    let families = [
        sample.nodes,
        sample.links,
        sample.listed_links.unwrap_or_default(),
        sample.argument_names,
        sample.argument_values,
    ];
    let rest = [1.0, sample.edit_distance[0], sample.edit_distance[1], f64::from(u8::from(sample.exact_nodes))];
    let values = families.into_iter().flat_map(counted).chain(rest).chain(rouge_row(sample));
    for (cell, value) in row.iter_mut().zip(values) {
        *cell = value;
    }
    row
}

fn rouge_row(sample: &StrictSample) -> [f64; 5] {
    match sample.rouge {
        Some(rouge) => {
            let [a, b, c, d] = rouge.values();
            [a, b, c, d, 1.0]
        }
        None => [0.0; 5],
    }
}

pub(super) fn figures([common, predicted, gold]: [f64; 3]) -> Option<[f64; 3]> {
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    if predicted + gold <= 0.0 {
        return None;
    }
    Some([share(common, predicted), share(common, gold), share(2.0 * common, predicted + gold)])
}

pub(super) fn of_counts(counts: Counts) -> Option<[f64; 3]> {
    figures(counted(counts))
}

#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn counted(counts: Counts) -> [f64; 3] {
    [counts.common, counts.predicted, counts.gold].map(|count| count as f64)
}

pub(super) fn optional(figures: Option<[f64; 3]>) -> [Option<f64>; 3] {
    figures.map_or([None; 3], |figures| figures.map(Some))
}

fn rouge_figures([a, b, c, d, samples]: [f64; 5]) -> [Option<f64>; 4] {
    [a, b, c, d].map(|sum| (samples > 0.0).then(|| sum / samples))
}

fn all_figures(sums: [f64; COLUMNS]) -> [Option<f64>; FIGURES] {
    let mut made = [None; FIGURES];
    let (families, rest) = sums.as_chunks::<3>().0.split_at(5);
    // What is left: samples and distances, then exact nodes and ROUGE.
    let [[samples, list, topological], [exact, a, b], [c, d, scored]] = rest else { return made };
    let mean = |sum: f64| (*samples > 0.0).then(|| sum / samples);
    let values = families
        .iter()
        .flat_map(|counts| optional(figures(*counts)))
        .chain([mean(*list), mean(*topological), mean(*exact)])
        .chain(rouge_figures([*a, *b, *c, *d, *scored]));
    for (cell, value) in made.iter_mut().zip(values) {
        *cell = value;
    }
    made
}

/// Pools the samples of one group, in the order given.
///
/// With `bootstrap`, ROUGE means have 95 % intervals, and so have all other figures but the macro ones when it says so.
pub fn pool<'s>(
    samples: impl Iterator<Item = &'s StrictSample> + Clone,
    catalogue: &Catalogue,
    wanted: Wanted,
    bootstrap: Option<Bootstrap>,
) -> StrictFigures {
    let mut sums = [0.0; COLUMNS];
    let mut pooled = counters(samples.clone());
    let mut tools = vec![Counts::default(); catalogue.len()];
    let mut listing = 0;
    for sample in samples.clone() {
        for (sum, value) in sums.iter_mut().zip(row(sample)) {
            *sum += value;
        }
        listing += usize::from(sample.listed_links.is_some());
        for (code, gold, predicted) in &sample.tools {
            if let Some(counts) = usize::try_from(*code).ok().and_then(|code| tools.get_mut(code)) {
                counts.common += u64::from(*gold && *predicted);
                counts.predicted += u64::from(*predicted);
                counts.gold += u64::from(*gold);
            }
        }
    }
    let mut spread = [None; FIGURES];
    match bootstrap {
        Some(how) if how.all => {
            let rows: Vec<[f64; COLUMNS]> = samples.map(row).collect();
            spread = intervals(&rows, how, all_figures);
        }
        Some(how) if wanted.rouge => {
            let rows: Vec<[f64; 5]> = samples.map(rouge_row).collect();
            for (cell, interval) in spread.iter_mut().skip(FIGURES - 4).zip(intervals(&rows, how, rouge_figures)) {
                *cell = interval;
            }
        }
        Some(_) | None => {}
    }
    let made = all_figures(sums);
    let figure =
        |at: usize| Figure { value: made.get(at).copied().flatten(), interval: spread.get(at).copied().flatten() };
    let family = |at: usize| {
        let sum = |column: usize| sums.get(at * 3 + column).copied().expect("a row has five families") as u64;
        let figures = [figure(at * 3), figure(at * 3 + 1), figure(at * 3 + 2)];
        Prf { counts: Counts { common: sum(0), predicted: sum(1), gold: sum(2) }, figures }
    };
    if wanted.nodes {
        pooled.nodes = Some((family(0), figure(17)));
        let occurring = tools.iter().zip(&catalogue.tools).filter(|(counts, _)| counts.predicted + counts.gold > 0);
        pooled.tools = occurring.map(|(counts, (tool, _))| (tool.clone(), *counts)).collect();
        pooled.macro_nodes = macro_mean(&pooled.tools);
    }
    if wanted.links {
        pooled.links = Some(family(1));
        if catalogue.dependency() == DependencyType::Resource {
            pooled.listed_links = Some((listing, family(2)));
        }
    }
    if wanted.nodes {
        pooled.arguments = Some([family(3), family(4)]);
    }
    if wanted.edit_distance {
        pooled.edit_distance = Some([figure(15), figure(16)]);
    }
    if wanted.rouge {
        let scored = sums.last().copied().expect("a row has columns") as usize;
        pooled.rouge = Some((scored, [figure(18), figure(19), figure(20), figure(21)]));
    }
    pooled
}

fn counters<'s>(samples: impl Iterator<Item = &'s StrictSample>) -> StrictFigures {
    let mut pooled = StrictFigures::default();
    for sample in samples {
        pooled.samples += 1;
        pooled.missing += usize::from(sample.missing);
        if let Some(cause) = sample.malformed {
            *pooled.malformed.entry(cause.as_str()).or_default() += 1;
        }
        pooled.malformed_links += u64::from(sample.malformed_links);
        pooled.malformed_arguments += u64::from(sample.malformed_arguments);
        pooled.dangling_references += u64::from(sample.dangling_references);
        pooled.unknown_tools += u64::from(sample.unknown_tools);
        for (kind, times) in &sample.repaired {
            *pooled.repaired.entry(kind).or_default() += u64::from(*times);
        }
        let of_gold = [u32::from(sample.gold_malformed), sample.gold_unknown_tools, sample.gold_dangling_references];
        for (sum, more) in pooled.gold.iter_mut().zip(of_gold) {
            *sum += u64::from(more);
        }
    }
    pooled
}

fn macro_mean(tools: &[(String, Counts)]) -> Option<[f64; 3]> {
    if tools.is_empty() {
        return None;
    }
    let mut sums = [0.0; 3];
    for (_, counts) in tools {
        for (sum, value) in sums.iter_mut().zip(of_counts(*counts).expect("the tools occur")) {
            *sum += value;
        }
    }
    Some(sums.map(|sum| sum / tools.len() as f64))
}

impl Figure {
    fn put(&self, name: &str, into: &mut Map<String, Value>) {
        into.insert(name.into(), self.value.into());
        if let Some([low, high]) = self.interval {
            into.insert(format!("{name}_interval"), json!([low, high]));
        }
    }
}

impl Prf {
    fn to_map(self) -> Map<String, Value> {
        let mut map = Map::new();
        for (name, figure) in ["precision", "recall", "f1"].into_iter().zip(self.figures) {
            figure.put(name, &mut map);
        }
        map.insert("common".into(), self.counts.common.into());
        map.insert("predicted".into(), self.counts.predicted.into());
        map.insert("gold".into(), self.counts.gold.into());
        map
    }
}

impl StrictFigures {
    /// The figures of a group as they stand in the file, in this order:
    ///
    /// - `samples`, `missing`, `malformed` (cause → how many), `malformed_links`, `malformed_arguments`,
    ///   `dangling_references`, `unknown_tools`, `repaired` (kind → how many), `gold` (what is odd in the gold plans);
    /// - `nodes`, `links`, `listed_links`, `argument_names`, `argument_values`: each `precision`, `recall`, `f1`, with the sums
    ///   `common`, `predicted`, `gold`; `nodes` also `exact` (share of plans), `macro` (with `tools`, how many occur) and
    ///   `per_tool`; `listed_links` also `samples`;
    /// - `edit_distance`: `list`, `topological`;
    /// - `rouge`: `samples`, and the mean of each of the four.
    ///
    /// A figure with nothing to count is `null`. `X_interval` after a figure X is its 95 % interval, `[low, high]`.
    pub fn to_value(&self) -> Value {
        let [malformed, unknown, dangling] = self.gold;
        let counts = json!({
            "samples": self.samples, "missing": self.missing, "malformed": self.malformed,
            "malformed_links": self.malformed_links, "malformed_arguments": self.malformed_arguments,
            "dangling_references": self.dangling_references, "unknown_tools": self.unknown_tools,
            "repaired": self.repaired,
            "gold": {"malformed": malformed, "unknown_tools": unknown, "dangling_references": dangling},
        });
        let mut out = counts.as_object().cloned().expect("it is an object");
        if let Some((nodes, exact)) = &self.nodes {
            let mut map = nodes.to_map();
            exact.put("exact", &mut map);
            let [precision, recall, f1] = optional(self.macro_nodes);
            let mean = json!({"precision": precision, "recall": recall, "f1": f1, "tools": self.tools.len()});
            map.insert("macro".into(), mean);
            map.insert("per_tool".into(), self.tools.iter().map(of_tool).collect::<Map<_, _>>().into());
            out.insert("nodes".into(), map.into());
        }
        if let Some(links) = self.links {
            out.insert("links".into(), links.to_map().into());
        }
        if let Some((samples, listed)) = self.listed_links {
            let mut map = Map::new();
            map.insert("samples".into(), samples.into());
            map.extend(listed.to_map());
            out.insert("listed_links".into(), map.into());
        }
        if let Some([names, values]) = self.arguments {
            out.insert("argument_names".into(), names.to_map().into());
            out.insert("argument_values".into(), values.to_map().into());
        }
        if let Some(distances) = &self.edit_distance {
            let mut map = Map::new();
            for (name, figure) in ["list", "topological"].into_iter().zip(distances) {
                figure.put(name, &mut map);
            }
            out.insert("edit_distance".into(), map.into());
        }
        if let Some((samples, means)) = &self.rouge {
            let mut map = Map::new();
            map.insert("samples".into(), (*samples).into());
            for (name, figure) in ROUGE_NAMES.into_iter().zip(means) {
                figure.put(name, &mut map);
            }
            out.insert("rouge".into(), map.into());
        }
        out.into()
    }
}

fn of_tool((tool, counts): &(String, Counts)) -> (String, Value) {
    let [precision, recall, f1] = of_counts(*counts).expect("only tools that occur have figures");
    let figures = json!({"precision": precision, "recall": recall, "f1": f1,
        "support": counts.gold, "predicted": counts.predicted});
    (tool.clone(), figures)
}
