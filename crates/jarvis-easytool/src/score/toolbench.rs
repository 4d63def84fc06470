//! ToolBench: pass rate, win rate and success rate by a judge; error rates without one.
//!
//! [`Judge`] asks a chat model. [`vote`] turns its judgements into verdicts, and what stays undecided is decided by a
//! [`Seed`] and counted.

mod errors;
mod judge;
mod rules;
mod run;

use serde::Deserialize;

pub use errors::ErrorRates;
pub use judge::Judge;
pub use rules::{Seed, Vote, vote};
pub use run::{Judging, ToolbenchScore, align, score};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum AnswerStatus {
    #[serde(alias = "solved", alias = "SOLVED")]
    Solved,
    #[serde(alias = "unsolved", alias = "UNSOLVED")]
    Unsolved,
    #[serde(alias = "unsure", alias = "UNSURE")]
    Unsure,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum TaskStatus {
    #[serde(alias = "solvable", alias = "SOLVABLE")]
    Solvable,
    #[serde(alias = "unsolvable", alias = "UNSOLVABLE")]
    Unsolvable,
    #[serde(alias = "unsure", alias = "UNSURE")]
    Unsure,
}

/// Which of two answers is better, by the order in which they were shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preference {
    First,
    Second,
}
