//! How well retrieval finds the tools that the data names: recall and NDCG.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::input::{InputError, read_lines, text_of};

/// The share of the gold tools that are among the first `k` found, 0..=1; `None` without gold tools.
pub fn recall_at(found: &[i64], gold: &[i64], k: usize) -> Option<f64> {
    let gold: HashSet<i64> = gold.iter().copied().collect();
    let hits = distinct(found).take(k).filter(|id| gold.contains(id)).count();
    (!gold.is_empty()).then(|| ratio(hits, gold.len()))
}

/// Normalised discounted cumulative gain over the first `k` found, 0..=1: a gold tool at place i counts 1 / log2(i + 1), and
/// the sum is divided by the largest that there can be. `None` without gold tools, or for `k` = 0.
pub fn ndcg_at(found: &[i64], gold: &[i64], k: usize) -> Option<f64> {
    let gold: HashSet<i64> = gold.iter().copied().collect();
    #[allow(clippy::cast_precision_loss, reason = "places are few")]
    let gain = |place: usize| 1.0 / ((place + 2) as f64).log2();
    let hits = distinct(found).take(k).enumerate().filter(|(_, id)| gold.contains(id));
    let sum: f64 = hits.map(|(place, _)| gain(place)).sum();
    let ideal: f64 = (0..gold.len().min(k)).map(gain).sum();
    (ideal > 0.0).then(|| sum / ideal)
}

/// A tool found twice counts where it was found first.
fn distinct(found: &[i64]) -> impl Iterator<Item = i64> {
    let mut seen = HashSet::new();
    found.iter().copied().filter(move |id| seen.insert(*id))
}

#[allow(clippy::cast_precision_loss, reason = "counts of tools")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// What was found for the subtasks of one question as one list: all first places in the subtasks' order, then all second
/// ones, and so on; a tool that several subtasks found stands at its best place.
pub fn merged(subtasks: &[Vec<i64>]) -> Vec<i64> {
    let longest = subtasks.iter().map(Vec::len).max().unwrap_or_default();
    let ranked = (0..longest).flat_map(|place| subtasks.iter().filter_map(move |found| found.get(place).copied()));
    distinct(&ranked.collect::<Vec<_>>()).collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    pub found: Vec<i64>,
    pub gold: Vec<i64>,
}

/// Reads what a log says about retrieval. What was found for the subtasks counts for their question, as [`merged`] lists it.
///
/// # Errors
/// When the file cannot be read, a line is no record, or no record tells of retrieval.
pub fn read_log(path: &Path) -> Result<Vec<Query>, InputError> {
    #[derive(Deserialize)]
    struct Record {
        question: Option<String>,
        #[serde(default)]
        retrieved: Vec<Vec<i64>>,
        #[serde(default)]
        gold_tools: Vec<i64>,
    }
    let mut records: Vec<Record> = read_lines(path, &text_of(path)?)?;
    records.retain(|record| record.question.is_some());
    if records.iter().all(|record| record.retrieved.is_empty()) {
        let reason = "no record says which tools were retrieved";
        return Err(InputError::shape(path, reason));
    }
    let query = |record: Record| Query { found: merged(&record.retrieved), gold: record.gold_tools };
    Ok(records.into_iter().map(query).collect())
}

/// The figures of many queries: means over those that have gold tools.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RetrievalScore {
    pub n: usize,
    pub skipped: usize,
    pub k: usize,
    /// Mean recall@k, 0..=1; 0 where nothing was counted.
    pub recall: f64,
    /// Mean NDCG@k, 0..=1; 0 where nothing was counted.
    pub ndcg: f64,
    /// Mean recall over all that was found, 0..=1. More than `recall` where a question's subtasks found more than k tools.
    pub recall_all: f64,
}

pub fn score(queries: &[Query], k: usize) -> RetrievalScore {
    let k = k.max(1);
    let counted: Vec<&Query> = queries.iter().filter(|query| !query.gold.is_empty()).collect();
    let mean = |of: &dyn Fn(&Query) -> Option<f64>| {
        let sum: f64 = counted.iter().filter_map(|query| of(query)).sum();
        #[allow(clippy::cast_precision_loss, reason = "counts of queries")]
        let n = counted.len().max(1) as f64;
        sum / n
    };
    RetrievalScore {
        n: counted.len(),
        skipped: queries.len() - counted.len(),
        k,
        recall: mean(&|query| recall_at(&query.found, &query.gold, k)),
        ndcg: mean(&|query| ndcg_at(&query.found, &query.gold, k)),
        recall_all: mean(&|query| recall_at(&query.found, &query.gold, usize::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_and_ndcg_follow_their_definitions() {
        let log = |place: f64| 1.0 / (place + 1.0).log2();
        let ideal2 = log(1.0) + log(2.0);
        for (found, gold, k, recall, ndcg) in [
            (vec![1, 2, 3], vec![1], 5, Some(1.0), Some(1.0)),
            (vec![2, 1, 3], vec![1], 5, Some(1.0), Some(log(2.0))),
            (vec![3, 4, 1], vec![1, 2], 5, Some(0.5), Some(log(3.0) / ideal2)),
            (vec![1, 2], vec![2, 1], 2, Some(1.0), Some(1.0)),
            (vec![5, 6, 7, 1], vec![1], 3, Some(0.0), Some(0.0)),
            // More gold than places: all places filled is the best there is.
            (vec![1, 2, 3], vec![1, 2, 3], 2, Some(2.0 / 3.0), Some(1.0)),
            (vec![9, 9, 1], vec![1, 1], 2, Some(1.0), Some(log(2.0))),
            (vec![], vec![1], 5, Some(0.0), Some(0.0)),
            (vec![1], vec![], 5, None, None),
            (vec![1], vec![1], 0, Some(0.0), None),
        ] {
            assert_eq!(recall_at(&found, &gold, k), recall, "{found:?} {gold:?} @{k}");
            let got = ndcg_at(&found, &gold, k);
            let close = match (got, ndcg) {
                (Some(got), Some(ndcg)) => (got - ndcg).abs() < 1e-12,
                (got, ndcg) => got == ndcg,
            };
            assert!(close, "{found:?} {gold:?} @{k}: {got:?}, not {ndcg:?}");
        }
    }

    #[test]
    fn subtasks_are_merged_by_place() {
        for (subtasks, expected) in [
            (vec![], vec![]),
            (vec![vec![1, 2, 3]], vec![1, 2, 3]),
            (vec![vec![1, 2, 3], vec![4, 1], vec![], vec![5, 3]], vec![1, 4, 5, 2, 3]),
        ] {
            assert_eq!(merged(&subtasks), expected, "{subtasks:?}");
        }
    }

    #[test]
    fn queries_without_gold_are_skipped() {
        let query = |found: &[i64], gold: &[i64]| Query { found: found.to_vec(), gold: gold.to_vec() };
        let queries = [query(&[1, 2, 7], &[1]), query(&[1], &[]), query(&[3, 4, 2], &[2])];
        let expected = RetrievalScore { n: 2, skipped: 1, k: 2, recall: 0.5, ndcg: 0.5, recall_all: 1.0 };
        assert_eq!(score(&queries, 2), expected);
        let none = RetrievalScore { n: 0, skipped: 0, k: 5, recall: 0.0, ndcg: 0.0, recall_all: 0.0 };
        assert_eq!(score(&[], 5), none);
    }
}
