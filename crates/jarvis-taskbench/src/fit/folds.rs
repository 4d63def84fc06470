//! Sets divided into folds: each plan is made with what was learned from plans of the other folds and of the other
//! sets.

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
    /// Of each set, its name and how many samples it has in all.
    pub(super) sets: Vec<(String, usize)>,
}

/// A request with its gold plan.
pub(super) struct Case {
    pub(super) set: usize,
    pub(super) fold: usize,
    /// Whether its tools are planned as a set.
    pub(super) is_set: bool,
    planner: usize,
    request: Request,
    nodes: Vec<String>,
    links: BTreeSet<(String, String)>,
}

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

/// The mean over sets, each weighted by the square root of its samples.
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
        let Options { folds, most, taught, .. } = *options;
        let folds = folds.max(2);
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
        let mut lists: IndexMap<(usize, usize, *const ToolList), (&PlanSet, &Arc<ToolList>)> = IndexMap::new();
        let mut cases = Vec::new();
        for (set, samples) in sets.iter().enumerate() {
            // Every fold is thinned alike.
            let every = samples.samples.len().div_ceil(most.max(1)).max(1);
            let planned = samples.samples.iter().enumerate().filter(|(at, _)| (at / folds).is_multiple_of(every));
            for (at, sample) in planned.filter(|(at, _)| Some(at % folds) != held) {
                let fold = at % folds;
                let entry = lists.entry((set, fold, Arc::as_ptr(&sample.tools)));
                let planner = entry.index();
                entry.or_insert((samples, &sample.tools));
                let gold = sample.gold.to_plan();
                let request = Request { history: sample.dialogue.clone(), ..Request::new(&sample.request) };
                cases.push(Case { set, fold, is_set: false, planner, request, nodes: gold.nodes, links: gold.links });
            }
        }
        let lists: Vec<_> = lists.into_iter().map(|((set, fold, _), list)| (set, fold, list)).collect();
        let planners: Vec<OfflinePlans> = lists
            .into_par_iter()
            .map(|(set, fold, (samples, tools))| {
                let links: Links = samples.form.links();
                let plans = OfflinePlans::new(tools, samples.graph.as_ref(), samples.dependency).linked(links);
                match learned.get(&(set, fold)) {
                    Some(learned) => plans.taught(learned),
                    None => plans,
                }
            })
            .collect();
        for case in &mut cases {
            case.is_set = planners.get(case.planner).is_some_and(|plans| plans.index().is_set());
        }
        let sets = sets.iter().map(|set| (set.name.clone(), set.samples.len())).collect();
        Folds { cases, planners, sets }
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

    /// The figures of each set, of which at least one sample is planned for.
    pub(super) fn figures(&self, scores: &[Score]) -> Vec<Option<F1>> {
        let scored = |set: usize| self.cases.iter().zip(scores).filter(move |(case, _)| case.set == set);
        (0..self.sets.len()).map(|set| F1::sum(scored(set).map(|(_, score)| *score))).collect()
    }

    /// The mean over the sets.
    pub(super) fn objective(&self, scores: &[Score]) -> f64 {
        let figures = self.figures(scores);
        objective(self.sets.iter().zip(&figures).filter_map(|((_, samples), f1)| Some((*samples, f1.as_ref()?))))
    }
}
