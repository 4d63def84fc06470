//! Scores of logs. Pure functions; only [`toolbench`]'s judge asks a model.
//!
//! Every question of the data counts: what a log has no row for is wrong, and told. How rows of a log are matched to
//! questions is in [`matching`].

pub mod funcqa;
pub mod matching;
pub mod numbers;
pub mod restbench;
pub mod retrieval;
pub mod toolbench;

mod wilson;

pub use wilson::Rate;
