//! The report: a row for each planner and floor of each set, and of all sets together.

mod document;
mod table;

use jarvis_batch::Summary;

pub use document::document;
pub use table::{Layout, main_table, notes, own_tables};

use super::run::{PlannedSet, score_floors};
use super::score::{Figures, SampleScore, figures};
use super::{Form, PlanSet};
use crate::evaluate::strict::Bootstrap;

/// The name of the rows over all sets.
pub const ALL_SETS: &str = "all sets";

/// Everything that was measured.
#[derive(Debug, Clone)]
pub struct Report {
    /// The planner's name.
    pub planner: String,
    pub rows: Vec<Row>,
    /// The planner's samples by set.
    pub samples: Vec<(String, Vec<SampleScore>)>,
    /// What a million tokens cost, sent and received, in US dollars.
    pub prices: Option<[f64; 2]>,
}

/// One row of figures.
#[derive(Debug, Clone)]
pub struct Row {
    /// The set's name, or [`ALL_SETS`].
    pub set: String,
    /// The form of the set; absent over sets of several forms.
    pub form: Option<Form>,
    /// The planner, or the floor.
    pub plans: String,
    pub is_floor: bool,
    pub figures: Figures,
    pub spent: Option<Spent>,
}

/// What planning took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    /// Plans that were made in this run; those of an earlier one are not timed.
    pub plans: usize,
    pub seconds: f64,
    pub calls: usize,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
}

impl Spent {
    fn of(summary: &Summary) -> Spent {
        Spent {
            plans: summary.ended(),
            seconds: summary.seconds,
            calls: summary.calls,
            prompt_tokens: summary.usage.prompt,
            completion_tokens: summary.usage.completion,
        }
    }

    /// Plans a second; absent when none were made.
    pub fn rate(&self) -> Option<f64> {
        (self.plans > 0).then(|| self.plans as f64 / self.seconds.max(0.001))
    }
}

impl std::ops::AddAssign for Spent {
    fn add_assign(&mut self, other: Spent) {
        self.plans += other.plans;
        self.seconds += other.seconds;
        self.calls += other.calls;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
    }
}

impl Report {
    /// The report over planned sets; both floors of each are computed here.
    pub fn new(planner: &str, sets: &[(PlanSet, PlannedSet)], how: Bootstrap, prices: Option<[f64; 2]>) -> Report {
        let mut report = Report { planner: planner.to_owned(), rows: Vec::new(), samples: Vec::new(), prices };
        let how = Bootstrap { all: true, ..how };
        let one_form = |form: Form| sets.iter().all(|(set, _)| set.form == form).then_some(form);
        let common = sets.first().and_then(|(set, _)| one_form(set.form));
        let mut pooled: Vec<(String, bool, Vec<SampleScore>, Option<Spent>)> = Vec::new();
        for (set, planned) in sets {
            let own = (planner.to_owned(), false, planned.scores.clone(), Some(Spent::of(&planned.summary)));
            let floors = score_floors(set).map(|(name, scores)| (name.to_owned(), true, scores, None));
            for (plans, is_floor, scores, spent) in std::iter::once(own).chain(floors) {
                let figures = figures(scores.iter(), Some(set.form), how);
                let row =
                    Row { set: set.name.clone(), form: Some(set.form), plans: plans.clone(), is_floor, figures, spent };
                report.rows.push(row);
                match pooled.iter_mut().find(|(name, ..)| *name == plans) {
                    Some((_, _, all, sum)) => {
                        all.extend(scores);
                        if let (Some(sum), Some(spent)) = (sum, spent) {
                            *sum += spent;
                        }
                    }
                    None => pooled.push((plans, is_floor, scores, spent)),
                }
            }
            report.samples.push((set.name.clone(), planned.scores.clone()));
        }
        if sets.len() > 1 {
            for (plans, is_floor, scores, spent) in pooled {
                let figures = figures(scores.iter(), common, how);
                report.rows.push(Row { set: ALL_SETS.to_owned(), form: common, plans, is_floor, figures, spent });
            }
        }
        report
    }

    /// The cost of a row in US dollars, where prices are known and tokens were used.
    pub fn cost(&self, spent: &Spent) -> Option<f64> {
        let [sent, received] = self.prices?;
        let (prompt, completion) = (spent.prompt_tokens as f64, spent.completion_tokens as f64);
        (prompt + completion > 0.0).then(|| (prompt * sent + completion * received) / 1e6)
    }

    /// Why points were lost, a line for each sample that lost some: `set id: reason; reason`.
    pub fn reasons(&self) -> Vec<String> {
        let of_set = |(set, scores): &(String, Vec<SampleScore>)| {
            let lost = scores.iter().filter(|score| !score.reasons.is_empty());
            lost.map(|score| format!("{set} {}: {}", score.id, score.reasons.join("; "))).collect::<Vec<_>>()
        };
        self.samples.iter().flat_map(of_set).collect()
    }
}
