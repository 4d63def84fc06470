//! Plans of any planner scored on many planning benchmarks: `jarvis bench plan`.
//!
//! [`import`] turns the files of each benchmark into one neutral form ([`form`]): requests with their dialogue, the tools
//! that are offered, and gold graphs. [`run`] asks a planner through [`crate::infer`], [`score`] compares plans with the
//! strict reader's rules, [`floors`] are the plans that need no planner, [`own`] has the figures by which each benchmark
//! publishes, and [`report`] writes the table. Data stays in the folders that the user names.

mod error;
pub mod floors;
pub mod form;
pub mod import;
pub mod own;
pub mod report;
pub mod run;
pub mod score;

pub use error::BenchError;
pub use form::{Form, PlanGraph, PlanSet, Sample};
pub(crate) use import::pair;
pub use import::{GoldSource, Source, find, read};
pub use report::{Layout, Report};
pub use run::{Options, PlannedSet, plan_set};
