//! TaskBench (microsoft/JARVIS `taskbench`): how well a planner turns requests into graphs of tool calls.
//!
//! [`data`] reads the benchmark's folders, [`inspect()`] lists what is odd in them, [`infer`] asks a planner, [`evaluate`]
//! scores predictions against gold plans, [`report`] compares runs, [`graph`] builds, samples and draws tool graphs, and
//! [`generate`] makes new samples (Back-Instruct). [`bench`] measures planners on many planning benchmarks, and [`fit`] fits the offline planner to such plans.
//! Nothing here executes a tool or prints.
//!
//! Without the feature `planning` only [`data`] and [`evaluate`] are there, which need no model, store or network: the Python
//! package is built so.

#[cfg(feature = "planning")]
pub mod bench;
pub mod data;
pub mod error;
pub mod evaluate;
#[cfg(feature = "planning")]
pub mod fit;
#[cfg(feature = "planning")]
pub mod generate;
#[cfg(feature = "planning")]
pub mod graph;
#[cfg(feature = "planning")]
pub mod infer;
#[cfg(feature = "planning")]
pub mod inspect;
pub mod json;
#[cfg(feature = "planning")]
mod prompts;
#[cfg(feature = "planning")]
pub mod report;
mod words;

pub use error::{DataError, FailureKind};
#[cfg(feature = "planning")]
pub use inspect::inspect;
