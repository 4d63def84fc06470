//! TaskBench (microsoft/JARVIS `taskbench`): how well a planner turns requests into graphs of tool calls.
//!
//! [`data`] reads the benchmark's folders, [`inspect()`] lists what is odd in them, [`infer`] asks a planner, [`evaluate`]
//! scores predictions against gold plans, [`report`] compares runs, [`graph`] builds, samples and draws tool graphs, and
//! [`generate`] makes new samples (Back-Instruct). [`bench`] measures planners on many planning benchmarks, and [`fit`] fits the offline planner to such plans.
//! Nothing here executes a tool or prints.

pub mod bench;
pub mod data;
pub mod error;
pub mod evaluate;
pub mod fit;
pub mod generate;
pub mod graph;
pub mod infer;
pub mod inspect;
pub mod json;
mod prompts;
pub mod report;
mod words;

pub use error::{DataError, FailureKind};
pub use inspect::inspect;
