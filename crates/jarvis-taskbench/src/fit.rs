//! Fits the offline planner to gold plans: `jarvis planner fit`.
//!
//! The plans are learned ([`learn`]), so that new requests are compared with theirs. Weights are found by coordinate search
//! ([`search`]), as in minimum error rate training (Och, 2003, <https://aclanthology.org/P03-1021>): what is wanted is the F1 of whole
//! plans, which is piecewise constant in the weights, so that there is no gradient to follow, and a likelihood of single choices would be
//! another aim. [`folds`] makes every plan with what was learned from other plans, [`hold`] refuses weights that lose everyday requests,
//! [`cross`] says what a search is worth on plans that it never saw, and [`curve`] what plans from before are. Nothing here writes a file
//! or prints.

pub mod cross;
pub mod curve;
mod error;
pub mod folds;
pub mod hold;
pub mod search;

use std::sync::Arc;

use jarvis_planner::{Encoder, Learned, Lesson};

pub use cross::{SetFigures, cross_validate, measure};
pub use error::FitError;
pub use folds::{F1, Folds};
pub use hold::Hold;
pub use search::{Found, Step, Watch, search};

use crate::bench::{PlanSet, Sample};

/// What can be set.
#[derive(Clone)]
pub struct Options {
    /// Parts into which each set is divided: plans of one are made with what was learned from the others. At least 2.
    pub folds: usize,
    /// The most samples of each set that a search plans for.
    pub most: usize,
    /// How often a search goes over all weights, each time with half the step.
    pub rounds: usize,
    /// The first so many sets are learned from; the others are for the weights alone.
    pub taught: usize,
    /// Reads requests and tools as sentences. It is asked for the same texts many times, see [`jarvis_planner::Memo`].
    pub encoder: Option<Arc<dyn Encoder>>,
}

impl Default for Options {
    fn default() -> Options {
        Options { folds: 5, most: 400, rounds: 3, taught: usize::MAX, encoder: None }
    }
}

/// What all plans of the first so many sets teach.
pub fn learn(sets: &[PlanSet], taught: usize) -> Learned {
    let lessons: Vec<Lesson> = sets.iter().take(taught).flat_map(|set| &set.samples).map(lesson).collect();
    Learned::of(&lessons)
}

fn lesson(sample: &Sample) -> Lesson {
    let nodes = &sample.gold.nodes;
    let named = |(source, target): &(usize, usize)| Some((nodes.get(*source)?.clone(), nodes.get(*target)?.clone()));
    Lesson {
        request: sample.request.clone(),
        tools: nodes.clone(),
        links: sample.gold.links.iter().filter_map(named).collect(),
    }
}
