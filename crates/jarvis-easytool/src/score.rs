//! Scores of logs. Pure functions; only [`toolbench`]'s judge asks a model.
//!
//! Every question of the data counts: one that the log lacks is wrong, and listed as missing. How rows of a log are matched to
//! questions is in [`matching`].

pub mod funcqa;
pub mod matching;
pub mod numbers;
pub mod restbench;
pub mod retrieval;
pub mod toolbench;

mod wilson;

pub use wilson::Rate;
