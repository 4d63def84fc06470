//! Sets divided into folds: each plan is made with what was learned from plans of the other folds and of the other
//! sets, and once more with nothing learned, as over tools that nobody planned with before.

use std::collections::BTreeSet;
use std::sync::Arc;

use indexmap::IndexMap;
use jarvis_plan::Request;
use jarvis_planner::{Experience, Learned, Lesson, Weights};
use rayon::prelude::*;

use super::{Options, lesson};
use crate::bench::PlanSet;
use crate::bench::score::multiset;
use crate::data::ToolList;
use crate::evaluate::Counts;
use crate::infer::{Links, OfflinePlans};

/// Samples of several sets, each with the planner of its fold.
pub struct Folds {
    pub(super) cases: Vec<Case>,
    planners: Vec<OfflinePlans>,
    /// The rows of the figures: their names, and how many samples the set has in all. A set that is learned from has two, the second
    /// for plans with nothing learned.
    pub(super) rows: Vec<(String, usize)>,
}

/// A request with its gold plan.
pub(super) struct Case {
    pub(super) row: usize,
    pub(super) fold: usize,
    /// Whether its tools are planned as a set.
    pub(super) is_set: bool,
    planner: usize,
    request: Request,
    nodes: Vec<String>,
    links: BTreeSet<(String, String)>,
}

/// The set and the fold whose plans were left out of what was learned; none where nothing was.
type Taught = Option<(usize, usize)>;
/// A list of tools, and a set that offers it.
type Listed<'s> = (&'s PlanSet, &'s Arc<ToolList>);

/// What one plan adds to the figures: tools and links.
pub(super) type Score = [Counts; 2];

/// F1 of tools and of links, 0 to 100; links are absent where no gold plan has any.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct F1 {
    /// Of tools.
    pub nodes: f64,
    /// Of links.
    pub links: Option<f64>,
}

impl F1 {
    fn of([nodes, links]: Score) -> F1 {
        let f1 = |counts: Counts| match counts.predicted + counts.gold {
            0 => 0.0,
            all => 200.0 * counts.common as f64 / all as f64,
        };
        F1 { nodes: f1(nodes), links: (links.gold > 0).then(|| f1(links)) }
    }

    /// Of several plans; none of none.
    pub(super) fn sum(scores: impl IntoIterator<Item = Score>) -> Option<F1> {
        let add = |mut sum: Score, score: Score| {
            for (sum, counts) in sum.iter_mut().zip(score) {
                sum.common += counts.common;
                sum.predicted += counts.predicted;
                sum.gold += counts.gold;
            }
            sum
        };
        scores.into_iter().reduce(add).map(F1::of)
    }

    /// The mean of both.
    pub fn mean(self) -> f64 {
        self.links.map_or(self.nodes, |links| f64::midpoint(self.nodes, links))
    }
}

/// The mean over rows, each weighted by the square root of its samples.
pub fn objective<'f>(sets: impl Iterator<Item = (usize, &'f F1)>) -> f64 {
    let (sum, weights) = sets.fold((0.0, 0.0), |(sum, weights), (samples, f1)| {
        let weight = (samples as f64).sqrt();
        (sum + weight * f1.mean(), weights + weight)
    });
    if weights > 0.0 { sum / weights } else { 0.0 }
}

