//! Servers that stand in for services, so that runs can be tried and tested without them.

mod recorded;

pub use recorded::{Recorded, RecordedError, app, serve};
