//! The figures of one group, pooled from its samples, and how the original writes them.

use serde_json::{Map, Value, json};

use super::{Catalogue, LegacySample};
use crate::evaluate::rouge::ROUGE_NAMES;
use crate::evaluate::{Counts, Wanted, harmonic};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct LegacyFigures {
    /// Ids that both the gold plans and the predictions have.
    pub all_samples: u64,
    pub step_supports: u64,
    pub node_supports: u64,
    /// Samples whose links were compared: the same.
    pub link_supports: u64,
    pub argument_supports: u64,
    /// Means of ROUGE F over the samples with steps, in the order of [`ROUGE_NAMES`].
    pub steps: Option<[f64; 4]>,
    /// Means of BERTScore over the samples with steps: precision, recall, F1.
    pub bertscore: Option<[f64; 3]>,
    pub nodes: Option<NodeFigures>,
    /// F1 of pairs of task and argument name.
    pub argument_name_f1: Option<f64>,
    /// F1 of triples of task, argument name and value.
    pub argument_value_f1: Option<f64>,
    /// One minus the mean likeness of the sequences of tools.
    pub edit_distance: Option<f64>,
    pub link_f1: Option<f64>,
}

/// How well tools are chosen, over sets of tools.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeFigures {
    /// From the sums over all tools: precision, recall, F1.
    pub micro: [f64; 3],
    /// The plain means over all tools of the catalogue, those that never occur counting 0.
    pub macro_mean: [f64; 3],
    /// For each tool, in catalogue order, the samples with it.
    pub tools: Vec<(String, Counts)>,
}

#[allow(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn pool<'s>(
    samples: impl Iterator<Item = &'s LegacySample>,
    catalogue: &Catalogue,
    wanted: Wanted,
) -> LegacyFigures {
    let mut figures = LegacyFigures::default();
    let mut rouge = [0.0; 4];
    let (mut bertscore, mut compared) = ([0.0; 3], 0u64);
    let mut tools = vec![Counts::default(); catalogue.ids().len()];
    let (mut names, mut values, mut links) = (Counts::default(), Counts::default(), Counts::default());
    let mut likeness = 0.0;
    for sample in samples {
        figures.all_samples += 1;
        if let Some(steps) = &sample.steps {
            figures.step_supports += 1;
            for (sum, value) in rouge.iter_mut().zip(steps.rouge.unwrap_or_default().values()) {
                *sum += value;
            }
            if let Some(values) = steps.bertscore {
                compared += 1;
                bertscore.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
        }
        figures.argument_supports += u64::from(sample.arguments);
        let Some(plan) = &sample.plan else { continue };
        figures.node_supports += 1;
        figures.link_supports += 1;
        names += plan.argument_names;
        values += plan.argument_values;
        links += plan.links;
        likeness += plan.likeness;
        for at in &plan.predicted {
            if let Some(tool) = tools.get_mut(*at as usize) {
                tool.predicted += 1;
                tool.common += u64::from(plan.gold.binary_search(at).is_ok());
            }
        }
        for at in &plan.gold {
            if let Some(tool) = tools.get_mut(*at as usize) {
                tool.gold += 1;
            }
        }
    }
    if figures.node_supports == 0 {
        return figures;
    }
    if wanted.rouge && figures.step_supports > 0 {
        figures.steps = Some(rouge.map(|sum| sum / figures.step_supports as f64));
    }
    if wanted.bertscore && compared > 0 {
        figures.bertscore = Some(bertscore.map(|sum| sum / compared as f64));
    }
    if wanted.nodes {
        figures.nodes = Some(NodeFigures::of(catalogue, &tools));
        figures.argument_name_f1 = Some(names.f1());
        figures.argument_value_f1 = Some(values.f1());
    }
    figures.edit_distance = wanted.edit_distance.then(|| 1.0 - likeness / figures.node_supports as f64);
    figures.link_f1 = wanted.links.then(|| links.f1());
    figures
}

impl NodeFigures {
    #[allow(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn of(catalogue: &Catalogue, tools: &[Counts]) -> NodeFigures {
        let mut total = Counts::default();
        let mut sums = [0.0; 3];
        for counts in tools {
            total += *counts;
            let own = [counts.precision(), counts.recall(), counts.f1()];
            sums.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
        }
        let of = (tools.len() as f64).max(1.0);
        NodeFigures {
            micro: [total.precision(), total.recall(), harmonic(total.precision(), total.recall())],
            macro_mean: sums.map(|sum| sum / of),
            tools: catalogue.ids().iter().cloned().zip(tools.iter().copied()).collect(),
        }
    }
}

impl LegacyFigures {
    /// The figures under the original's names, spelt as there, in its order; what was not wanted is not there.
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        let mut put = |key: &str, value: Value| {
            out.insert(key.to_owned(), value);
        };
        put("all_samples", self.all_samples.into());
        put("step_supports", self.step_supports.into());
        put("node_supports", self.node_supports.into());
        put("link_supports", self.link_supports.into());
        put("argument_supports", self.argument_supports.into());
        if let Some(steps) = &self.steps {
            for (name, value) in ROUGE_NAMES.into_iter().zip(*steps) {
                put(&format!("step_{name}"), value.into());
            }
        }
        if let Some([precision, recall, f1]) = self.bertscore {
            put("step_bertscore_precision", precision.into());
            put("step_bertscore_recall", recall.into());
            put("step_bertscore_f1", f1.into());
        }
        if let Some(nodes) = &self.nodes {
            for (kind, values) in [("micro", nodes.micro), ("macro", nodes.macro_mean)] {
                for (name, value) in ["precision", "recall", "f1"].into_iter().zip(values) {
                    put(&format!("node_{kind}_{name}_no_matching"), value.into());
                }
            }
            let tools = nodes.tools.iter().map(|(id, counts)| {
                let [precision, recall, f1] = [counts.precision(), counts.recall(), counts.f1()];
                let row = json!({"precision": precision, "recall": recall, "f1-score": f1, "support": counts.gold});
                (id.clone(), row)
            });
            put("node_per_type_no_matchcing", Value::Object(tools.collect()));
        }
        if let (Some(names), Some(values)) = (self.argument_name_f1, self.argument_value_f1) {
            put("argument_task_argname_binary_f1_no_matching", names.into());
            put("argument_task_argname_value_binary_f1_no_matching", values.into());
        }
        if let Some(distance) = self.edit_distance {
            put("edit_distance", distance.into());
        }
        if let Some(f1) = self.link_f1 {
            put("link_binary_f1", f1.into());
        }
        Value::Object(out)
    }
}
