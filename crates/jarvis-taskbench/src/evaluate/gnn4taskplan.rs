//! The evaluator of GNN4TaskPlan (WxxShirley/GNN4TaskPlan): how far predicted nodes and links agree with the gold ones,
//! and how many of them exist at all. Its own reading of plans and its own F1 are kept; text is never run as code, and a
//! sample that cannot be read is reported and counts as an empty plan.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::rouge::Rouge;
use crate::DataError;
use crate::data::{Domain, GoldRecord, Lines, SampleId, ToolGraph, ToolList};
use crate::json::{Json, Look, entries, parse, printed};
use crate::words::words;

#[cfg(test)]
mod tests;

words! {
    #[derive(Default)]
    pub enum Mode as "split of GNN4TaskPlan" {
        #[default]
        Chain = "chain",
        /// Single tools; links mean nothing.
        Single = "single",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    pub mode: Mode,
    /// Leave out samples without a prediction; otherwise they are empty plans.
    pub remove_non_pred: bool,
    pub steps: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { mode: Mode::Chain, remove_non_pred: true, steps: false }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("sample {id}: {reason}")]
pub struct SampleError {
    pub id: SampleId,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figures {
    pub mode: Mode,
    pub samples: usize,
    /// Mean F1 of nodes; `None` without gold plans or samples, as for the others.
    pub nf: Option<f64>,
    /// Mean F1 of links; `None` for single tools too.
    pub lf: Option<f64>,
    /// Share of samples whose node F1 is 0.99 or more.
    pub acc: Option<f64>,
    /// Mean share of nodes outside the tool list.
    pub nh1: Option<f64>,
    /// Share of samples with such a node.
    pub nh2: Option<f64>,
    /// Mean share of links outside the tool graph.
    pub lh1: Option<f64>,
    /// Share of samples with such a link.
    pub lh2: Option<f64>,
    /// Mean ROUGE-1 and ROUGE-2 of the steps, when asked for.
    pub rouge: Option<[f64; 2]>,
    /// What the figures rest on that is not plain.
    pub notes: Vec<String>,
    /// Samples that could not be read as they should.
    pub errors: Vec<SampleError>,
}

/// Scores the samples with these ids. `gold` is `None` where there are no gold plans; then only the four figures of what
/// exists are made.
fn evaluate(
    gold: Option<&HashMap<SampleId, GoldRecord<'_>>>,
    predictions: &HashMap<SampleId, &Json<'_>>,
    ids: &[SampleId],
    (tools, graph): (&ToolList, &ToolGraph),
    options: Options,
) -> Figures {
    let known: HashSet<&str> = tools.tools.iter().map(|tool| tool.id.as_str()).collect();
    let linked: HashSet<String> = graph.links.iter().map(|link| format!("{}, {}", link.source, link.target)).collect();
    let rouge = options.steps.then(Rouge::new);
    let mut out = Figures { mode: options.mode, ..Figures::default() };
    let mut with_gold = 0_usize;
    let (mut nf, mut lf, mut acc, mut rouges) = (0.0, 0.0, 0.0, [0.0; 2]);
    let mut unknown = [0.0; 4];
    for id in ids {
        let predicted = predictions.get(id).copied();
        if predicted.is_none() && options.remove_non_pred {
            continue;
        }
        out.samples += 1;
        let mut report = |reason: String| out.errors.push(SampleError { id: id.clone(), reason });
        let mut field = |key: &str| {
            let predicted = predicted?;
            let found = predicted.look(key);
            match found {
                Some(Json::Array(_)) => {}
                Some(other) => report(format!("its `{key}` is {}, not a list", other.what())),
                None => report(format!("its prediction has no `{key}`")),
            }
            found
        };
        let nodes = node_list(field("task_nodes"));
        let links = link_list(field("task_links"), &nodes);
        let shares = [
            nodes.iter().filter(|name| !known.contains(name.as_str())).count() as f64 / nodes.len().max(1) as f64,
            links.iter().filter(|link| !linked.contains(*link)).count() as f64 / links.len().max(1) as f64,
        ];
        let [node_share, link_share] = shares;
        let any = |share: f64| f64::from(u8::from(share > 0.0));
        for (sum, value) in unknown.iter_mut().zip([node_share, any(node_share), link_share, any(link_share)]) {
            *sum += value;
        }
        let Some(gold) = gold else { continue };
        let Some(gold) = gold.get(id) else {
            report("there is no gold plan for it".into());
            continue;
        };
        with_gold += 1;
        let gold_nodes = node_list(gold.task_nodes.as_ref());
        let node_f = f1(&nodes, &gold_nodes);
        nf += node_f;
        acc += f64::from(u8::from(node_f >= 0.99));
        lf += f1(&links, &link_list(gold.task_links.as_ref(), &gold_nodes));
        if let Some(rouge) = &rouge {
            let predicted = match predicted {
                Some(predicted) => step_list(predicted.look("task_steps")),
                None => "...".into(),
            };
            let scored = rouge.score(&step_list(gold.task_steps.as_ref()), &predicted);
            for (sum, value) in rouges.iter_mut().zip([scored.rouge1, scored.rouge2]) {
                *sum += value;
            }
        }
    }
    let mean = |sum: f64, count: usize| (count > 0).then(|| sum / count as f64);
    out.nf = mean(nf, with_gold);
    out.acc = mean(acc, with_gold);
    out.lf = mean(lf, with_gold).filter(|_| options.mode == Mode::Chain);
    [out.nh1, out.nh2, out.lh1, out.lh2] = unknown.map(|sum| mean(sum, out.samples));
    out.rouge = rouge.filter(|_| with_gold > 0).map(|_| rouges.map(|sum| sum / with_gold as f64));
    out
}

/// Scores a prediction file against a domain's folder: tools, graph, `data.json` and `split_ids.json` are read from there.
///
/// Where `split_ids.json` is missing, all gold samples of the mode's type are scored; where `data.json` is missing, only the
/// figures of what exists are made. Both are noted.
pub fn evaluate_file(domain: &Domain, predictions: &Path, options: Options) -> Result<Figures, DataError> {
    let (tools, graph) = (domain.tools()?, domain.graph()?);
    let lines = Lines::read(predictions)?;
    let mut notes = Vec::new();
    let mut predicted: HashMap<SampleId, Json<'_>> = HashMap::new();
    let mut order = Vec::new();
    for (line, text) in lines.iter() {
        let value = match parse(text) {
            Ok(value) => value,
            Err(error) => {
                notes.push(format!("{}, line {line}: not JSON: {error}", predictions.display()));
                continue;
            }
        };
        match value.look("id").and_then(SampleId::of) {
            Some(id) => {
                order.push(id.clone());
                if predicted.insert(id.clone(), value).is_some() {
                    notes.push(format!("{}: sample {id} is there again; the last counts", predictions.display()));
                }
            }
            None => notes.push(format!("{}, line {line}: it has no `id`", predictions.display())),
        }
    }
    let plans: HashMap<SampleId, &Json<'_>> = predicted.iter().map(|(id, line)| (id.clone(), plan(line))).collect();
    let gold = match domain.gold() {
        Ok(gold) => Some(gold),
        Err(error) if error.is_missing() => {
            notes.push("there is no data.json: NF, LF and Acc need gold plans".into());
            None
        }
        Err(error) => return Err(error),
    };
    let mut records: HashMap<SampleId, GoldRecord<'_>> = HashMap::new();
    let mut of_mode = Vec::new();
    for record in gold.iter().flat_map(|gold| gold.records()) {
        match record {
            Ok(record) => {
                if record.shape.as_deref() == Some(options.mode.as_str()) && !records.contains_key(&record.id) {
                    of_mode.push(record.id.clone());
                }
                records.insert(record.id.clone(), record);
            }
            Err(bad) => notes.push(format!("data.json, {bad}")),
        }
    }
    let ids = match (split_ids(domain, options.mode)?, &gold) {
        (Some(ids), _) => ids,
        (None, Some(_)) => {
            notes.push(format!("no `{}` list in split_ids.json: every such gold sample counts", options.mode.as_str()));
            of_mode
        }
        (None, None) => {
            notes.push("neither split_ids.json nor data.json: every prediction counts".into());
            let mut seen = HashSet::new();
            order.retain(|id| seen.insert(id.clone()));
            order
        }
    };
    let gold = gold.as_ref().map(|_| &records);
    let mut figures = evaluate(gold, &plans, &ids, (&tools, &graph), options);
    if figures.samples == 0 {
        notes.push("no sample was scored".into());
    }
    figures.notes = notes;
    Ok(figures)
}

/// The plan of a line: its `result` where that is an object and no plan stands at the top.
fn plan<'v, 'a>(line: &'v Json<'a>) -> &'v Json<'a> {
    match line.look("result") {
        Some(result) if result.pairs().is_some() && line.look("task_nodes").is_none() => result,
        _ => line,
    }
}

fn split_ids(domain: &Domain, mode: Mode) -> Result<Option<Vec<SampleId>>, DataError> {
    match domain.test_ids() {
        Ok(mut methods) => Ok(methods.swap_remove(mode.as_str())),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}

/// The names of a plan's nodes, repeats included; nodes without a name are left out.
fn node_list(nodes: Option<&Json<'_>>) -> Vec<String> {
    let mut names = Vec::new();
    for node in nodes.and_then(Look::list).unwrap_or_default() {
        match (node, node.look("task"), node.look("name")) {
            (_, Some(Json::Str(task)), _) => names.push(task.to_string()),
            (_, Some(Json::Array(tasks)), _) => {
                names.extend(tasks.iter().filter_map(Look::text).map(str::to_owned));
            }
            (_, _, Some(Json::Str(name))) | (Json::Str(name), ..) => names.push(name.to_string()),
            _ => {}
        }
    }
    names
}

/// A plan's links as `source, target`, repeats included; malformed ones are left out.
fn link_list(links: Option<&Json<'_>>, nodes: &[String]) -> Vec<String> {
    let mut named = Vec::new();
    for link in links.and_then(Look::list).unwrap_or_default() {
        match (link, link.look("source"), link.look("target")) {
            (_, Some(source), Some(target)) => {
                if let (Some(source), Some(target)) = (source.text(), target.text())
                    && !source.is_empty()
                    && !target.is_empty()
                {
                    named.push(format!("{source}, {target}"));
                }
            }
            (Json::Array(ends), ..) if let [source, target] = ends.as_slice() => {
                let name = |end: &Json<'_>| nodes.get(step_number(end)?.checked_sub(1)?);
                if let (Some(source), Some(target)) = (name(source), name(target)) {
                    named.push(format!("{source}, {target}"));
                }
            }
            _ => {}
        }
    }
    named
}

/// The number in `3`, `"3"` or `"Step 3"`.
fn step_number(end: &Json<'_>) -> Option<usize> {
    match end {
        Json::Int(number) => usize::try_from(*number).ok(),
        Json::Str(text) => text.replace("Step ", "").trim().parse().ok(),
        _ => None,
    }
}

fn step_list(steps: Option<&Json<'_>>) -> String {
    let items = steps.and_then(Look::list).unwrap_or_default();
    let described = items.first().is_some_and(|first| first.look("description").is_some());
    let texts: Vec<String> = items
        .iter()
        .map(|item| match item {
            Json::Object(_) if described => item.look("description").map(printed).unwrap_or_default().into_owned(),
            Json::Object(pairs) => entries(pairs).into_values().map(printed).collect::<Vec<_>>().join(". "),
            Json::Array(items) => items.first().map(printed).unwrap_or_default().into_owned(),
            other => printed(other).into_owned(),
        })
        .map(|text| text.replace("Step ", ""))
        .collect();
    texts.join(", ")
}

/// Their F1: sets in common over the lengths of the lists, so that a repeated item costs even an identical plan.
fn f1(predicted: &[String], gold: &[String]) -> f64 {
    if predicted.is_empty() || gold.is_empty() {
        return 0.0;
    }
    let wanted: HashSet<&String> = gold.iter().collect();
    let common = predicted.iter().collect::<HashSet<_>>().intersection(&wanted).count() as f64;
    let (precision, recall) = (common / predicted.len() as f64, common / gold.len() as f64);
    2.0 * precision * recall / (precision + recall + 1e-9)
}

impl Figures {
    /// The figures by their names, with 4 decimals: `"N/A"` for the links of single tools, `null` for what could not be made.
    pub fn to_value(&self) -> Value {
        let rounded = |value: Option<f64>| value.and_then(|value| format!("{value:.4}").parse::<f64>().ok());
        let lf = match self.mode {
            Mode::Single => Value::from("N/A"),
            Mode::Chain => rounded(self.lf).into(),
        };
        let mut out = Map::new();
        out.insert("mode".into(), self.mode.as_str().into());
        out.insert("samples".into(), self.samples.into());
        out.insert("NF".into(), rounded(self.nf).into());
        out.insert("LF".into(), lf);
        let rest = [("Acc", self.acc), ("NH-1", self.nh1), ("NH-2", self.nh2), ("LH-1", self.lh1), ("LH-2", self.lh2)];
        for (name, value) in rest {
            out.insert(name.into(), rounded(value).into());
        }
        if let Some([one, two]) = self.rouge {
            out.insert("rouge1".into(), rounded(Some(one)).into());
            out.insert("rouge2".into(), rounded(Some(two)).into());
        }
        out.insert("notes".into(), json!(self.notes));
        let errors = self.errors.iter().map(|error| json!({"id": error.id.to_value(), "error": error.reason}));
        out.insert("errors".into(), errors.collect());
        out.into()
    }
}