impl Folds {
    /// Divides sets. Of each set at most `options.most` samples are planned for, taken evenly; all are learned from. The plans of the
    /// fold `held` are neither planned for nor learned from.
    pub fn new(sets: &[PlanSet], options: &Options, held: Option<usize>) -> Folds {
        let (folds, most, taught) = (options.folds.max(2), options.most, options.taught);
        let lessons: Vec<Vec<Lesson>> = sets.iter().map(|set| set.samples.iter().map(lesson).collect()).collect();
        let places: Vec<(usize, usize)> =
            (0..sets.len()).flat_map(|set| (0..folds).map(move |fold| (set, fold))).collect();
        let learned: IndexMap<(usize, usize), Learned> = places
            .into_par_iter()
            .filter(|(_, fold)| Some(*fold) != held)
            .map(|(set, fold)| {
                let is_taught = |of: usize, at: usize| Some(at % folds) != held && (of != set || at % folds != fold);
                let lessons = lessons.iter().take(taught).enumerate().flat_map(|(of, lessons)| {
                    lessons
                        .iter()
                        .enumerate()
                        .filter(move |(at, _)| is_taught(of, *at))
                        .map(|(_, lesson)| lesson.clone())
                });
                ((set, fold), Learned::of(&lessons.collect::<Vec<_>>()))
            })
            .collect::<Vec<_>>()
            .into_iter()
            .collect();
        let mut rows: Vec<(String, usize)> = Vec::new();
        let mut lists: IndexMap<(Taught, *const ToolList), Listed<'_>> = IndexMap::new();
        let mut cases = Vec::new();
        for (set, samples) in sets.iter().enumerate() {
            // Every fold is thinned alike.
            let every = samples.samples.len().div_ceil(most.max(1)).max(1);
            let planned = samples.samples.iter().enumerate().filter(|(at, _)| (at / folds).is_multiple_of(every));
            let planned: Vec<_> = planned.filter(|(at, _)| Some(at % folds) != held).collect();
            for is_learned in [true, false] {
                // What is for the weights alone is planned with what the others teach.
                if !is_learned && set >= taught {
                    continue;
                }
                let name = if is_learned { samples.name.clone() } else { format!("{}, nothing learned", samples.name) };
                rows.push((name, samples.samples.len()));
                for (at, sample) in &planned {
                    let fold = at % folds;
                    let entry = lists.entry((is_learned.then_some((set, fold)), Arc::as_ptr(&sample.tools)));
                    let planner = entry.index();
                    entry.or_insert((samples, &sample.tools));
                    let gold = sample.gold.to_plan();
                    let request = Request { history: sample.dialogue.clone(), ..Request::new(&sample.request) };
                    let (row, nodes, links) = (rows.len() - 1, gold.nodes, gold.links);
                    cases.push(Case { row, fold, is_set: false, planner, request, nodes, links });
                }
            }
        }
        let lists: Vec<_> = lists.into_iter().map(|((place, _), list)| (place, list)).collect();
        let planners: Vec<OfflinePlans> = lists
            .into_par_iter()
            .map(|(place, (samples, tools))| {
                let links: Links = samples.form.links();
                let plans = OfflinePlans::new(tools, samples.graph.as_ref(), samples.dependency).linked(links);
                let learned = place.and_then(|place| learned.get(&place));
                plans.taught(learned.unwrap_or(&Learned::default())).read_by(options.encoder.as_ref())
            })
            .collect();
        for case in &mut cases {
            case.is_set = planners.get(case.planner).is_some_and(|plans| plans.index().is_set());
        }
        Folds { cases, planners, rows }
    }

    /// How many requests are planned for.
    pub fn len(&self) -> usize {
        self.cases.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    /// Plans with these weights what is wanted, and keeps the scores of the rest.
    pub(super) fn score(
        &self,
        weights: &Weights,
        before: &[Score],
        wanted: impl Fn(&Case) -> bool + Sync,
    ) -> Vec<Score> {
        let score = |(at, case): (usize, &Case)| match before.get(at) {
            Some(score) if !wanted(case) => *score,
            Some(_) | None => self.plan(case, weights),
        };
        self.cases.par_iter().enumerate().map(score).collect()
    }

    fn plan(&self, case: &Case, weights: &Weights) -> Score {
        let plans = self.planners.get(case.planner);
        let (nodes, links) =
            plans.map(|plans| plans.names(&case.request, weights, &Experience::default())).unwrap_or_default();
        [multiset(&case.nodes, &nodes), Counts::of(&case.links, &links)]
    }

    /// The figures of each row, of which at least one sample is planned for.
    pub(super) fn figures(&self, scores: &[Score]) -> Vec<Option<F1>> {
        self.figures_of(scores, |_| true)
    }

    fn figures_of(&self, scores: &[Score], wanted: impl Fn(&Case) -> bool) -> Vec<Option<F1>> {
        let scored = |row: usize| {
            let of = self.cases.iter().zip(scores).filter(|(case, _)| case.row == row && wanted(case));
            F1::sum(of.map(|(_, score)| *score))
        };
        (0..self.rows.len()).map(scored).collect()
    }

    /// The mean over the rows.
    pub(super) fn objective(&self, scores: &[Score]) -> f64 {
        self.objective_of(scores, |_| true)
    }

    /// The mean over the rows of each fold by itself.
    pub(super) fn by_fold(&self, scores: &[Score]) -> Vec<f64> {
        let folds = self.cases.iter().map(|case| case.fold + 1).max().unwrap_or(0);
        (0..folds).map(|fold| self.objective_of(scores, |case| case.fold == fold)).collect()
    }

    fn objective_of(&self, scores: &[Score], wanted: impl Fn(&Case) -> bool) -> f64 {
        let figures = self.figures_of(scores, wanted);
        objective(self.rows.iter().zip(&figures).filter_map(|((_, samples), f1)| Some((*samples, f1.as_ref()?))))
    }
}
