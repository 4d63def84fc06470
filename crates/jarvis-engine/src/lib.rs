//! Runs a task graph: a schedule without I/O, and a driver on tokio.
//!
//! The engine makes no choices: who performs a task is a [`jarvis_plan::Selection`], and how is a [`Worker`]'s business.
//! It never shows one task another's error as if it were a result: see [`resolve()`].

mod contract;
mod drive;
mod resolve;
mod schedule;

pub use contract::{Job, Selector, Worker};
pub use drive::{Limits, Setup, drive, drive_stream};
pub use jarvis_events::Events;
pub use resolve::{Resolved, Unresolved, resolve};
pub use schedule::{Ready, Schedule};
