//! The whole of an evaluation: read each pair once, on several threads, then sum groups.

use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;
use serde_json::{Map, Value};

use super::legacy::{self, LegacyFigures, LegacySample};
use super::similarity::Similarity;
use super::strict::{self, Bootstrap, StrictFigures, StrictSample};
use super::{Group, Predictions, Rouge, Split, Wanted};
use crate::data::{BadLine, DependencyType, Gold, GoldRecord, SampleId, ToolList};
use crate::json::Look;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    Legacy,
    Strict,
    #[default]
    Both,
}

impl Profile {
    pub fn legacy(self) -> bool {
        matches!(self, Profile::Legacy | Profile::Both)
    }

    pub fn strict(self) -> bool {
        matches!(self, Profile::Strict | Profile::Both)
    }
}

#[derive(Clone)]
pub struct Options<'a> {
    pub tools: &'a ToolList,
    pub dependency: DependencyType,
    pub profile: Profile,
    pub wanted: Wanted,
    pub groups: Vec<Group>,
    /// Only gold plans with these ids; all without it.
    pub only: Option<HashSet<SampleId>>,
    /// Gold plans that the strict figures leave out: the examples of the prompt.
    pub examples: HashSet<SampleId>,
    /// Requests whose reply held no plan, and why: to the strict figures they are malformed, not missing.
    pub no_plan: HashMap<SampleId, String>,
    pub bootstrap: Option<Bootstrap>,
    /// The model for BERTScore; without it that is left out.
    pub similarity: Option<&'a dyn Similarity>,
    /// Called with how many pairs of texts BERTScore has compared, and of how many.
    pub progress: Option<&'a (dyn Fn(usize, usize) + Sync)>,
}

