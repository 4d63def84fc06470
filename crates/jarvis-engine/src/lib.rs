//! Runs task graphs: a schedule without I/O, and a driver on tokio.
//!
//! The engine makes no choices: who performs a task is a [`jarvis_plan::Selection`] where a pipeline brings a [`Selector`],
//! and how is a [`Worker`]'s business. It never shows one task another's error as if it were a result: see [`Resolver`].
//!
//! Where the events of a run are kept in a [`Journal`], an outcome is kept before anything that follows from it starts; a run that
//! goes on takes what it did from its [`Past`].
//!
//! [`Engine`] has the shortest complete program.
#![warn(missing_docs)]

mod barrier;
mod contract;
mod drive;
mod engine;
mod resolve;
mod schedule;

pub use barrier::barriers;
pub use contract::{Again, Gate, Job, OpenGate, Selector, Tell, Worker};
pub use engine::{Engine, GrowingPlan, Growth, Limits, NotExtended, Run, RunEnded};
pub use jarvis_events::{Account, Events, InvalidPrice, Journal, Meter, NotWritten, Past, Price, Prices};
pub use jarvis_plan::{Plan as Graph, out};
pub use resolve::{
    ByOutput, Outcomes, Resolved, Resolver, Unresolved, as_planned, fill, finished, part, planned_fault, unavailable,
};
pub use schedule::Schedule;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
