//! Compares plans with gold plans: tools as multisets of names, links as sets of pairs of names, both over all samples.
//!
//! Names are equal as in the strict profile (`_` is a blank), and plans are read by its reader. A sample without a plan
//! counts as an empty plan. A figure with nothing to count on either side is absent.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::own::{self, OWN, Values};
use super::{Form, Sample};
use crate::evaluate::Counts;
use crate::evaluate::strict::intervals::intervals;
use crate::evaluate::strict::plan::Plan;
use crate::evaluate::strict::{Bootstrap, Catalogue, Figure, reasons};

/// What one sample adds to the figures of its set.
#[derive(Debug, Clone)]
pub struct SampleScore {
    pub id: String,
    /// Whether there is no plan, or none that can be read.
    pub missing: bool,
    /// Multisets of tools.
    pub nodes: Counts,
    /// Sets of links between names.
    pub links: Counts,
    /// Whether tools and links are the gold ones.
    pub exact: bool,
    /// Why points were lost, the gravest first.
    pub reasons: Box<[Box<str>]>,
    own: Values,
}

/// Scores one plan; `None` for no plan at all.
pub(crate) fn score(form: Form, sample: &Sample, plan: Option<Plan>, catalogue: &Catalogue) -> SampleScore {
    let gold = sample.gold.to_plan();
    let absent = plan.is_none();
    let mut plan = plan.unwrap_or_default();
    // Gold plans of most forms have no arguments or steps to compare.
    plan.arguments.clear();
    plan.bad_arguments.clear();
    plan.dangling.clear();
    let nodes = multiset(&gold.nodes, &plan.nodes);
    let links = Counts::of(&gold.links, &plan.links);
    let is_same = |counts: Counts| counts.common == counts.gold && counts.common == counts.predicted;
    let exact = is_same(nodes) && is_same(links);
    let own = own::values(form, sample, &gold, &plan);
    if is_same(nodes) {
        // The order of the list loses no points.
        plan.nodes.clone_from(&gold.nodes);
    }
    SampleScore {
        id: sample.id.clone(),
        missing: absent || plan.malformed.is_some(),
        nodes,
        links,
        exact,
        reasons: if exact { Box::default() } else { reasons(&gold, &plan, absent, catalogue) },
        own,
    }
}

pub(crate) fn multiset(gold: &[String], predicted: &[String]) -> Counts {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for name in gold {
        *left.entry(name).or_default() += 1;
    }
    let mut common = 0;
    for name in predicted {
        if let Some(count) = left.get_mut(name.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    Counts { common, predicted: predicted.len() as u64, gold: gold.len() as u64 }
}

impl SampleScore {
    /// The sample as a line of `samples.jsonl`.
    pub fn to_value(&self, set: &str) -> Value {
        let counts =
            |counts: Counts| json!({"common": counts.common, "predicted": counts.predicted, "gold": counts.gold});
        let reasons: Vec<&str> = self.reasons.iter().map(AsRef::as_ref).collect();
        json!({"set": set, "id": self.id, "missing": self.missing, "exact": self.exact, "nodes": counts(self.nodes),
            "links": counts(self.links), "reasons": reasons})
    }
}

/// The figures of a set, each with the interval that holds it with 95 %.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    pub samples: usize,
    /// Samples without a plan.
    pub missing: usize,
    /// Precision, recall and F1 of tools over all samples.
    pub nodes: [Figure; 3],
    /// Means over the samples of their precision, recall and F1 of tools.
    pub nodes_macro: [Figure; 3],
    /// Precision, recall and F1 of links over all samples.
    pub links: [Figure; 3],
    /// The share of samples whose tools and links are the gold ones.
    pub exact: Figure,
    /// The figures of [`own::named`].
    pub own: [Figure; OWN],
}

/// Counts of tools and links, sums for the means and their number, exact plans, samples, values of the form.
const COLUMNS: usize = 12 + OWN;
const FIGURES: usize = 10 + OWN;

/// The figures over samples; `own` names the form whose figures are computed too.
pub fn figures<'s>(scores: impl Iterator<Item = &'s SampleScore>, own: Option<Form>, how: Bootstrap) -> Figures {
    let mut missing = 0;
    let mut rows: Vec<[f64; COLUMNS]> = Vec::new();
    for score in scores {
        missing += usize::from(score.missing);
        rows.push(row(score));
    }
    let mut sums = [0.0; COLUMNS];
    for row in &rows {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value;
        }
    }
    let of_sums = |sums: [f64; COLUMNS]| of_sums(sums, own);
    let (values, spread) = (of_sums(sums), intervals(&rows, how, of_sums));
    let figure =
        |at: usize| Figure { value: values.get(at).copied().flatten(), interval: spread.get(at).copied().flatten() };
    Figures {
        samples: rows.len(),
        missing,
        nodes: [0, 1, 2].map(figure),
        nodes_macro: [3, 4, 5].map(figure),
        links: [6, 7, 8].map(figure),
        exact: figure(9),
        own: std::array::from_fn(|at| figure(10 + at)),
    }
}

