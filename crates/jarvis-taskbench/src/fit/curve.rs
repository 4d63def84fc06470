//! The learning curve: what plans from before are worth to the planner, the more of them it has. Nothing else was learned.

use std::sync::Arc;

use jarvis_plan::{DraftTask, Request};
use jarvis_planner::{Basis, Experience, Fitted, Learned, Past};
use rayon::prelude::*;

use super::folds::F1;
use crate::bench::score::multiset;
use crate::bench::{PlanSet, Sample};
use crate::evaluate::Counts;
use crate::evaluate::table::Table;
use crate::infer::OfflinePlans;

/// The figures of one set.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// All of its samples.
    pub samples: usize,
    /// For each number of plans from before, the figures; none where the set has no plan.
    pub points: Vec<Option<F1>>,
}

/// Plans each request by the first so many plans of the other folds, for each of `counts`. `usize::MAX` stands for all.
pub fn curve(set: &PlanSet, folds: usize, counts: &[usize], basis: &Basis) -> Curve {
    let folds = folds.max(2);
    let fitted = Fitted { learned: Learned::default(), ..basis.fitted.as_ref().clone() };
    let untaught = Basis { fitted: Arc::new(fitted), encoder: basis.encoder.clone() };
    let before = |fold: usize, count: usize| {
        let others = set.samples.iter().enumerate().filter(|(at, _)| at % folds != fold);
        Experience::new(others.map(|(_, sample)| past(sample)).take(count).collect()).read_by(basis)
    };
    let plans = |sample: &Sample| {
        let plans = OfflinePlans::new(&sample.tools, set.graph.as_ref(), set.dependency);
        plans.linked(set.form.links()).on(&untaught)
    };
    // Requests that follow each other mostly share a list, which is read once for them.
    let runs: Vec<&[Sample]> =
        set.samples.chunk_by(|one, two| std::sync::Arc::ptr_eq(&one.tools, &two.tools)).collect();
    let starts = runs.iter().scan(0, |start, run| Some(std::mem::replace(start, *start + run.len())));
    let runs: Vec<(usize, &Sample, OfflinePlans, &[Sample])> =
        starts.zip(&runs).filter_map(|(start, run)| Some((start, run.first()?, plans(run.first()?), *run))).collect();
    let points = counts.iter().map(|count| {
        let known: Vec<Experience> = (0..folds).map(|fold| before(fold, *count)).collect();
        let one = |(start, plans, at, sample): (usize, &OfflinePlans, usize, &Sample)| {
            let request = Request { history: sample.dialogue.clone(), ..Request::new(&sample.request) };
            let experience = known.get((start + at) % folds).cloned().unwrap_or_default();
            let (nodes, links) = plans.names(&request, untaught.weights(plans.index()), &experience);
            let gold = sample.gold.to_plan();
            [multiset(&gold.nodes, &nodes), Counts::of(&gold.links, &links)]
        };
        let all = runs.par_iter().flat_map(|(start, _, plans, run)| {
            run.par_iter().enumerate().map(move |(at, sample)| (*start, plans, at, sample))
        });
        F1::sum(all.map(one).collect::<Vec<_>>())
    });
    Curve { name: set.name.clone(), samples: set.samples.len(), points: points.collect() }
}

fn past(sample: &Sample) -> Past {
    let mut tasks: Vec<DraftTask> = (0..).zip(&sample.gold.nodes).map(|(id, tool)| DraftTask::new(id, tool)).collect();
    for (before, after) in &sample.gold.links {
        if let (Some(task), Ok(before)) = (tasks.get_mut(*after), i64::try_from(*before)) {
            task.dep.push(before);
        }
    }
    Past { id: sample.id.clone(), request: sample.request.clone(), tasks }
}

/// A row for each set: tools and links for each number of plans.
pub fn table(counts: &[usize], curves: &[Curve]) -> Table {
    let mut headers = vec!["set".to_owned(), "n".to_owned()];
    headers.extend(counts.iter().map(|count| if *count == usize::MAX { "all".to_owned() } else { count.to_string() }));
    let figure = |f1: F1| match f1.links {
        Some(links) => format!("{:.1} / {links:.1}", f1.nodes),
        None => format!("{:.1} / -", f1.nodes),
    };
    let row = |curve: &Curve| {
        let points = curve.points.iter().map(|f1| f1.map_or("-".to_owned(), figure));
        [curve.name.clone(), curve.samples.to_string()].into_iter().chain(points).collect()
    };
    Table { headers, rows: curves.iter().map(row).collect() }
}
