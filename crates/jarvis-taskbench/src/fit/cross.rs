//! Cross-validation: what weights, and a search for weights, are worth on plans that neither saw.

use jarvis_planner::Weights;

use super::folds::{Score, objective};
use super::search::{Found, Watch};
use super::{F1, Folds, Hold, Options, search};
use crate::bench::PlanSet;
use crate::evaluate::table::Table;

/// The figures of one set, planned with what the others teach or with nothing learned.
#[derive(Debug, Clone, PartialEq)]
pub struct SetFigures {
    /// Its name, which says where nothing was learned.
    pub name: String,
    /// All of its samples.
    pub samples: usize,
    /// With the start's weights.
    pub start: F1,
    /// With weights that were searched on the other folds.
    pub fitted: Option<F1>,
}

/// Plans every request with what was learned from the other folds and sets, and once more with nothing learned, and scores the plans.
pub fn measure(sets: &[PlanSet], options: &Options, weights: &Weights) -> Vec<SetFigures> {
    let folds = Folds::new(sets, &Options { most: usize::MAX, ..options.clone() }, None);
    figures(&folds, &folds.score(weights, &[], |_| true), None)
}

/// The same, and beside it with the weights that a search on the other folds finds: a search for each fold, from what is learned to
/// weights without its plans. `None` when it was stopped. `watch` is asked for each fold, from 1.
pub fn cross_validate<'w>(
    sets: &[PlanSet],
    hold: Option<&Hold>,
    start: &Weights,
    options: &Options,
    mut watch: impl FnMut(usize) -> Box<dyn Watch + 'w>,
) -> Option<Vec<SetFigures>> {
    let whole = Folds::new(sets, &Options { most: usize::MAX, ..options.clone() }, None);
    let before = whole.score(start, &[], |_| true);
    let mut after = before.clone();
    for held in 0..options.folds {
        let watch = watch(held + 1);
        let others = Folds::new(sets, options, Some(held));
        let Found { weights, stopped, .. } = search(&others, hold, start, options.rounds, watch.as_ref());
        if stopped {
            return None;
        }
        after = whole.score(&weights, &after, |case| case.fold == held);
    }
    Some(figures(&whole, &before, Some(&after)))
}

fn figures(folds: &Folds, start: &[Score], fitted: Option<&[Score]>) -> Vec<SetFigures> {
    let fitted = fitted.map(|scores| folds.figures(scores));
    let all = folds.rows.iter().zip(folds.figures(start)).enumerate();
    all.filter_map(|(at, ((name, samples), start))| {
        let fitted = fitted.as_ref().and_then(|fitted| *fitted.get(at)?);
        Some(SetFigures { name: name.clone(), samples: *samples, start: start?, fitted })
    })
    .collect()
}

/// A row for each of these, and one for their mean, each set weighted by the square root of its samples.
pub fn table(sets: &[SetFigures]) -> Table {
    let is_searched = sets.iter().any(|set| set.fitted.is_some());
    let mut headers = vec!["set", "n", "n-F1", "e-F1"];
    if is_searched {
        headers.extend(["n-F1 fitted", "e-F1 fitted"]);
    }
    let cells = |f1: &F1| [format!("{:.1}", f1.nodes), f1.links.map_or("-".to_owned(), |links| format!("{links:.1}"))];
    let mut table = Table { headers: headers.into_iter().map(str::to_owned).collect(), rows: Vec::new() };
    for set in sets {
        let mut row = vec![set.name.clone(), set.samples.to_string()];
        row.extend(cells(&set.start));
        row.extend(set.fitted.iter().flat_map(cells));
        table.rows.push(row);
    }
    let mean = |of: &dyn Fn(&SetFigures) -> Option<F1>| -> [String; 2] {
        let parts: Vec<(f64, F1)> =
            sets.iter().filter_map(|set| Some(((set.samples as f64).sqrt(), of(set)?))).collect();
        let mean = |pick: &dyn Fn(&F1) -> Option<f64>| {
            let picked = parts.iter().filter_map(|(weight, f1)| Some((weight, pick(f1)?)));
            let (sum, all) =
                picked.fold((0.0, 0.0), |(sum, all), (weight, value)| (sum + weight * value, all + weight));
            if all > 0.0 { format!("{:.1}", sum / all) } else { "-".to_owned() }
        };
        [mean(&|f1| Some(f1.nodes)), mean(&|f1| f1.links)]
    };
    let samples: usize = sets.iter().map(|set| set.samples).sum();
    let mut row = vec!["mean".to_owned(), samples.to_string()];
    row.extend(mean(&|set| Some(set.start)));
    if is_searched {
        row.extend(mean(&|set| set.fitted));
    }
    table.rows.push(row);
    table
}

/// What a search aims at, of these figures: with the start's weights, and with those that were searched.
pub fn aim(sets: &[SetFigures]) -> (f64, Option<f64>) {
    let start = objective(sets.iter().map(|set| (set.samples, &set.start)));
    let fitted: Option<Vec<(usize, &F1)>> = sets.iter().map(|set| Some((set.samples, set.fitted.as_ref()?))).collect();
    (start, fitted.map(|fitted| objective(fitted.into_iter())))
}
