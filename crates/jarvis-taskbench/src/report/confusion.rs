//! Which tools are taken for which: per tool how often it is chosen rightly, missed or chosen for nothing, and for missed
//! ones what stood in their place.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::Diff;
use super::plan::PlanView;
use crate::evaluate::Counts;

/// Ids kept as examples of a pair.
const EXAMPLES: usize = 3;

/// How tools were taken for others, over the samples whose prediction is a plan. Tools go by their normalised names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confusion {
    /// For each tool the samples with it: gold, predicted, both.
    pub tools: BTreeMap<String, Counts>,
    /// For each gold tool that was missing, what seems to have been chosen instead.
    pub pairs: BTreeMap<(String, String), Pair>,
    /// The samples that were looked at.
    pub samples: usize,
}

/// How often one tool was chosen in the place of another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pair {
    /// The times.
    pub times: usize,
    /// The ids of the first samples.
    pub examples: Vec<String>,
}

impl Confusion {
    /// Counts one sample.
    pub fn add(&mut self, id: &str, gold: &PlanView, predicted: &PlanView, diff: &Diff) {
        self.samples += 1;
        let keys = |plan: &PlanView| plan.nodes.iter().map(|node| node.key.clone()).collect::<BTreeSet<_>>();
        let (gold_keys, predicted_keys) = (keys(gold), keys(predicted));
        for key in gold_keys.union(&predicted_keys) {
            let counts = self.tools.entry(key.clone()).or_default();
            let (is_gold, is_predicted) = (gold_keys.contains(key), predicted_keys.contains(key));
            *counts += Counts {
                common: u64::from(is_gold && is_predicted),
                predicted: u64::from(is_predicted),
                gold: u64::from(is_gold),
            };
        }
        for (own, other) in &diff.replaced {
            let (Some(own), Some(other)) = (gold.nodes.get(*own), predicted.nodes.get(*other)) else { continue };
            // A second call too few or too many is no confusion of tools.
            if predicted_keys.contains(&own.key) || gold_keys.contains(&other.key) {
                continue;
            }
            let pair = self.pairs.entry((own.key.clone(), other.key.clone())).or_default();
            pair.times += 1;
            if pair.examples.len() < EXAMPLES {
                pair.examples.push(id.to_owned());
            }
        }
    }

    /// The pairs, the most frequent first, then by name.
    pub fn ranked(&self) -> Vec<(&str, &str, &Pair)> {
        let mut pairs: Vec<_> =
            self.pairs.iter().map(|((own, other), pair)| (own.as_str(), other.as_str(), pair)).collect();
        pairs.sort_by_key(|(_, _, pair)| std::cmp::Reverse(pair.times));
        pairs
    }

    /// The tools, those with the most misses and surplus choices first, then by name.
    pub fn by_trouble(&self) -> Vec<(&str, Counts)> {
        let mut tools: Vec<_> = self.tools.iter().map(|(key, counts)| (key.as_str(), *counts)).collect();
        tools.sort_by_key(|(_, counts)| std::cmp::Reverse(missed(*counts) + surplus(*counts)));
        tools
    }

    /// The tools that were missed, the most missed first, with how often.
    pub fn most_missed(&self) -> Vec<(&str, u64)> {
        self.most(missed)
    }

    /// The tools that were chosen for nothing, the most frequent first, with how often.
    pub fn most_surplus(&self) -> Vec<(&str, u64)> {
        self.most(surplus)
    }

    fn most(&self, of: fn(Counts) -> u64) -> Vec<(&str, u64)> {
        let tools = self.tools.iter().map(|(key, counts)| (key.as_str(), of(*counts)));
        let mut tools: Vec<_> = tools.filter(|(_, times)| *times > 0).collect();
        tools.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        tools
    }
}

/// Samples where the tool is gold and was not predicted.
pub fn missed(counts: Counts) -> u64 {
    counts.gold.saturating_sub(counts.common)
}

/// Samples where the tool was predicted and is not gold.
pub fn surplus(counts: Counts) -> u64 {
    counts.predicted.saturating_sub(counts.common)
}
