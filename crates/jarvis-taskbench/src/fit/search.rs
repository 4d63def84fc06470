//! Coordinate search: each weight in turn goes up and down for as long as the figures grow.

use jarvis_planner::Weights;
use serde_json::{Value, json};

use super::folds::Score;
use super::{Folds, Hold};

/// The first step, as a share of the weight; each round halves it.
const STEP: f64 = 0.3;
/// A weight that is smaller goes in steps of this one: from nothing it would never get anywhere.
const SMALL: f64 = 0.1;
/// What a change must bring, in points of F1: less is noise of a few plans.
const GROWTH: f64 = 0.02;

/// In so many folds a change may make plans worse: what is better in some part of the data and worse in the others fits its noise.
const WORSE: usize = 1;

/// A change that was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// From 1.
    pub round: usize,
    /// The weight; those of sets begin with `set.`.
    pub name: String,
    /// What it was, and what it is.
    pub change: (f64, f64),
    /// The mean over the rows with it.
    pub objective: f64,
}

/// Who looks on, and may end a search.
pub trait Watch: Sync {
    /// Whether to end with what was found so far.
    fn is_stopped(&self) -> bool {
        false
    }

    /// The search begins at these figures, and with so many of the held requests kept.
    fn began(&self, _objective: f64, _kept: usize) {}

    /// A change is kept.
    fn stepped(&self, _step: &Step) {}

    /// A round has ended with these weights.
    fn rounded(&self, _round: usize, _weights: &Weights, _objective: f64) {}
}

/// Nobody looks on.
impl Watch for () {}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The best weights.
    pub weights: Weights,
    /// The mean over the rows, at the start and with them.
    pub objective: (f64, f64),
    /// How many of the held requests get their tools, at the start and with them.
    pub kept: (usize, usize),
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// Looks for the weights with which the plans are best, from these on. A change under which fewer of the held requests of some file get
/// their tools than at the start is refused. Weights stay at or above nothing, and counts stay as they are.
pub fn search(folds: &Folds, hold: Option<&Hold>, start: &Weights, rounds: usize, watch: &dyn Watch) -> Found {
    let mut best = Best::new(folds, hold, start);
    let (began, least) = (best.objective, best.kept.clone());
    watch.began(began, least.iter().sum());
    let mut step = STEP;
    for round in 1..=rounds {
        for (name, of_sets) in numbers(start) {
            for sign in [1.0, -1.0] {
                let mut went = false;
                while !watch.is_stopped()
                    && let Some(change) = best.go(&name, of_sets, sign * step, &least)
                {
                    went = true;
                    let name = name.trim_start_matches('/').replace('/', ".");
                    watch.stepped(&Step { round, name, change, objective: best.objective });
                }
                if went {
                    break;
                }
            }
        }
        if watch.is_stopped() {
            break;
        }
        watch.rounded(round, &best.weights, best.objective);
        step /= 2.0;
    }
    Found {
        objective: (began, best.objective),
        kept: (least.iter().sum(), best.kept.iter().sum()),
        weights: best.weights,
        stopped: watch.is_stopped(),
    }
}

struct Best<'f> {
    folds: &'f Folds,
    hold: Option<&'f Hold>,
    weights: Weights,
    scores: Vec<Score>,
    objective: f64,
    /// The mean of each fold by itself.
    by_fold: Vec<f64>,
    /// Of each file of held requests, how many get their tools.
    kept: Vec<usize>,
}

impl<'f> Best<'f> {
    fn new(folds: &'f Folds, hold: Option<&'f Hold>, weights: &Weights) -> Best<'f> {
        let scores = folds.score(weights, &[], |_| true);
        let objective = folds.objective(&scores);
        let kept = hold.map(|hold| hold.kept(weights)).unwrap_or_default();
        let by_fold = folds.by_fold(&scores);
        Best { folds, hold, weights: weights.clone(), scores, objective, by_fold, kept }
    }

    /// Changes one weight, where that makes the plans better.
    fn go(&mut self, name: &str, of_sets: bool, step: f64, least: &[usize]) -> Option<(f64, f64)> {
        let mut written = serde_json::to_value(&self.weights).ok()?;
        let slot = written.pointer_mut(name)?;
        let now = rounded(slot.as_f64()?);
        let to = rounded(f64::max(now + step * f64::max(now, SMALL), 0.0));
        if to == now {
            return None;
        }
        *slot = json!(to);
        let weights: Weights = serde_json::from_value(written).ok()?;
        // A weight changes only the plans that it is asked about.
        let scores = self.folds.score(&weights, &self.scores, |case| case.is_set == of_sets);
        let objective = self.folds.objective(&scores);
        if objective <= self.objective + GROWTH {
            return None;
        }
        let by_fold = self.folds.by_fold(&scores);
        let worse = by_fold.iter().zip(&self.by_fold).filter(|(now, before)| now < before).count();
        if worse > WORSE {
            return None;
        }
        let kept = self.hold.map(|hold| hold.kept(&weights)).unwrap_or_default();
        if kept.iter().zip(least).any(|(kept, least)| kept < least) {
            return None;
        }
        *self = Best { weights, scores, objective, by_fold, kept, ..*self };
        Some((now, to))
    }
}

/// The weights that are searched, as places in their JSON, and whether they are those of sets.
fn numbers(weights: &Weights) -> Vec<(String, bool)> {
    let written = serde_json::to_value(weights).unwrap_or_default();
    let fields = |value: &Value, before: &str| -> Vec<String> {
        let fields = value.as_object().into_iter().flatten().filter(|(_, value)| value.is_f64());
        fields.map(|(name, _)| format!("{before}/{name}")).collect()
    };
    let top = fields(&written, "").into_iter().map(|name| (name, false));
    let of_sets = written.get("set").map(|set| fields(set, "/set")).unwrap_or_default();
    top.chain(of_sets.into_iter().map(|name| (name, true))).collect()
}

/// Three digits behind the point, so that files are read by people.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use jarvis_planner::Weights;

    use super::numbers;

    #[test]
    fn every_number_but_counts_is_searched() {
        let found = numbers(&Weights::default());
        let has = |name: &str, of_sets: bool| found.contains(&(name.to_owned(), of_sets));
        assert!(has("/cost", false) && has("/set/steep", true), "{found:?}");
        assert!(!found.iter().any(|(name, _)| name == "/beam" || name == "/choices" || name == "/set"));
    }
}
