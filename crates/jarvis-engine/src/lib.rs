//! Runs a task graph: a schedule without I/O, and a driver on tokio.
//!
//! The engine makes no choices: who performs a task is a [`jarvis_plan::Selection`], and how is a [`Worker`]'s business.

mod contract;
mod events;

pub use contract::{Job, Selector, Worker};
pub use events::Events;
