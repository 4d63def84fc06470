//! Servers that stand in for services, so that runs can be tried and tested without them.

pub mod api;

mod recorded;

pub use recorded::{Recorded, serve};