impl<'a> Options<'a> {
    /// All figures but BERTScore over all samples in one group, without intervals.
    pub fn new(tools: &'a ToolList, dependency: DependencyType, profile: Profile) -> Options<'a> {
        Options {
            tools,
            dependency,
            profile,
            wanted: Wanted { bertscore: false, ..Wanted::ALL },
            groups: vec![Group::OVERALL],
            only: None,
            examples: HashSet::new(),
            no_plan: HashMap::new(),
            bootstrap: None,
            similarity: None,
            progress: None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Evaluation {
    pub legacy: Vec<(Group, LegacyFigures)>,
    pub strict: Vec<(Group, StrictFigures)>,
    /// Each sample by itself, in the order of the gold file: of lines with the same id the last.
    pub samples: Vec<Sample>,
    pub coverage: Coverage,
    /// Why BERTScore is not there although it was asked for.
    pub no_bertscore: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Sample {
    pub id: SampleId,
    pub legacy: Option<LegacySample>,
    /// What it brings to ours, and why it lost points.
    pub strict: Option<StrictSample>,
}

impl Sample {
    /// The line of the per-sample file: `id`, our figures and the reasons why points were lost, and under `legacy` the
    /// original's (null without a prediction).
    pub fn to_value(&self) -> Value {
        let mut line = match self.strict.as_ref().map(StrictSample::to_value) {
            Some(Value::Object(line)) => line,
            Some(_) | None => Map::from_iter([("id".to_owned(), self.id.to_value())]),
        };
        line.insert("legacy".into(), self.legacy.as_ref().map_or(Value::Null, LegacySample::to_value));
        Value::Object(line)
    }
}

/// How much of the gold plans the figures of the original rest on: it leaves out what is missing or malformed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Gold plans, each id once.
    pub gold: usize,
    /// Of these, with a prediction.
    pub predicted: usize,
    /// Predictions for ids without a gold plan.
    pub surplus: usize,
    /// Predictions that a later line of the same id replaced.
    pub repeated: usize,
    /// Samples that were dropped, by reason.
    pub dropped: BTreeMap<String, usize>,
    /// Links that were left out.
    pub malformed_links: u64,
    pub bad_gold: Vec<BadLine>,
    pub bad_predictions: Vec<BadLine>,
}

struct Row {
    line: usize,
    /// The id's number, in order of first occurrence.
    id: usize,
    /// Its split; shapes that groups do not know are in none.
    shape: Option<Split>,
    nodes: Option<usize>,
    kept: bool,
    predicted: bool,
    legacy: Option<LegacySample>,
    strict: Option<StrictSample>,
    /// The texts of the steps, gold and predicted, for BERTScore.
    texts: Option<(String, String)>,
}

/// Scores predictions against gold plans.
///
/// The figures of both profiles and their sources are described with [`LegacyFigures`] and the strict ones; the groups
/// come in the order asked for. Nothing here fails: lines that cannot be used are counted and named.
pub fn evaluate(gold: &Gold, predictions: &Predictions<'_>, options: &Options<'_>) -> Evaluation {
    let catalogue = legacy::Catalogue::new(options.tools, options.dependency);
    let strict_catalogue = strict::Catalogue::new(options.tools, options.dependency);
    let rouge = options.wanted.rouge.then(Rouge::new);
    let similar = options.wanted.bertscore && options.similarity.is_some();
    let lines: Vec<(usize, &[u8])> = gold.lines.iter().collect();
    let read: Vec<Result<(SampleId, Row), BadLine>> = lines
        .into_par_iter()
        .map(|(line, text)| {
            let record = GoldRecord::read(line, text)?;
            let prediction = predictions.get(&record.id);
            let kept = options.only.as_ref().is_none_or(|only| only.contains(&record.id));
            let legacy = prediction.filter(|_| kept && options.profile.legacy()).map(|prediction| {
                let result = prediction.result.as_ref().filter(|_| prediction.nested);
                legacy::score(&record, result, &catalogue, options.wanted.steps(), rouge.as_ref())
            });
            let counts = options.profile.strict() && kept && !options.examples.contains(&record.id);
            let strict = counts.then(|| {
                let predicted = match prediction {
                    Some(prediction) => Some(prediction.result.as_ref().ok_or("there is no `result`")),
                    None => options.no_plan.get(&record.id).map(|why| Err(why.as_str())),
                };
                strict::score(&record, predicted, &strict_catalogue, rouge.as_ref())
            });
            let texts = legacy.as_ref().filter(|sample| similar && sample.steps.is_some()).and_then(|_| {
                let predicted = prediction?.result.as_ref()?.look("task_steps")?;
                Some((
                    legacy::gold_steps(record.task_steps.as_ref()?)?,
                    legacy::predicted_steps(predicted).into_owned(),
                ))
            });
            let row = Row {
                line,
                id: 0,
                shape: record.shape.as_deref().and_then(|word| word.parse().ok()),
                nodes: record.n(),
                kept,
                predicted: prediction.is_some(),
                legacy,
                strict,
                texts,
            };
            Ok((record.id, row))
        })
        .collect();
    let mut coverage = Coverage { bad_predictions: predictions.bad.clone(), ..Coverage::default() };
    let mut rows = Vec::with_capacity(read.len());
    let mut numbers: HashMap<SampleId, usize> = HashMap::with_capacity(read.len());
    for row in read {
        match row {
            Ok((id, row)) => {
                let next = numbers.len();
                let number = *numbers.entry(id).or_insert(next);
                rows.push(Row { id: number, ..row });
            }
            Err(bad) => coverage.bad_gold.push(bad),
        }
    }
    let no_bertscore = compare_steps(&mut rows, options);
    let ids = numbers.len();
    let everything = members(&rows, ids, Group::OVERALL);
    coverage.gold = everything.len();
    for row in &everything {
        coverage.predicted += usize::from(row.predicted);
        if let Some(sample) = &row.legacy {
            coverage.malformed_links += u64::from(sample.malformed_links);
            if let Some(dropped) = sample.dropped {
                *coverage.dropped.entry(dropped.to_string()).or_default() += 1;
            }
        }
    }
    coverage.repeated = predictions.lines.len() - predictions.ids();
    coverage.surplus = predictions
        .lines
        .iter()
        .map(|line| &line.id)
        .filter(|id| !numbers.contains_key(id))
        .collect::<HashSet<_>>()
        .len();
    let groups = |profile: bool| if profile { options.groups.as_slice() } else { &[] };
    let legacy = groups(options.profile.legacy())
        .par_iter()
        .map(|group| {
            let members = members(&rows, ids, *group);
            let samples = members.iter().filter_map(|row| row.legacy.as_ref());
            (*group, legacy::pool(samples, &catalogue, options.wanted))
        })
        .collect();
    let strict = groups(options.profile.strict())
        .par_iter()
        .map(|group| {
            let members = members(&rows, ids, *group);
            let samples = members.iter().filter_map(|row| row.strict.as_ref());
            (*group, strict::pool(samples, &strict_catalogue, options.wanted, options.bootstrap))
        })
        .collect();
    let keys: HashMap<usize, SampleId> = numbers.into_iter().map(|(id, number)| (number, id)).collect();
    let whole: HashSet<usize> = everything.iter().map(|row| row.line).collect();
    let samples = rows
        .into_iter()
        .filter(|row| whole.contains(&row.line))
        .filter_map(|row| Some(Sample { id: keys.get(&row.id)?.clone(), legacy: row.legacy, strict: row.strict }))
        .collect();
    Evaluation { legacy, strict, samples, coverage, no_bertscore }
}

/// Adds BERTScore to the samples whose steps are compared; says why when it cannot.
fn compare_steps(rows: &mut [Row], options: &Options<'_>) -> Option<String> {
    if !options.wanted.bertscore {
        return None;
    }
    let Some(similarity) = options.similarity else { return Some("no embedding model was given".into()) };
    let pairs: Vec<(String, String)> = rows.iter_mut().filter_map(|row| row.texts.take()).collect();
    let progress = |done: usize| {
        if let Some(progress) = options.progress {
            progress(done, pairs.len());
        }
    };
    match similarity.score(&pairs, &progress) {
        Ok(scores) => {
            let steps = rows.iter_mut().filter_map(|row| row.legacy.as_mut()?.steps.as_mut());
            steps.zip(scores).for_each(|(steps, score)| steps.bertscore = Some(score));
            None
        }
        Err(error) => Some(error.to_string()),
    }
}

fn members(rows: &[Row], ids: usize, group: Group) -> Vec<&Row> {
    let belongs = |row: &Row| row.kept && group.holds(row.shape, row.nodes);
    let mut last = vec![usize::MAX; ids];
    for (at, row) in rows.iter().enumerate() {
        if belongs(row)
            && let Some(last) = last.get_mut(row.id)
        {
            *last = at;
        }
    }
    rows.iter().enumerate().filter(|(at, row)| last.get(row.id) == Some(at)).map(|(_, row)| row).collect()
}