fn row(score: &SampleScore) -> [f64; COLUMNS] {
    let count = |counts: Counts| [counts.common as f64, counts.predicted as f64, counts.gold as f64];
    let of_sample = shares(count(score.nodes));
    let counted = f64::from(u8::from(of_sample.is_some()));
    let values = count(score.nodes)
        .into_iter()
        .chain(of_sample.unwrap_or_default())
        .chain([counted])
        .chain(count(score.links))
        .chain([f64::from(u8::from(score.exact)), 1.0])
        .chain(score.own);
    let mut row = [0.0; COLUMNS];
    for (cell, value) in row.iter_mut().zip(values) {
        *cell = value;
    }
    row
}

fn shares([common, predicted, gold]: [f64; 3]) -> Option<[f64; 3]> {
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    (predicted + gold > 0.0)
        .then(|| [share(common, predicted), share(common, gold), share(2.0 * common, predicted + gold)])
}

fn of_sums(sums: [f64; COLUMNS], form: Option<Form>) -> [Option<f64>; FIGURES] {
    let mut made = [None; FIGURES];
    let (parts, values) = sums.split_at(12);
    let [a, b, c, p, r, f, counted, d, e, g, exact, samples] = parts else { return made };
    let mean = |sum: f64, count: f64| (count > 0.0).then(|| sum / count);
    let optional = |shares: Option<[f64; 3]>| shares.map_or([None; 3], |shares| shares.map(Some));
    let mut means: Values = [0.0; OWN];
    for (cell, value) in means.iter_mut().zip(values) {
        *cell = mean(*value, *samples).unwrap_or(0.0);
    }
    let own = form.filter(|_| *samples > 0.0).map_or([None; OWN], |form| own::figures(form, means));
    let all = optional(shares([*a, *b, *c]))
        .into_iter()
        .chain([*p, *r, *f].map(|sum| mean(sum, *counted)))
        .chain(optional(shares([*d, *e, *g])))
        .chain([mean(*exact, *samples)])
        .chain(own);
    for (cell, value) in made.iter_mut().zip(all) {
        *cell = value;
    }
    made
}

impl Figures {
    /// The figures by name, each `{"value", "low", "high"}`, from 0 to 1.
    pub fn to_value(&self, form: Option<Form>) -> Value {
        let figure = |figure: &Figure| {
            let [low, high] = figure.interval.map_or([None; 2], |interval| interval.map(Some));
            json!({"value": figure.value, "low": low, "high": high})
        };
        let prf = |[p, r, f]: &[Figure; 3]| json!({"precision": figure(p), "recall": figure(r), "f1": figure(f)});
        let own: Map<String, Value> = form
            .map_or(&[] as &[_], own::named)
            .iter()
            .zip(&self.own)
            .map(|(name, value)| (name.key.to_owned(), figure(value)))
            .collect();
        json!({"nodes": prf(&self.nodes), "nodes_macro": prf(&self.nodes_macro), "links": prf(&self.links),
            "exact": figure(&self.exact), "own": own})
    }
}
